#include "binding/cloud_edit_values.h"
#include "binding/cloud_values.h"
#include "binding/coded.h"
#include "binding/families.h"
#include "binding/js_values.h"
#include "binding/voxel_values.h"
#include "ops/cloud/first_returns.h"
#include "ops/mesh/mesh_points.h"
#include "ops/mesh/scan_mesh.h"
#include "ops/mesh/scan_mesh_payload.h"
#include "ops/mesh/scan_triangulation.h"

namespace pc::binding {

namespace {

// firstReturns(target_index, target_count, skip: u8 | null): NativeJob<FirstReturns>
Napi::Value first_returns_job(const Napi::CallbackInfo& info) {
  const auto index = ColumnHandle::get(info[0]), count = ColumnHandle::get(info[1]);
  const auto skip = optional_mask(info[2], "skip");
  return start_job<FirstReturns>(
      info.Env(), job_options(info[3]),
      [=](OpContext& ctx) { return first_returns(*index, *count, view_or_empty<std::uint8_t>(skip), ctx); },
      [](Napi::Env env, FirstReturns&& found) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("is_multi_return", found.is_multi_return);
        out.Set("dropped_count", static_cast<double>(found.dropped_count));
        const bool masked = found.is_multi_return;
        out.Set("skip", masked ? Napi::Value(ColumnHandle::wrap(env, std::move(found.skip))) : env.Null());
        return out;
      });
}

// voxelPoints(positions: vec3d, skip: u8 | null, shift, grid): NativeJob<{ points: vec3d, unusable_count }>
Napi::Value voxel_points_job(const Napi::CallbackInfo& info) {
  const auto positions = positions_column(info[0]);
  const auto skip = optional_mask(info[1], "skip");
  const Vec3d shift = number_triple(info[2], "shift");
  const HeldVoxelBox grid = held_voxel_box(info[3]);
  return start_job<MeshPoints>(
      info.Env(), job_options(info[4]),
      [=](OpContext& ctx) {
        const MeshRows rows{positions->as<Vec3d>(), {}, view_or_empty<std::uint8_t>(skip), shift};
        return mesh_points_in_voxels(rows, grid.view(), ctx);
      },
      [](Napi::Env env, MeshPoints&& found) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("points", ColumnHandle::wrap(env, std::move(found.points)));
        out.Set("unusable_count", static_cast<double>(found.unusable_count));
        return out;
      });
}

// triangulateScan(points: vec3d, origin): NativeJob<{ indices: u32, repeated_count, unusable_count }>
Napi::Value triangulate_scan_job(const Napi::CallbackInfo& info) {
  const auto points = positions_column(info[0]);
  const Vec3d origin = number_triple(info[1], "origin");
  return start_job<ScanTriangulation>(
      info.Env(), job_options(info[2]),
      [=](OpContext& ctx) {
        return scan_triangulation(HitPoints::assume_hits(points->as<Vec3d>()), origin, ctx);
      },
      [](Napi::Env env, ScanTriangulation&& mesh) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("indices", ColumnHandle::wrap(env, std::move(mesh.indices)));
        out.Set("repeated_count", static_cast<double>(mesh.repeated_count));
        out.Set("unusable_count", static_cast<double>(mesh.unusable_count));
        return out;
      });
}

struct HeldScan {
  ColumnPtr points, indices;
  Vec3d origin;
  bool is_multi_return;
};

Napi::Object to_js(Napi::Env env, const TriangleDrops& drops) {
  auto out = Napi::Object::New(env);
  out.Set("candidates", static_cast<double>(drops.candidates));
  out.Set("kept", static_cast<double>(drops.kept));
  out.Set("lmax", static_cast<double>(drops.lmax));
  out.Set("aspect", static_cast<double>(drops.aspect));
  out.Set("degenerate", static_cast<double>(drops.degenerate));
  out.Set("separation", static_cast<double>(drops.separation));
  return out;
}

// scanMesh(scans: { points: vec3d, indices: u32, origin, is_multi_return }[], { lmax_m, max_aspect_ratio }):
// NativeJob<ScanMesh>
Napi::Value scan_mesh_job(const Napi::CallbackInfo& info) {
  const auto list = strict_array(info[0], "scans");
  std::vector<HeldScan> scans;
  for (std::uint32_t i = 0; i < list.Length(); ++i) {
    const auto js = strict_object(list.Get(i), "scan");
    scans.push_back({positions_column(js.Get("points")),
                     typed_column(js.Get("indices"), DType::kU32, "indices"), vec3_field(js, "origin"),
                     bool_field(js, "is_multi_return")});
  }
  const auto js = strict_object(info[1], "params");
  const ScanMeshParams params{number_field(js, "lmax_m"), number_field(js, "max_aspect_ratio")};
  return start_job<ScanMesh>(
      info.Env(), job_options(info[2]),
      [=](OpContext& ctx) {
        std::vector<ScanTriangles> views;
        for (const HeldScan& scan : scans)
          views.push_back({scan.points->as<Vec3d>(), scan.indices->as<std::uint32_t>(), scan.origin,
                           scan.is_multi_return});
        return scan_mesh(views, params, ctx);
      },
      [](Napi::Env env, ScanMesh&& mesh) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("vertices", ColumnHandle::wrap(env, std::move(mesh.vertices)));
        out.Set("indices", ColumnHandle::wrap(env, std::move(mesh.indices)));
        out.Set("scan_ids", ColumnHandle::wrap(env, std::move(mesh.scan_ids)));
        out.Set("drops", to_js(env, mesh.drops));
        out.Set("lmax_m", optional_number(env, mesh.split.lmax_m));
        out.Set("separability", mesh.split.separability);
        out.Set("median_ratio", optional_number(env, mesh.split.median_ratio));
        out.Set("mixed", mesh.split.mixed);
        return out;
      });
}

// scanMeshPayload(mesh: { vertices: vec3d, indices: u32, scan_ids: u32 }, grid, max_triangles): NativeJob<Payload>
Napi::Value scan_mesh_payload_job(const Napi::CallbackInfo& info) {
  const auto js = strict_object(info[0], "mesh");
  const auto vertices = typed_column(js.Get("vertices"), DType::kVec3d, "vertices");
  const auto indices = typed_column(js.Get("indices"), DType::kU32, "indices");
  const auto scan_ids = typed_column(js.Get("scan_ids"), DType::kU32, "scan_ids");
  const HeldVoxelBox grid = held_voxel_box(info[1]);
  const auto most = strict_whole<std::uint64_t>(info[2], "max_triangles");
  return start_job<ScanMeshPayload>(
      info.Env(), job_options(info[3]),
      [=](OpContext& ctx) {
        return scan_mesh_payload(vertices->as<Vec3d>(), indices->as<std::uint32_t>(),
                                 scan_ids->as<std::uint32_t>(), grid.view(), most, ctx);
      },
      [](Napi::Env env, ScanMeshPayload&& payload) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("indices", ColumnHandle::wrap(env, std::move(payload.indices)));
        out.Set("scan_ids", ColumnHandle::wrap(env, std::move(payload.scan_ids)));
        out.Set("cell_ids", ColumnHandle::wrap(env, std::move(payload.cell_ids)));
        out.Set("surface_area", payload.surface_area);
        out.Set("cap_lmax_m", payload.cap_lmax_m);
        out.Set("cap_aspect", payload.cap_aspect);
        out.Set("outside_count", static_cast<double>(payload.outside_count));
        out.Set("capped_count", static_cast<double>(payload.capped_count));
        return out;
      });
}

// scanTriangulationBytes(points): number; scanMeshBytes(points, triangles): number
Napi::Value scan_triangulation_bytes_of(const Napi::CallbackInfo& info) {
  const auto bytes = scan_triangulation_bytes(strict_whole<std::uint64_t>(info[0], "points"));
  return Napi::Number::New(info.Env(), static_cast<double>(bytes));
}
Napi::Value scan_mesh_bytes_of(const Napi::CallbackInfo& info) {
  const auto bytes = scan_mesh_bytes(strict_whole<std::uint64_t>(info[0], "points"),
                                     strict_whole<std::uint64_t>(info[1], "triangles"));
  return Napi::Number::New(info.Env(), static_cast<double>(bytes));
}

}  // namespace

void register_scan_meshes(Napi::Env env, Napi::Object exports) {
  add<first_returns_job>(env, exports, "firstReturns");
  add<voxel_points_job>(env, exports, "voxelPoints");
  add<triangulate_scan_job>(env, exports, "triangulateScan");
  add<scan_mesh_job>(env, exports, "scanMesh");
  add<scan_mesh_payload_job>(env, exports, "scanMeshPayload");
  add<scan_triangulation_bytes_of>(env, exports, "scanTriangulationBytes");
  add<scan_mesh_bytes_of>(env, exports, "scanMeshBytes");
}

}  // namespace pc::binding
