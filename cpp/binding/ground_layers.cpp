#include "ops/ground/ground_layers.h"

#include <optional>
#include <utility>

#include "binding/coded.h"
#include "binding/column_handle.h"
#include "binding/families.h"
#include "binding/job.h"
#include "binding/js_values.h"
#include "ops/ground/ground_residual.h"

namespace pc::binding {

namespace {

Napi::Value layers_to_js(Napi::Env env, std::optional<GroundLayers>&& found) {
  if (!found) return env.Null();
  auto out = Napi::Object::New(env);
  out.Set("z_m", found->z_m);
  out.Set("spread_m", found->spread_m);
  out.Set("share", found->share);
  out.Set("n_places", static_cast<double>(found->n_places));
  out.Set("n_both", static_cast<double>(found->n_both));
  out.Set("cell_m", found->cell_m);
  auto scans = Napi::Array::New(env, found->scans.size());
  for (std::uint32_t k = 0; k < found->scans.size(); ++k) {
    auto one = Napi::Object::New(env);
    one.Set("scan", found->scans[k].scan);
    one.Set("side", scan_side(found->scans[k]));
    scans.Set(k, one);
  }
  out.Set("scans", scans);
  return out;
}

// groundLayers(positions, skip, scans | null, options?): NativeJob<GroundLayers | null>
Napi::Value ground_layers_job(const Napi::CallbackInfo& info) {
  const auto positions = typed_column(info[0], DType::kVec3d, "positions");
  const auto skip = optional_typed_column(info[1], DType::kU8, "skip");
  const ColumnPtr scans = info[2].IsNull() ? nullptr : ColumnHandle::get(info[2]);
  return start_job<std::optional<GroundLayers>>(
      info.Env(), job_options(info[3]),
      [positions, skip, scans](OpContext& ctx) {
        return ground_layers(positions->as<Vec3d>(), view_or_empty<std::uint8_t>(skip), scans.get(), ctx);
      },
      layers_to_js);
}

// groundResidual(positions, labels, options?): NativeJob<number>; NaN = unknown
Napi::Value ground_residual_job(const Napi::CallbackInfo& info) {
  const auto positions = typed_column(info[0], DType::kVec3d, "positions");
  const auto labels = typed_column(info[1], DType::kU8, "labels");
  return start_job<double>(
      info.Env(), job_options(info[2]),
      [positions, labels](OpContext& ctx) {
        return ground_residual(positions->as<Vec3d>(), labels->as<std::uint8_t>(), ctx);
      },
      [](Napi::Env env, double found) -> Napi::Value { return Napi::Number::New(env, found); });
}

}  // namespace

void register_ground_layers(Napi::Env env, Napi::Object exports) {
  add<ground_layers_job>(env, exports, "groundLayers");
  add<ground_residual_job>(env, exports, "groundResidual");
}

}  // namespace pc::binding
