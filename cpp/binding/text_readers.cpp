#include <string>

#include "binding/families.h"
#include "binding/job.h"
#include "binding/js_values.h"
#include "binding/readers.h"
#include "io/ascii_table.h"

namespace pc::binding {

namespace {

io::TextDelimiter delimiter_of(const Napi::Object& js) {
  return strict_choice<io::TextDelimiter>(js.Get("delimiter"), "delimiter",
                                          {{"comma", io::TextDelimiter::kComma},
                                           {"semicolon", io::TextDelimiter::kSemicolon},
                                           {"tab", io::TextDelimiter::kTab},
                                           {"whitespace", io::TextDelimiter::kWhitespace}});
}

io::TextColumnType type_of(const Napi::Object& column) {
  return strict_choice<io::TextColumnType>(column.Get("type"), "type",
                                           {{"auto", io::TextColumnType::kAuto},
                                            {"float", io::TextColumnType::kFloat},
                                            {"f64", io::TextColumnType::kF64}});
}

io::TextReadParams read_params(const Napi::Object& js) {
  io::TextReadParams params{};
  params.delimiter = delimiter_of(js);
  params.decimal_comma = bool_field(js, "decimal_comma");
  params.skip_lines = whole_field(js, "skip_lines");
  params.expected_columns = whole_field<std::uint32_t>(js, "expected_columns");
  params.x_index = whole_field<std::uint32_t>(js, "x_index");
  params.y_index = whole_field<std::uint32_t>(js, "y_index");
  params.z_index = whole_field<std::uint32_t>(js, "z_index");
  params.frame = frame_field(js, "frame");
  params.max_rows = whole_field(js, "max_rows");
  const auto columns = array_field(js, "columns");
  for (std::uint32_t i = 0; i < columns.Length(); ++i) {
    const auto column = strict_object(columns.Get(i), "column");
    params.columns.push_back(
        {whole_field<std::uint32_t>(column, "index"), string_field(column, "name"), type_of(column)});
  }
  return params;
}

}  // namespace

// readText(path: string, params: TextReadParams, options?): NativeJob<CloudTable>
Napi::Value read_text(const Napi::CallbackInfo& info) {
  const std::string path = strict_string(info[0], "path");
  const auto params = read_params(strict_object(info[1], "params"));
  return start_job<io::CloudTable>(
      info.Env(), job_options(info[2]),
      [path, params](OpContext& ctx) { return io::read_text(path, params, ctx); },
      [](Napi::Env env, io::CloudTable&& table) -> Napi::Value { return to_js(env, std::move(table)); });
}

// sampleText(path: string, max_lines: number): NativeJob<{ lines, file_bytes, complete }>
Napi::Value sample_text(const Napi::CallbackInfo& info) {
  const std::string path = strict_string(info[0], "path");
  const auto max_lines = strict_whole<std::size_t>(info[1], "max_lines");
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
