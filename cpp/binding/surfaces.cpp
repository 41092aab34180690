#include "binding/cloud_edit_values.h"
#include "binding/coded.h"
#include "binding/families.h"
#include "binding/js_values.h"
#include "binding/voxel_values.h"
#include "ops/mesh/alpha_shape.h"
#include "ops/mesh/delaunay.h"
#include "ops/mesh/far_area.h"
#include "ops/mesh/grid_binning.h"
#include "ops/mesh/mesh_cleanup.h"
#include "ops/mesh/mesh_measures.h"
#include "ops/mesh/mesh_points.h"
#include "ops/mesh/mesh_relief.h"

namespace pc::binding {

namespace {

std::optional<CropBox> crop_box(const Napi::Value& value) {
  if (is_nothing(value)) return std::nullopt;
  const auto js = strict_object(value, "crop");
  return CropBox{vec3_field(js, "min"), vec3_field(js, "max"), number_field(js, "rotation_deg")};
}

/// The columns of a mesh, alive for the whole job.
struct HeldMesh {
  ColumnPtr vertices, indices;
  Span<const Vec3d> corners() const { return vertices->as<Vec3d>(); }
  Span<const std::uint32_t> triangles() const { return indices->as<std::uint32_t>(); }
};
HeldMesh held_mesh(const Napi::Value& value) {
  const auto js = strict_object(value, "mesh");
  return {typed_column(js.Get("vertices"), DType::kVec3d, "vertices"),
          typed_column(js.Get("indices"), DType::kU32, "indices")};
}

HitPoints hits_of(const ColumnPtr& points) { return HitPoints::assume_hits(points->as<Vec3d>()); }

// meshPoints(positions: vec3d, skip: u8 | null, params: { shift, crop: { min, max, rotation_deg } | null,
// origins: vec3d | null }): NativeJob<{ points: vec3d, origins: vec3d | null, unusable_count }>
Napi::Value mesh_points_job(const Napi::CallbackInfo& info) {
  const auto positions = positions_column(info[0]);
  const auto skip = optional_mask(info[1], "skip");
  const auto js = strict_object(info[2], "params");
  const Vec3d shift = vec3_field(js, "shift");
  const auto crop = crop_box(js.Get("crop"));
  const auto origins = optional_typed_column(js.Get("origins"), DType::kVec3d, "origins");
  return start_job<MeshPoints>(
      info.Env(), job_options(info[3]),
      [=](OpContext& ctx) {
        const MeshRows rows{positions->as<Vec3d>(), view_or_empty<Vec3d>(origins),
                            view_or_empty<std::uint8_t>(skip), shift};
        return mesh_points(rows, crop, ctx);
      },
      [seen = origins != nullptr](Napi::Env env, MeshPoints&& found) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("origins",
                seen ? Napi::Value(ColumnHandle::wrap(env, std::move(found.origins))) : env.Null());
        out.Set("points", ColumnHandle::wrap(env, std::move(found.points)));
        out.Set("unusable_count", static_cast<double>(found.unusable_count));
        return out;
      });
}

// stridePoints(parts: vec3d[], stride: number): NativeJob<vec3d>
Napi::Value stride_points_job(const Napi::CallbackInfo& info) {
  const auto parts = column_list(info[0], "parts");
  const auto stride = strict_whole<std::uint64_t>(info[1], "stride");
  for (const ColumnPtr& part : parts) part->as<Vec3d>();
  return start_job<Column<Vec3d>>(
      info.Env(), job_options(info[2]),
      [=](OpContext& ctx) {
        std::vector<Span<const Vec3d>> views;
        for (const ColumnPtr& part : parts) views.push_back(part->as<Vec3d>());
        return stride_points(views, stride, ctx);
      },
      [](Napi::Env env, Column<Vec3d>&& points) -> Napi::Value {
        return ColumnHandle::wrap(env, std::move(points));
      });
}

// delaunay(points: vec3d): NativeJob<{ indices: u32, repeated_count }>
Napi::Value delaunay_job(const Napi::CallbackInfo& info) {
  const auto points = positions_column(info[0]);
  return start_job<DelaunayResult>(
      info.Env(), job_options(info[1]), [=](OpContext& ctx) { return delaunay(hits_of(points), ctx); },
      [](Napi::Env env, DelaunayResult&& mesh) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("indices", ColumnHandle::wrap(env, std::move(mesh.indices)));
        out.Set("repeated_count", static_cast<double>(mesh.repeated_count));
        return out;
      });
}

// alphaShape(points: vec3d, alpha_m: number | null): NativeJob<AlphaShape>
Napi::Value alpha_shape_job(const Napi::CallbackInfo& info) {
  const auto points = positions_column(info[0]);
  AlphaShapeParams params{};
  if (!is_nothing(info[1])) params.alpha_m = strict_number(info[1], "alpha_m");
  return start_job<AlphaShapeResult>(
      info.Env(), job_options(info[2]),
      [=](OpContext& ctx) { return alpha_shape(hits_of(points), params, ctx); },
      [](Napi::Env env, AlphaShapeResult&& shape) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("indices", ColumnHandle::wrap(env, std::move(shape.indices)));
        out.Set("faces", shape.faces == AlphaFaces::kSolid ? "solid" : "sheet");
        out.Set("alpha_m", shape.alpha_m);
        out.Set("mean_spacing_m", shape.mean_spacing_m);
        out.Set("volume_m3", shape.volume_m3);
        out.Set("repeated_count", static_cast<double>(shape.repeated_count));
        out.Set("sheet_count", static_cast<double>(shape.sheet_count));
        return out;
      });
}

// cleanMesh(mesh: { vertices: vec3d, indices: u32 }): NativeJob<CleanMesh>
Napi::Value clean_mesh_job(const Napi::CallbackInfo& info) {
  const HeldMesh mesh = held_mesh(info[0]);
  return start_job<CleanMesh>(
      info.Env(), job_options(info[1]),
      [=](OpContext& ctx) { return mesh_cleanup(mesh.corners(), mesh.triangles(), ctx); },
      [](Napi::Env env, CleanMesh&& clean) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("vertices", ColumnHandle::wrap(env, std::move(clean.vertices)));
        out.Set("indices", ColumnHandle::wrap(env, std::move(clean.indices)));
        out.Set("merged_vertex_count", static_cast<double>(clean.merged_vertex_count));
        out.Set("flat_count", static_cast<double>(clean.flat_count));
        out.Set("repeated_count", static_cast<double>(clean.repeated_count));
        out.Set("crowded_edge_count", static_cast<double>(clean.crowded_edge_count));
        out.Set("copied_vertex_count", static_cast<double>(clean.copied_vertex_count));
        out.Set("turned_count", static_cast<double>(clean.turned_count));
        return out;
      });
}

// meshRelief(mesh): NativeJob<MeshRelief>
Napi::Value mesh_relief_job(const Napi::CallbackInfo& info) {
  const HeldMesh mesh = held_mesh(info[0]);
  return start_job<MeshRelief>(
      info.Env(), job_options(info[1]),
      [=](OpContext& ctx) { return mesh_relief(mesh.corners(), mesh.triangles(), ctx); },
      [](Napi::Env env, MeshRelief&& relief) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("flat_share", relief.flat_share);
        out.Set("area_ratio", relief.area_ratio);
        out.Set("two_faced_share", relief.two_faced_share);
        out.Set("scatter_m", relief.scatter_m);
        out.Set("spacing_m", relief.spacing_m);
        return out;
      });
}

// meshReliefBytes(vertices: number, triangles: number): number
Napi::Value mesh_relief_bytes_of(const Napi::CallbackInfo& info) {
  const std::uint64_t vertices = strict_whole(info[0], "vertices"),
                      triangles = strict_whole(info[1], "triangles");
  return Napi::Number::New(info.Env(), static_cast<double>(mesh_relief_bytes(vertices, triangles)));
}

// farArea(mesh, points: vec3d): NativeJob<{ share, reach_m }>
Napi::Value far_area_job(const Napi::CallbackInfo& info) {
  const HeldMesh mesh = held_mesh(info[0]);
  const auto points = typed_column(info[1], DType::kVec3d, "points");
  return start_job<FarArea>(
      info.Env(), job_options(info[2]),
      [=](OpContext& ctx) { return far_area(mesh.corners(), mesh.triangles(), points->as<Vec3d>(), ctx); },
      [](Napi::Env env, FarArea&& found) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("share", found.share);
        out.Set("reach_m", found.reach_m);
        return out;
      });
}

// farAreaBytes(points: number): number
Napi::Value far_area_bytes_of(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), static_cast<double>(far_area_bytes(strict_whole(info[0], "points"))));
}

// meshArea(mesh): NativeJob<number>
Napi::Value mesh_area_job(const Napi::CallbackInfo& info) {
  const HeldMesh mesh = held_mesh(info[0]);
  return start_job<double>(
      info.Env(), job_options(info[1]),
      [=](OpContext& ctx) { return mesh_area(mesh.corners(), mesh.triangles(), ctx); },
      [](Napi::Env env, double&& area) -> Napi::Value { return Napi::Number::New(env, area); });
}

// meshNormals(mesh): NativeJob<f32>
Napi::Value mesh_normals_job(const Napi::CallbackInfo& info) {
  const HeldMesh mesh = held_mesh(info[0]);
  return start_job<Column<float>>(
      info.Env(), job_options(info[1]),
      [=](OpContext& ctx) { return mesh_normals(mesh.corners(), mesh.triangles(), ctx); },
      [](Napi::Env env, Column<float>&& normals) -> Napi::Value {
        return ColumnHandle::wrap(env, std::move(normals));
      });
}

// narrowVertices(vertices: vec3d, shift): NativeJob<{ vertices: f32, largest }>
Napi::Value narrow_vertices_job(const Napi::CallbackInfo& info) {
  const auto vertices = typed_column(info[0], DType::kVec3d, "vertices");
  const Vec3d shift = number_triple(info[1], "shift");
  return start_job<NarrowVertices>(
      info.Env(), job_options(info[2]),
      [=](OpContext& ctx) { return narrow_vertices(vertices->as<Vec3d>(), shift, ctx); },
      [](Napi::Env env, NarrowVertices&& narrow) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("vertices", ColumnHandle::wrap(env, std::move(narrow.vertices)));
        out.Set("largest", narrow.largest);
        return out;
      });
}

// binTriangles(mesh, grid: { center, size, nx, ny, nz, rotation_deg, offsets: f64 | null, kept: u8 | null }):
// NativeJob<{ indices: u32, cell_ids: u32 }>
Napi::Value bin_triangles_job(const Napi::CallbackInfo& info) {
  const HeldMesh mesh = held_mesh(info[0]);
  const HeldVoxelBox grid = held_voxel_box(info[1]);
  return start_job<BinnedTriangles>(
      info.Env(), job_options(info[2]),
      [=](OpContext& ctx) { return grid_binning(mesh.corners(), mesh.triangles(), grid.view(), ctx); },
      [](Napi::Env env, BinnedTriangles&& binned) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("indices", ColumnHandle::wrap(env, std::move(binned.indices)));
        out.Set("cell_ids", ColumnHandle::wrap(env, std::move(binned.cell_ids)));
        return out;
      });
}

Napi::Value bytes_to_js(const Napi::CallbackInfo& info, std::uint64_t bytes) {
  return Napi::Number::New(info.Env(), static_cast<double>(bytes));
}
// delaunayBytes(points): number
Napi::Value delaunay_bytes_of(const Napi::CallbackInfo& info) {
  return bytes_to_js(info, delaunay_bytes(strict_whole<std::uint64_t>(info[0], "points")));
}
// alphaShapeBytes(points): number
Napi::Value alpha_shape_bytes_of(const Napi::CallbackInfo& info) {
  return bytes_to_js(info, alpha_shape_bytes(strict_whole<std::uint64_t>(info[0], "points")));
}
// cleanMeshBytes(vertices, triangles): number
Napi::Value clean_mesh_bytes_of(const Napi::CallbackInfo& info) {
  return bytes_to_js(info, mesh_cleanup_bytes(strict_whole<std::uint64_t>(info[0], "vertices"),
                                              strict_whole<std::uint64_t>(info[1], "triangles")));
}

}  // namespace

void register_surfaces(Napi::Env env, Napi::Object exports) {
  add<mesh_points_job>(env, exports, "meshPoints");
  add<stride_points_job>(env, exports, "stridePoints");
  add<delaunay_job>(env, exports, "delaunay");
  add<alpha_shape_job>(env, exports, "alphaShape");
  add<clean_mesh_job>(env, exports, "cleanMesh");
  add<mesh_area_job>(env, exports, "meshArea");
  add<mesh_relief_job>(env, exports, "meshRelief");
  add<far_area_job>(env, exports, "farArea");
  add<far_area_bytes_of>(env, exports, "farAreaBytes");
  add<mesh_relief_bytes_of>(env, exports, "meshReliefBytes");
  add<mesh_normals_job>(env, exports, "meshNormals");
  add<narrow_vertices_job>(env, exports, "narrowVertices");
  add<bin_triangles_job>(env, exports, "binTriangles");
  add<delaunay_bytes_of>(env, exports, "delaunayBytes");
  add<alpha_shape_bytes_of>(env, exports, "alphaShapeBytes");
  add<clean_mesh_bytes_of>(env, exports, "cleanMeshBytes");
}

}  // namespace pc::binding
