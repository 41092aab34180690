#include "binding/cloud_edit_values.h"
#include "binding/coded.h"
#include "binding/families.h"
#include "binding/js_values.h"
#include "ops/mesh/mesh_lists.h"
#include "ops/registration/far_cluster.h"
#include "ops/registration/point_to_mesh_distance.h"

namespace pc::binding {

namespace {

template <class Numbers>
Napi::Array numbers_to_js(Napi::Env env, const Numbers& numbers) {
  auto out = Napi::Array::New(env, numbers.size());
  std::uint32_t at = 0;
  for (const auto number : numbers) out.Set(at++, static_cast<double>(number));
  return out;
}

Napi::Object spread_to_js(Napi::Env env, const DistanceStatistics& spread) {
  auto out = Napi::Object::New(env);
  out.Set("mean_distance", spread.mean);
  out.Set("rmse", spread.rmse);
  out.Set("std_deviation", spread.std_deviation);
  out.Set("min_distance", spread.min);
  out.Set("max_distance", spread.max);
  out.Set("median_distance", spread.median);
  out.Set("percentile_90", spread.percentile_90);
  out.Set("percentile_95", spread.percentile_95);
  out.Set("percentile_99", spread.percentile_99);
  out.Set("band_thresholds_m", numbers_to_js(env, spread.band_thresholds_m));
  out.Set("points_within_percent", numbers_to_js(env, spread.points_within_percent));
  out.Set("asked_percent", numbers_to_js(env, spread.asked_percent));
  out.Set("bin_width_m", spread.histogram.bin_width_m);
  out.Set("bin_counts", numbers_to_js(env, spread.histogram.counts));
  return out;
}

Napi::Object sides_to_js(Napi::Env env, const SidedStatistics& sides) {
  auto out = Napi::Object::New(env);
  out.Set("defined", sides.defined);
  out.Set("mean", sides.mean);
  out.Set("std_deviation", sides.std_deviation);
  out.Set("open_edge_count", static_cast<double>(sides.open_edge_count));
  out.Set("flat_count", static_cast<double>(sides.flat_count));
  return out;
}

// meshOfLists(vertices: f64, indices: f64): NativeJob<{ vertices: vec3d, indices: u32 }>
Napi::Value mesh_of_lists_job(const Napi::CallbackInfo& info) {
  const auto vertices = typed_column(info[0], DType::kF64, "mesh_vertices");
  const auto indices = typed_column(info[1], DType::kF64, "mesh_indices");
  return start_job<MeshColumns>(
      info.Env(), job_options(info[2]),
      [=](OpContext& ctx) { return mesh_of_lists(vertices->as<double>(), indices->as<double>(), ctx); },
      [](Napi::Env env, MeshColumns&& mesh) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("vertices", ColumnHandle::wrap(env, std::move(mesh.vertices)));
        out.Set("indices", ColumnHandle::wrap(env, std::move(mesh.indices)));
        return out;
      });
}

// pointsOfList(coordinates: f64): NativeJob<{ positions: vec3d, skip: u8 | null, far_count }>
Napi::Value points_of_list_job(const Napi::CallbackInfo& info) {
  struct Found {
    Column<Vec3d> positions;
    FarCluster far;
  };
  const auto coordinates = typed_column(info[0], DType::kF64, "points");
  return start_job<Found>(
      info.Env(), job_options(info[1]),
      [=](OpContext& ctx) {
        Found found{points_of_list(coordinates->as<double>(), ctx), {}};
        found.far = far_cluster(found.positions.view(), ctx);
        return found;
      },
      [](Napi::Env env, Found&& found) -> Napi::Value {
        auto out = Napi::Object::New(env);
        const bool any = found.far.count > 0;
        out.Set("positions", ColumnHandle::wrap(env, std::move(found.positions)));
        out.Set("skip", any ? Napi::Value(ColumnHandle::wrap(env, std::move(found.far.skip))) : env.Null());
        out.Set("far_count", static_cast<double>(found.far.count));
        return out;
      });
}

// pointToMeshDistance(positions, skip, mesh: { vertices, indices }, params: { shift, stride, with_sides, bands_m }):
// NativeJob<MeshDistances>
Napi::Value point_to_mesh_distance_job(const Napi::CallbackInfo& info) {
  const auto positions = positions_column(info[0]);
  const auto skip = optional_mask(info[1], "skip");
  const auto mesh = strict_object(info[2], "mesh");
  const auto vertices = typed_column(mesh.Get("vertices"), DType::kVec3d, "vertices");
  const auto indices = typed_column(mesh.Get("indices"), DType::kU32, "indices");
  const auto js = strict_object(info[3], "params");
  const PointToMeshParams params{vec3_field(js, "shift"), whole_field<std::uint64_t>(js, "stride"),
                                 bool_field(js, "with_sides"), number_list(js.Get("bands_m"), "bands_m")};
  return start_job<PointToMeshResult>(
      info.Env(), job_options(info[4]),
      [=](OpContext& ctx) {
        const TriangleMesh triangles{vertices->as<Vec3d>(), indices->as<std::uint32_t>()};
        return point_to_mesh_distance(positions->as<Vec3d>(), view_or_empty<std::uint8_t>(skip), triangles,
                                      params, ctx);
      },
      [](Napi::Env env, PointToMeshResult&& result) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("distances", ColumnHandle::wrap(env, std::move(result.distances)));
        out.Set("point_count", static_cast<double>(result.point_count));
        out.Set("mesh_diagonal_m", result.mesh_diagonal_m);
        out.Set("unmeasured_count", static_cast<double>(result.unmeasured_count));
        out.Set("spread", result.spread ? Napi::Value(spread_to_js(env, *result.spread)) : env.Null());
        out.Set("sides", result.sides ? Napi::Value(sides_to_js(env, *result.sides)) : env.Null());
        out.Set("warnings", to_js(env, result.warnings));
        return out;
      });
}

// pointToMeshBytes(points, vertices, triangles, with_sides): number
Napi::Value point_to_mesh_bytes(const Napi::CallbackInfo& info) {
  const auto count = [&](std::size_t i, const char* name) {
    return strict_whole<std::uint64_t>(info[i], name);
  };
  const std::uint64_t bytes = point_to_mesh_distance_bytes(
      count(0, "points"), count(1, "vertices"), count(2, "triangles"), strict_bool(info[3], "with_sides"));
  return Napi::Number::New(info.Env(), static_cast<double>(bytes));
}

}  // namespace

void register_registration(Napi::Env env, Napi::Object exports) {
  add<mesh_of_lists_job>(env, exports, "meshOfLists");
  add<points_of_list_job>(env, exports, "pointsOfList");
  add<point_to_mesh_distance_job>(env, exports, "pointToMeshDistance");
  add<point_to_mesh_bytes>(env, exports, "pointToMeshBytes");
}

}  // namespace pc::binding
