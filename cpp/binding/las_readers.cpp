#include <algorithm>

#include "binding/families.h"
#include "binding/job.h"
#include "binding/js_values.h"
#include "binding/las_values.h"
#include "binding/readers.h"
#include "io/las.h"

namespace pc::binding {

namespace {

io::LasReadParams read_params(const Napi::Object& js) {
  io::LasReadParams params;
  params.frame = frame_field(js, "frame");
  params.first_row = whole_field(js, "first_row");
  params.row_count = row_count_field(js);
  const auto skip = strings_field(js, "skip_columns");
  if (!skip.empty()) {
    params.wanted = [skip](const io::LasDimension& dimension) {
      return std::find(skip.begin(), skip.end(), dimension.name) == skip.end();
    };
  }
  return params;
}

}  // namespace

// readLas(path: string, params: LasReadParams, options?): NativeJob<LasCloud>
Napi::Value read_las(const Napi::CallbackInfo& info) {
  const std::string path = strict_string(info[0], "path");
  const auto params = read_params(strict_object(info[1], "params"));
  return start_job<io::LasCloud>(
      info.Env(), job_options(info[2]),
      [path, params](OpContext& ctx) { return io::read_las(path, params, ctx); },
      [](Napi::Env env, io::LasCloud&& cloud) -> Napi::Value {
        auto out = to_js(env, std::move(cloud.table));
        out.Set("header", to_js(env, cloud.header));
        return out;
      });
}

// readLasHeader(path: string): NativeJob<LasHeader>
Napi::Value read_las_header(const Napi::CallbackInfo& info) {
  const std::string path = strict_string(info[0], "path");
  return start_job<io::LasHeader>(
      info.Env(), JobOptions{}, [path](OpContext&) { return io::read_las_header(path); },
      [](Napi::Env env, io::LasHeader&& header) -> Napi::Value { return to_js(env, header); });
}

}  // namespace pc::binding
