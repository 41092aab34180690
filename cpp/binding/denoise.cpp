#include <functional>
#include <optional>
#include <string>

#include "binding/cloud_values.h"
#include "binding/coded.h"
#include "binding/families.h"
#include "binding/job.h"
#include "binding/js_values.h"
#include "ops/cloud/select_hits.h"
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
  std::uint64_t analyzed_count = 0;
};

using Method = std::function<Labelled(HitPoints, OpContext&)>;

Labelled untiled(NoiseResult&& noise) { return {std::move(noise), std::nullopt}; }
Labelled tiled(TiledNoiseResult&& result) { return {std::move(result.noise), result.plan}; }

/// { method: "ror", radius, nb_points, tile_points } | { method: "voxel_count", voxel, min_points, tile_points } |
/// { method: "sor", nb_neighbors, std_ratio } |
/// { method: "auto", nb_neighbors, link_factor, min_link, max_link, cluster_points, gap_factor };
/// tile_points 0 = no tiles
enum class NoiseMethod : std::uint8_t { kRor, kSor, kVoxelCount, kAuto };

Method tiled_method(NoiseMethod name, const Napi::Object& js) {
  const std::uint64_t tile_points = whole_field(js, "tile_points");
  if (name == NoiseMethod::kRor) {
    const RadiusOutlierParams params{number_field(js, "radius"), whole_field<std::uint32_t>(js, "nb_points")};
    return [=](HitPoints points, OpContext& ctx) {
      return tile_points == 0 ? untiled(radius_outlier(points, params, ctx))
                              : tiled(radius_outlier_tiled(points, params, tile_points, ctx));
    };
  }
  const VoxelCountParams params{number_field(js, "voxel"), whole_field<std::uint32_t>(js, "min_points"),
                                std::nullopt};
  return [=](HitPoints points, OpContext& ctx) {
    return tile_points == 0 ? untiled(voxel_count(points, params, ctx))
                            : tiled(voxel_count_tiled(points, params, tile_points, ctx));
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
    return
        [=](HitPoints points, OpContext& ctx) { return untiled(statistical_outlier(points, params, ctx)); };
  }
  if (name == NoiseMethod::kAuto) {
    const ClusterOutlierParams params{whole_field<std::uint32_t>(js, "nb_neighbors"),
                                      number_field(js, "link_factor"),
                                      number_field(js, "min_link"),
                                      number_field(js, "max_link"),
                                      whole_field<std::uint32_t>(js, "cluster_points"),
                                      number_field(js, "gap_factor")};
    return [=](HitPoints points, OpContext& ctx) { return untiled(cluster_outlier(points, params, ctx)); };
  }
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
        Labelled labelled = method(hits.points(), ctx);
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
        out.Set("plan", plan_to_js(env, labelled.plan, labelled.analyzed_count));
        return out;
      });
}

}  // namespace

void register_denoise(Napi::Env env, Napi::Object exports) {
  add<label_noise_job>(env, exports, "labelNoise");
}

}  // namespace pc::binding
