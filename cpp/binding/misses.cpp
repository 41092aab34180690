#include "binding/cloud_values.h"
#include "binding/coded.h"
#include "binding/job.h"
#include "binding/js_values.h"
#include "ops/cloud/mask_logic.h"
#include "ops/cloud/miss_detection.h"
#include "ops/cloud/project_misses.h"
#include "ops/cloud/select_hits.h"

namespace pc::binding {

Napi::Value optional_number(Napi::Env env, const std::optional<double>& value) {
  return value ? number_or_null(env, *value) : env.Null();
}

Napi::Object to_js(Napi::Env env, const ColumnStats& stats) {
  auto out = Napi::Object::New(env);
  out.Set("min", optional_number(env, stats.min));
  out.Set("max", optional_number(env, stats.max));
  out.Set("p01", optional_number(env, stats.p1));
  out.Set("p99", optional_number(env, stats.p99));
  out.Set("finite_count", static_cast<double>(stats.finite_count));
  out.Set("nan_count", static_cast<double>(stats.nan_count));
  out.Set("infinite_count", static_cast<double>(stats.infinite_count));
  out.Set("is_constant", stats.is_constant);
  out.Set("is_integral", stats.is_integral);
  if (!stats.distinct) {
    out.Set("distinct", env.Null());
    return out;
  }
  auto distinct = Napi::Array::New(env, stats.distinct->size());
  for (std::size_t i = 0; i < stats.distinct->size(); ++i) {
    distinct.Set(static_cast<std::uint32_t>(i), static_cast<double>((*stats.distinct)[i]));
  }
  out.Set("distinct", distinct);
  return out;
}

namespace {

std::optional<Vec3d> optional_vec3(const Napi::Object& object, const char* name) {
  if (is_nothing(object.Get(name))) return std::nullopt;
  return vec3_field(object, name);
}

// hitMask(isMiss: NativeColumn | null, deleted: NativeColumn | null, rows: number): NativeJob<HitMask>
Napi::Value hit_mask_job(const Napi::CallbackInfo& info) {
  const auto is_miss = ColumnHandle::get_optional(info[0]);
  const auto deleted = optional_typed_column(info[1], DType::kU8, "deleted");
  const auto rows = strict_whole<std::size_t>(info[2], "rows");
  return start_job<HitMask>(
      info.Env(), job_options(info[3]),
      [=](OpContext& ctx) {
        return hit_mask(rows, is_miss.get(), view_or_empty<std::uint8_t>(deleted), ctx);
      },
      [rows](Napi::Env env, HitMask&& mask) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("hit_count", static_cast<double>(mask.hit_count));
        out.Set("miss_count", static_cast<double>(mask.miss_count));
        out.Set("deleted_count", static_cast<double>(mask.deleted_count));
        const bool all = mask.hit_count == rows;
        out.Set("skip", all ? env.Null() : Napi::Value(ColumnHandle::wrap(env, std::move(mask.skip))));
        return out;
      });
}

// combineMasks(terms: { mask: NativeColumn, invert: boolean }[], how: "and" | "or"): NativeJob<CombinedMask>
Napi::Value combine_masks_job(const Napi::CallbackInfo& info) {
  const auto list = strict_array(info[0], "terms");
  std::vector<std::pair<ColumnPtr, bool>> terms;
  for (std::uint32_t i = 0; i < list.Length(); ++i) {
    const auto term = strict_object(list.Get(i), "term");
    terms.emplace_back(typed_column(term.Get("mask"), DType::kU8, "mask"), bool_field(term, "invert"));
  }
  const auto logic =
      strict_choice<MaskLogic>(info[1], "how", {{"and", MaskLogic::kAnd}, {"or", MaskLogic::kOr}});
  return start_job<CombinedMask>(
      info.Env(), job_options(info[2]),
      [terms = std::move(terms), logic](OpContext& ctx) {
        std::vector<MaskTerm> views;
        for (const auto& [mask, invert] : terms) views.push_back({mask->as<std::uint8_t>(), invert});
        return combine_masks(views, logic, ctx);
      },
      [](Napi::Env env, CombinedMask&& result) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("mask", ColumnHandle::wrap(env, std::move(result.mask)));
        out.Set("count", static_cast<double>(result.count));
        return out;
      });
}

// detectMisses(input: { positions, is_miss, target_index, beam_origins, origin }, far_range_m): NativeJob<MissDetection>
Napi::Value detect_misses_job(const Napi::CallbackInfo& info) {
  const auto js = strict_object(info[0], "input");
  const auto positions = typed_column(js.Get("positions"), DType::kVec3d, "positions");
  const auto is_miss = ColumnHandle::get_optional(js.Get("is_miss"));
  const auto target_index = ColumnHandle::get_optional(js.Get("target_index"));
  const auto beam_origins = optional_typed_column(js.Get("beam_origins"), DType::kVec3d, "beam_origins");
  const auto origin = optional_vec3(js, "origin");
  const MissDetectionParams params{strict_number(info[1], "far_range_m")};
  return start_job<MissDetectionResult>(
      info.Env(), job_options(info[2]),
      [=](OpContext& ctx) {
        return detect_misses({positions->as<Vec3d>(), is_miss.get(), target_index.get(), origin,
                              view_or_empty<Vec3d>(beam_origins)},
                             params, ctx);
      },
      [](Napi::Env env, MissDetectionResult&& found) -> Napi::Value {
        auto out = Napi::Object::New(env);
        const bool detected = found.source == MissSource::kDetected;
        out.Set("is_miss",
                detected ? Napi::Value(ColumnHandle::wrap(env, std::move(found.is_miss))) : env.Null());
        out.Set("by_target_index", detected ? static_cast<double>(found.target_index_count) : 0.0);
        out.Set("by_distance", detected ? static_cast<double>(found.distance_count) : 0.0);
        return out;
      });
}

// projectMisses(positions, is_miss | null, deleted | null, { origin, recovered: vec3d | null }): NativeJob<NativeColumn>
Napi::Value project_misses_job(const Napi::CallbackInfo& info) {
  const auto positions = typed_column(info[0], DType::kVec3d, "positions");
  const auto is_miss = ColumnHandle::get_optional(info[1]);
  const auto deleted = optional_typed_column(info[2], DType::kU8, "deleted");
  const auto js = strict_object(info[3], "scanner");
  const auto origin = optional_vec3(js, "origin");
  const auto recovered = optional_typed_column(js.Get("recovered"), DType::kVec3d, "recovered");
  return start_job<AnyColumn>(
      info.Env(), job_options(info[4]),
      [=](OpContext& ctx) {
        return AnyColumn(miss_overlay(positions->as<Vec3d>(), is_miss.get(),
                                      view_or_empty<std::uint8_t>(deleted), view_or_empty<Vec3d>(recovered),
                                      origin, ctx));
      },
      [](Napi::Env env, AnyColumn&& column) -> Napi::Value {
        return ColumnHandle::wrap(env, std::move(column));
      });
}

}  // namespace

void register_misses(Napi::Env env, Napi::Object exports) {
  add<hit_mask_job>(env, exports, "hitMask");
  add<combine_masks_job>(env, exports, "combineMasks");
  add<detect_misses_job>(env, exports, "detectMisses");
  add<project_misses_job>(env, exports, "projectMisses");
}

}  // namespace pc::binding
