#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "binding/coded.h"
#include "binding/column_handle.h"
#include "binding/families.h"
#include "binding/job.h"
#include "binding/js_values.h"
#include "core/parallel.h"
#include "ops/cloud/convert.h"
#include "ops/cloud/select_hits.h"
#include "ops/ground/ground_class.h"
#include "ops/trees/stem_detection.h"
#include "ops/trees/trees_of_stems.h"
#include "ops/trees/trunk_layer.h"

namespace pc::binding {

namespace {

/// Heights of the hits, NaN for those that are ground. `ground` null = none is.
Column<float> heights_of(const HitSelection& hits, Span<const float> heights, const AnyColumn* ground,
                         OpContext& ctx) {
  Column<float> out(hits.size());
  const Span<float> to = out.view();
  const auto fill = [&](auto is_ground) {
    parallel_for(ctx, hits.size(), std::size_t{1} << 18, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const auto row = static_cast<std::size_t>(hits.row(i));
        to[i] = is_ground(row) ? std::numeric_limits<float>::quiet_NaN() : heights[row];
      }
    });
  };
  if (ground == nullptr) {
    fill([](std::size_t) { return false; });
    return out;
  }
  constexpr auto kGround = static_cast<double>(GroundClass::kGround);
  visit_scalar(*ground, [&](auto classes) {
    fill([classes](std::size_t row) { return std::rint(static_cast<double>(classes[row])) == kGround; });
  });
  return out;
}

Napi::Value number_or_null(Napi::Env env, double value) {
  return std::isnan(value) ? env.Null() : Napi::Value(Napi::Number::New(env, value));
}

Napi::Array vector_to_js(Napi::Env env, const Vec3d& v) {
  auto out = Napi::Array::New(env, 3);
  out.Set(0U, v.x);
  out.Set(1U, v.y);
  out.Set(2U, v.z);
  return out;
}

Napi::Object stem_to_js(Napi::Env env, const DetectedStem& stem) {
  auto out = Napi::Object::New(env);
  out.Set("position", vector_to_js(env, stem.position));
  out.Set("axis", vector_to_js(env, stem.axis));
  out.Set("ground_z", stem.ground_z);
  out.Set("radius_m", stem.circle.radius);
  out.Set("n_inliers", static_cast<double>(stem.circle.inlier_count));
  out.Set("arc_coverage", stem.circle.arc_coverage);
  out.Set("rms_m", stem.circle.rms_m);
  out.Set("has_two_columns", stem.has_two_columns);
  return out;
}

Napi::Value found_to_js(Napi::Env env, const StemDetectionResult& found) {
  auto stems = Napi::Array::New(env, found.stems.size());
  for (std::size_t i = 0; i < found.stems.size(); ++i)
    stems.Set(static_cast<std::uint32_t>(i), stem_to_js(env, found.stems[i]));
  auto rejected = Napi::Object::New(env);
  for (std::size_t i = 0; i < kStemRejections; ++i)
    rejected.Set(to_string(static_cast<StemRejection>(i)), static_cast<double>(found.rejected[i]));
  auto out = Napi::Object::New(env);
  out.Set("stems", stems);
  out.Set("layer_points", static_cast<double>(found.layer_points));
  out.Set("clusters", static_cast<double>(found.cluster_count));
  out.Set("rejected", rejected);
  out.Set("beside", static_cast<double>(found.beside));
  out.Set("lowest_height", number_or_null(env, found.lowest_height));
  out.Set("highest_height", number_or_null(env, found.highest_height));
  return out;
}

/// The hits of a cloud that are not ground have a height, the others NaN.
struct StemCloud {
  std::shared_ptr<const AnyColumn> positions, skip, heights, ground;

  HitSelection hits(OpContext& ctx) const {
    require(heights->size() == positions->size() && (!ground || ground->size() == positions->size()),
            "positions, heights and ground must have one length");
    return select_hits(positions->as<Vec3d>(), view_or_empty<std::uint8_t>(skip), ctx);
  }
  Column<float> heights_above_ground(const HitSelection& hits, OpContext& ctx) const {
    Column<float> converted(0);
    if (heights->dtype() != DType::kF32) converted = float_copy(*heights, {{0, 0, 0}, 1, false}, ctx);
    const Span<const float> all =
        heights->dtype() == DType::kF32 ? heights->as<float>() : Span<const float>(converted.view());
    require(all.size == positions->size(), "heights must be one number per row");
    return heights_of(hits, all, ground.get(), ctx);
  }
};

StemCloud cloud_of(const Napi::CallbackInfo& info) {
  return {typed_column(info[0], DType::kVec3d, "positions"),
          optional_typed_column(info[1], DType::kU8, "skip"), ColumnHandle::get(info[2]),
          ColumnHandle::get_optional(info[3])};
}

StemDetectionParams stem_params(const Napi::Value& value) {
  const auto js = strict_object(value, "params");
  return {.band_min_m = number_field(js, "band_min_m"),
          .band_max_m = number_field(js, "band_max_m"),
          .max_diameter_m = number_field(js, "max_diameter_m"),
          .seed = 0};
}

// detectStems(positions, skip, heights, ground, params: StemParams, options?): NativeJob<FoundStems>
Napi::Value detect_stems_job(const Napi::CallbackInfo& info) {
  const StemCloud cloud = cloud_of(info);
  const StemDetectionParams params = stem_params(info[4]);
  return start_job<StemDetectionResult>(
      info.Env(), job_options(info[5]),
      [cloud, params](OpContext& ctx) {
        const auto hits = cloud.hits(ctx);
        const Column<float> heights = cloud.heights_above_ground(hits, ctx);
        return detect_stems(hits.points(), heights.view(), params, ctx);
      },
      [](Napi::Env env, StemDetectionResult&& found) { return found_to_js(env, found); });
}

/// Labels of the hits; what is no whole number above 0 is none.
Column<std::uint32_t> labels_of(const HitSelection& hits, const AnyColumn& trees, OpContext& ctx) {
  Column<std::uint32_t> out(hits.size());
  const Span<std::uint32_t> to = out.view();
  visit_scalar(trees, [&](auto labels) {
    parallel_for(ctx, hits.size(), std::size_t{1} << 18, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const double label = std::rint(static_cast<double>(labels[static_cast<std::size_t>(hits.row(i))]));
        to[i] = label >= 1 && label <= std::numeric_limits<std::uint32_t>::max()
                    ? static_cast<std::uint32_t>(label)
                    : 0;
      }
    });
  });
  return out;
}

// treesOfStems(positions, skip, heights, ground, trees, options?): NativeJob<{ trees: number[], min_m, max_m }>
Napi::Value trees_of_stems_job(const Napi::CallbackInfo& info) {
  const StemCloud cloud = cloud_of(info);
  const auto trees = ColumnHandle::get(info[4]);
  struct Answer {
    std::vector<std::uint32_t> trees;
    TrunkLayer layer;
  };
  return start_job<Answer>(
      info.Env(), job_options(info[5]),
      [cloud, trees](OpContext& ctx) {
        require(trees->size() == cloud.positions->size(), "trees must be one number per row");
        const auto hits = cloud.hits(ctx);
        const Column<float> heights = cloud.heights_above_ground(hits, ctx);
        const TrunkLayer layer = trunk_layer(heights.view(), ctx);
        const StemDetectionResult found = detect_stems(hits.points(), heights.view(),
                                                       {layer.min_m, layer.max_m, kWidestStem, 0, true}, ctx);
        const Column<std::uint32_t> labels = labels_of(hits, *trees, ctx);
        return Answer{trees_of_stems(hits.points(), heights.view(), labels.view(), found.stems, layer, ctx),
                      layer};
      },
      [](Napi::Env env, Answer&& found) -> Napi::Value {
        auto list = Napi::Array::New(env, found.trees.size());
        for (std::size_t i = 0; i < found.trees.size(); ++i)
          list.Set(static_cast<std::uint32_t>(i), found.trees[i]);
        auto out = Napi::Object::New(env);
        out.Set("trees", list);
        out.Set("min_m", found.layer.min_m);
        out.Set("max_m", found.layer.max_m);
        return out;
      });
}

// stemDetectionBytes(points: number): number
Napi::Value stem_detection_bytes_of(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(),
                           static_cast<double>(stem_detection_bytes(strict_whole(info[0], "points"))));
}

}  // namespace

void register_stems(Napi::Env env, Napi::Object exports) {
  add<detect_stems_job>(env, exports, "detectStems");
  add<trees_of_stems_job>(env, exports, "treesOfStems");
  add<stem_detection_bytes_of>(env, exports, "stemDetectionBytes");
}

}  // namespace pc::binding
