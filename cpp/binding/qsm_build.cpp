#include <string>

#include "binding/coded.h"
#include "binding/column_handle.h"
#include "binding/families.h"
#include "binding/job.h"
#include "binding/js_values.h"
#include "binding/qsm_metrics_values.h"
#include "binding/qsm_values.h"
#include "core/error.h"
#include "ops/cloud/select_hits.h"
#include "ops/qsm/build_qsm.h"

namespace pc::binding {

namespace {

RadiusModel radius_model_of(const std::string& name) {
  if (name == "isotonic") return RadiusModel::kIsotonic;
  if (name == "tapered") return RadiusModel::kTapered;
  throw Error(ErrorCode::kInvalidArgument, "radius_model must be isotonic or tapered, not " + name);
}

struct Built {
  QsmTables tables;
  QsmBuildResult result;
};

// buildQsm(positions, skip, params: QsmBuildParams, options?): NativeJob<BuiltQsm>
Napi::Value build_qsm_job(const Napi::CallbackInfo& info) {
  const auto positions = typed_column(info[0], DType::kVec3d, "positions");
  const auto skip = optional_typed_column(info[1], DType::kU8, "skip");
  const auto js = strict_object(info[2], "params");
  const QsmBuildParams params{.twig_radius_m = number_field(js, "twig_radius_mm") / 1000,
                              .axis_termination = bool_field(js, "axis_termination"),
                              .fork_symmetry = number_field(js, "fork_symmetry"),
                              .w_growthlength = number_field(js, "w_growthlength"),
                              .w_area = number_field(js, "w_area"),
                              .w_colinear = number_field(js, "w_colinear"),
                              .radius_model = radius_model_of(string_field(js, "radius_model"))};
  return start_job<Built>(
      info.Env(), job_options(info[3]),
      [positions, skip, params](OpContext& ctx) {
        const auto hits = select_hits(positions->as<Vec3d>(), view_or_empty<std::uint8_t>(skip), ctx);
        QsmBuildResult result = build_qsm(hits.points(), params, ctx);
        QsmTables tables = qsm_tables(result.qsm);
        result.qsm = {};
        return Built{std::move(tables), std::move(result)};
      },
      [](Napi::Env env, Built&& built) -> Napi::Value {
        const QsmBuildResult& result = built.result;
        auto out = Napi::Object::New(env);
        out.Set("qsm", to_js(env, std::move(built.tables)));
        out.Set("total_volume_ci95_m3", interval_to_js(env, result, result.total));
        out.Set("stem_volume_ci95_m3", interval_to_js(env, result, result.stem));
        out.Set("branch_volume_ci95_m3", interval_to_js(env, result, result.branches));
        out.Set("points_used", static_cast<double>(result.points_used));
        out.Set("reached", static_cast<double>(result.reached_count));
        out.Set("nodes", static_cast<double>(result.node_count));
        auto warnings = Napi::Array::New(env, result.warnings.size());
        for (std::uint32_t i = 0; i < result.warnings.size(); ++i) warnings.Set(i, result.warnings[i]);
        out.Set("warnings", warnings);
        return out;
      });
}

// buildQsmCost(points: number): number
Napi::Value build_qsm_cost_of(const Napi::CallbackInfo& info) {
  const std::uint64_t bytes = build_qsm_cost(strict_whole(info[0], "points"));
  return Napi::Number::New(info.Env(), static_cast<double>(bytes));
}

}  // namespace

void register_qsm_build(Napi::Env env, Napi::Object exports) {
  add<build_qsm_job>(env, exports, "buildQsm");
  add<build_qsm_cost_of>(env, exports, "buildQsmCost");
}

}  // namespace pc::binding
