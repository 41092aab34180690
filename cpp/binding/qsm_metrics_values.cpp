#include "binding/qsm_metrics_values.h"

#include "binding/js_values.h"

namespace pc::binding {

namespace {

constexpr double kMillimetres = 1000, kDegrees = 180 / 3.14159265358979323846;

Napi::Object rank_to_js(Napi::Env env, const QsmRankMetrics& rank) {
  auto out = Napi::Object::New(env);
  out.Set("rank", rank.rank);
  out.Set("n_shoots", static_cast<double>(rank.shoot_count));
  out.Set("total_length_m", rank.total_length_m);
  out.Set("mean_shoot_length_m", rank.mean_shoot_length_m);
  out.Set("woody_volume_m3", rank.woody_volume_m3);
  out.Set("mean_diameter_mm", rank.mean_diameter_m * kMillimetres);
  out.Set("mean_branch_angle_deg", number_or_null(env, rank.mean_branch_angle_rad * kDegrees));
  return out;
}

}  // namespace

Napi::Object to_js(Napi::Env env, const QsmMetrics& metrics) {
  auto ranks = Napi::Array::New(env, metrics.per_rank.size());
  for (std::size_t i = 0; i < metrics.per_rank.size(); ++i)
    ranks.Set(static_cast<std::uint32_t>(i), rank_to_js(env, metrics.per_rank[i]));
  auto out = Napi::Object::New(env);
  out.Set("tcsa_m2", metrics.tcsa_m2);
  out.Set("trunk_diameter_mm", metrics.trunk_diameter_m * kMillimetres);
  out.Set("tree_height_m", metrics.tree_height_m);
  out.Set("n_scaffolds", static_cast<double>(metrics.scaffold_count));
  out.Set("n_shoots_total", static_cast<double>(metrics.shoot_count));
  out.Set("max_rank", metrics.max_rank);
  out.Set("total_woody_volume_m3", metrics.total_woody_volume_m3);
  out.Set("stem_volume_m3", metrics.stem_volume_m3);
  out.Set("branch_volume_m3", metrics.branch_volume_m3);
  out.Set("total_length_m", metrics.total_length_m);
  out.Set("canopy_width_m", metrics.canopy_width_m);
  out.Set("canopy_height_m", metrics.canopy_height_m);
  out.Set("per_rank", ranks);
  return out;
}

Napi::Value interval_to_js(Napi::Env env, const QsmBuildResult& built, const VolumeInterval& interval) {
  if (!built.has_intervals) return env.Null();
  auto out = Napi::Array::New(env, 2);
  out.Set(0U, interval.low);
  out.Set(1U, interval.high);
  return out;
}

}  // namespace pc::binding
