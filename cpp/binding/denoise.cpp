#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "binding/cloud_values.h"
#include "binding/coded.h"
#include "binding/families.h"
#include "binding/job.h"
#include "binding/js_values.h"
#include "ops/cloud/select_hits.h"
#include "ops/denoise/beam_consistency.h"
#include "ops/denoise/beam_outlier.h"
#include "ops/denoise/cluster_outlier.h"
#include "ops/denoise/noise_labels.h"
#include "ops/denoise/statistical_outlier.h"
#include "ops/denoise/tiled_noise.h"

namespace pc::binding {

namespace {

/// Labels, and the tiles used to compute them.
struct Labelled {
  NoiseResult noise;
  std::optional<TilePlan> plan;
  std::optional<MixedPixelResult> mixed;
  std::uint64_t analyzed_count = 0;
};

/// `rows` is the length of the cloud that the hits were selected from.
using Method = std::function<Labelled(const HitSelection&, std::size_t rows, OpContext&)>;

Labelled untiled(NoiseResult&& noise) { return {std::move(noise), std::nullopt, std::nullopt}; }
Labelled tiled(TiledNoiseResult&& result) { return {std::move(result.noise), result.plan, std::nullopt}; }

/// { method: "ror", radius, nb_points, tile_points } | { method: "voxel_count", voxel, min_points, tile_points } |
/// { method: "sor", nb_neighbors, std_ratio } |
/// { method: "auto", nb_neighbors, link_factor, ball_factor, most_thin, min_ball_link, surface_factor, most_uneven,
///   min_link, max_link, cluster_points, gap_factor,
///   beams: null | { origins: NativeColumn of 1 or rows, max_spacing, support_steps, support_slope, edge_steps, edge_depth, edge_support,
///                   line_steps, line_slope, line_tolerance, inconsistent_share } };
/// tile_points 0 = no tiles
enum class NoiseMethod : std::uint8_t { kRor, kSor, kVoxelCount, kAuto };

Method tiled_method(NoiseMethod name, const Napi::Object& js) {
  const std::uint64_t tile_points = whole_field(js, "tile_points");
  if (name == NoiseMethod::kRor) {
    const RadiusOutlierParams params{number_field(js, "radius"), whole_field<std::uint32_t>(js, "nb_points")};
    return [=](const HitSelection& hits, std::size_t, OpContext& ctx) {
      return tile_points == 0 ? untiled(radius_outlier(hits.points(), params, ctx))
                              : tiled(radius_outlier_tiled(hits.points(), params, tile_points, ctx));
    };
  }
  const VoxelCountParams params{number_field(js, "voxel"), whole_field<std::uint32_t>(js, "min_points"),
                                std::nullopt};
  return [=](const HitSelection& hits, std::size_t, OpContext& ctx) {
    return tile_points == 0 ? untiled(voxel_count(hits.points(), params, ctx))
                            : tiled(voxel_count_tiled(hits.points(), params, tile_points, ctx));
  };
}

Method auto_method(const Napi::Object& js) {
  const ClusterOutlierParams params{whole_field<std::uint32_t>(js, "nb_neighbors"),
                                    number_field(js, "link_factor"),
                                    number_field(js, "ball_factor"),
                                    number_field(js, "most_thin"),
                                    number_field(js, "min_ball_link"),
                                    number_field(js, "surface_factor"),
                                    number_field(js, "most_uneven"),
                                    number_field(js, "min_link"),
                                    number_field(js, "max_link"),
                                    whole_field<std::uint32_t>(js, "cluster_points"),
                                    number_field(js, "gap_factor")};
  if (is_nothing(js.Get("beams")))
    return [=](const HitSelection& hits, std::size_t, OpContext& ctx) {
      return untiled(cluster_outlier(hits.points(), params, ctx));
    };
  const auto beams = object_field(js, "beams");
  const auto origins = typed_column(beams.Get("origins"), DType::kVec3d, "origins");
  const MixedPixelParams mixed{
      number_field(beams, "max_spacing"),    number_field(beams, "support_steps"),
      number_field(beams, "support_slope"),  number_field(beams, "edge_steps"),
      number_field(beams, "edge_depth"),     whole_field<std::uint32_t>(beams, "edge_support"),
      number_field(beams, "line_steps"),     number_field(beams, "line_slope"),
      number_field(beams, "line_tolerance"), number_field(beams, "inconsistent_share")};
  return [=](const HitSelection& hits, std::size_t rows, OpContext& ctx) {
    const BeamOrigins beam_origins(origins->as<Vec3d>(), rows, hits);
    BeamOutlierResult result = beam_outlier(hits.points(), beam_origins, params, mixed, ctx);
    return Labelled{std::move(result.noise), std::nullopt, result.mixed};
  };
}

Method method_of(const Napi::Object& js) {
  const auto name = strict_choice<NoiseMethod>(js.Get("method"), "method",
                                               {{"ror", NoiseMethod::kRor},
                                                {"sor", NoiseMethod::kSor},
                                                {"voxel_count", NoiseMethod::kVoxelCount},
                                                {"auto", NoiseMethod::kAuto}});
  if (name == NoiseMethod::kSor) {
    const StatisticalOutlierParams params{whole_field<std::uint32_t>(js, "nb_neighbors"),
                                          number_field(js, "std_ratio")};
    return [=](const HitSelection& hits, std::size_t, OpContext& ctx) {
      return untiled(statistical_outlier(hits.points(), params, ctx));
    };
  }
  if (name == NoiseMethod::kAuto) return auto_method(js);
  return tiled_method(name, js);
}

Napi::Value plan_to_js(Napi::Env env, const std::optional<TilePlan>& plan, std::uint64_t n) {
  if (!plan) return env.Null();
  auto out = Napi::Object::New(env);
  auto grid = Napi::Array::New(env, 2);
  grid.Set(0U, static_cast<double>(plan->nx));
  grid.Set(1U, static_cast<double>(plan->ny));
  out.Set("n", static_cast<double>(n));
  out.Set("tile_m", plan->tile_m);
  out.Set("buffer_m", plan->buffer_m);
  out.Set("grid", grid);
  out.Set("tiles", static_cast<double>(plan->tiles));
  out.Set("points_per_tile_max", static_cast<double>(plan->points_per_tile_max));
  out.Set("points_per_tile_mean", plan->points_per_tile_mean);
  return out;
}

Napi::Value mixed_to_js(Napi::Env env, const std::optional<MixedPixelResult>& mixed) {
  if (!mixed) return env.Null();
  auto out = Napi::Object::New(env);
  out.Set("step_rad", mixed->step_rad);
  out.Set("inconsistent_share", mixed->inconsistent_share);
  out.Set("consistent", mixed->consistent);
  out.Set("moving", mixed->moving);
  out.Set("coarse_count", static_cast<double>(mixed->coarse_count));
  out.Set("unknown_count", static_cast<double>(mixed->unknown_count));
  out.Set("labelled_count", static_cast<double>(mixed->labelled_count));
  return out;
}

// labelNoise(positions, skip | null, params, scatter: boolean): NativeJob<NoiseLabels>
Napi::Value label_noise_job(const Napi::CallbackInfo& info) {
  const auto positions = typed_column(info[0], DType::kVec3d, "positions");
  const auto skip = optional_typed_column(info[1], DType::kU8, "skip");
  const Method method = method_of(strict_object(info[2], "params"));
  const bool scatter = strict_bool(info[3], "scatter");
  return start_job<Labelled>(
      info.Env(), job_options(info[4]),
      [=](OpContext& ctx) {
        const auto mask = view_or_empty<std::uint8_t>(skip);
        const HitSelection hits = select_hits(positions->as<Vec3d>(), mask, ctx);
        Labelled labelled = method(hits, positions->as<Vec3d>().size, ctx);
        labelled.analyzed_count = hits.size();
        if (scatter)
          labelled.noise.noise_class = noise_on_rows(hits, mask, std::move(labelled.noise.noise_class), ctx);
        return labelled;
      },
      [](Napi::Env env, Labelled&& labelled) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("noise_class", ColumnHandle::wrap(env, std::move(labelled.noise.noise_class)));
        out.Set("analyzed_count", static_cast<double>(labelled.analyzed_count));
        out.Set("flagged_count", static_cast<double>(labelled.noise.flagged_count));
        out.Set("non_finite_count", static_cast<double>(labelled.noise.non_finite_count));
        out.Set("warnings", to_js(env, labelled.noise.warnings));
        out.Set("mixed_pixels", mixed_to_js(env, labelled.mixed));
        out.Set("plan", plan_to_js(env, labelled.plan, labelled.analyzed_count));
        return out;
      });
}

// beamOriginsOfScans(scan_index, scans: { scan_index, origin }[]): NativeJob<NativeColumn>
Napi::Value beam_origins_job(const Napi::CallbackInfo& info) {
  const auto scan_index = ColumnHandle::get(info[0]);
  const auto list = strict_array(info[1], "scans");
  std::vector<ScanOrigin> scans;
  for (std::uint32_t i = 0; i < list.Length(); ++i) {
    const auto scan = strict_object(list.Get(i), "scan");
    scans.push_back({number_field(scan, "scan_index"), vec3_field(scan, "origin")});
  }
  return start_job<AnyColumn>(
      info.Env(), job_options(info[2]),
      [scan_index, scans = std::move(scans)](OpContext& ctx) {
        return AnyColumn(beam_origins_of_scans(*scan_index, {scans.data(), scans.size()}, ctx));
      },
      [](Napi::Env env, AnyColumn&& column) -> Napi::Value {
        return ColumnHandle::wrap(env, std::move(column));
      });
}

// beamConsistency(positions: vec3d, origins: vec3d): NativeJob<{ unknown_count, is_measured,
// inconsistent_share }>
Napi::Value beam_consistency_job(const Napi::CallbackInfo& info) {
  const auto positions = typed_column(info[0], DType::kVec3d, "positions");
  const auto origins = typed_column(info[1], DType::kVec3d, "origins");
  return start_job<BeamConsistency>(
      info.Env(), job_options(info[2]),
      [=](OpContext& ctx) {
        const Span<const Vec3d> points = positions->as<Vec3d>();
        const HitSelection hits = select_hits(points, {}, ctx);
        return beam_consistency(hits, origins->as<Vec3d>(), points.size, ctx);
      },
      [](Napi::Env env, BeamConsistency&& found) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("unknown_count", static_cast<double>(found.unknown_count));
        out.Set("is_measured", found.is_measured);
        out.Set("inconsistent_share", found.inconsistent_share);
        return out;
      });
}

}  // namespace

void register_denoise(Napi::Env env, Napi::Object exports) {
  add<label_noise_job>(env, exports, "labelNoise");
  add<beam_origins_job>(env, exports, "beamOriginsOfScans");
  add<beam_consistency_job>(env, exports, "beamConsistency");
}

}  // namespace pc::binding
