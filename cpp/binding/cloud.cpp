#include "binding/cloud_edit_values.h"
#include "binding/cloud_values.h"
#include "binding/coded.h"
#include "binding/families.h"
#include "binding/job.h"
#include "binding/js_values.h"
#include "ops/cloud/beam_trajectory.h"
#include "ops/cloud/channel_scale.h"
#include "ops/cloud/cloud_stats.h"
#include "ops/cloud/column_stats.h"
#include "ops/cloud/convert.h"
#include "ops/cloud/coordinate_step.h"
#include "ops/cloud/point_spacing.h"
#include "ops/cloud/return_numbering.h"
#include "ops/cloud/return_numbers.h"
#include "ops/cloud/returns_from_one.h"
#include "ops/cloud/select_hits.h"

namespace pc::binding {

namespace {

Napi::Value column_result(Napi::Env env, AnyColumn&& column) {
  return ColumnHandle::wrap(env, std::move(column));
}

// columnStats(columns: NativeColumn[], skip: NativeColumn | null): NativeJob<ColumnStats[]>
Napi::Value column_stats_job(const Napi::CallbackInfo& info) {
  const auto held = column_list(info[0], "columns");
  const auto skip = optional_typed_column(info[1], DType::kU8, "skip");
  return start_job<std::vector<ColumnStats>>(
      info.Env(), job_options(info[2]),
      [held, skip](OpContext& ctx) {
        return column_stats(raw_pointers(held), view_or_empty<std::uint8_t>(skip), ctx);
      },
      [](Napi::Env env, std::vector<ColumnStats>&& stats) -> Napi::Value {
        auto out = Napi::Array::New(env, stats.size());
        for (std::size_t i = 0; i < stats.size(); ++i)
          out.Set(static_cast<std::uint32_t>(i), to_js(env, stats[i]));
        return out;
      });
}

// cloudStats(positions: NativeColumn, skip: NativeColumn | null): NativeJob<CloudStats>
Napi::Value cloud_stats_job(const Napi::CallbackInfo& info) {
  const auto positions = typed_column(info[0], DType::kVec3d, "positions");
  const auto skip = optional_typed_column(info[1], DType::kU8, "skip");
  return start_job<CloudStats>(
      info.Env(), job_options(info[2]),
      [positions, skip](OpContext& ctx) {
        return cloud_stats(positions->as<Vec3d>(), view_or_empty<std::uint8_t>(skip), ctx);
      },
      [](Napi::Env env, CloudStats&& stats) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("count", static_cast<double>(stats.finite_count));
        out.Set("bounds", to_js(env, stats.bounds));
        out.Set("robust_bounds", to_js(env, stats.robust_bounds));
        out.Set("ground_z", optional_number(env, stats.ground_z_m));
        return out;
      });
}

// pointSpacing(positions, skip, params: { max_samples, seed | null }, options?): NativeJob<PointSpacing>
Napi::Value point_spacing_job(const Napi::CallbackInfo& info) {
  const auto positions = typed_column(info[0], DType::kVec3d, "positions");
  const auto skip = optional_typed_column(info[1], DType::kU8, "skip");
  const auto js = strict_object(info[2], "params");
  PointSpacingParams params{whole_field<std::uint32_t>(js, "max_samples"), std::nullopt};
  if (!js.Get("seed").IsNull()) params.seed = whole_field(js, "seed");
  return start_job<PointSpacingResult>(
      info.Env(), job_options(info[3]),
      [positions, skip, params](OpContext& ctx) {
        const auto hits = select_hits(positions->as<Vec3d>(), view_or_empty<std::uint8_t>(skip), ctx);
        return point_spacing(hits.points(), params, ctx);
      },
      [](Napi::Env env, PointSpacingResult&& result) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("median_m", optional_number(env, result.median_m));
        out.Set("p95_m", optional_number(env, result.p95_m));
        out.Set("distinct_median_m", optional_number(env, result.distinct_median_m));
        out.Set("distinct_p95_m", optional_number(env, result.distinct_p95_m));
        out.Set("sampled_count", static_cast<double>(result.sampled_count));
        out.Set("duplicate_count", static_cast<double>(result.duplicate_count));
        out.Set("warnings", to_js(env, result.warnings));
        return out;
      });
}

// coordinateStep(positions, skip): NativeJob<number>
Napi::Value coordinate_step_job(const Napi::CallbackInfo& info) {
  const auto positions = typed_column(info[0], DType::kVec3d, "positions");
  const auto skip = optional_typed_column(info[1], DType::kU8, "skip");
  return start_job<double>(
      info.Env(), job_options(info[2]),
      [positions, skip](OpContext& ctx) {
        return coordinate_step(positions->as<Vec3d>(), view_or_empty<std::uint8_t>(skip), ctx);
      },
      [](Napi::Env env, double&& step) -> Napi::Value { return Napi::Number::New(env, step); });
}

// scaleToU16(column: NativeColumn): NativeJob<{ intensity: NativeColumn, min: number | null, max: number | null }>
Napi::Value scale_to_u16(const Napi::CallbackInfo& info) {
  const auto column = ColumnHandle::get(info[0]);
  return start_job<IntensityScale>(
      info.Env(), job_options(info[1]),
      [column](OpContext& ctx) { return scale_intensity(*column, {}, ctx); },
      [](Napi::Env env, IntensityScale&& scale) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("intensity", ColumnHandle::wrap(env, AnyColumn(std::move(scale.intensity))));
        out.Set("min", optional_number(env, scale.min));
        out.Set("max", optional_number(env, scale.max));
        return out;
      });
}

// mergeRgb(r, g, b, scale: "unit" | "byte" | "u16"): NativeJob<NativeColumn>
Napi::Value merge_rgb_job(const Napi::CallbackInfo& info) {
  const auto r = ColumnHandle::get(info[0]), g = ColumnHandle::get(info[1]), b = ColumnHandle::get(info[2]);
  const auto range = strict_choice<ColorRange>(
      info[3], "scale",
      {{"unit", ColorRange::kUnit}, {"byte", ColorRange::kByte}, {"u16", ColorRange::kUint16}});
  return start_job<AnyColumn>(
      info.Env(), job_options(info[4]),
      [r, g, b, range](OpContext& ctx) {
        return AnyColumn(scale_colors({r.get(), g.get(), b.get()}, range, ctx));
      },
      column_result);
}

// interleaveTriple(x, y, z, frame): NativeJob<NativeColumn>
Napi::Value interleave_triple_job(const Napi::CallbackInfo& info) {
  const auto x = ColumnHandle::get(info[0]), y = ColumnHandle::get(info[1]), z = ColumnHandle::get(info[2]);
  const auto js = strict_object(info[3], "frame");
  const double unit_scale = number_field(js, "unit_scale");
  const Vec3d shift = vec3_field(js, "shift");
  return start_job<AnyColumn>(
      info.Env(), job_options(info[4]),
      [=](OpContext& ctx) { return AnyColumn(interleave_triple(*x, *y, *z, unit_scale, shift, ctx)); },
      column_result);
}

// beamTrajectory(times, origins, max_poses): NativeJob<BeamTrajectory>
Napi::Value beam_trajectory_job(const Napi::CallbackInfo& info) {
  const auto times = typed_column(info[0], DType::kF64, "times");
  const auto origins = typed_column(info[1], DType::kVec3d, "origins");
  const auto max_poses = strict_whole(info[2], "max_poses");
  return start_job<BeamTrajectory>(
      info.Env(), job_options(info[3]),
      [=](OpContext& ctx) {
        return beam_trajectory(times->as<double>(), origins->as<Vec3d>(), max_poses, ctx);
      },
      [](Napi::Env env, BeamTrajectory&& path) -> Napi::Value {
        auto poses = Napi::Array::New(env, path.poses.size());
        for (std::size_t i = 0; i < path.poses.size(); ++i) {
          auto pose = Napi::Array::New(env, 4);
          pose.Set(0U, path.poses[i].time_s);
          pose.Set(1U, path.poses[i].position.x);
          pose.Set(2U, path.poses[i].position.y);
          pose.Set(3U, path.poses[i].position.z);
          poses.Set(static_cast<std::uint32_t>(i), pose);
        }
        auto out = Napi::Object::New(env);
        out.Set("poses", poses);
        out.Set("distinct_times", static_cast<double>(path.distinct_times));
        out.Set("unusable", static_cast<double>(path.unusable));
        return out;
      });
}

// toF64(column): NativeJob<NativeColumn>
Napi::Value to_f64(const Napi::CallbackInfo& info) {
  const auto column = ColumnHandle::get(info[0]);
  return start_job<AnyColumn>(
      info.Env(), job_options(info[1]),
      [column](OpContext& ctx) { return AnyColumn(double_copy(*column, ctx)); }, column_result);
}

// toF32(column, params: { shift, divisor, clamp }): NativeJob<NativeColumn>
Napi::Value to_f32(const Napi::CallbackInfo& info) {
  const auto column = ColumnHandle::get(info[0]);
  const auto js = strict_object(info[1], "params");
  const FloatCopyParams params{vec3_field(js, "shift"), number_field(js, "divisor"), bool_field(js, "clamp")};
  return start_job<AnyColumn>(
      info.Env(), job_options(info[2]),
      [column, params](OpContext& ctx) { return AnyColumn(float_copy(*column, params, ctx)); },
      column_result);
}

// maxChannel(colors): NativeJob<number>
Napi::Value max_channel_job(const Napi::CallbackInfo& info) {
  const auto colors = typed_column(info[0], DType::kRgb16, "colors");
  return start_job<std::uint16_t>(
      info.Env(), job_options(info[1]),
      [colors](OpContext& ctx) { return max_channel(colors->as<Rgb16>(), ctx); },
      [](Napi::Env env, std::uint16_t&& highest) -> Napi::Value { return Napi::Number::New(env, highest); });
}

// returnNumbering(target_index, target_count | null, skip: u8 | null): NativeJob<ReturnNumbering>
Napi::Value return_numbering_job(const Napi::CallbackInfo& info) {
  const auto index = ColumnHandle::get(info[0]);
  const auto count = info[1].IsNull() ? nullptr : ColumnHandle::get(info[1]);
  const auto skip = optional_typed_column(info[2], DType::kU8, "skip");
  return start_job<ReturnNumbering>(
      info.Env(), job_options(info[3]),
      [=](OpContext& ctx) {
        return return_numbering(*index, count.get(), view_or_empty<std::uint8_t>(skip), ctx);
      },
      [](Napi::Env env, ReturnNumbering&& found) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("first", found.first ? Napi::Value(Napi::Number::New(env, *found.first)) : env.Null());
        out.Set("first_count", static_cast<double>(found.first_count));
        out.Set("unknown_count", static_cast<double>(found.unknown_count));
        return out;
      });
}

// returnsFromOne(target_index, target_count | null): NativeJob<NativeColumn>
Napi::Value returns_from_one_job(const Napi::CallbackInfo& info) {
  const auto index = ColumnHandle::get(info[0]);
  const auto count = info[1].IsNull() ? nullptr : ColumnHandle::get(info[1]);
  return start_job<AnyColumn>(
      info.Env(), job_options(info[2]),
      [=](OpContext& ctx) { return returns_from_one(*index, count.get(), ctx); }, column_result);
}

// returnNumbers(target_index, target_count): NativeJob<ReturnNumbers | null>
Napi::Value return_numbers_job(const Napi::CallbackInfo& info) {
  const auto index = ColumnHandle::get(info[0]), count = ColumnHandle::get(info[1]);
  return start_job<ReturnNumbers>(
      info.Env(), job_options(info[2]), [=](OpContext& ctx) { return return_numbers(*index, *count, ctx); },
      [](Napi::Env env, ReturnNumbers&& found) -> Napi::Value {
        if (!found.usable) return env.Null();
        auto out = Napi::Object::New(env);
        out.Set("as_given", found.as_given);
        out.Set("shortened_count", static_cast<double>(found.shortened_count));
        out.Set("number", ColumnHandle::wrap(env, AnyColumn(std::move(found.number))));
        out.Set("count", ColumnHandle::wrap(env, AnyColumn(std::move(found.count))));
        return out;
      });
}

// areReturnNumbers(target_index, target_count, number, count): NativeJob<boolean>
Napi::Value are_return_numbers_job(const Napi::CallbackInfo& info) {
  const auto index = ColumnHandle::get(info[0]), of = ColumnHandle::get(info[1]);
  const auto number = ColumnHandle::get(info[2]), count = ColumnHandle::get(info[3]);
  return start_job<bool>(
      info.Env(), job_options(info[4]),
      [=](OpContext& ctx) { return are_return_numbers(*index, *of, *number, *count, ctx); },
      [](Napi::Env env, bool&& same) -> Napi::Value { return Napi::Boolean::New(env, same); });
}

}  // namespace

void register_cloud(Napi::Env env, Napi::Object exports) {
  add<column_stats_job>(env, exports, "columnStats");
  add<cloud_stats_job>(env, exports, "cloudStats");
  add<point_spacing_job>(env, exports, "pointSpacing");
  add<coordinate_step_job>(env, exports, "coordinateStep");
  add<scale_to_u16>(env, exports, "scaleToU16");
  add<merge_rgb_job>(env, exports, "mergeRgb");
  add<interleave_triple_job>(env, exports, "interleaveTriple");
  add<beam_trajectory_job>(env, exports, "beamTrajectory");
  add<to_f64>(env, exports, "toF64");
  add<to_f32>(env, exports, "toF32");
  add<max_channel_job>(env, exports, "maxChannel");
  add<return_numbering_job>(env, exports, "returnNumbering");
  add<returns_from_one_job>(env, exports, "returnsFromOne");
  add<return_numbers_job>(env, exports, "returnNumbers");
  add<are_return_numbers_job>(env, exports, "areReturnNumbers");
  register_misses(env, exports);
}

}  // namespace pc::binding
