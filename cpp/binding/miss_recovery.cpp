#include "ops/misses/miss_recovery.h"

#include "binding/cloud_values.h"
#include "binding/coded.h"
#include "binding/families.h"
#include "binding/job.h"
#include "binding/js_values.h"
#include "ops/misses/clock_check.h"
#include "ops/ray/scanner_frame.h"

namespace pc::binding {

namespace {

const char* name_of(PulseClock clock) {
  switch (clock) {
    case PulseClock::kUsable:
      return "usable";
    case PulseClock::kConstant:
      return "constant";
    case PulseClock::kUntimed:
      return "untimed";
    case PulseClock::kRounded:
      return "rounded";
  }
  return "";
}

// checkPulseClock(rows: { positions, times, skip | null }, origin, most_angle_rad): NativeJob<string>
Napi::Value check_pulse_clock_job(const Napi::CallbackInfo& info) {
  const auto js = strict_object(info[0], "rows");
  const auto positions = typed_column(js.Get("positions"), DType::kVec3d, "positions");
  const auto times = typed_column(js.Get("times"), DType::kF64, "times");
  const auto skip = optional_typed_column(js.Get("skip"), DType::kU8, "skip");
  const Vec3d origin = vec3_field(strict_object(info[1], "scanner"), "origin");
  const double most_angle_rad = strict_number(info[2], "most_angle_rad");
  return start_job<PulseClock>(
      info.Env(), job_options(info[3]),
      [=](OpContext& ctx) {
        return check_pulse_clock(
            {positions->as<Vec3d>(), times->as<double>(), view_or_empty<std::uint8_t>(skip), origin},
            most_angle_rad, ctx);
      },
      [](Napi::Env env, PulseClock&& clock) -> Napi::Value {
        return Napi::String::New(env, name_of(clock));
      });
}

// { origin, right, ahead, up, rows, columns, theta_min_rad, theta_max_rad, phi_min_rad, phi_max_rad }
DeclaredScan declared_scan(const Napi::Object& js) {
  return {vec3_field(js, "origin"),
          vec3_field(js, "right"),
          vec3_field(js, "ahead"),
          vec3_field(js, "up"),
          whole_field<std::uint32_t>(js, "rows"),
          whole_field<std::uint32_t>(js, "columns"),
          number_field(js, "theta_min_rad"),
          number_field(js, "theta_max_rad"),
          number_field(js, "phi_min_rad"),
          number_field(js, "phi_max_rad")};
}

Napi::Value recovery_to_js(Napi::Env env, MissRecovery&& found) {
  auto out = Napi::Object::New(env);
  const bool timed = found.times_s.size() > 0;
  out.Set("positions", ColumnHandle::wrap(env, AnyColumn(std::move(found.positions))));
  out.Set("times",
          timed ? Napi::Value(ColumnHandle::wrap(env, AnyColumn(std::move(found.times_s)))) : env.Null());
  out.Set("row_index", ColumnHandle::wrap(env, AnyColumn(std::move(found.row_index))));
  out.Set("column_index", ColumnHandle::wrap(env, AnyColumn(std::move(found.column_index))));
  out.Set("rows", static_cast<double>(found.rows));
  out.Set("columns", static_cast<double>(found.columns));
  out.Set("return_count", static_cast<double>(found.return_count));
  out.Set("off_count", static_cast<double>(found.off_count));
  out.Set("median_residual", found.median_residual);
  return out;
}

// recoverMisses(rows: { positions, skip, times, row_index, column_index | null each }, params: { route, scan, max_cells, moved })
Napi::Value recover_misses_job(const Napi::CallbackInfo& info) {
  const auto js = strict_object(info[0], "rows");
  const auto positions = typed_column(js.Get("positions"), DType::kVec3d, "positions");
  const auto skip = optional_typed_column(js.Get("skip"), DType::kU8, "skip");
  const auto times = optional_typed_column(js.Get("times"), DType::kF64, "times");
  const auto row_index = ColumnHandle::get_optional(js.Get("row_index"));
  const auto column_index = ColumnHandle::get_optional(js.Get("column_index"));
  const auto given = strict_object(info[1], "params");
  const MissRecoveryParams params{
      strict_choice<MissRoute>(
          given.Get("route"), "route",
          {{"clock", MissRoute::kClock}, {"grid", MissRoute::kGrid}, {"declared", MissRoute::kDeclared}}),
      declared_scan(object_field(given, "scan")), whole_field<std::uint64_t>(given, "max_cells"),
      strict_bool(given.Get("moved"), "moved")};
  return start_job<MissRecovery>(
      info.Env(), job_options(info[2]),
      [=](OpContext& ctx) {
        return recover_misses({positions->as<Vec3d>(), view_or_empty<std::uint8_t>(skip),
                               view_or_empty<double>(times), row_index.get(), column_index.get()},
                              params, ctx);
      },
      recovery_to_js);
}

/// A scanner on poses that the column holds.
struct HeldScanner {
  ColumnPtr poses;
  Vec3d lever_arm, boresight_rpy;
  MovingScanner view() const {
    return {poses->as<double>(), lever_arm,
            roll_pitch_yaw(boresight_rpy.x, boresight_rpy.y, boresight_rpy.z)};
  }
};

HeldScanner scanner_of(const Napi::Value& value) {
  const auto js = strict_object(value, "scanner");
  return {typed_column(js.Get("poses"), DType::kF64, "poses"), vec3_field(js, "lever_arm"),
          vec3_field(js, "boresight_rpy")};
}

// toScannerFrame(positions, times, scanner: { poses, lever_arm, boresight_rpy }): NativeJob<NativeColumn>
Napi::Value to_scanner_frame_job(const Napi::CallbackInfo& info) {
  const auto positions = typed_column(info[0], DType::kVec3d, "positions");
  const auto times = typed_column(info[1], DType::kF64, "times");
  const HeldScanner scanner = scanner_of(info[2]);
  return start_job<AnyColumn>(
      info.Env(), job_options(info[3]),
      [=](OpContext& ctx) {
        return AnyColumn(to_scanner_frame(positions->as<Vec3d>(), times->as<double>(), scanner.view(), ctx));
      },
      [](Napi::Env env, AnyColumn&& column) -> Napi::Value {
        return ColumnHandle::wrap(env, std::move(column));
      });
}

// fromScannerFrame(positions, times, scanner): NativeJob<{ positions, origins }>
Napi::Value from_scanner_frame_job(const Napi::CallbackInfo& info) {
  const auto positions = typed_column(info[0], DType::kVec3d, "positions");
  const auto times = typed_column(info[1], DType::kF64, "times");
  const HeldScanner scanner = scanner_of(info[2]);
  return start_job<ScannerBeams>(
      info.Env(), job_options(info[3]),
      [=](OpContext& ctx) {
        return from_scanner_frame(positions->as<Vec3d>(), times->as<double>(), scanner.view(), ctx);
      },
      [](Napi::Env env, ScannerBeams&& beams) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("positions", ColumnHandle::wrap(env, AnyColumn(std::move(beams.positions))));
        out.Set("origins", ColumnHandle::wrap(env, AnyColumn(std::move(beams.origins))));
        return out;
      });
}

}  // namespace

void register_miss_recovery(Napi::Env env, Napi::Object exports) {
  add<check_pulse_clock_job>(env, exports, "checkPulseClock");
  add<recover_misses_job>(env, exports, "recoverMisses");
  add<to_scanner_frame_job>(env, exports, "toScannerFrame");
  add<from_scanner_frame_job>(env, exports, "fromScannerFrame");
}

}  // namespace pc::binding
