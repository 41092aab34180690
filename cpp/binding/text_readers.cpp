#include <string>

#include "binding/families.h"
#include "binding/job.h"
#include "binding/js_values.h"
#include "binding/readers.h"
#include "io/ascii_table.h"

namespace pc::binding {

namespace {

io::TextDelimiter delimiter_of(Napi::Env env, const std::string& name) {
  if (name == "comma") return io::TextDelimiter::kComma;
  if (name == "semicolon") return io::TextDelimiter::kSemicolon;
  if (name == "tab") return io::TextDelimiter::kTab;
  if (name == "whitespace") return io::TextDelimiter::kWhitespace;
  throw Napi::TypeError::New(env, "unknown delimiter: " + name);
}

io::TextColumnType type_of(Napi::Env env, const std::string& name) {
  if (name == "auto") return io::TextColumnType::kAuto;
  if (name == "float") return io::TextColumnType::kFloat;
  if (name == "f64") return io::TextColumnType::kF64;
  throw Napi::TypeError::New(env, "unknown text column type: " + name);
}

std::uint32_t index_field(const Napi::Object& object, const char* name) {
  return static_cast<std::uint32_t>(number_field(object, name));
}

io::TextReadParams read_params(const Napi::Object& js) {
  io::TextReadParams params{};
  params.delimiter = delimiter_of(js.Env(), string_field(js, "delimiter"));
  params.decimal_comma = bool_field(js, "decimal_comma");
  params.skip_lines = static_cast<std::uint64_t>(number_field(js, "skip_lines"));
  params.expected_columns = index_field(js, "expected_columns");
  params.x_index = index_field(js, "x_index");
  params.y_index = index_field(js, "y_index");
  params.z_index = index_field(js, "z_index");
  params.frame = frame_field(js, "frame");
  params.max_rows = static_cast<std::uint64_t>(number_field(js, "max_rows"));
  const auto columns = array_field(js, "columns");
  for (std::uint32_t i = 0; i < columns.Length(); ++i) {
    const auto column = columns.Get(i).As<Napi::Object>();
    params.columns.push_back({index_field(column, "index"), string_field(column, "name"),
                              type_of(js.Env(), string_field(column, "type"))});
  }
  return params;
}

}  // namespace

// readText(path: string, params: TextReadParams, options?): NativeJob<CloudTable>
Napi::Value read_text(const Napi::CallbackInfo& info) {
  const std::string path = info[0].ToString();
  const auto params = read_params(info[1].As<Napi::Object>());
  return start_job<io::CloudTable>(
      info.Env(), job_options(info[2]),
      [path, params](OpContext& ctx) { return io::read_text(path, params, ctx); },
      [](Napi::Env env, io::CloudTable&& table) -> Napi::Value { return to_js(env, std::move(table)); });
}

// sampleText(path: string, max_lines: number): NativeJob<{ lines, file_bytes, complete }>
Napi::Value sample_text(const Napi::CallbackInfo& info) {
  const std::string path = info[0].ToString();
  const auto max_lines = static_cast<std::size_t>(info[1].ToNumber().Int64Value());
  return start_job<io::TextSample>(
      info.Env(), JobOptions{},
      [path, max_lines](OpContext& ctx) { return io::sample_text(path, max_lines, ctx); },
      [](Napi::Env env, io::TextSample&& sample) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("lines", to_js(env, sample.lines));
        out.Set("file_bytes", static_cast<double>(sample.file_bytes));
        out.Set("complete", sample.complete);
        return out;
      });
}

}  // namespace pc::binding
