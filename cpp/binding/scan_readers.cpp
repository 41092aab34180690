#include <optional>

#include "binding/job.h"
#include "binding/js_values.h"
#include "binding/readers.h"
#include "io/e57.h"
#include "io/ptx.h"

namespace pc::binding {

namespace {

std::optional<std::uint32_t> scan_index_field(const Napi::Object& js) {
  const auto value = js.Get("scan_index");
  if (value.IsNull() || value.IsUndefined()) return std::nullopt;
  return value.ToNumber().Uint32Value();
}

Napi::Value degrees(Napi::Env env, const std::optional<double>& radians) {
  if (!radians) return env.Null();
  return Napi::Number::New(env, *radians * (180.0 / M_PI));
}

/// What both formats tell of a scan: { index, row_count, miss_count, origin, n_theta, n_phi, theta_min ... phi_max }.
Napi::Object scan_to_js(Napi::Env env, const io::E57ScanResult& scan) {
  auto out = Napi::Object::New(env);
  out.Set("scan_index", scan.scan_index);
  out.Set("row_count", static_cast<double>(scan.row_count));
  out.Set("miss_count", static_cast<double>(scan.miss_count));
  out.Set("origin", scan.has_pose ? Napi::Value(to_js(env, scan.origin_stored)) : env.Null());
  out.Set("n_theta", static_cast<double>(scan.n_theta));
  out.Set("n_phi", static_cast<double>(scan.n_phi));
  out.Set("theta_min", degrees(env, scan.theta_min_rad));
  out.Set("theta_max", degrees(env, scan.theta_max_rad));
  out.Set("phi_min", degrees(env, scan.phi_min_rad));
  out.Set("phi_max", degrees(env, scan.phi_max_rad));
  return out;
}

Napi::Object scan_to_js(Napi::Env env, const io::PtxScanResult& scan) {
  auto out = Napi::Object::New(env);
  out.Set("scan_index", scan.scan_index);
  out.Set("row_count", static_cast<double>(scan.row_count));
  out.Set("miss_count", static_cast<double>(scan.miss_count));
  out.Set("origin", to_js(env, scan.origin_stored));
  out.Set("n_theta", static_cast<double>(scan.header.rows));
  out.Set("n_phi", static_cast<double>(scan.header.columns));
  for (const char* name : {"theta_min", "theta_max", "phi_min", "phi_max"}) out.Set(name, env.Null());
  return out;
}

/// The table of a scan file with its scans and the number of misses that lie at their scanner.
template <class Cloud>
Napi::Value cloud_to_js(Napi::Env env, Cloud&& cloud) {
  auto out = to_js(env, std::move(cloud.table));
  auto scans = Napi::Array::New(env, cloud.scans.size());
  for (std::size_t i = 0; i < cloud.scans.size(); ++i) {
    scans.Set(static_cast<std::uint32_t>(i), scan_to_js(env, cloud.scans[i]));
  }
  out.Set("scans", scans);
  out.Set("unplaceable_miss_count", static_cast<double>(cloud.unplaceable_miss_count));
  return out;
}

Napi::Array e57_scans_to_js(Napi::Env env, const std::vector<io::E57Scan>& scans) {
  auto out = Napi::Array::New(env, scans.size());
  for (std::size_t i = 0; i < scans.size(); ++i) {
    auto scan = Napi::Object::New(env);
    scan.Set("name", scans[i].name);
    scan.Set("point_count", static_cast<double>(scans[i].point_count));
    scan.Set("has_pose", scans[i].has_pose);
    auto fields = Napi::Array::New(env, scans[i].fields.size());
    for (std::size_t f = 0; f < scans[i].fields.size(); ++f) {
      auto field = Napi::Object::New(env);
      field.Set("name", scans[i].fields[f].name);
      field.Set("is_integer", scans[i].fields[f].type == io::E57FieldType::kInteger);
      fields.Set(static_cast<std::uint32_t>(f), field);
    }
    scan.Set("fields", fields);
    out.Set(static_cast<std::uint32_t>(i), scan);
  }
  return out;
}

}  // namespace

// readE57(path: string, params: ScanReadParams, options?): NativeJob<ScanCloud>
Napi::Value read_e57(const Napi::CallbackInfo& info) {
  const std::string path = info[0].ToString();
  const auto js = info[1].As<Napi::Object>();
  const io::E57ReadParams params{frame_field(js, "frame"), scan_index_field(js)};
  return start_job<io::E57Cloud>(
      info.Env(), job_options(info[2]),
      [path, params](OpContext& ctx) { return io::read_e57(path, params, ctx); },
      [](Napi::Env env, io::E57Cloud&& cloud) -> Napi::Value {
        cloud.table.warnings.insert(cloud.table.warnings.begin(), cloud.header.warnings.begin(),
                                    cloud.header.warnings.end());
        return cloud_to_js(env, std::move(cloud));
      });
}

// readE57Header(path: string): NativeJob<E57Header>
Napi::Value read_e57_header(const Napi::CallbackInfo& info) {
  const std::string path = info[0].ToString();
  return start_job<io::E57Header>(
      info.Env(), JobOptions{}, [path](OpContext&) { return io::read_e57_header(path); },
      [](Napi::Env env, io::E57Header&& header) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("scans", e57_scans_to_js(env, header.scans));
        out.Set("image_count", static_cast<double>(header.image_count));
        out.Set("warnings", to_js(env, header.warnings));
        return out;
      });
}

// readPtx(path: string, params: ScanReadParams, options?): NativeJob<ScanCloud>
Napi::Value read_ptx(const Napi::CallbackInfo& info) {
  const std::string path = info[0].ToString();
  const auto js = info[1].As<Napi::Object>();
  const io::PtxReadParams params{frame_field(js, "frame"), scan_index_field(js)};
  return start_job<io::PtxCloud>(
      info.Env(), job_options(info[2]),
      [path, params](OpContext& ctx) { return io::read_ptx(path, params, ctx); },
      [](Napi::Env env, io::PtxCloud&& cloud) -> Napi::Value { return cloud_to_js(env, std::move(cloud)); });
}

// readPtxHeader(path: string): NativeJob<PtxHeader>
Napi::Value read_ptx_header(const Napi::CallbackInfo& info) {
  const std::string path = info[0].ToString();
  return start_job<io::PtxScan>(
      info.Env(), JobOptions{}, [path](OpContext&) { return io::read_ptx_header(path); },
      [](Napi::Env env, io::PtxScan&& scan) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("columns", static_cast<double>(scan.columns));
        out.Set("rows", static_cast<double>(scan.rows));
        return out;
      });
}

}  // namespace pc::binding
