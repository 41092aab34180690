#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "binding/coded.h"
#include "binding/column_handle.h"
#include "binding/families.h"
#include "binding/job.h"
#include "binding/js_values.h"
#include "ops/cloud/select_hits.h"
#include "ops/ground/cloth_simulation.h"
#include "ops/ground/file_ground.h"
#include "ops/ground/ground_auto.h"
#include "ops/ground/ground_measures.h"
#include "ops/ground/label_difference.h"
#include "ops/ground/smrf.h"
#include "ops/ground/up_axis.h"

namespace pc::binding {

namespace {

Napi::Value plan_to_js(Napi::Env env, const std::optional<ClothTilePlan>& plan) {
  if (!plan) return env.Null();
  auto grid = Napi::Array::New(env, 2);
  grid.Set(0U, plan->tiles_x);
  grid.Set(1U, plan->tiles_y);
  auto out = Napi::Object::New(env);
  out.Set("n", static_cast<double>(plan->point_count));
  out.Set("tile_m", plan->tile_m);
  out.Set("buffer_m", plan->buffer_m);
  out.Set("grid", grid);
  out.Set("tiles", static_cast<double>(plan->tiles_x) * plan->tiles_y);
  out.Set("points_per_tile_max", static_cast<double>(plan->points_per_tile_max));
  out.Set("points_per_tile_mean", plan->points_per_tile_mean);
  return out;
}

/// The fields that the results of all filters share.
template <class Result>
Napi::Object labels_object(Napi::Env env, AnyColumn&& ground_class, const Result& result) {
  auto out = Napi::Object::New(env);
  out.Set("ground_class", ColumnHandle::wrap(env, std::move(ground_class)));
  out.Set("num_ground", static_cast<double>(result.ground_count));
  out.Set("num_plant", static_cast<double>(result.plant_count));
  out.Set("low_outliers", static_cast<double>(result.low_outlier_count));
  return out;
}

/// A frame under the names of the contract; null or undefined = none.
std::optional<GroundFrame> frame_from_js(const Napi::Value& given) {
  if (given.IsUndefined() || given.IsNull()) return std::nullopt;
  const auto js = strict_object(given, "frame");
  const auto origin = number_array<2>(js.Get("origin"), "frame.origin");
  const auto slope = number_array<2>(js.Get("slope"), "frame.slope");
  return GroundFrame{.origin_x = origin[0],
                     .origin_y = origin[1],
                     .z_origin = number_field(js, "z_origin"),
                     .slope_x = slope[0],
                     .slope_y = slope[1],
                     .lowest_z = number_field(js, "lowest_z"),
                     .point_count = number_field(js, "point_count"),
                     .point_spacing_m = number_field(js, "point_spacing_m"),
                     .outlier_cell_m = number_field(js, "outlier_cell_m"),
                     .outlier_layer_m = number_field(js, "outlier_layer_m"),
                     .cell_size = number_field(js, "cell_size"),
                     .roughness_m = number_field(js, "roughness_m"),
                     .typical_returns = number_field(js, "typical_returns"),
                     .search_noise_m = number_field(js, "search_noise_m"),
                     .noise_m = number_field(js, "noise_m"),
                     .middle_m = number_field(js, "middle_m")};
}

Napi::Object frame_to_js(Napi::Env env, const GroundFrame& frame) {
  const auto pair = [&](double a, double b) {
    auto out = Napi::Array::New(env, 2);
    out.Set(0U, a);
    out.Set(1U, b);
    return out;
  };
  auto out = Napi::Object::New(env);
  out.Set("origin", pair(frame.origin_x, frame.origin_y));
  out.Set("z_origin", frame.z_origin);
  out.Set("slope", pair(frame.slope_x, frame.slope_y));
  out.Set("lowest_z", frame.lowest_z);
  out.Set("point_count", frame.point_count);
  out.Set("point_spacing_m", frame.point_spacing_m);
  out.Set("outlier_cell_m", frame.outlier_cell_m);
  out.Set("outlier_layer_m", frame.outlier_layer_m);
  out.Set("cell_size", frame.cell_size);
  out.Set("roughness_m", frame.roughness_m);
  out.Set("typical_returns", frame.typical_returns);
  out.Set("search_noise_m", frame.search_noise_m);
  out.Set("noise_m", frame.noise_m);
  out.Set("middle_m", frame.middle_m);
  return out;
}

const GroundFrame* frame_or_null(const std::optional<GroundFrame>& frame) {
  return frame ? &*frame : nullptr;
}

ClothSimulationParams cloth_params(const Napi::Object& js) {
  return {.cloth_resolution = number_field(js, "cloth_resolution"),
          .rigidness = whole_field<std::uint32_t>(js, "rigidness"),
          .class_threshold = number_field(js, "class_threshold"),
          .iterations = whole_field<std::uint32_t>(js, "iterations"),
          .slope_smooth = bool_field(js, "slope_smooth"),
          .auto_class_threshold = bool_field(js, "auto_class_threshold"),
          .ignore_low_outliers = bool_field(js, "ignore_low_outliers"),
          .want_heights = bool_field(js, "want_heights"),
          .tile_min_points = whole_field(js, "tile_min_points"),
          .tile_target_points = whole_field(js, "tile_target_points")};
}

// clothSimulation(positions, skip, params: ClothParams, options?, frame?): NativeJob<ClothGround>
Napi::Value cloth_simulation_job(const Napi::CallbackInfo& info) {
  const auto positions = typed_column(info[0], DType::kVec3d, "positions");
  const auto skip = optional_typed_column(info[1], DType::kU8, "skip");
  const ClothSimulationParams params = cloth_params(strict_object(info[2], "params"));
  const auto frame = frame_from_js(info[4]);
  struct Answer {
    ClothSimulationResult result;
    AnyColumn ground_class, height;
  };
  return start_job<Answer>(
      info.Env(), job_options(info[3]),
      [positions, skip, params, frame](OpContext& ctx) {
        const auto hits = select_hits(positions->as<Vec3d>(), view_or_empty<std::uint8_t>(skip), ctx);
        Answer answer{cloth_simulation(hits.points(), params, ctx, frame_or_null(frame)), {}, {}};
        answer.ground_class = AnyColumn(on_all_rows(hits, std::move(answer.result.ground_class),
                                                    positions->size(), std::uint8_t{0}, ctx));
        if (params.want_heights)
          answer.height =
              AnyColumn(on_all_rows(hits, std::move(answer.result.height_above_cloth), positions->size(),
                                    std::numeric_limits<float>::quiet_NaN(), ctx));
        return answer;
      },
      [wanted = params.want_heights](Napi::Env env, Answer&& answer) -> Napi::Value {
        const ClothSimulationResult& result = answer.result;
        auto out = labels_object(env, std::move(answer.ground_class), result);
        out.Set("height_above_cloth",
                wanted ? Napi::Value(ColumnHandle::wrap(env, std::move(answer.height))) : env.Null());
        out.Set("class_threshold_used", result.class_threshold_used);
        out.Set("class_threshold_method", to_string(result.class_threshold_method));
        out.Set("iterations_run", result.iterations_run);
        out.Set("settled", result.settled);
        out.Set("nodes", static_cast<double>(result.node_count));
        out.Set("tiled", plan_to_js(env, result.tiled));
        out.Set("warnings", to_js(env, result.warnings));
        return out;
      });
}

template <class Result>
struct Labelled {
  Result result;
  AnyColumn ground_class;
};

// smrf(positions, skip, params: SmrfParams, options?, frame?): NativeJob<SmrfGround>
Napi::Value smrf_job(const Napi::CallbackInfo& info) {
  const auto positions = typed_column(info[0], DType::kVec3d, "positions");
  const auto skip = optional_typed_column(info[1], DType::kU8, "skip");
  const auto js = strict_object(info[2], "params");
  const SmrfParams params{.cell_size = number_field(js, "cell_size"),
                          .slope = number_field(js, "slope"),
                          .window_radius = number_field(js, "window_radius"),
                          .elevation_threshold = number_field(js, "elevation_threshold"),
                          .elevation_scale = number_field(js, "elevation_scale"),
                          .net_spacing = number_field(js, "net_spacing")};
  const auto frame = frame_from_js(info[4]);
  using Answer = Labelled<SmrfResult>;
  return start_job<Answer>(
      info.Env(), job_options(info[3]),
      [positions, skip, params, frame](OpContext& ctx) {
        const auto hits = select_hits(positions->as<Vec3d>(), view_or_empty<std::uint8_t>(skip), ctx);
        Answer answer{smrf(hits.points(), params, ctx, frame_or_null(frame)), {}};
        answer.ground_class = AnyColumn(on_all_rows(hits, std::move(answer.result.ground_class),
                                                    positions->size(), std::uint8_t{0}, ctx));
        return answer;
      },
      [](Napi::Env env, Answer&& answer) -> Napi::Value {
        auto out = labels_object(env, std::move(answer.ground_class), answer.result);
        out.Set("cells", static_cast<double>(answer.result.cell_count));
        out.Set("object_cells", static_cast<double>(answer.result.object_cell_count));
        return out;
      });
}

Napi::Object derived_to_js(Napi::Env env, const GroundAutoParams& derived) {
  auto out = Napi::Object::New(env);
  out.Set("point_spacing_m", derived.point_spacing_m);
  out.Set("roughness_m", derived.roughness_m);
  out.Set("cell_size", derived.cell_size);
  out.Set("class_threshold", derived.class_threshold);
  return out;
}

/// kGroundConstants with the values that `given` has under their names; an unknown name is an error.
GroundConstants ground_constants(const Napi::Value& given) {
  GroundConstants constants = kGroundConstants;
  if (given.IsUndefined()) return constants;
  const auto named = named_constants(constants);
  const Napi::Object js = given.As<Napi::Object>();
  const Napi::Array names = js.GetPropertyNames();
  for (std::uint32_t i = 0; i < names.Length(); ++i) {
    const std::string name = names.Get(i).As<Napi::String>();
    const auto found = std::find_if(named.begin(), named.end(),
                                    [&](const NamedGroundConstant& one) { return name == one.name; });
    if (found == named.end()) throw Error(ErrorCode::kInvalidArgument, "There is no ground constant " + name);
    *found->value = number_field(js, found->name);
  }
  return constants;
}

// groundConstants(): { [name: string]: number }
Napi::Value ground_constants_of(const Napi::CallbackInfo& info) {
  auto out = Napi::Object::New(info.Env());
  GroundConstants constants = kGroundConstants;
  for (const auto& [name, value] : named_constants(constants)) out.Set(name, *value);
  return out;
}

// groundAuto(positions, skip, options?, constants?, frame?): NativeJob<AutoGround>
Napi::Value ground_auto_job(const Napi::CallbackInfo& info) {
  const auto positions = typed_column(info[0], DType::kVec3d, "positions");
  const auto skip = optional_typed_column(info[1], DType::kU8, "skip");
  const GroundConstants constants = ground_constants(info[3]);
  const auto frame = frame_from_js(info[4]);
  using Answer = Labelled<GroundAutoResult>;
  return start_job<Answer>(
      info.Env(), job_options(info[2]),
      [positions, skip, constants, frame](OpContext& ctx) {
        const auto hits = select_hits(positions->as<Vec3d>(), view_or_empty<std::uint8_t>(skip), ctx);
        Answer answer{ground_auto(hits.points(), constants, ctx, frame_or_null(frame)), {}};
        answer.ground_class = AnyColumn(on_all_rows(hits, std::move(answer.result.ground_class),
                                                    positions->size(), std::uint8_t{0}, ctx));
        return answer;
      },
      [](Napi::Env env, Answer&& answer) -> Napi::Value {
        auto out = labels_object(env, std::move(answer.ground_class), answer.result);
        const double hidden = answer.result.hidden_share;
        out.Set("hidden_share",
                std::isnan(hidden) ? env.Null() : Napi::Value(Napi::Number::New(env, hidden)));
        const double noise = answer.result.noise_m;
        out.Set("noise_m", noise == 0 ? env.Null() : Napi::Value(Napi::Number::New(env, noise)));
        out.Set("derived", derived_to_js(env, answer.result.derived));
        out.Set("frame", frame_to_js(env, answer.result.frame));
        return out;
      });
}

// groundExtent(positions, skip): NativeJob<{ finite_count: number, extent: [x, y] }>
Napi::Value ground_extent_job(const Napi::CallbackInfo& info) {
  const auto positions = typed_column(info[0], DType::kVec3d, "positions");
  const auto skip = optional_typed_column(info[1], DType::kU8, "skip");
  return start_job<GroundExtent>(
      info.Env(), job_options(info[2]),
      [positions, skip](OpContext& ctx) {
        const auto hits = select_hits(positions->as<Vec3d>(), view_or_empty<std::uint8_t>(skip), ctx);
        return ground_extent(hits.points(), ctx);
      },
      [](Napi::Env env, GroundExtent&& found) -> Napi::Value {
        const bool any = found.finite_count > 0;
        auto extent = Napi::Array::New(env, 2);
        extent.Set(0U, any ? found.box.max.x - found.box.min.x : 0.0);
        extent.Set(1U, any ? found.box.max.y - found.box.min.y : 0.0);
        auto out = Napi::Object::New(env);
        out.Set("finite_count", static_cast<double>(found.finite_count));
        out.Set("extent", extent);
        return out;
      });
}

// groundMeasures(positions, skip, options?): NativeJob<GroundMeasures>
Napi::Value ground_measures_job(const Napi::CallbackInfo& info) {
  const auto positions = typed_column(info[0], DType::kVec3d, "positions");
  const auto skip = optional_typed_column(info[1], DType::kU8, "skip");
  return start_job<GroundMeasures>(
      info.Env(), job_options(info[2]),
      [positions, skip](OpContext& ctx) {
        const auto hits = select_hits(positions->as<Vec3d>(), view_or_empty<std::uint8_t>(skip), ctx);
        return ground_measures(hits.points(), ctx);
      },
      [](Napi::Env env, GroundMeasures&& found) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("point_spacing_m", found.point_spacing_m);
        out.Set("steepness", found.steepness);
        return out;
      });
}

// upAxis(positions, skip, options?): NativeJob<Float64Array>, of +x, +y, +z, -x, -y, -z
Napi::Value up_axis_job(const Napi::CallbackInfo& info) {
  const auto positions = typed_column(info[0], DType::kVec3d, "positions");
  const auto skip = optional_typed_column(info[1], DType::kU8, "skip");
  return start_job<UpAxis>(
      info.Env(), job_options(info[2]),
      [positions, skip](OpContext& ctx) {
        const auto hits = select_hits(positions->as<Vec3d>(), view_or_empty<std::uint8_t>(skip), ctx);
        return up_axis(hits.points(), ctx);
      },
      [](Napi::Env env, UpAxis&& found) -> Napi::Value {
        auto out = Napi::Float64Array::New(env, found.even.size());
        std::copy(found.even.begin(), found.even.end(), out.Data());
        return out;
      });
}

// labelDifferences(a, b, options?): NativeJob<number>
Napi::Value label_differences_job(const Napi::CallbackInfo& info) {
  const auto a = typed_column(info[0], DType::kU8, "a"), b = typed_column(info[1], DType::kU8, "b");
  return start_job<std::uint64_t>(
      info.Env(), job_options(info[2]),
      [a, b](OpContext& ctx) {
        return count_label_differences(a->as<std::uint8_t>(), b->as<std::uint8_t>(), ctx);
      },
      [](Napi::Env env, std::uint64_t&& count) -> Napi::Value {
        return Napi::Number::New(env, static_cast<double>(count));
      });
}

// groundOfFile(positions, skip, classes, ground: number[], options?): NativeJob<GroundLabels>
Napi::Value ground_of_file_job(const Napi::CallbackInfo& info) {
  const auto positions = typed_column(info[0], DType::kVec3d, "positions");
  const auto skip = optional_typed_column(info[1], DType::kU8, "skip");
  const auto classes = ColumnHandle::get(info[2]);
  std::vector<std::uint8_t> ground;
  for (const double value : number_list(info[3], "ground")) {
    if (!(value >= 0 && value <= 255 && std::rint(value) == value))
      throw Error(ErrorCode::kInvalidArgument, "ground classes are whole numbers of 0 to 255");
    ground.push_back(static_cast<std::uint8_t>(value));
  }
  return start_job<FileGround>(
      info.Env(), job_options(info[4]),
      [positions, skip, classes, ground](OpContext& ctx) {
        return ground_of_file(positions->as<Vec3d>(), view_or_empty<std::uint8_t>(skip), *classes,
                              {ground.data(), ground.size()}, ctx);
      },
      [](Napi::Env env, FileGround&& found) -> Napi::Value {
        return labels_object(env, AnyColumn(std::move(found.ground_class)), found);
      });
}

// labelsByClass(labels, classes, options?): NativeJob<Float64Array>, ground and plants of classes 0 to 255
Napi::Value labels_by_class_job(const Napi::CallbackInfo& info) {
  const auto labels = typed_column(info[0], DType::kU8, "labels");
  const auto classes = ColumnHandle::get(info[1]);
  using Counts = std::array<ClassLabels, 256>;
  return start_job<Counts>(
      info.Env(), job_options(info[2]),
      [labels, classes](OpContext& ctx) {
        return labels_by_class(labels->as<std::uint8_t>(), *classes, ctx);
      },
      [](Napi::Env env, Counts&& counts) -> Napi::Value {
        auto out = Napi::Float64Array::New(env, 2 * counts.size());
        for (std::size_t k = 0; k < counts.size(); ++k) {
          out[2 * k] = static_cast<double>(counts[k].ground);
          out[2 * k + 1] = static_cast<double>(counts[k].plant);
        }
        return out;
      });
}

// clothSimulationCost(points: number, extent: [x, y], cloth_resolution: number): ClothCost
Napi::Value cloth_simulation_cost_of(const Napi::CallbackInfo& info) {
  const auto extent = number_array<2>(info[1], "extent");
  const ClothSimulationCost cost = cloth_simulation_cost(
      strict_whole(info[0], "points"), extent[0], extent[1], strict_number(info[2], "cloth_resolution"));
  auto out = Napi::Object::New(info.Env());
  out.Set("nodes", static_cast<double>(cost.node_count));
  out.Set("grid_nodes", static_cast<double>(cost.grid_count));
  out.Set("bytes", static_cast<double>(cost.bytes));
  out.Set("admissible", cost.admissible);
  out.Set("finest_resolution_m", cost.finest_resolution_m);
  return out;
}

}  // namespace

void register_ground(Napi::Env env, Napi::Object exports) {
  add<cloth_simulation_job>(env, exports, "clothSimulation");
  add<smrf_job>(env, exports, "smrf");
  add<ground_auto_job>(env, exports, "groundAuto");
  add<ground_constants_of>(env, exports, "groundConstants");
  add<ground_extent_job>(env, exports, "groundExtent");
  add<ground_measures_job>(env, exports, "groundMeasures");
  add<up_axis_job>(env, exports, "upAxis");
  add<label_differences_job>(env, exports, "labelDifferences");
  add<ground_of_file_job>(env, exports, "groundOfFile");
  add<labels_by_class_job>(env, exports, "labelsByClass");
  add<cloth_simulation_cost_of>(env, exports, "clothSimulationCost");
}

}  // namespace pc::binding
