#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "binding/cloud_edit_values.h"
#include "binding/coded.h"
#include "binding/column_handle.h"
#include "binding/families.h"
#include "binding/js_values.h"
#include "binding/opaque_handle.h"
#include "ops/ray/hit_floats.h"
#include "ops/ray/scan_scene.h"
#include "ops/ray/synthetic_scan.h"

namespace pc::binding {

namespace {

constexpr napi_type_tag kSceneTag{0x5d0c7e4a1b9f4c62ULL, 0x93ab60fd2c8e17f5ULL};
using ScenePtr = std::shared_ptr<const ScanScene>;
using Columns = std::vector<ColumnPtr>;

/// Columns of a request, alive for the whole job.
template <class T>
Span<const T> held_list(const Napi::Object& js, const char* name, DType dtype, Columns& held) {
  const auto column = optional_typed_column(js.Get(name), dtype, name);
  if (!column) return {};
  held.push_back(column);
  return column->as<T>();
}

Span<const double> numbers_of(const Napi::Object& js, const char* name, Columns& held) {
  return held_list<double>(js, name, DType::kF64, held);
}

/// A list of [x, y, z] as numbers: a vec3d column, or a flat one.
Span<const double> triples_of(const Napi::Object& js, const char* name, Columns& held) {
  const auto column = ColumnHandle::get_optional(js.Get(name));
  if (!column) return {};
  held.push_back(column);
  if (column->dtype() != DType::kVec3d) return column->as<double>();
  return {reinterpret_cast<const double*>(column->data()), 3 * column->size()};
}

// { vertices, triangles, colors, uvs, organs, materials: [{ texture, triangles }], triangle_textures, material_textures }
SceneSurfaces surfaces_of(const Napi::Value& value, Columns& held) {
  const auto js = strict_object(value, "surfaces");
  SceneSurfaces out;
  out.vertex_column = optional_typed_column(js.Get("vertices"), DType::kVec3d, "vertices");
  if (out.vertex_column) out.vertices = out.vertex_column->as<Vec3d>();
  out.triangles = triples_of(js, "triangles", held);
  out.colors = held_list<Vec3d>(js, "colors", DType::kVec3d, held);
  out.uvs = numbers_of(js, "uvs", held);
  out.organs = numbers_of(js, "organs", held);
  const auto materials = array_field(js, "materials");
  for (std::uint32_t i = 0; i < materials.Length(); ++i) {
    const auto material = strict_object(materials.Get(i), "material");
    out.materials.push_back(
        {whole_field<std::size_t>(material, "texture"), numbers_of(material, "triangles", held)});
  }
  out.triangle_textures = numbers_of(js, "triangle_textures", held);
  const auto textures = array_field(js, "material_textures");
  for (std::uint32_t i = 0; i < textures.Length(); ++i) {
    const Napi::Value texture = textures.Get(i);
    out.material_textures.push_back(is_nothing(texture) ? SIZE_MAX
                                                        : strict_whole<std::size_t>(texture, "texture"));
  }
  return out;
}

// { name, origin, surfaces, prototypes: surfaces | null, firsts: number[], instance_prototype, instance_matrix }
SceneMesh mesh_of(const Napi::Value& value, Columns& held) {
  const auto js = strict_object(value, "mesh");
  SceneMesh out;
  out.name = string_field(js, "name");
  out.origin = vec3_field(js, "origin");
  out.surfaces = surfaces_of(js.Get("surfaces"), held);
  if (is_nothing(js.Get("prototypes"))) return out;
  out.prototypes = surfaces_of(js.Get("prototypes"), held);
  const auto firsts = array_field(js, "firsts");
  for (std::uint32_t i = 0; i < firsts.Length(); ++i)
    out.firsts.push_back(strict_whole<std::size_t>(firsts.Get(i), "prototype_first_triangle"));
  out.instance_prototype = numbers_of(js, "instance_prototype", held);
  out.instance_matrix = numbers_of(js, "instance_matrix", held);
  return out;
}

// openScanScene(meshes, textures: [{ width, height, rgba, has_holes }]): NativeJob<OpenedScene>
Napi::Value open_scan_scene_job(const Napi::CallbackInfo& info) {
  auto held = std::make_shared<Columns>();
  const auto list = strict_array(info[0], "meshes");
  std::vector<SceneMesh> meshes;
  for (std::uint32_t i = 0; i < list.Length(); ++i) meshes.push_back(mesh_of(list.Get(i), *held));
  const auto images = strict_array(info[1], "textures");
  std::vector<SceneTexture> textures;
  for (std::uint32_t i = 0; i < images.Length(); ++i) {
    const auto js = strict_object(images.Get(i), "texture");
    textures.push_back({whole_field<std::uint32_t>(js, "width"), whole_field<std::uint32_t>(js, "height"),
                        typed_column(js.Get("rgba"), DType::kU8, "rgba"), bool_field(js, "has_holes")});
  }
  return start_job<ScenePtr>(
      info.Env(), job_options(info[2]),
      [held, meshes = std::move(meshes), textures = std::move(textures)](OpContext& ctx) -> ScenePtr {
        return std::make_shared<const ScanScene>(meshes, textures, ctx);
      },
      [](Napi::Env env, ScenePtr&& scene) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("triangle_count", static_cast<double>(scene->triangle_count()));
        out.Set("has_colors", scene->has_colors());
        out.Set("has_organs", scene->has_organs());
        out.Set("unused_texture_count", static_cast<double>(scene->unused_texture_count()));
        out.Set("scene", OpaqueHandle<ScanScene>::wrap(env, std::move(scene), kSceneTag));
        return out;
      });
}

/// What a scan refers to, alive for the whole job.
struct HeldScan {
  SyntheticScanParams params{};
  std::vector<double> channels;
  std::vector<Pose> poses;
  Vec3d lever_arm{0, 0, 0};
  Rotation boresight = roll_pitch_yaw(0, 0, 0);

  PoseStreamView view() const { return {{poses.data(), poses.size()}, lever_arm, boresight}; }
};

// { kind, row_count, pulse_count, theta_first_rad, theta_step_rad, phi_first_rad, phi_step_rad, channel_theta_rad,
//   prisms: [{ wedge_angle_rad, refractive_index, rotor_rate_hz, phase_rad }], index_outside, pulse_rate_hz }
void read_pattern(const Napi::Object& js, HeldScan& scan) {
  using scan_pattern::Kind;
  ScanPattern& pattern = scan.params.pattern;
  pattern.kind = strict_choice<Kind>(js.Get("kind"), "kind",
                                     {{"raster", Kind::kRaster},
                                      {"spinning_multibeam", Kind::kSpinningMultibeam},
                                      {"risley_prism", Kind::kRisley}});
  pattern.row_count = whole_field<std::uint32_t>(js, "row_count");
  pattern.pulse_count = whole_field<std::uint64_t>(js, "pulse_count");
  pattern.theta_first_rad = number_field(js, "theta_first_rad");
  pattern.theta_step_rad = number_field(js, "theta_step_rad");
  pattern.phi_first_rad = number_field(js, "phi_first_rad");
  pattern.phi_step_rad = number_field(js, "phi_step_rad");
  scan.channels = number_list(js.Get("channel_theta_rad"), "channel_theta_rad");
  require(pattern.kind != Kind::kSpinningMultibeam || scan.channels.size() == pattern.row_count,
          "channel_theta_rad must have one entry per row");
  pattern.channel_theta_rad = scan.channels.data();
  const auto prisms = array_field(js, "prisms");
  require(prisms.Length() <= scan_pattern::kMaxPrisms, "there are at most 8 prisms");
  pattern.prism_count = prisms.Length();
  for (std::uint32_t k = 0; k < prisms.Length(); ++k) {
    const auto prism = strict_object(prisms.Get(k), "prism");
    pattern.prisms[k] = {number_field(prism, "wedge_angle_rad"), number_field(prism, "refractive_index"),
                         number_field(prism, "rotor_rate_hz"), number_field(prism, "phase_rad")};
  }
  pattern.index_outside = number_field(js, "index_outside");
  pattern.pulse_rate_hz = number_field(js, "pulse_rate_hz");
}

// { poses: f64 (8 n: t, x, y, z, qx, qy, qz, qw), lever_arm, boresight_rpy } | null
void read_poses(const Napi::Value& value, HeldScan& scan) {
  scan.params.is_moving = !is_nothing(value);
  if (!scan.params.is_moving) return;
  const auto js = strict_object(value, "trajectory");
  const auto column = typed_column(js.Get("poses"), DType::kF64, "poses");
  const auto flat = column->as<double>();
  require(flat.size % 8 == 0, "poses must have eight numbers each");
  for (std::size_t i = 0; i < flat.size; i += 8) {
    const double* p = flat.data + i;
    scan.poses.push_back({p[0], {p[1], p[2], p[3]}, {p[4], p[5], p[6], p[7]}});
  }
  scan.lever_arm = vec3_field(js, "lever_arm");
  const Vec3d rpy = vec3_field(js, "boresight_rpy");
  scan.boresight = roll_pitch_yaw(rpy.x, rpy.y, rpy.z);
}

void read_beam(const Napi::Object& js, SyntheticScanParams& params) {
  params.rays_per_pulse = whole_field<std::uint32_t>(js, "rays_per_pulse");
  params.exit_diameter_m = number_field(js, "exit_diameter_m");
  params.divergence_rad = number_field(js, "divergence_rad");
  params.pulse_distance_m = number_field(js, "pulse_distance_m");
  params.detection_energy = number_field(js, "detection_energy");
  params.range_noise_m = number_field(js, "range_noise_m");
  params.angle_noise_rad = number_field(js, "angle_noise_rad");
  params.is_multi_return = bool_field(js, "is_multi_return");
  params.max_returns = whole_field<std::uint32_t>(js, "max_returns");
  params.selection = strict_choice<ReturnSelection>(js.Get("selection"), "selection",
                                                    {{"strongest", ReturnSelection::kStrongest},
                                                     {"first", ReturnSelection::kFirst},
                                                     {"last", ReturnSelection::kLast}});
  params.record_misses = bool_field(js, "record_misses");
}

std::shared_ptr<HeldScan> scan_of(const Napi::Value& value) {
  const auto js = strict_object(value, "params");
  auto scan = std::make_shared<HeldScan>();
  SyntheticScanParams& params = scan->params;
  read_pattern(object_field(js, "pattern"), *scan);
  read_poses(js.Get("trajectory"), *scan);
  read_beam(js, params);
  params.origin = vec3_field(js, "origin");
  params.tilt = roll_pitch_yaw(number_field(js, "tilt_roll_rad"), number_field(js, "tilt_pitch_rad"), 0);
  params.first_time_s = number_field(js, "first_time_s");
  params.pulse_interval_s = number_field(js, "pulse_interval_s");
  if (!is_nothing(js.Get("box"))) {
    const auto box = object_field(js, "box");
    params.box =
        TraceBox{vec3_field(box, "center"), vec3_field(box, "size"), number_field(box, "rotation_rad")};
  }
  params.seed = whole_field<std::uint64_t>(js, "seed");
  params.scan_index = whole_field<std::uint64_t>(js, "scan_index");
  params.scratch_bytes = whole_field<std::uint64_t>(js, "scratch_bytes");
  return scan;
}

template <class T>
void set_column(Napi::Object& out, const char* name, Column<T>&& column, bool present) {
  Napi::Env env = out.Env();
  out.Set(name, present ? Napi::Value(ColumnHandle::wrap(env, AnyColumn(std::move(column)))) : env.Null());
}

Napi::Value scan_to_js(Napi::Env env, SyntheticScan&& scan) {
  auto out = Napi::Object::New(env);
  const std::size_t rows = scan.positions.size();
  const auto present = [rows](std::size_t size) { return rows > 0 && size == rows; };
  const bool colored = present(scan.color.size()), organs = present(scan.organ.size()),
             multi = present(scan.deviation.size()), moving = present(scan.pulse.size());
  set_column(out, "positions", std::move(scan.positions), true);
  set_column(out, "is_miss", std::move(scan.is_miss), true);
  set_column(out, "intensity", std::move(scan.intensity), true);
  set_column(out, "intensity_16", std::move(scan.intensity_16), true);
  set_column(out, "distance", std::move(scan.distance), true);
  set_column(out, "time", std::move(scan.time), true);
  set_column(out, "target_index", std::move(scan.target_index), true);
  set_column(out, "target_count", std::move(scan.target_count), true);
  set_column(out, "color", std::move(scan.color), colored);
  set_column(out, "organ", std::move(scan.organ), organs);
  set_column(out, "deviation", std::move(scan.deviation), multi);
  set_column(out, "ray_count", std::move(scan.ray_count), multi);
  set_column(out, "pulse", std::move(scan.pulse), moving);
  set_column(out, "beam_origin", std::move(scan.beam_origin), moving);
  out.Set("hit_count", static_cast<double>(scan.hit_count));
  out.Set("miss_count", static_cast<double>(scan.miss_count));
  out.Set("pulse_count", static_cast<double>(scan.pulse_count));
  out.Set("warnings", to_js(env, scan.warnings));
  return out;
}

// syntheticScan(scene, params): NativeJob<SyntheticScan>
Napi::Value synthetic_scan_job(const Napi::CallbackInfo& info) {
  const ScenePtr scene = OpaqueHandle<ScanScene>::get(info[0], kSceneTag, "a scan scene");
  const auto scan = scan_of(info[1]);
  return start_job<SyntheticScan>(
      info.Env(), job_options(info[2]),
      [scene, scan](OpContext& ctx) { return synthetic_scan(*scene, scan->view(), scan->params, ctx); },
      scan_to_js);
}

// hitFloats(column, is_miss: u8): NativeJob<{ values: f32, largest }>
Napi::Value hit_floats_job(const Napi::CallbackInfo& info) {
  const auto column = ColumnHandle::get(info[0]);
  const auto is_miss = typed_column(info[1], DType::kU8, "is_miss");
  return start_job<HitFloats>(
      info.Env(), job_options(info[2]),
      [=](OpContext& ctx) { return hit_floats(*column, is_miss->as<std::uint8_t>(), ctx); },
      [](Napi::Env env, HitFloats&& found) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("largest", found.largest);
        out.Set("values", ColumnHandle::wrap(env, AnyColumn(std::move(found.values))));
        return out;
      });
}

}  // namespace

void register_ray(Napi::Env env, Napi::Object exports) {
  add<open_scan_scene_job>(env, exports, "openScanScene");
  add<synthetic_scan_job>(env, exports, "syntheticScan");
  add<hit_floats_job>(env, exports, "hitFloats");
}

}  // namespace pc::binding
