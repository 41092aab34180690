#include <memory>
#include <optional>
#include <vector>

#include "binding/cloud_edit_values.h"
#include "binding/coded.h"
#include "binding/families.h"
#include "binding/lost_hits_values.h"
#include "binding/voxel_values.h"
#include "ops/lad/beam_traversal.h"
#include "ops/lad/energy_balance.h"
#include "ops/lad/lost_hits_moving.h"
#include "ops/lad/projection_function.h"
#include "ops/lad/triangulated_projection.h"
#include "ops/lad/voxel_views.h"
#include "ops/ray/trajectory_join.h"

namespace pc::binding {

namespace {

/// Scans with the columns that they refer to.
struct HeldScans {
  std::vector<ColumnPtr> columns;
  std::vector<BeamScan> scans;
};

BeamScan held_scan(const Napi::Object& js, std::vector<ColumnPtr>& held) {
  const auto hold = [&](ColumnPtr column) {
    held.push_back(column);
    return column;
  };
  BeamScan scan;
  scan.positions = hold(positions_column(js.Get("positions")))->as<Vec3d>();
  scan.origins = hold(typed_column(js.Get("origins"), DType::kVec3d, "origins"))->as<Vec3d>();
  scan.shift = vec3_field(js, "shift");
  scan.is_miss = hold(ColumnHandle::get_optional(js.Get("is_miss"))).get();
  scan.deleted = view_or_empty<std::uint8_t>(hold(optional_mask(js.Get("deleted"), "deleted")));
  scan.timestamps =
      view_or_empty<double>(hold(optional_typed_column(js.Get("timestamps"), DType::kF64, "timestamps")));
  scan.target_index = hold(ColumnHandle::get_optional(js.Get("target_index"))).get();
  const auto shares = js.Get("shares");
  if (is_nothing(shares)) return scan;
  const auto given = strict_object(shares, "shares");
  scan.intensity = hold(ColumnHandle::get(given.Get("intensity"))).get();
  scan.share_scale = number_field(given, "scale");
  scan.share_offset = number_field(given, "offset");
  scan.partial_misses = strict_bool(given.Get("partial_misses"), "partial_misses");
  return scan;
}

std::shared_ptr<const HeldScans> held_scans(const Napi::Value& value) {
  const auto list = strict_array(value, "scans");
  auto held = std::make_shared<HeldScans>();
  for (std::uint32_t i = 0; i < list.Length(); ++i)
    held->scans.push_back(held_scan(strict_object(list.Get(i), "scan"), held->columns));
  return held;
}

Napi::Value counts_to_js(Napi::Env env, const std::vector<BeamScanCounts>& scans) {
  auto out = Napi::Array::New(env, scans.size());
  for (std::uint32_t i = 0; i < scans.size(); ++i) {
    auto one = Napi::Object::New(env);
    one.Set("pulse_count", static_cast<double>(scans[i].pulse_count));
    one.Set("miss_count", static_cast<double>(scans[i].miss_count));
    one.Set("unusable_count", static_cast<double>(scans[i].unusable_count));
    one.Set("unusable_miss_count", static_cast<double>(scans[i].unusable_miss_count));
    one.Set("deleted_inside_count", static_cast<double>(scans[i].deleted_inside_count));
    one.Set("grouped", scans[i].grouped);
    one.Set("times_repeat", scans[i].times_repeat);
    out.Set(i, one);
  }
  return out;
}

// traceBeams(scans: BeamScan[], grid, factors: f64 | null, options?): NativeJob<TracedBeams>
Napi::Value trace_beams_job(const Napi::CallbackInfo& info) {
  const auto held = held_scans(info[0]);
  const HeldVoxelBox grid = held_voxel_box(info[1]);
  const auto factors = optional_typed_column(info[2], DType::kF64, "factors");
  return start_job<BeamTraversalResult>(
      info.Env(), job_options(info[3]),
      [=](OpContext& ctx) {
        return beam_traversal(held->scans, grid.view(), view_or_empty<double>(factors), ctx);
      },
      [](Napi::Env env, BeamTraversalResult&& traced) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("sums", ColumnHandle::wrap(env, std::move(traced.sums)));
        out.Set("reach",
                traced.reach.size() == 0 ? env.Null() : ColumnHandle::wrap(env, std::move(traced.reach)));
        out.Set("zenith_count", to_js(env, traced.zenith_count));
        out.Set("beam_count", static_cast<double>(traced.beam_count));
        out.Set("scans", counts_to_js(env, traced.scans));
        out.Set("warnings", to_js(env, traced.warnings));
        return out;
      });
}

// voxelViews(scans: BeamScan[], grid): NativeJob<f64>
Napi::Value voxel_views_job(const Napi::CallbackInfo& info) {
  const auto held = held_scans(info[0]);
  const HeldVoxelBox grid = held_voxel_box(info[1]);
  return start_job<Column<double>>(
      info.Env(), job_options(info[2]),
      [=](OpContext& ctx) { return voxel_views(held->scans, grid.view(), ctx); },
      [](Napi::Env env, Column<double>&& views) -> Napi::Value {
        return ColumnHandle::wrap(env, std::move(views));
      });
}

// energyBalance(scan: BeamScan, grid): NativeJob<EnergyBalance>
Napi::Value energy_balance_job(const Napi::CallbackInfo& info) {
  auto held = std::make_shared<HeldScans>();
  held->scans.push_back(held_scan(strict_object(info[0], "scan"), held->columns));
  const HeldVoxelBox grid = held_voxel_box(info[1]);
  return start_job<EnergyBalance>(
      info.Env(), job_options(info[2]),
      [=](OpContext& ctx) { return energy_balance(held->scans[0], grid.view(), ctx); },
      [](Napi::Env env, EnergyBalance&& found) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("whole_pulses", static_cast<double>(found.whole_pulses));
        out.Set("whole_energy", found.whole_energy);
        out.Set("partial_energy", found.partial_energy);
        out.Set("pulses", static_cast<double>(found.pulses));
        out.Set("bright_pulses", static_cast<double>(found.bright_pulses));
        return out;
      });
}

// partialCosine({ whole_pulses, whole_energy, partial_energy }, hit_cosine): number
Napi::Value partial_cosine_of(const Napi::CallbackInfo& info) {
  const auto js = strict_object(info[0], "balance");
  EnergyBalance balance;
  balance.whole_pulses = whole_field<std::uint64_t>(js, "whole_pulses");
  balance.whole_energy = number_field(js, "whole_energy");
  balance.partial_energy = number_field(js, "partial_energy");
  return Napi::Number::New(info.Env(), partial_cosine(balance, strict_number(info[1], "hit_cosine")));
}

// lostHitsMoving(parts: BeamScan[]): NativeJob<{ looked_at, between, lost }>
Napi::Value lost_hits_moving_job(const Napi::CallbackInfo& info) {
  const auto held = held_scans(info[0]);
  return start_job<LostHits>(
      info.Env(), job_options(info[1]),
      [held](OpContext& ctx) {
        return lost_hits_moving({held->scans.data(), held->scans.size()}, ctx);
      },
      lost_hits_to_js);
}

// traceBeamsBytes(rows, cells): number
Napi::Value trace_beams_bytes_of(const Napi::CallbackInfo& info) {
  const auto rows = strict_whole<std::uint64_t>(info[0], "rows");
  const auto cells = strict_whole<std::uint64_t>(info[1], "cells");
  return Napi::Number::New(info.Env(), static_cast<double>(beam_traversal_bytes(rows, cells)));
}

// trajectoryJoin(times: f64, poses: f64, params: { lever_arm, shift }): NativeJob<TrajectoryJoin>
Napi::Value trajectory_join_job(const Napi::CallbackInfo& info) {
  const auto times = typed_column(info[0], DType::kF64, "times");
  const auto poses = typed_column(info[1], DType::kF64, "poses");
  const auto js = strict_object(info[2], "params");
  const Vec3d lever_arm = vec3_field(js, "lever_arm"), shift = vec3_field(js, "shift");
  return start_job<TrajectoryJoin>(
      info.Env(), job_options(info[3]),
      [=](OpContext& ctx) {
        return trajectory_join(times->as<double>(), poses->as<double>(), lever_arm, shift, ctx);
      },
      [](Napi::Env env, TrajectoryJoin&& joined) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("origins", ColumnHandle::wrap(env, std::move(joined.origins)));
        out.Set("untimed_count", static_cast<double>(joined.untimed_count));
        out.Set("outside_count", static_cast<double>(joined.outside_count));
        out.Set("first_time_s", number_or_null(env, joined.first_time_s));
        out.Set("last_time_s", number_or_null(env, joined.last_time_s));
        return out;
      });
}

LeafAngleDensity density_of(const Napi::Value& value) {
  const auto js = strict_object(value, "density");
  const auto law = strict_choice<LeafAngleLaw>(js.Get("law"), "law",
                                               {{"spherical", LeafAngleLaw::kSpherical},
                                                {"planophile", LeafAngleLaw::kPlanophile},
                                                {"erectophile", LeafAngleLaw::kErectophile},
                                                {"plagiophile", LeafAngleLaw::kPlagiophile},
                                                {"extremophile", LeafAngleLaw::kExtremophile},
                                                {"uniform", LeafAngleLaw::kUniform},
                                                {"beta", LeafAngleLaw::kBeta}});
  if (law != LeafAngleLaw::kBeta) return {law};
  return {law, number_field(js, "beta_mu"), number_field(js, "beta_nu")};
}

// meanLeafProjection(density: LeafAngleDensity, zenith_count: number[]): NativeJob<number>
Napi::Value mean_leaf_projection_job(const Napi::CallbackInfo& info) {
  const LeafAngleDensity density = density_of(info[0]);
  const std::vector<double> counts = number_list(info[1], "zenith_count");
  return start_job<double>(
      info.Env(), job_options(info[2]),
      [=](OpContext& ctx) {
        return mean_leaf_projection(density, {counts.data(), counts.size()}, ctx);
      },
      [](Napi::Env env, double&& g) -> Napi::Value { return Napi::Number::New(env, g); });
}

// leafProjectionBins(density: LeafAngleDensity): NativeJob<number[]>
Napi::Value leaf_projection_bins_job(const Napi::CallbackInfo& info) {
  const LeafAngleDensity density = density_of(info[0]);
  return start_job<std::vector<double>>(
      info.Env(), job_options(info[1]),
      [=](OpContext& ctx) { return leaf_projection_bins(density, kZenithBins, ctx); },
      [](Napi::Env env, std::vector<double>&& g) -> Napi::Value { return to_js(env, g); });
}

// meanHitCosine(density: LeafAngleDensity, zenith_count: number[]): NativeJob<number>
Napi::Value mean_hit_cosine_job(const Napi::CallbackInfo& info) {
  const LeafAngleDensity density = density_of(info[0]);
  const std::vector<double> counts = number_list(info[1], "zenith_count");
  return start_job<double>(
      info.Env(), job_options(info[2]),
      [=](OpContext& ctx) {
        return mean_hit_cosine(density, {counts.data(), counts.size()}, ctx);
      },
      [](Napi::Env env, double&& cosine) -> Napi::Value { return Napi::Number::New(env, cosine); });
}

struct LikelyCosine {
  double hit_cosine, g;
};

// likelyHitCosine(g, zenith_count: number[]): NativeJob<{ hit_cosine, g }> - of the ellipsoidal law with this G
Napi::Value likely_hit_cosine_job(const Napi::CallbackInfo& info) {
  const double g = strict_number(info[0], "g");
  const std::vector<double> counts = number_list(info[1], "zenith_count");
  return start_job<LikelyCosine>(
      info.Env(), job_options(info[2]),
      [=](OpContext& ctx) {
        const Span<const double> zenith_count{counts.data(), counts.size()};
        const FittedDensity law = ellipsoidal_law_of(g, zenith_count, ctx);
        return LikelyCosine{mean_hit_cosine(law.density, zenith_count, ctx), law.g};
      },
      [](Napi::Env env, LikelyCosine&& found) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("hit_cosine", found.hit_cosine);
        out.Set("g", found.g);
        return out;
      });
}

// { lmax_m, max_aspect_ratio } | null
std::optional<TriangleLimits> triangle_limits(const Napi::Value& value) {
  if (is_nothing(value)) return std::nullopt;
  const auto js = strict_object(value, "limits");
  return TriangleLimits{number_field(js, "lmax_m"), number_field(js, "max_aspect_ratio")};
}

Napi::Value error_to_js(Napi::Env env, ProjectionError&& error) {
  if (error.scatter.size() == 0) return env.Null();
  auto out = Napi::Object::New(env);
  out.Set("scatter", ColumnHandle::wrap(env, std::move(error.scatter)));
  out.Set("of_all", error.of_all);
  out.Set("bias", error.bias);
  out.Set("spread", error.spread);
  return out;
}

// voxelProjection(mesh: { vertices: vec3d, indices: u32, scan_ids: u32 | f64, origins: vec3d }, grid, limits | null):
// NativeJob<{ g: f64, triangle_count, hit_cosine, mean_g, facing, sideways, uniform_azimuths, folded, telling_count, spacing_m, hardly_seen,
// beam_factors: number[], beam_g: f64 | null, error: { scatter: f64, of_all, bias, spread } | null }> - with limits: triangulated_projection, else voxel_projection
Napi::Value voxel_projection_job(const Napi::CallbackInfo& info) {
  const auto js = strict_object(info[0], "mesh");
  const auto vertices = typed_column(js.Get("vertices"), DType::kVec3d, "vertices");
  const auto indices = typed_column(js.Get("indices"), DType::kU32, "indices");
  const auto scan_ids = ColumnHandle::get(js.Get("scan_ids"));
  const auto origins = typed_column(js.Get("origins"), DType::kVec3d, "origins");
  const HeldVoxelBox grid = held_voxel_box(info[1]);
  const auto limits = triangle_limits(info[2]);
  return start_job<TriangulatedProjection>(
      info.Env(), job_options(info[3]),
      [=](OpContext& ctx) {
        Column<std::uint32_t> listed;
        if (scan_ids->dtype() != DType::kU32)
          listed = scan_ids_of_list(scan_ids->as<double>(), origins->size(), ctx);
        const auto ids = scan_ids->dtype() == DType::kU32 ? scan_ids->as<std::uint32_t>()
                                                          : Span<const std::uint32_t>(listed.view());
        const LeafTriangles triangles{vertices->as<Vec3d>(), indices->as<std::uint32_t>(), ids,
                                      origins->as<Vec3d>()};
        if (limits) return triangulated_projection(triangles, *limits, grid.view(), ctx);
        TriangulatedProjection as_sent;
        static_cast<VoxelProjection&>(as_sent) = voxel_projection(triangles, grid.view(), ctx);
        return as_sent;
      },
      [](Napi::Env env, TriangulatedProjection&& found) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("g", ColumnHandle::wrap(env, std::move(found.g)));
        out.Set("triangle_count", static_cast<double>(found.triangle_count));
        out.Set("hit_cosine", found.hit_cosine);
        out.Set("mean_g", found.mean_g);
        out.Set("facing", found.facing);
        out.Set("sideways", found.sideways);
        out.Set("uniform_azimuths", found.uniform_azimuths);
        out.Set("folded", found.folded);
        out.Set("telling_count", static_cast<double>(found.telling_count));
        out.Set("spacing_m", found.spacing_m);
        out.Set("hardly_seen", found.hardly_seen);
        out.Set("beam_factors", to_js(env, found.beam_factors));
        out.Set("beam_g",
                found.beam_g.size() > 0 ? ColumnHandle::wrap(env, std::move(found.beam_g)) : env.Null());
        out.Set("error", error_to_js(env, std::move(found.error)));
        return out;
      });
}

}  // namespace

void register_lad(Napi::Env env, Napi::Object exports) {
  add<trace_beams_job>(env, exports, "traceBeams");
  add<lost_hits_moving_job>(env, exports, "lostHitsMoving");
  add<trace_beams_bytes_of>(env, exports, "traceBeamsBytes");
  add<energy_balance_job>(env, exports, "energyBalance");
  add<partial_cosine_of>(env, exports, "partialCosine");
  add<trajectory_join_job>(env, exports, "trajectoryJoin");
  add<mean_leaf_projection_job>(env, exports, "meanLeafProjection");
  add<leaf_projection_bins_job>(env, exports, "leafProjectionBins");
  add<mean_hit_cosine_job>(env, exports, "meanHitCosine");
  add<likely_hit_cosine_job>(env, exports, "likelyHitCosine");
  add<voxel_projection_job>(env, exports, "voxelProjection");
  add<voxel_views_job>(env, exports, "voxelViews");
}

}  // namespace pc::binding
