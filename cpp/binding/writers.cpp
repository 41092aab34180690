#include "binding/cloud_view_values.h"
#include "binding/coded.h"
#include "binding/families.h"
#include "binding/job.h"
#include "binding/js_values.h"
#include "binding/las_values.h"
#include "io/e57_write.h"
#include "io/las.h"
#include "io/pcd_write.h"
#include "io/pts.h"
#include "io/ptx.h"
#include "io/text_writer.h"

namespace pc::binding {

std::shared_ptr<HeldView> held_view(const Napi::Value& value) {
  const auto js = strict_object(value, "view");
  auto held = std::make_shared<HeldView>();
  const auto hold = [&](const char* name, DType dtype) {
    auto column = optional_typed_column(js.Get(name), dtype, name);
    held->columns.push_back(column);
    return column;
  };
  held->columns.push_back(typed_column(js.Get("positions"), DType::kVec3d, "positions"));
  io::CloudView& view = held->view;
  view.positions = held->columns.back()->as<Vec3d>();
  view.offset = vec3_field(js, "offset");
  view.colors = view_or_empty<Rgb16>(hold("colors", DType::kRgb16));
  view.intensity = view_or_empty<std::uint16_t>(hold("intensity", DType::kU16));
  view.timestamps = view_or_empty<double>(hold("timestamps", DType::kF64));
  view.beam_origins = view_or_empty<Vec3d>(hold("beam_origins", DType::kVec3d));
  view.skip = view_or_empty<std::uint8_t>(hold("skip", DType::kU8));
  view.stride = whole_field<std::size_t>(js, "stride");
  const auto scalars = array_field(js, "scalars");
  for (std::uint32_t i = 0; i < scalars.Length(); ++i) {
    const auto scalar = strict_object(scalars.Get(i), "scalar");
    held->columns.push_back(ColumnHandle::get(scalar.Get("column")));
    view.scalars.push_back(
        {string_field(scalar, "slug"), string_field(scalar, "label"), held->columns.back().get()});
  }
  return held;
}

namespace {

struct Written {
  std::uint64_t point_count;
  std::uint64_t bytes;
  std::vector<std::string> warnings;
  std::vector<std::string> rounded{};
  bool colors_cut = false;
  bool intensity_cut = false;
};

Napi::Value written_to_js(Napi::Env env, Written&& written) {
  auto out = Napi::Object::New(env);
  out.Set("point_count", static_cast<double>(written.point_count));
  out.Set("bytes", static_cast<double>(written.bytes));
  out.Set("warnings", to_js(env, written.warnings));
  out.Set("rounded", to_js(env, written.rounded));
  out.Set("colors_cut", written.colors_cut);
  out.Set("intensity_cut", written.intensity_cut);
  return out;
}

// writeLas(view: CloudViewInput, params: LasWriteParams, path: string): NativeJob<WriteResult>
Napi::Value write_las(const Napi::CallbackInfo& info) {
  const auto held = held_view(info[0]);
  const auto params = las_write_params(strict_object(info[1], "params"));
  const std::string path = strict_string(info[2], "path");
  return start_job<Written>(
      info.Env(), job_options(info[3]),
      [held, params, path](OpContext& ctx) {
        auto result = io::write_las(held->view, params, path, ctx);
        return Written{result.point_count, result.bytes, std::move(result.warnings)};
      },
      written_to_js);
}

io::TextFormat text_format(const Napi::Value& value) {
  return strict_choice<io::TextFormat>(value, "format",
                                       {{"xyz", io::TextFormat::kXyz},
                                        {"txt", io::TextFormat::kTxt},
                                        {"csv", io::TextFormat::kCsv},
                                        {"ply", io::TextFormat::kPly},
                                        {"obj", io::TextFormat::kObj}});
}

/// "cloud" and "scan": the layouts of the two exports; "bare": that of a scan without its header.
io::TextWriteParams text_params(const Napi::Object& js) {
  const auto format = text_format(js.Get("format"));
  enum class Layout : std::uint8_t { kCloud, kScan, kBare };
  const auto layout =
      strict_choice<Layout>(js.Get("layout"), "layout",
                            {{"cloud", Layout::kCloud}, {"scan", Layout::kScan}, {"bare", Layout::kBare}});
  if (layout == Layout::kCloud) return io::cloud_export_layout(format);
  io::TextWriteParams params = io::scan_export_layout(format);
  if (layout == Layout::kBare) params.header = io::TextHeader::kNone;
  return params;
}

// writeText(view: CloudViewInput, params: TextWriteParams, path: string): NativeJob<WriteResult>
Napi::Value write_text(const Napi::CallbackInfo& info) {
  const auto held = held_view(info[0]);
  const auto params = text_params(strict_object(info[1], "params"));
  const std::string path = strict_string(info[2], "path");
  return start_job<Written>(
      info.Env(), job_options(info[3]),
      [held, params, path](OpContext& ctx) {
        auto result = io::write_text(held->view, params, path, ctx);
        return Written{
            result.rows,       result.bytes,        std::move(result.warnings), std::move(result.rounded),
            result.colors_cut, result.intensity_cut};
      },
      written_to_js);
}

// writePts(view: CloudViewInput, path: string): NativeJob<WriteResult>
Napi::Value write_pts(const Napi::CallbackInfo& info) {
  const auto held = held_view(info[0]);
  const std::string path = strict_string(info[1], "path");
  return start_job<Written>(
      info.Env(), job_options(info[2]),
      [held, path](OpContext& ctx) {
        const auto result = io::write_pts(held->view, path, ctx);
        return Written{result.rows, result.bytes, {}, {}, result.colors_cut};
      },
      written_to_js);
}

// writePcd(view: CloudViewInput, params: PcdWriteParams, path: string): NativeJob<WriteResult>
Napi::Value write_pcd(const Napi::CallbackInfo& info) {
  const auto held = held_view(info[0]);
  const auto js = strict_object(info[1], "params");
  io::PcdWriteParams params;
  if (!js.Get("viewpoint").IsNull()) params.viewpoint_stored = vec3_field(js, "viewpoint");
  const std::string path = strict_string(info[2], "path");
  return start_job<Written>(
      info.Env(), job_options(info[3]),
      [held, params, path](OpContext& ctx) {
        auto result = io::write_pcd(held->view, params, path, ctx);
        return Written{result.rows, result.bytes, std::move(result.warnings), {}, result.colors_cut};
      },
      written_to_js);
}

Napi::Value e57_to_js(Napi::Env env, io::E57WriteResult&& result) {
  auto out = Napi::Object::New(env);
  const auto set = [&](const char* name, std::uint64_t value) { out.Set(name, static_cast<double>(value)); };
  set("point_count", result.rows);
  set("bytes", result.bytes);
  set("scans", result.scans);
  set("misses_from_zero", result.misses_from_zero);
  set("without_scan", result.without_scan);
  out.Set("renumbered", result.renumbered);
  out.Set("colors_cut", result.colors_cut);
  out.Set("warnings", to_js(env, result.warnings));
  return out;
}

std::vector<std::pair<std::uint32_t, Vec3d>> scan_origins(const Napi::Object& params) {
  std::vector<std::pair<std::uint32_t, Vec3d>> list;
  const auto origins = array_field(params, "origins");
  for (std::uint32_t i = 0; i < origins.Length(); ++i) {
    const auto scan = strict_object(origins.Get(i), "origin");
    list.emplace_back(whole_field<std::uint32_t>(scan, "scan_index"), vec3_field(scan, "origin"));
  }
  return list;
}

// writeE57(view: CloudViewInput, params: E57WriteParams, path: string): NativeJob<E57WriteResult>
Napi::Value write_e57(const Napi::CallbackInfo& info) {
  const auto held = held_view(info[0]);
  const auto js = strict_object(info[1], "params");
  io::E57WriteParams params;
  params.name = string_field(js, "name");
  params.guid = string_field(js, "guid");
  params.writer = string_field(js, "writer");
  params.coordinate_metadata = string_field(js, "coordinate_metadata");
  params.creation_time_s = number_field(js, "creation_time_s");
  if (!js.Get("origin").IsNull()) params.origin_stored = vec3_field(js, "origin");
  for (const auto& [index, origin] : scan_origins(js)) params.origins.push_back({index, origin});
  const std::string path = strict_string(info[2], "path");
  return start_job<io::E57WriteResult>(
      info.Env(), job_options(info[3]),
      [held, params, path](OpContext& ctx) { return io::write_e57(held->view, params, path, ctx); },
      e57_to_js);
}

Napi::Value ptx_to_js(Napi::Env env, io::PtxWriteResult&& result) {
  auto out = Napi::Object::New(env);
  auto scans = Napi::Array::New(env, result.scans.size());
  for (std::size_t i = 0; i < result.scans.size(); ++i) {
    const io::PtxWrittenScan& scan = result.scans[i];
    auto js = Napi::Object::New(env);
    const auto set = [&](const char* name, std::uint64_t value) { js.Set(name, static_cast<double>(value)); };
    set("scan_index", scan.scan_index);
    set("rows", scan.rows);
    set("columns", scan.columns);
    set("first_row", scan.first_row);
    set("first_column", scan.first_column);
    set("filled", scan.filled);
    set("collapsed", scan.collapsed);
    set("unplaced", scan.unplaced);
    scans.Set(static_cast<std::uint32_t>(i), js);
  }
  out.Set("scans", scans);
  out.Set("bytes", static_cast<double>(result.bytes));
  out.Set("without_scan", static_cast<double>(result.without_scan));
  out.Set("colors_cut", result.colors_cut);
  return out;
}

io::PtxSweep ptx_sweep(const Napi::Object& js) {
  return {whole_field(js, "n_theta"),        whole_field(js, "n_phi"),
          number_field(js, "theta_min_rad"), number_field(js, "theta_step_rad"),
          number_field(js, "phi_min_rad"),   number_field(js, "phi_step_rad")};
}

// writePtx(view: CloudViewInput, params: PtxWriteParams, path: string): NativeJob<PtxWriteResult>
Napi::Value write_ptx(const Napi::CallbackInfo& info) {
  const auto held = held_view(info[0]);
  const auto js = strict_object(info[1], "params");
  io::PtxCloudWriteParams params;
  params.max_cells = whole_field(js, "max_cells");
  params.origin_stored = vec3_field(js, "origin");
  if (!js.Get("sweep").IsNull()) params.sweep = ptx_sweep(strict_object(js.Get("sweep"), "sweep"));
  for (const auto& [index, origin] : scan_origins(js)) params.origins.push_back({index, origin});
  const std::string path = strict_string(info[2], "path");
  return start_job<io::PtxWriteResult>(
      info.Env(), job_options(info[3]),
      [held, params, path](OpContext& ctx) { return io::write_ptx_cloud(held->view, params, path, ctx); },
      ptx_to_js);
}

}  // namespace

void register_writers(Napi::Env env, Napi::Object exports) {
  add<write_las>(env, exports, "writeLas");
  add<write_text>(env, exports, "writeText");
  add<write_pts>(env, exports, "writePts");
  add<write_pcd>(env, exports, "writePcd");
  add<write_ptx>(env, exports, "writePtx");
  add<write_e57>(env, exports, "writeE57");
}

}  // namespace pc::binding
