#include <utility>

#include "binding/cloud_edit_values.h"
#include "binding/coded.h"
#include "binding/column_handle.h"
#include "binding/families.h"
#include "binding/job.h"
#include "binding/js_values.h"
#include "binding/qsm_metrics_values.h"
#include "binding/qsm_values.h"
#include "ops/qsm/scan_points.h"
#include "ops/qsm/tree_model.h"

namespace pc::binding {

namespace {

constexpr double kMetresPerMm = 0.001;

/// The rows of a tree, with the columns that they refer to.
struct HeldRows {
  ColumnPtr positions, skip, order, scan_index, time_s, height;
  ModelRows rows;
};

HeldRows held_rows(const Napi::Value& value) {
  const auto js = strict_object(value, "tree");
  HeldRows held{typed_column(js.Get("positions"), DType::kVec3d, "positions"),
                optional_typed_column(js.Get("skip"), DType::kU8, "skip"),
                ColumnHandle::get_optional(js.Get("order")),
                ColumnHandle::get_optional(js.Get("scan_index")),
                ColumnHandle::get_optional(js.Get("time_s")),
                ColumnHandle::get_optional(js.Get("height_above_ground")),
                {}};
  held.rows = {held.positions->as<Vec3d>(),
               view_or_empty<std::uint8_t>(held.skip),
               held.order.get(),
               whole_field(js, "first"),
               whole_field(js, "count"),
               vec3_field(js, "offset"),
               whole_field(js, "max_points"),
               held.scan_index.get(),
               held.time_s.get(),
               bool_field(js, "align_scans"),
               held.height.get(),
               bool_field(js, "leafless")};
  return held;
}

QsmBuildParams build_params(const Napi::Value& value) {
  const auto js = strict_object(value, "params");
  return {.twig_radius_m = number_field(js, "twig_radius_mm") * kMetresPerMm,
          .axis_termination = bool_field(js, "axis_termination"),
          .fork_symmetry = number_field(js, "fork_symmetry"),
          .w_growthlength = number_field(js, "w_growthlength"),
          .w_area = number_field(js, "w_area"),
          .w_colinear = number_field(js, "w_colinear"),
          .radius_model = strict_choice<RadiusModel>(
              js.Get("radius_model"), "radius_model",
              {{"isotonic", RadiusModel::kIsotonic}, {"tapered", RadiusModel::kTapered}})};
}

/// A tree's model, as the op's thread leaves it.
struct Answer {
  TreeModel model;
  QsmTables tables;
};

Napi::Value metrics_to_js(Napi::Env env, const TreeModel& model) {
  if (!model.metrics) return env.Null();
  auto out = to_js(env, *model.metrics);
  out.Set("total_woody_volume_ci95_m3", interval_to_js(env, model.built, model.built.total));
  out.Set("stem_volume_ci95_m3", interval_to_js(env, model.built, model.built.stem));
  out.Set("branch_volume_ci95_m3", interval_to_js(env, model.built, model.built.branches));
  return out;
}

Napi::Value views_to_js(Napi::Env env, const std::optional<TreeViewFit>& views) {
  if (!views) return env.Null();
  auto out = Napi::Object::New(env);
  out.Set("n_views", static_cast<double>(views->views));
  out.Set("spread_m", views->spread_m);
  out.Set("scatter_m", views->scatter_m);
  out.Set("together_m", views->together_m);
  out.Set("sways", views->sways);
  out.Set("aligned", views->aligned);
  return out;
}

// modelTree(tree: ModelRows, params: QsmParams, options?): NativeJob<TreeModel>
Napi::Value model_tree_job(const Napi::CallbackInfo& info) {
  const HeldRows tree = held_rows(info[0]);
  const QsmBuildParams params = build_params(info[1]);
  return start_job<Answer>(
      info.Env(), job_options(info[2]),
      [tree, params](OpContext& ctx) {
        TreeModel model = tree_model(tree.rows, params, ctx);
        QsmTables tables = qsm_tables(model.built.qsm);
        model.built.qsm = {};
        return Answer{std::move(model), std::move(tables)};
      },
      [](Napi::Env env, Answer&& answer) -> Napi::Value {
        const auto& [model, tables] = answer;
        auto out = Napi::Object::New(env);
        out.Set("qsm", to_js(env, std::move(answer.tables)));
        out.Set("metrics", metrics_to_js(env, model));
        out.Set("points_in_tree", static_cast<double>(model.point_count));
        out.Set("points_used", static_cast<double>(model.built.points_used));
        out.Set("points_reached", static_cast<double>(model.built.reached_count));
        out.Set("skeleton_nodes", static_cast<double>(model.built.node_count));
        out.Set("voxel_m", number_or_null(env, model.voxel_m));
        out.Set("view_fit", views_to_js(env, model.views));
        out.Set("base_gap_m", number_or_null(env, model.base_gap_m));
        out.Set("enlarged_by", model.built.scale.factor);
        out.Set("radii_known", model.built.radii_known);
        out.Set("warnings", to_js(env, model.built.warnings));
        return out;
      });
}

// scanPoints(rows: { positions, skip, scan_index, time_s, shift, max_points, source, stamped },
// options?): NativeJob<{ points: vec3d, scan_index: f64 | null, time_s: f64 | null, unusable_count }>
Napi::Value scan_points_job(const Napi::CallbackInfo& info) {
  const auto js = strict_object(info[0], "rows");
  const auto positions = positions_column(js.Get("positions"));
  const auto skip = optional_mask(js.Get("skip"), "skip");
  const auto scan_index = ColumnHandle::get_optional(js.Get("scan_index"));
  const auto time_s = ColumnHandle::get_optional(js.Get("time_s"));
  const Vec3d shift = vec3_field(js, "shift");
  const std::uint64_t max_points = whole_field(js, "max_points");
  const auto source = strict_whole<std::uint32_t>(js.Get("source"), "source");
  const bool stamped = bool_field(js, "stamped");
  return start_job<ScanPoints>(
      info.Env(), job_options(info[1]),
      [=](OpContext& ctx) {
        return scan_points({positions->as<Vec3d>(), view_or_empty<std::uint8_t>(skip), shift,
                            scan_index.get(), time_s.get(), max_points, source, stamped},
                           ctx);
      },
      [stamped](Napi::Env env, ScanPoints&& found) -> Napi::Value {
        const auto column = [&](Column<double>&& values) {
          return stamped ? Napi::Value(ColumnHandle::wrap(env, std::move(values))) : env.Null();
        };
        auto out = Napi::Object::New(env);
        out.Set("points", ColumnHandle::wrap(env, std::move(found.points)));
        out.Set("scan_index", column(std::move(found.scan)));
        out.Set("time_s", column(std::move(found.time_s)));
        out.Set("unusable_count", static_cast<double>(found.unusable_count));
        return out;
      });
}

// modelTreeBytes(points: number, max_points: number, has_views: boolean): number
Napi::Value model_tree_bytes_of(const Napi::CallbackInfo& info) {
  const auto bytes = tree_model_cost(strict_whole(info[0], "points"), strict_whole(info[1], "max_points"),
                                     strict_bool(info[2], "has_views"));
  return Napi::Number::New(info.Env(), static_cast<double>(bytes));
}

}  // namespace

void register_qsm_trees(Napi::Env env, Napi::Object exports) {
  add<model_tree_job>(env, exports, "modelTree");
  add<scan_points_job>(env, exports, "scanPoints");
  add<model_tree_bytes_of>(env, exports, "modelTreeBytes");
}

}  // namespace pc::binding
