#include <optional>
#include <vector>

#include "binding/cloud_edit_values.h"
#include "binding/coded.h"
#include "binding/families.h"
#include "binding/js_values.h"
#include "ops/ray/beam_lines.h"
#include "ops/ray/miss_sphere.h"

namespace pc::binding {

namespace {

/// Poses with what trajectory_join needs besides.
struct HeldPoses {
  ColumnPtr poses;
  Vec3d lever_arm, shift;
};

std::optional<HeldPoses> held_poses(const Napi::Value& value) {
  if (is_nothing(value)) return std::nullopt;
  const auto js = strict_object(value, "trajectory");
  return HeldPoses{typed_column(js.Get("poses"), DType::kF64, "poses"), vec3_field(js, "lever_arm"),
                   vec3_field(js, "shift")};
}

struct Fits {
  OriginFit origin;
  std::optional<ClockFit> clock;
};

// originFit(rows: { positions, origins, times, target_index, is_miss }, trajectory: { poses: f64, lever_arm, shift } | null):
// NativeJob<{ line_count, off_m, shift, shift_error_m, shifted_off_m, clock: { clock_s, off_m, moved_m } | null }>
Napi::Value origin_fit_job(const Napi::CallbackInfo& info) {
  const auto js = strict_object(info[0], "rows");
  const auto positions = positions_column(js.Get("positions"));
  const auto origins = typed_column(js.Get("origins"), DType::kVec3d, "origins");
  const auto times = typed_column(js.Get("times"), DType::kF64, "times");
  const auto target_index = ColumnHandle::get(js.Get("target_index"));
  const auto is_miss = ColumnHandle::get_optional(js.Get("is_miss"));
  const auto poses = held_poses(info[1]);
  return start_job<Fits>(
      info.Env(), job_options(info[2]),
      [=](OpContext& ctx) {
        const std::vector<BeamLine> found =
            beam_lines({positions->as<Vec3d>(), origins->as<Vec3d>(), times->as<double>(), target_index.get(),
                        is_miss.get()},
                       ctx);
        const Span<const BeamLine> lines{found.data(), found.size()};
        Fits fits{origin_fit(lines, ctx), std::nullopt};
        if (poses && !found.empty())
          fits.clock = clock_fit(lines, poses->poses->as<double>(), poses->lever_arm, poses->shift, ctx);
        return fits;
      },
      [](Napi::Env env, Fits&& fits) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("line_count", static_cast<double>(fits.origin.line_count));
        out.Set("off_m", fits.origin.off_m);
        out.Set("shift", to_js(env, fits.origin.shift));
        out.Set("shift_error_m", fits.origin.shift_error_m);
        out.Set("shifted_off_m", fits.origin.shifted_off_m);
        out.Set("clock", env.Null());
        if (fits.clock) {
          auto clock = Napi::Object::New(env);
          clock.Set("clock_s", fits.clock->clock_s);
          clock.Set("off_m", number_or_null(env, fits.clock->off_m));
          clock.Set("moved_m", number_or_null(env, fits.clock->moved_m));
          out.Set("clock", clock);
        }
        return out;
      });
}

// missSphere({ positions, is_miss, origin }): NativeJob<{ count, center, radius_m, spread_m, spread_from_origin_m }>
Napi::Value miss_sphere_job(const Napi::CallbackInfo& info) {
  const auto js = strict_object(info[0], "rows");
  const auto positions = positions_column(js.Get("positions"));
  const auto is_miss = ColumnHandle::get(js.Get("is_miss"));
  const Vec3d origin = vec3_field(js, "origin");
  return start_job<MissSphere>(
      info.Env(), job_options(info[1]),
      [=](OpContext& ctx) { return miss_sphere(positions->as<Vec3d>(), *is_miss, origin, ctx); },
      [](Napi::Env env, MissSphere&& found) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("count", static_cast<double>(found.count));
        out.Set("center", to_js(env, found.center));
        out.Set("radius_m", found.radius_m);
        out.Set("spread_m", found.spread_m);
        out.Set("spread_from_origin_m", found.spread_from_origin_m);
        return out;
      });
}

}  // namespace

void register_beam_origins(Napi::Env env, Napi::Object exports) {
  add<origin_fit_job>(env, exports, "originFit");
  add<miss_sphere_job>(env, exports, "missSphere");
}

}  // namespace pc::binding
