#include <optional>

#include "binding/job.h"
#include "binding/js_values.h"
#include "binding/las_values.h"
#include "binding/readers.h"
#include "io/e57.h"
#include "io/ptx.h"

namespace pc::binding {

namespace {

constexpr double kDegrees = 180.0 / 3.14159265358979323846;

std::optional<std::uint32_t> scan_index_field(const Napi::Object& js) {
  if (is_nothing(js.Get("scan_index"))) return std::nullopt;
  return whole_field<std::uint32_t>(js, "scan_index");
}

Napi::Value degrees(Napi::Env env, const std::optional<double>& radians) {
  if (!radians) return env.Null();
  return Napi::Number::New(env, *radians * kDegrees);
}

/// Properties of a scan in both formats: ScanInfo of backend/native/readers.ts.
Napi::Object scan_to_js(Napi::Env env, const io::E57ScanResult& scan) {
  auto out = Napi::Object::New(env);
  out.Set("scan_index", scan.scan_index);
  out.Set("unplaceable_miss_count", static_cast<double>(scan.unplaceable_miss_count));
  out.Set("tilt", scan.tilt_rad * kDegrees);
  out.Set("row_count", static_cast<double>(scan.row_count));
  out.Set("miss_count", static_cast<double>(scan.miss_count));
  out.Set("has_pose", scan.has_pose);
  out.Set("origin", scan.has_origin ? Napi::Value(to_js(env, scan.origin_stored)) : env.Null());
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
  out.Set("name", "");
  out.Set("unplaceable_miss_count", static_cast<double>(scan.miss_count));
  out.Set("tilt", 0);
  out.Set("row_count", static_cast<double>(scan.row_count));
  out.Set("miss_count", static_cast<double>(scan.miss_count));
  out.Set("has_pose", true);
  out.Set("origin", to_js(env, scan.origin_stored));
  out.Set("n_theta", static_cast<double>(scan.header.rows));
  out.Set("n_phi", static_cast<double>(scan.header.columns));
  for (const char* name : {"theta_min", "theta_max", "phi_min", "phi_max"}) out.Set(name, env.Null());
  return out;
}

/// The table of a scan file with its scans and the number of misses placed at their scanner.
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

Napi::Value finite_or_null(Napi::Env env, const Vec3d& value) {
  return is_finite(value) ? Napi::Value(to_js(env, value)) : env.Null();
}

std::uint64_t index_count(const std::optional<std::int64_t>& low, const std::optional<std::int64_t>& high) {
  return low && high && *high >= *low ? static_cast<std::uint64_t>(*high - *low) + 1 : 0;
}

Napi::Object e57_header_scan_to_js(Napi::Env env, const io::E57Scan& scan) {
  auto out = Napi::Object::New(env);
  out.Set("name", scan.name);
  out.Set("point_count", static_cast<double>(scan.point_count));
  out.Set("origin", io::has_origin(scan) ? finite_or_null(env, scan.translation) : env.Null());
  auto rotation = Napi::Array::New(env, 4);
  for (std::uint32_t i = 0; i < 4; ++i) rotation.Set(i, scan.rotation[(i + 1) % 4]);
  out.Set("rotation", scan.has_pose ? Napi::Value(rotation) : env.Null());
  const auto bounds = io::file_bounds(scan);
  out.Set("bounds", bounds ? to_js(env, *bounds) : env.Null());
  const io::E57IndexBounds indexes = scan.index_bounds.value_or(io::E57IndexBounds());
  out.Set("n_theta", static_cast<double>(index_count(indexes.row_minimum, indexes.row_maximum)));
  out.Set("n_phi", static_cast<double>(index_count(indexes.column_minimum, indexes.column_maximum)));
  out.Set("may_have_misses", io::may_have_misses(scan));
  auto fields = Napi::Array::New(env, scan.fields.size());
  for (std::size_t f = 0; f < scan.fields.size(); ++f) {
    auto field = Napi::Object::New(env);
    const io::E57FieldType type = scan.fields[f].type;
    field.Set("name", scan.fields[f].name);
    field.Set("is_integer", type == io::E57FieldType::kInteger);
    field.Set("is_text", type == io::E57FieldType::kString);
    fields.Set(static_cast<std::uint32_t>(f), field);
  }
  out.Set("fields", fields);
  return out;
}

Napi::Array e57_scans_to_js(Napi::Env env, const std::vector<io::E57Scan>& scans) {
  auto out = Napi::Array::New(env, scans.size());
  for (std::size_t i = 0; i < scans.size(); ++i) {
    out.Set(static_cast<std::uint32_t>(i), e57_header_scan_to_js(env, scans[i]));
  }
  return out;
}

Napi::Array numbers_to_js(Napi::Env env, const std::vector<double>& values) {
  auto out = Napi::Array::New(env, values.size());
  for (std::size_t i = 0; i < values.size(); ++i) out.Set(static_cast<std::uint32_t>(i), values[i]);
  return out;
}

Napi::Value e57_sample_to_js(Napi::Env env, io::E57Sample&& sample) {
  auto out = Napi::Object::New(env);
  auto positions = Napi::Array::New(env, sample.positions.size());
  for (std::size_t i = 0; i < sample.positions.size(); ++i) {
    positions.Set(static_cast<std::uint32_t>(i), finite_or_null(env, sample.positions[i]));
  }
  auto values = Napi::Array::New(env, sample.values.size());
  for (std::size_t f = 0; f < sample.values.size(); ++f) {
    values.Set(static_cast<std::uint32_t>(f), numbers_to_js(env, sample.values[f]));
  }
  out.Set("positions", positions);
  out.Set("values", values);
  return out;
}

Napi::Object ptx_scan_to_js(Napi::Env env, const io::PtxListedScan& scan) {
  auto out = Napi::Object::New(env);
  out.Set("n_theta", static_cast<double>(scan.header.rows));
  out.Set("n_phi", static_cast<double>(scan.header.columns));
  out.Set("origin", finite_or_null(env, io::file_position(scan.header, {0, 0, 0})));
  out.Set("has_empty_cells", scan.has_empty_cells);
  return out;
}

Napi::Value ptx_head_to_js(Napi::Env env, io::PtxHead&& head) {
  auto out = Napi::Object::New(env);
  auto scans = Napi::Array::New(env, head.scans.size());
  for (std::size_t i = 0; i < head.scans.size(); ++i) {
    scans.Set(static_cast<std::uint32_t>(i), ptx_scan_to_js(env, head.scans[i]));
  }
  out.Set("scans", scans);
  out.Set("complete", head.complete);
  auto sample = Napi::Array::New(env, head.sample.size());
  for (std::size_t i = 0; i < head.sample.size(); ++i) {
    auto row = Napi::Object::New(env);
    row.Set("position", finite_or_null(env, head.sample[i].position));
    row.Set("words", to_js(env, head.sample[i].words));
    sample.Set(static_cast<std::uint32_t>(i), row);
  }
  out.Set("sample", sample);
  out.Set("warnings", to_js(env, head.warnings));
  return out;
}

/// The coordinate system named in the file, or null. Text longer than a MiB counts as none.
Napi::Value e57_crs_to_js(Napi::Env env, const io::E57Header& header) {
  constexpr std::size_t kMaxBytes = std::size_t{1} << 20;
  if (header.coordinate_metadata.empty() || header.coordinate_metadata.size() > kMaxBytes) return env.Null();
  return to_js(env, io::parse_wkt_crs(header.coordinate_metadata));
}

Napi::Value e57_cloud_to_js(Napi::Env env, io::E57Cloud&& cloud) {
  const io::E57Header header = std::move(cloud.header);
  std::vector<std::string> names;
  for (const io::E57ScanResult& scan : cloud.scans) names.push_back(header.scans[scan.scan_index].name);
  const Napi::Object out = cloud_to_js(env, std::move(cloud)).As<Napi::Object>();
  const auto scans = out.Get("scans").As<Napi::Array>();
  for (std::uint32_t i = 0; i < scans.Length(); ++i) scans.Get(i).As<Napi::Object>().Set("name", names[i]);
  out.Set("crs", e57_crs_to_js(env, header));
  return out;
}

}  // namespace

// readE57(path: string, params: ScanReadParams, options?): NativeJob<ScanCloud>
Napi::Value read_e57(const Napi::CallbackInfo& info) {
  const std::string path = strict_string(info[0], "path");
  const auto js = strict_object(info[1], "params");
  const io::E57ReadParams params{frame_field(js, "frame"), scan_index_field(js)};
  return start_job<io::E57Cloud>(
      info.Env(), job_options(info[2]),
      [path, params](OpContext& ctx) { return io::read_e57(path, params, ctx); }, e57_cloud_to_js);
}

// readE57Header(path: string): NativeJob<E57Header>
Napi::Value read_e57_header(const Napi::CallbackInfo& info) {
  const std::string path = strict_string(info[0], "path");
  return start_job<io::E57Header>(
      info.Env(), JobOptions{}, [path](OpContext&) { return io::read_e57_header(path); },
      [](Napi::Env env, io::E57Header&& header) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("scans", e57_scans_to_js(env, header.scans));
        out.Set("crs", e57_crs_to_js(env, header));
        out.Set("image_count", static_cast<double>(header.image_count));
        out.Set("warnings", to_js(env, header.warnings));
        return out;
      });
}

// readE57Sample(path: string, scan_index: number, max_rows: number): NativeJob<E57Sample>
Napi::Value read_e57_sample(const Napi::CallbackInfo& info) {
  const std::string path = strict_string(info[0], "path");
  const auto scan = strict_whole<std::size_t>(info[1], "scan_index");
  const auto max_rows = strict_whole<std::size_t>(info[2], "max_rows");
  return start_job<io::E57Sample>(
      info.Env(), JobOptions{},
      [path, scan, max_rows](OpContext& ctx) {
        return io::read_e57_sample(path, io::read_e57_header(path), scan, max_rows, ctx);
      },
      e57_sample_to_js);
}

// readPtx(path: string, params: ScanReadParams, options?): NativeJob<ScanCloud>
Napi::Value read_ptx(const Napi::CallbackInfo& info) {
  const std::string path = strict_string(info[0], "path");
  const auto js = strict_object(info[1], "params");
  const io::PtxReadParams params{frame_field(js, "frame"), scan_index_field(js)};
  return start_job<io::PtxCloud>(
      info.Env(), job_options(info[2]),
      [path, params](OpContext& ctx) { return io::read_ptx(path, params, ctx); },
      [](Napi::Env env, io::PtxCloud&& cloud) -> Napi::Value { return cloud_to_js(env, std::move(cloud)); });
}

// readPtxHead(path: string, max_rows: number, max_bytes: number): NativeJob<PtxHead>
Napi::Value read_ptx_head(const Napi::CallbackInfo& info) {
  const std::string path = strict_string(info[0], "path");
  const auto max_rows = strict_whole<std::size_t>(info[1], "max_rows");
  const auto max_bytes = strict_whole(info[2], "max_bytes");
  return start_job<io::PtxHead>(
      info.Env(), JobOptions{},
      [path, max_rows, max_bytes](OpContext& ctx) {
        return io::read_ptx_head(path, max_rows, max_bytes, ctx);
      },
      ptx_head_to_js);
}

}  // namespace pc::binding
