#include "binding/job.h"
#include "binding/js_values.h"
#include "binding/readers.h"
#include "io/ply.h"

namespace pc::binding {

namespace {

struct PlyHead {
  io::PlyHeader header;
  std::vector<std::vector<std::string>> rows;
};

const char* format_name(io::PlyFormat format) {
  switch (format) {
    case io::PlyFormat::kAscii:
      return "ascii";
    case io::PlyFormat::kBinaryLittleEndian:
      return "binary_little_endian";
    case io::PlyFormat::kBinaryBigEndian:
      return "binary_big_endian";
  }
  return "";
}

Napi::Object element_to_js(Napi::Env env, const io::PlyElement& element) {
  auto out = Napi::Object::New(env);
  out.Set("name", element.name);
  out.Set("count", static_cast<double>(element.count));
  auto properties = Napi::Array::New(env, element.properties.size());
  for (std::size_t i = 0; i < element.properties.size(); ++i) {
    auto property = Napi::Object::New(env);
    property.Set("name", element.properties[i].name);
    property.Set("dtype", dtype_name(element.properties[i].type));
    property.Set("is_list", element.properties[i].is_list);
    properties.Set(static_cast<std::uint32_t>(i), property);
  }
  out.Set("properties", properties);
  return out;
}

Napi::Value head_to_js(Napi::Env env, PlyHead&& head) {
  auto out = Napi::Object::New(env);
  out.Set("format", format_name(head.header.format));
  auto elements = Napi::Array::New(env, head.header.elements.size());
  for (std::size_t i = 0; i < head.header.elements.size(); ++i) {
    elements.Set(static_cast<std::uint32_t>(i), element_to_js(env, head.header.elements[i]));
  }
  out.Set("elements", elements);
  out.Set("line_count", static_cast<double>(head.header.line_count));
  out.Set("comments", to_js(env, head.header.comments));
  out.Set("sample_rows", rows_to_js(env, head.rows));
  return out;
}

}  // namespace

// readPly(path: string, params: RecordReadParams, options?): NativeJob<CloudTable>
Napi::Value read_ply(const Napi::CallbackInfo& info) {
  const std::string path = strict_string(info[0], "path");
  const auto js = strict_object(info[1], "params");
  io::PlyReadParams params{frame_field(js, "frame"), whole_field(js, "first_row"), row_count_field(js)};
  return start_job<io::CloudTable>(
      info.Env(), job_options(info[2]),
      [path, params](OpContext& ctx) { return io::read_ply(path, params, ctx); },
      [](Napi::Env env, io::CloudTable&& table) -> Napi::Value { return to_js(env, std::move(table)); });
}

// readPlyHeader(path: string, max_rows: number): NativeJob<PlyHeader>
Napi::Value read_ply_header(const Napi::CallbackInfo& info) {
  const std::string path = strict_string(info[0], "path");
  const auto max_rows = strict_whole<std::size_t>(info[1], "max_rows");
  return start_job<PlyHead>(
      info.Env(), JobOptions{},
      [path, max_rows](OpContext& ctx) {
        PlyHead head{io::read_ply_header(path), {}};
        head.rows = io::read_ply_sample_rows(path, head.header, max_rows, ctx);
        return head;
      },
      head_to_js);
}

}  // namespace pc::binding
