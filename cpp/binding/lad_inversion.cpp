#include <memory>
#include <vector>

#include "binding/cloud_edit_values.h"
#include "binding/coded.h"
#include "binding/families.h"
#include "binding/voxel_values.h"
#include "ops/lad/beer_lambert.h"
#include "ops/lad/clumping.h"
#include "ops/lad/element_gain.h"
#include "ops/lad/hit_counts.h"
#include "ops/lad/occlusion_kriging.h"

namespace pc::binding {

namespace {

Napi::Value totals_to_js(Napi::Env env, const BeerLambertTotals& totals) {
  auto out = Napi::Object::New(env);
  out.Set("leaf_area_m2", totals.leaf_area_m2);
  out.Set("wood_area_m2", totals.wood_area_m2);
  out.Set("occluded_leaf_area_m2", totals.occluded_leaf_area_m2);
  out.Set("occluded_count", static_cast<double>(totals.occluded_count));
  out.Set("solved_count", static_cast<double>(totals.solved_count));
  out.Set("group_count", static_cast<double>(totals.group_count));
  out.Set("group_mean", totals.group_mean);
  out.Set("group_half_width", totals.group_half_width);
  return out;
}

/// Counts of hits by label, with their columns.
struct HeldLabels {
  ColumnPtr wood, leaf;
  double wood_g = 0;
};

// { wood: u32, leaf: u32, wood_g } | null
HeldLabels held_labels(const Napi::Value& value) {
  if (is_nothing(value)) return {};
  const auto js = strict_object(value, "labels");
  return {typed_column(js.Get("wood"), DType::kU32, "wood"),
          typed_column(js.Get("leaf"), DType::kU32, "leaf"), number_field(js, "wood_g")};
}

/// Sums of beams that have each their own G.
struct HeldOptical {
  ColumnPtr sums, g;
};

// { sums: f64, g: f64 } | null
HeldOptical held_optical(const Napi::Value& value) {
  if (is_nothing(value)) return {};
  const auto js = strict_object(value, "optical");
  return {typed_column(js.Get("sums"), DType::kF64, "sums"), typed_column(js.Get("g"), DType::kF64, "g")};
}

/// Errors of a measured G, with their column.
struct HeldMeasured {
  ColumnPtr scatter;
  double of_all = 0, bias = 0, spread = 0;
};

// { scatter: f64, of_all, bias, spread } | null
HeldMeasured held_measured(const Napi::Value& value) {
  if (is_nothing(value)) return {};
  const auto js = strict_object(value, "measured");
  return {typed_column(js.Get("scatter"), DType::kF64, "scatter"), number_field(js, "of_all"),
          number_field(js, "bias"), number_field(js, "spread")};
}

/// Views of the voxels, with their column.
struct HeldFewLeaves {
  ColumnPtr views;
  double spread = 0;
};

// { views: f64, spread } | null
HeldFewLeaves held_few_leaves(const Napi::Value& value) {
  if (is_nothing(value)) return {};
  const auto js = strict_object(value, "few");
  return {typed_column(js.Get("views"), DType::kF64, "views"), number_field(js, "spread")};
}

// hitCounts(scans: { positions: vec3d, shift, is_counted: u8 }[], grid): NativeJob<u32>
Napi::Value hit_counts_job(const Napi::CallbackInfo& info) {
  const auto list = strict_array(info[0], "scans");
  auto held = std::make_shared<std::vector<ColumnPtr>>();
  std::vector<CountedHits> scans;
  for (std::uint32_t i = 0; i < list.Length(); ++i) {
    const auto js = strict_object(list.Get(i), "scan");
    held->push_back(positions_column(js.Get("positions")));
    const auto positions = held->back()->as<Vec3d>();
    held->push_back(typed_column(js.Get("is_counted"), DType::kU8, "is_counted"));
    scans.push_back({positions, vec3_field(js, "shift"), held->back()->as<std::uint8_t>()});
  }
  const HeldVoxelBox grid = held_voxel_box(info[1]);
  return start_job<Column<std::uint32_t>>(
      info.Env(), job_options(info[2]),
      [held, scans, grid](OpContext& ctx) { return hit_counts(scans, grid.view(), ctx); },
      [](Napi::Env env, Column<std::uint32_t>&& counts) -> Napi::Value {
        return ColumnHandle::wrap(env, std::move(counts));
      });
}

// invertBeams(sums: f64, g: f64, params: { voxel_size, nx, ny, nz, min_beams, element_width_m, occlusion_threshold_m,
// reach: f64 | null, labels: { wood: u32, leaf: u32, wood_g } | null, optical: { sums: f64, g: f64 } | null,
// measured: { scatter: f64, of_all, bias, spread } | null, few: { views: f64, spread } | null }): NativeJob<InvertedBeams>
Napi::Value invert_beams_job(const Napi::CallbackInfo& info) {
  const auto sums = typed_column(info[0], DType::kF64, "sums");
  const auto g = typed_column(info[1], DType::kF64, "g");
  const auto js = strict_object(info[2], "params");
  const BeerLambertParams params{vec3_field(js, "voxel_size"),
                                 whole_field<std::uint32_t>(js, "nx"),
                                 whole_field<std::uint32_t>(js, "ny"),
                                 whole_field<std::uint32_t>(js, "nz"),
                                 whole_field<std::uint64_t>(js, "min_beams"),
                                 number_field(js, "element_width_m"),
                                 number_field(js, "occlusion_threshold_m"),
                                 {}};
  const auto reach = optional_typed_column(js.Get("reach"), DType::kF64, "reach");
  const HeldLabels labels = held_labels(js.Get("labels"));
  const HeldOptical optical = held_optical(js.Get("optical"));
  const HeldMeasured measured = held_measured(js.Get("measured"));
  const HeldFewLeaves few = held_few_leaves(js.Get("few"));
  return start_job<BeerLambertResult>(
      info.Env(), job_options(info[3]),
      [=](OpContext& ctx) {
        BeerLambertParams all = params;
        all.reach = view_or_empty<double>(reach);
        all.labels = {view_or_empty<std::uint32_t>(labels.wood), view_or_empty<std::uint32_t>(labels.leaf),
                      labels.wood_g};
        all.optical = {view_or_empty<double>(optical.sums), view_or_empty<double>(optical.g)};
        all.measured = {view_or_empty<double>(measured.scatter), measured.of_all, measured.bias,
                        measured.spread};
        all.few = {view_or_empty<double>(few.views), few.spread};
        return beer_lambert(sums->as<double>(), g->as<double>(), all, ctx);
      },
      [](Napi::Env env, BeerLambertResult&& found) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("lad", ColumnHandle::wrap(env, std::move(found.lad)));
        out.Set("variance", ColumnHandle::wrap(env, std::move(found.variance)));
        out.Set("state", ColumnHandle::wrap(env, std::move(found.state)));
        out.Set("wad", found.wad.size() == 0 ? env.Null() : ColumnHandle::wrap(env, std::move(found.wad)));
        out.Set("error", ColumnHandle::wrap(env, std::move(found.error)));
        out.Set("common_g_error", found.common_g_error);
        out.Set("totals", totals_to_js(env, found.totals));
        return out;
      });
}

// clumping(whole: f64, eighths: f64, g: f64, params: { voxel_size, nx, ny, nz, min_beams, first_layer, layers }):
// NativeJob<Clumping>
Napi::Value clumping_job(const Napi::CallbackInfo& info) {
  const auto whole = typed_column(info[0], DType::kF64, "whole");
  const auto eighths = typed_column(info[1], DType::kF64, "eighths");
  const auto g = typed_column(info[2], DType::kF64, "g");
  const auto js = strict_object(info[3], "params");
  const ClumpingParams params{vec3_field(js, "voxel_size"),
                              whole_field<std::uint32_t>(js, "nx"),
                              whole_field<std::uint32_t>(js, "ny"),
                              whole_field<std::uint32_t>(js, "nz"),
                              whole_field<std::uint64_t>(js, "min_beams"),
                              whole_field<std::uint32_t>(js, "first_layer"),
                              whole_field<std::uint32_t>(js, "layers")};
  return start_job<Clumping>(
      info.Env(), job_options(info[4]),
      [=](OpContext& ctx) {
        return clumping(whole->as<double>(), eighths->as<double>(), g->as<double>(), params, ctx);
      },
      [](Napi::Env env, Clumping&& found) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("whole_m2", found.whole_m2);
        out.Set("eighths_m2", found.eighths_m2);
        out.Set("voxel_count", static_cast<double>(found.voxel_count));
        return out;
      });
}

// elementGain(leaves: { width_m, voxel_size }): NativeJob<number>
Napi::Value element_gain_job(const Napi::CallbackInfo& info) {
  const auto js = strict_object(info[0], "leaves");
  const double width_m = number_field(js, "width_m");
  const Vec3d size = vec3_field(js, "voxel_size");
  return start_job<double>(
      info.Env(), job_options(info[1]), [=](OpContext& ctx) { return element_gain(width_m, size, ctx); },
      [](Napi::Env env, double&& gain) -> Napi::Value { return Napi::Number::New(env, gain); });
}

const char* name_of(OcclusionFill fill) {
  return fill == OcclusionFill::kKriging     ? "kriging"
         : fill == OcclusionFill::kLayerMean ? "layer_mean"
                                             : "none";
}

// fillOccluded(voxels: { lad, variance, state }, grid): NativeJob<{ lad, state, method, filled_count }>
Napi::Value fill_occluded_job(const Napi::CallbackInfo& info) {
  const auto js = strict_object(info[0], "voxels");
  const auto lad = typed_column(js.Get("lad"), DType::kF64, "lad");
  const auto variance = typed_column(js.Get("variance"), DType::kF64, "variance");
  const auto state = typed_column(js.Get("state"), DType::kU8, "state");
  const HeldVoxelBox grid = held_voxel_box(info[1]);
  return start_job<OcclusionKrigingResult>(
      info.Env(), job_options(info[2]),
      [=](OpContext& ctx) {
        return occlusion_kriging(lad->as<double>(), variance->as<double>(), state->as<std::uint8_t>(),
                                 grid.view(), ctx);
      },
      [](Napi::Env env, OcclusionKrigingResult&& filled) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("lad", ColumnHandle::wrap(env, std::move(filled.lad)));
        out.Set("state", ColumnHandle::wrap(env, std::move(filled.state)));
        out.Set("method", name_of(filled.method));
        out.Set("filled_count", static_cast<double>(filled.filled_count));
        return out;
      });
}

}  // namespace

void register_lad_inversion(Napi::Env env, Napi::Object exports) {
  add<hit_counts_job>(env, exports, "hitCounts");
  add<invert_beams_job>(env, exports, "invertBeams");
  add<clumping_job>(env, exports, "clumping");
  add<element_gain_job>(env, exports, "elementGain");
  add<fill_occluded_job>(env, exports, "fillOccluded");
}

}  // namespace pc::binding
