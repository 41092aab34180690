#include "binding/job.h"
#include "binding/js_values.h"
#include "binding/readers.h"
#include "io/pcd.h"

namespace pc::binding {

namespace {

const char* data_name(io::PcdData data) {
  switch (data) {
    case io::PcdData::kAscii:
      return "ascii";
    case io::PcdData::kBinary:
      return "binary";
    case io::PcdData::kBinaryCompressed:
      return "binary_compressed";
  }
  return "";
}

Napi::Value header_to_js(Napi::Env env, io::PcdHeader&& header) {
  auto out = Napi::Object::New(env);
  out.Set("version", header.version);
  out.Set("data", data_name(header.data));
  out.Set("width", static_cast<double>(header.width));
  out.Set("height", static_cast<double>(header.height));
  out.Set("points", static_cast<double>(header.points));
  auto fields = Napi::Array::New(env, header.fields.size());
  for (std::size_t i = 0; i < header.fields.size(); ++i) {
    auto field = Napi::Object::New(env);
    field.Set("name", header.fields[i].name);
    field.Set("dtype", dtype_name(header.fields[i].type));
    field.Set("count", header.fields[i].count);
    fields.Set(static_cast<std::uint32_t>(i), field);
  }
  out.Set("fields", fields);
  out.Set("viewpoint", header.has_viewpoint ? Napi::Value(to_js(env, header.viewpoint)) : env.Null());
  out.Set("warnings", to_js(env, header.warnings));
  return out;
}

Napi::Value sample_to_js(Napi::Env env, io::PcdSample&& sample) {
  auto out = Napi::Object::New(env);
  auto columns = Napi::Array::New(env, sample.columns.size());
  for (std::size_t i = 0; i < sample.columns.size(); ++i) {
    auto column = Napi::Object::New(env);
    column.Set("name", sample.columns[i].name);
    column.Set("dtype", dtype_name(sample.columns[i].type));
    columns.Set(static_cast<std::uint32_t>(i), column);
  }
  out.Set("columns", columns);
  out.Set("rows", rows_to_js(env, sample.rows));
  return out;
}

}  // namespace

// readPcd(path: string, params: RecordReadParams, options?): NativeJob<PcdCloud>
Napi::Value read_pcd(const Napi::CallbackInfo& info) {
  const std::string path = strict_string(info[0], "path");
  const auto js = strict_object(info[1], "params");
  const io::PcdReadParams params{frame_field(js, "frame"), whole_field(js, "first_row"), row_count_field(js)};
  return start_job<io::PcdCloud>(
      info.Env(), job_options(info[2]),
      [path, params](OpContext& ctx) { return io::read_pcd(path, params, ctx); },
      [](Napi::Env env, io::PcdCloud&& cloud) -> Napi::Value {
        auto out = to_js(env, std::move(cloud.table));
        out.Set("default_viewpoint", cloud.default_viewpoint);
        out.Set("scan_origin", cloud.has_viewpoint ? Napi::Value(to_js(env, cloud.scan_origin)) : env.Null());
        return out;
      });
}

// readPcdSample(path: string, max_rows: number): NativeJob<PcdSample>
Napi::Value read_pcd_sample(const Napi::CallbackInfo& info) {
  const std::string path = strict_string(info[0], "path");
  const auto max_rows = strict_whole<std::size_t>(info[1], "max_rows");
  return start_job<io::PcdSample>(
      info.Env(), JobOptions{},
      [path, max_rows](OpContext& ctx) {
        return io::read_pcd_sample(path, io::read_pcd_header(path), max_rows, ctx);
      },
      sample_to_js);
}

// readPcdHeader(path: string): NativeJob<PcdHeader>
Napi::Value read_pcd_header(const Napi::CallbackInfo& info) {
  const std::string path = strict_string(info[0], "path");
  return start_job<io::PcdHeader>(
      info.Env(), JobOptions{}, [path](OpContext&) { return io::read_pcd_header(path); }, header_to_js);
}

}  // namespace pc::binding
