#include "binding/coded.h"
#include "binding/column_handle.h"
#include "binding/families.h"
#include "binding/job.h"
#include "binding/js_values.h"
#include "ops/cloud/select_hits.h"
#include "ops/trees/canopy_crowns.h"
#include "ops/trees/fusion_warning.h"
#include "ops/trees/tree_points.h"

namespace pc::binding {

namespace {

Napi::Array indices_to_js(Napi::Env env, const std::vector<std::uint32_t>& values) {
  auto out = Napi::Array::New(env, values.size());
  for (std::uint32_t i = 0; i < values.size(); ++i) out.Set(i, values[i]);
  return out;
}

Napi::Array extent_to_js(Napi::Env env, const Box3d& box) {
  auto out = Napi::Array::New(env, 2);
  out.Set(0U, box.empty() ? 0.0 : box.max.x - box.min.x);
  out.Set(1U, box.empty() ? 0.0 : box.max.y - box.min.y);
  return out;
}

// treePoints(positions, skip, ground, options?): NativeJob<TreePoints>
Napi::Value tree_points_job(const Napi::CallbackInfo& info) {
  const auto positions = typed_column(info[0], DType::kVec3d, "positions");
  const auto skip = optional_typed_column(info[1], DType::kU8, "skip");
  const auto ground = ColumnHandle::get_optional(info[2]);
  return start_job<TreePoints>(
      info.Env(), job_options(info[3]),
      [positions, skip, ground](OpContext& ctx) {
        return tree_points(positions->as<Vec3d>(), view_or_empty<std::uint8_t>(skip), ground.get(), ctx);
      },
      [](Napi::Env env, TreePoints&& found) -> Napi::Value {
        auto out = Napi::Object::New(env);
        const bool labelled = found.not_ground.size() > 0;
        out.Set("skip", ColumnHandle::wrap(env, AnyColumn(std::move(found.skip))));
        out.Set("not_ground",
                labelled ? Napi::Value(ColumnHandle::wrap(env, AnyColumn(std::move(found.not_ground))))
                         : env.Null());
        out.Set("vegetation_count", static_cast<double>(found.vegetation_count));
        out.Set("ground_count", static_cast<double>(found.ground_count));
        out.Set("non_finite_count", static_cast<double>(found.non_finite_count));
        out.Set("extent", extent_to_js(env, found.box));
        return out;
      });
}

// canopyCrowns(positions, skip, not_ground, seeds, params: CanopyCrownsParams, options?): NativeJob<CanopyCrowns>
Napi::Value canopy_crowns_job(const Napi::CallbackInfo& info) {
  const auto positions = typed_column(info[0], DType::kVec3d, "positions");
  const auto skip = typed_column(info[1], DType::kU8, "skip");
  const auto not_ground = optional_typed_column(info[2], DType::kU8, "not_ground");
  const auto seeds = optional_typed_column(info[3], DType::kVec3d, "seeds");
  const auto js = strict_object(info[4], "params");
  const CanopyCrownsParams params{.cell_m = number_field(js, "cell_m"),
                                  .min_height_m = number_field(js, "min_height_m"),
                                  .crown_scale_m = number_field(js, "crown_scale_m")};
  struct Answer {
    CanopyCrownsResult result;
    AnyColumn tree_instance;
  };
  return start_job<Answer>(
      info.Env(), job_options(info[5]),
      [positions, skip, not_ground, seeds, params](OpContext& ctx) {
        const Span<const Vec3d> xyz = positions->as<Vec3d>();
        const auto plants = select_hits(xyz, skip->as<std::uint8_t>(), ctx);
        const auto ground = not_ground ? select_hits(xyz, not_ground->as<std::uint8_t>(), ctx)
                                       : select_hits(Span<const Vec3d>{}, {}, ctx);
        Answer answer{
            canopy_crowns(plants.points(), ground.points(), view_or_empty<Vec3d>(seeds), params, ctx), {}};
        answer.tree_instance = AnyColumn(
            on_all_rows(plants, std::move(answer.result.tree_instance), xyz.size, std::uint32_t{0}, ctx));
        return answer;
      },
      [](Napi::Env env, Answer&& answer) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("tree_instance", ColumnHandle::wrap(env, std::move(answer.tree_instance)));
        out.Set("num_trees", static_cast<double>(answer.result.tops.size()));
        out.Set("empty_seeds", indices_to_js(env, answer.result.empty_seeds));
        out.Set("ground_given", answer.result.ground_given);
        return out;
      });
}

// canopyCrownsCost(points: number, extent: [x, y], cell_m: number): CanopyCrownsCost
Napi::Value canopy_crowns_cost_of(const Napi::CallbackInfo& info) {
  const auto extent = number_array<2>(info[1], "extent");
  const CanopyCrownsCost cost = canopy_crowns_cost(strict_whole(info[0], "points"), extent[0], extent[1],
                                                   strict_number(info[2], "cell_m"));
  auto out = Napi::Object::New(info.Env());
  out.Set("cells", static_cast<double>(cost.cell_count));
  out.Set("bytes", static_cast<double>(cost.bytes));
  out.Set("admissible", cost.admissible);
  out.Set("finest_cell_m", cost.finest_cell_m);
  return out;
}

// fusionWarning(positions, skip, tree_instance, num_trees, options?): NativeJob<FusionFound>
Napi::Value fusion_warning_job(const Napi::CallbackInfo& info) {
  const auto positions = typed_column(info[0], DType::kVec3d, "positions");
  const auto skip = typed_column(info[1], DType::kU8, "skip");
  const auto labels = typed_column(info[2], DType::kU32, "tree_instance");
  const std::uint64_t trees = strict_whole(info[3], "num_trees");
  return start_job<FusionFound>(
      info.Env(), job_options(info[4]),
      [positions, skip, labels, trees](OpContext& ctx) {
        const auto hits = select_hits(positions->as<Vec3d>(), skip->as<std::uint8_t>(), ctx);
        return fusion_warning(hits.points(),
                              hit_values<std::uint32_t>(hits, labels->as<std::uint32_t>(), ctx).view(), trees,
                              ctx);
      },
      [](Napi::Env env, FusionFound&& found) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("fused", static_cast<double>(found.fused_count));
        out.Set("implied", static_cast<double>(found.implied_count));
        return out;
      });
}

}  // namespace

void register_trees(Napi::Env env, Napi::Object exports) {
  add<tree_points_job>(env, exports, "treePoints");
  add<canopy_crowns_job>(env, exports, "canopyCrowns");
  add<canopy_crowns_cost_of>(env, exports, "canopyCrownsCost");
  add<fusion_warning_job>(env, exports, "fusionWarning");
}

}  // namespace pc::binding
