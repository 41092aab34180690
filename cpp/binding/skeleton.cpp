#include "binding/cloud_edit_values.h"
#include "binding/coded.h"
#include "binding/families.h"
#include "binding/js_values.h"
#include "ops/skeleton/level_set_skeleton.h"

namespace pc::binding {

namespace {

/// Numbers of a block: centre, level, points, parent.
constexpr std::size_t kBlockWidth = 6;

const char* name_of(SkeletonFailure failure) {
  switch (failure) {
    case SkeletonFailure::kNone:
      return nullptr;
    case SkeletonFailure::kFewPoints:
      return "few_points";
    case SkeletonFailure::kFewAfterOutliers:
      return "few_after_outliers";
    case SkeletonFailure::kNoRoots:
      return "no_roots";
    case SkeletonFailure::kUnreached:
      return "unreached";
    case SkeletonFailure::kNoBlocks:
      return "no_blocks";
    case SkeletonFailure::kFewBlocks:
      return "few_blocks";
  }
  return "internal";
}

template <class T, class Values>
Napi::Value table_to_js(Napi::Env env, const std::vector<Values>& rows, std::size_t width, const auto& fill) {
  Column<T> table(rows.size() * width);
  for (std::size_t i = 0; i < rows.size(); ++i) fill(rows[i], table.view().data + i * width);
  return ColumnHandle::wrap(env, std::move(table));
}

Napi::Value blocks_to_js(Napi::Env env, const std::vector<SkeletonBlock>& blocks, const Vec3d& offset) {
  return table_to_js<double>(env, blocks, kBlockWidth, [&](const SkeletonBlock& block, double* out) {
    const Vec3d center = block.center + offset;
    out[0] = center.x;
    out[1] = center.y;
    out[2] = center.z;
    out[3] = block.level;
    out[4] = static_cast<double>(block.num_points);
    out[5] = block.parent == kNoBlock ? -1.0 : static_cast<double>(block.parent);
  });
}

Napi::Value points_to_js(Napi::Env env, const std::vector<Vec3d>& points, const Vec3d& offset) {
  return table_to_js<double>(env, points, 3, [&](const Vec3d& point, double* out) {
    out[0] = point.x + offset.x;
    out[1] = point.y + offset.y;
    out[2] = point.z + offset.z;
  });
}

Napi::Object skeleton_to_js(Napi::Env env, const Skeleton& skeleton, const Vec3d& offset) {
  auto out = Napi::Object::New(env);
  const char* failure = name_of(skeleton.failure);
  out.Set("failure", failure == nullptr ? env.Null() : Napi::Value(Napi::String::New(env, failure)));
  out.Set("points_before", static_cast<double>(skeleton.points_before));
  out.Set("points_after", static_cast<double>(skeleton.points_after));
  out.Set("non_finite", static_cast<double>(skeleton.non_finite));
  out.Set("reached", static_cast<double>(skeleton.reached));
  out.Set("crowded", static_cast<double>(skeleton.crowded));
  out.Set("search_radius_m", skeleton.search_radius_m);
  out.Set("blocks_before", static_cast<double>(skeleton.blocks_before));
  out.Set("blocks_after", static_cast<double>(skeleton.blocks_after));
  out.Set("joined_roots", static_cast<double>(skeleton.joined_roots));
  out.Set("total_length_m", skeleton.total_length_m);
  out.Set("blocks", blocks_to_js(env, skeleton.blocks, offset));
  out.Set("points", points_to_js(env, skeleton.points, offset));
  out.Set("edges",
          table_to_js<std::uint32_t>(env, skeleton.edges, 2, [](const auto& edge, std::uint32_t* to) {
            to[0] = edge.first;
            to[1] = edge.second;
          }));
  out.Set("branch_orders",
          table_to_js<std::uint32_t>(env, skeleton.branch_orders, 1,
                                     [](std::uint32_t order, std::uint32_t* to) { *to = order; }));
  return out;
}

SkeletonParams params_of(const Napi::Object& js) {
  const auto radius = js.Get("search_radius_m");
  return {bool_field(js, "remove_outliers"),
          whole_field<std::uint32_t>(js, "outlier_nb_neighbors"),
          number_field(js, "outlier_std_ratio"),
          is_nothing(radius) ? std::nullopt : std::optional(strict_number(radius, "search_radius_m")),
          whole_field<std::uint32_t>(js, "max_neighbors"),
          number_field(js, "root_threshold_m"),
          whole_field<std::uint32_t>(js, "quantization_levels"),
          bool_field(js, "use_nonlinear_quantization"),
          whole_field(js, "threshold_filter"),
          bool_field(js, "use_proportion_filter"),
          number_field(js, "proportion_threshold"),
          bool_field(js, "smooth_skeleton"),
          whole_field<std::uint32_t>(js, "smoothing_iterations"),
          bool_field(js, "recenter")};
}

// levelSetSkeleton(positions, skip | null, params, offset): NativeJob<NativeSkeleton>
Napi::Value level_set_skeleton_job(const Napi::CallbackInfo& info) {
  const auto positions = positions_column(info[0]);
  const auto skip = optional_mask(info[1], "skip");
  const SkeletonParams params = params_of(strict_object(info[2], "params"));
  const Vec3d offset = number_triple(info[3], "offset");
  return start_job<Skeleton>(
      info.Env(), job_options(info[4]),
      [=](OpContext& ctx) {
        return level_set_skeleton(positions->as<Vec3d>(), view_or_empty<std::uint8_t>(skip), params, ctx);
      },
      [offset](Napi::Env env, Skeleton&& skeleton) -> Napi::Value {
        return skeleton_to_js(env, skeleton, offset);
      });
}

// skeletonBytes(points, max_neighbors): number
Napi::Value skeleton_bytes_of(const Napi::CallbackInfo& info) {
  const auto neighbors = strict_whole<std::uint32_t>(info[1], "max_neighbors");
  return Napi::Number::New(info.Env(),
                           static_cast<double>(skeleton_bytes(strict_whole(info[0], "points"), neighbors)));
}

}  // namespace

void register_skeleton(Napi::Env env, Napi::Object exports) {
  add<level_set_skeleton_job>(env, exports, "levelSetSkeleton");
  add<skeleton_bytes_of>(env, exports, "skeletonBytes");
}

}  // namespace pc::binding
