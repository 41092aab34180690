#include <cmath>
#include <optional>

#include "binding/cloud_edit_values.h"
#include "binding/coded.h"
#include "binding/families.h"
#include "binding/js_values.h"
#include "ops/cloud/thin_rows.h"
#include "ops/fit/crown_shapes.h"
#include "ops/fit/ground_under_trees.h"

namespace pc::binding {

namespace {

template <class Numbers>
Napi::Array flat_to_js(Napi::Env env, const Numbers& numbers) {
  auto out = Napi::Array::New(env, numbers.size());
  std::uint32_t at = 0;
  for (const auto number : numbers) out.Set(at++, static_cast<double>(number));
  return out;
}

Napi::Array triples_to_js(Napi::Env env, const std::vector<Vec3d>& triples) {
  auto out = Napi::Array::New(env, 3 * triples.size());
  std::uint32_t at = 0;
  for (const Vec3d& triple : triples)
    for (const double number : {triple.x, triple.y, triple.z}) out.Set(at++, number);
  return out;
}

Napi::Object crown_to_js(Napi::Env env, const Crown& crown) {
  auto out = Napi::Object::New(env);
  out.Set("center", to_js(env, crown.solid.center));
  out.Set("half", to_js(env, crown.solid.half));
  out.Set("volume_m3", crown.volume_m3);
  out.Set("surface_area_m2", crown.surface_area_m2);
  out.Set("enclosed_count", static_cast<double>(crown.enclosed_count));
  out.Set("highest_z", crown.highest_z);
  out.Set("flat", crown.flat);
  out.Set("vertices", triples_to_js(env, crown.mesh.vertices));
  out.Set("normals", triples_to_js(env, crown.mesh.normals));
  out.Set("triangles", flat_to_js(env, crown.mesh.triangles));
  out.Set("alpha_m", crown.alpha ? Napi::Value(Napi::Number::New(env, crown.alpha->alpha_m)) : env.Null());
  out.Set("holds_enough", !crown.alpha || crown.alpha->holds_enough);
  out.Set("growth_of_doubled", crown.alpha ? crown.alpha->growth_of_doubled : 1.0);
  out.Set("share_of_half", crown.alpha ? crown.alpha->share_of_half : 1.0);
  out.Set("share_of_all", crown.share_of_all);
  out.Set("watertight", !crown.alpha || crown.alpha->watertight);
  return out;
}

/// A tree's rows, with the columns that they refer to.
struct HeldTree {
  ColumnPtr positions, skip, order, ground_class, wood_class;
  TreeRows rows;
};

HeldTree held_tree(const Napi::Object& js) {
  HeldTree tree{positions_column(js.Get("positions")),
                optional_mask(js.Get("skip"), "skip"),
                ColumnHandle::get_optional(js.Get("order")),
                ColumnHandle::get_optional(js.Get("ground_class")),
                ColumnHandle::get_optional(js.Get("wood_class")),
                {}};
  tree.rows = {tree.positions->as<Vec3d>(),
               view_or_empty<std::uint8_t>(tree.skip),
               tree.order.get(),
               whole_field(js, "first"),
               whole_field(js, "count"),
               tree.ground_class.get(),
               tree.wood_class.get(),
               bool_field(js, "leaf_only")};
  return tree;
}

// fitCrown(tree: TreeRows, params: { shape, strictness, offset, alpha_m, most_triangles }): NativeJob<CrownFit>
Napi::Value fit_crown_job(const Napi::CallbackInfo& info) {
  const HeldTree tree = held_tree(strict_object(info[0], "tree"));
  const auto js = strict_object(info[1], "params");
  const auto alpha_m = js.Get("alpha_m");
  const CrownParams params{
      strict_choice<std::optional<CrownShape>>(js.Get("shape"), "shape",
                                               {{"ellipsoid", CrownShape::kEllipsoid},
                                                {"prism", CrownShape::kPrism},
                                                {"cone", CrownShape::kCone},
                                                {"alpha", std::nullopt}}),
      number_field(js, "strictness"), vec3_field(js, "offset"),
      is_nothing(alpha_m) ? std::nullopt : std::optional(strict_number(alpha_m, "alpha_m")),
      whole_field(js, "most_triangles")};
  return start_job<CrownFit>(
      info.Env(), job_options(info[2]), [=](OpContext& ctx) { return fit_crown(tree.rows, params, ctx); },
      [](Napi::Env env, CrownFit&& fit) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("crown_point_count", static_cast<double>(fit.crown_point_count));
        out.Set("unusable_count", static_cast<double>(fit.unusable_count));
        out.Set("tree_box", to_js(env, fit.tree_box.value_or(Box3d{})));
        out.Set("lowest_z", number_or_null(env, fit.lowest_z.value_or(std::nan(""))));
        out.Set("ground_z", number_or_null(env, fit.ground_z.value_or(std::nan(""))));
        out.Set("crown", fit.crown ? Napi::Value(crown_to_js(env, *fit.crown)) : env.Null());
        return out;
      });
}

// crownFitBytes(points, alpha_shape): number
Napi::Value crown_fit_bytes_of(const Napi::CallbackInfo& info) {
  return Napi::Number::New(
      info.Env(), static_cast<double>(
                      crown_fit_bytes(strict_whole(info[0], "points"), strict_bool(info[1], "alpha_shape"))));
}

// groundUnderTrees(positions, skip, ground_class, boxes: number[]): NativeJob<(number | null)[]>
Napi::Value ground_under_trees_job(const Napi::CallbackInfo& info) {
  const auto positions = positions_column(info[0]);
  const auto skip = optional_mask(info[1], "skip");
  const auto ground_class = ColumnHandle::get(info[2]);
  const std::vector<double> flat = number_list(info[3], "boxes");
  if (flat.size() % 4 != 0) refuse("boxes", "min_x, min_y, max_x, max_y of each tree");
  std::vector<Box3d> boxes;
  for (std::size_t i = 0; i < flat.size(); i += 4)
    boxes.push_back({{flat[i], flat[i + 1], 0}, {flat[i + 2], flat[i + 3], 0}});
  return start_job<std::vector<double>>(
      info.Env(), job_options(info[4]),
      [=](OpContext& ctx) {
        return ground_under_trees(positions->as<Vec3d>(), view_or_empty<std::uint8_t>(skip), *ground_class,
                                  boxes, ctx);
      },
      [](Napi::Env env, std::vector<double>&& heights) -> Napi::Value {
        auto out = Napi::Array::New(env, heights.size());
        std::uint32_t at = 0;
        for (const double z : heights) out.Set(at++, number_or_null(env, z));
        return out;
      });
}

// thinRows(rows, skip | null, stride): NativeJob<NativeColumn>
Napi::Value thin_rows_job(const Napi::CallbackInfo& info) {
  const auto rows = strict_whole<std::size_t>(info[0], "rows");
  const auto skip = optional_mask(info[1], "skip");
  const auto stride = strict_whole(info[2], "stride");
  return start_job<Column<std::uint8_t>>(
      info.Env(), job_options(info[3]),
      [=](OpContext& ctx) { return thin_rows(rows, view_or_empty<std::uint8_t>(skip), stride, ctx); },
      [](Napi::Env env, Column<std::uint8_t>&& mask) -> Napi::Value {
        return ColumnHandle::wrap(env, std::move(mask));
      });
}

}  // namespace

void register_fit(Napi::Env env, Napi::Object exports) {
  add<fit_crown_job>(env, exports, "fitCrown");
  add<crown_fit_bytes_of>(env, exports, "crownFitBytes");
  add<ground_under_trees_job>(env, exports, "groundUnderTrees");
  add<thin_rows_job>(env, exports, "thinRows");
}

}  // namespace pc::binding
