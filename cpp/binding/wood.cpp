
#include "binding/coded.h"
#include "binding/column_handle.h"
#include "binding/families.h"
#include "binding/job.h"
#include "binding/js_values.h"
#include "ops/cloud/convert.h"
#include "ops/cloud/select_hits.h"
#include "ops/wood/wood_class.h"
#include "ops/wood/wood_leaf.h"
#include "ops/wood/wood_scatter.h"

namespace pc::binding {

namespace {

WoodLeafParams params_of(const Napi::Value& value) {
  const auto js = strict_object(value, "params");
  return {.method = strict_choice<WoodMethod>(js.Get("method"), "method",
                                              {{"geometric", WoodMethod::kGeometric},
                                               {"connectivity", WoodMethod::kConnectivity},
                                               {"sota", WoodMethod::kSota}}),
          .wood_bias = number_field(js, "wood_bias"),
          .k_min = whole_field<std::uint32_t>(js, "k_min"),
          .k_max = whole_field<std::uint32_t>(js, "k_max"),
          .k_step = whole_field<std::uint32_t>(js, "k_step"),
          .reg_k = whole_field<std::uint32_t>(js, "reg_k"),
          .reg_iters = whole_field<std::uint32_t>(js, "reg_iters"),
          .min_speckle = whole_field<std::uint32_t>(js, "min_speckle"),
          .branch_grow_sph = number_field(js, "branch_grow_sph"),
          .backbone_support = number_field(js, "backbone_support"),
          .voxel_size_m = number_field(js, "voxel_size_m"),
          .most_points = whole_field(js, "most_points"),
          .reflectance_weight_max = number_field(js, "reflectance_weight_max")};
}

/// The reflectance of the hits, of a column of any scalar type.
Column<float> hit_reflectance(const AnyColumn& column, const HitSelection& hits, OpContext& ctx) {
  Column<float> all = float_copy(column, {{0, 0, 0}, 1, false}, ctx);
  if (hits.all_rows()) return all;
  return hit_values<float>(hits, all.view(), ctx);
}

// woodLeaf(positions, skip, reflectance, params: WoodLeafParams, options?): NativeJob<FoundWood>
Napi::Value wood_leaf_job(const Napi::CallbackInfo& info) {
  const auto positions = typed_column(info[0], DType::kVec3d, "positions");
  const auto skip = optional_typed_column(info[1], DType::kU8, "skip");
  const auto reflectance = ColumnHandle::get_optional(info[2]);
  const WoodLeafParams params = params_of(info[3]);
  return start_job<WoodLeafResult>(
      info.Env(), job_options(info[4]),
      [positions, skip, reflectance, params](OpContext& ctx) {
        const Span<const Vec3d> xyz = positions->as<Vec3d>();
        const auto hits = select_hits(xyz, view_or_empty<std::uint8_t>(skip), ctx);
        const Column<float> values =
            reflectance ? hit_reflectance(*reflectance, hits, ctx) : Column<float>(0);
        WoodLeafResult found = wood_leaf(hits.points(), values.view(), params, ctx);
        found.wood_class = on_all_rows(hits, std::move(found.wood_class), xyz.size, std::uint8_t{0}, ctx);
        return found;
      },
      [](Napi::Env env, WoodLeafResult&& found) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("wood_class", ColumnHandle::wrap(env, AnyColumn(std::move(found.wood_class))));
        const auto count = [&](const char* name, std::uint64_t value) {
          out.Set(name, static_cast<double>(value));
        };
        count("num_wood", found.wood_count);
        count("num_leaf", found.leaf_count);
        count("used", found.used_count);
        count("non_finite", found.non_finite_count);
        count("promoted", found.promoted_count);
        count("segments", found.segment_count);
        count("cylinders", found.cylinder_count);
        out.Set("voxel_m", found.voxel_m);
        out.Set("reflectance_weight", found.reflectance_weight);
        out.Set("separated", found.mixture_separated);
        out.Set("warnings", to_js(env, found.warnings));
        return out;
      });
}

// woodScatter(positions, wood_class, options?): NativeJob<{ places, scatter_m: number | null }>
Napi::Value wood_scatter_job(const Napi::CallbackInfo& info) {
  const auto positions = typed_column(info[0], DType::kVec3d, "positions");
  const auto labels = typed_column(info[1], DType::kU8, "wood_class");
  return start_job<WoodScatter>(
      info.Env(), job_options(info[2]),
      [=](OpContext& ctx) { return wood_scatter(positions->as<Vec3d>(), labels->as<std::uint8_t>(), ctx); },
      [](Napi::Env env, WoodScatter&& found) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("places", static_cast<double>(found.places));
        out.Set("scatter_m", number_or_null(env, found.scatter_m));
        return out;
      });
}

// woodLeafCost(points: number, params: WoodLeafParams): { bytes, seconds }
Napi::Value wood_leaf_cost_of(const Napi::CallbackInfo& info) {
  const WoodLeafCost cost = wood_leaf_cost(strict_whole(info[0], "points"), params_of(info[1]));
  auto out = Napi::Object::New(info.Env());
  out.Set("bytes", static_cast<double>(cost.bytes));
  out.Set("seconds", cost.seconds);
  return out;
}

}  // namespace

void register_wood(Napi::Env env, Napi::Object exports) {
  add<wood_leaf_job>(env, exports, "woodLeaf");
  add<wood_scatter_job>(env, exports, "woodScatter");
  add<wood_leaf_cost_of>(env, exports, "woodLeafCost");
}

}  // namespace pc::binding
