#include <limits>

#include "binding/coded.h"
#include "binding/column_handle.h"
#include "binding/families.h"
#include "binding/job.h"
#include "binding/js_values.h"
#include "ops/cloud/normals.h"
#include "ops/cloud/select_hits.h"
#include "ops/mesh/ball_pivoting.h"
#include "ops/mesh/poisson.h"

namespace pc::binding {

namespace {

/// { radius: number | null, max_nn, orientation, graph_neighbors }; radius null = no limit
NormalsParams normals_params(const Napi::Value& value) {
  const auto js = strict_object(value, "params");
  const bool unlimited = is_nothing(js.Get("radius"));
  return {unlimited ? std::numeric_limits<double>::infinity() : number_field(js, "radius"),
          whole_field<std::uint32_t>(js, "max_nn"),
          strict_choice<NormalOrientation>(js.Get("orientation"), "orientation",
                                           {{"from_centroid", NormalOrientation::kFromCentroid},
                                            {"consistent", NormalOrientation::kConsistent},
                                            {"toward_origins", NormalOrientation::kTowardOrigins},
                                            {"agreeing", NormalOrientation::kAgreeing}}),
          whole_field<std::uint32_t>(js, "graph_neighbors")};
}

// estimateNormals(positions, origins | null, params): NativeJob<EstimatedNormals>
Napi::Value estimate_normals_job(const Napi::CallbackInfo& info) {
  const auto positions = typed_column(info[0], DType::kVec3d, "positions");
  const auto origins = optional_typed_column(info[1], DType::kVec3d, "origins");
  const NormalsParams params = normals_params(info[2]);
  return start_job<NormalsResult>(
      info.Env(), job_options(info[3]),
      [=](OpContext& ctx) {
        const HitSelection hits = select_hits(positions->as<Vec3d>(), {}, ctx);
        return estimate_normals(hits.points(), params, view_or_empty<Vec3d>(origins), ctx);
      },
      [](Napi::Env env, NormalsResult&& result) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("normals", ColumnHandle::wrap(env, std::move(result.normals)));
        out.Set("unestimated_count", static_cast<double>(result.unestimated_count));
        out.Set("component_count", static_cast<double>(result.component_count));
        return out;
      });
}

// poissonSurface(positions, normals, params): NativeJob<PoissonSurface>
Napi::Value poisson_job(const Napi::CallbackInfo& info) {
  const auto positions = typed_column(info[0], DType::kVec3d, "positions");
  const auto normals = typed_column(info[1], DType::kVec3d, "normals");
  const auto js = strict_object(info[2], "params");
  const PoissonParams params{whole_field<std::uint32_t>(js, "depth"),
                             number_field(js, "scale"),
                             number_field(js, "samples_per_node"),
                             number_field(js, "point_weight"),
                             bool_field(js, "trim"),
                             whole_field(js, "memory_bytes")};
  return start_job<PoissonResult>(
      info.Env(), job_options(info[3]),
      [=](OpContext& ctx) {
        const HitSelection hits = select_hits(positions->as<Vec3d>(), {}, ctx);
        return poisson(hits.points(), normals->as<Vec3d>(), params, ctx);
      },
      [](Napi::Env env, PoissonResult&& result) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("vertices", ColumnHandle::wrap(env, std::move(result.mesh.vertices)));
        out.Set("indices", ColumnHandle::wrap(env, std::move(result.mesh.indices)));
        out.Set("ignored_count", static_cast<double>(result.ignored_count));
        out.Set("trimmed_count", static_cast<double>(result.trimmed_count));
        out.Set("speck_count", static_cast<double>(result.speck_count));
        out.Set("depth", static_cast<double>(result.depth));
        return out;
      });
}

// ballPivoting(positions, normals, params: { radii: number[], tile_points, sides_are_known }): NativeJob<PivotedSurface>
Napi::Value ball_pivoting_job(const Napi::CallbackInfo& info) {
  const auto positions = typed_column(info[0], DType::kVec3d, "positions");
  const auto normals = typed_column(info[1], DType::kVec3d, "normals");
  const auto js = strict_object(info[2], "params");
  const BallPivotingParams params{number_list(js.Get("radii"), "radii"),
                                  whole_field<std::uint32_t>(js, "tile_points"),
                                  bool_field(js, "sides_are_known")};
  return start_job<BallPivotingResult>(
      info.Env(), job_options(info[3]),
      [=](OpContext& ctx) {
        const HitSelection hits = select_hits(positions->as<Vec3d>(), {}, ctx);
        return ball_pivoting(hits.points(), normals->as<Vec3d>(), params, ctx);
      },
      [](Napi::Env env, BallPivotingResult&& result) -> Napi::Value {
        auto out = Napi::Object::New(env);
        auto radii = Napi::Array::New(env, result.radii_m.size());
        for (std::uint32_t i = 0; i < radii.Length(); ++i) radii.Set(i, result.radii_m[i]);
        out.Set("indices", ColumnHandle::wrap(env, std::move(result.indices)));
        out.Set("radii", radii);
        out.Set("tile_count", static_cast<double>(result.tile_count));
        out.Set("ignored_count", static_cast<double>(result.ignored_count));
        out.Set("filled_hole_count", static_cast<double>(result.filled_hole_count));
        return out;
      });
}

// normalsBytes(points, params): number
Napi::Value normals_bytes_of(const Napi::CallbackInfo& info) {
  const auto points = strict_whole<std::uint64_t>(info[0], "points");
  return Napi::Number::New(info.Env(), static_cast<double>(normals_bytes(points, normals_params(info[1]))));
}

// poissonBytes(points): number
Napi::Value poisson_bytes_of(const Napi::CallbackInfo& info) {
  const auto points = strict_whole<std::uint64_t>(info[0], "points");
  return Napi::Number::New(info.Env(), static_cast<double>(poisson_bytes(points)));
}

// ballPivotingBytes(points): number
Napi::Value ball_pivoting_bytes_of(const Napi::CallbackInfo& info) {
  const auto points = strict_whole<std::uint64_t>(info[0], "points");
  return Napi::Number::New(info.Env(), static_cast<double>(ball_pivoting_bytes(points)));
}

}  // namespace

void register_reconstruction(Napi::Env env, Napi::Object exports) {
  add<estimate_normals_job>(env, exports, "estimateNormals");
  add<poisson_job>(env, exports, "poissonSurface");
  add<ball_pivoting_job>(env, exports, "ballPivoting");
  add<normals_bytes_of>(env, exports, "normalsBytes");
  add<poisson_bytes_of>(env, exports, "poissonBytes");
  add<ball_pivoting_bytes_of>(env, exports, "ballPivotingBytes");
}

}  // namespace pc::binding
