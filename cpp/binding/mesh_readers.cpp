#include "binding/cloud_edit_values.h"
#include "binding/coded.h"
#include "binding/families.h"
#include "binding/js_values.h"
#include "io/mtl.h"
#include "io/obj.h"
#include "io/ply_mesh.h"
#include "io/stl.h"
#include "ops/mesh/mesh_packing.h"
#include "ops/mesh/polygon_triangulation.h"

namespace pc::binding {

namespace {

struct MeshFile {
  PackedMesh mesh;
  std::vector<std::string> material_names, libraries, warnings;
  std::uint64_t skipped_count, flat_face_count, crossing_face_count;
};

template <class Read, class Pack>
MeshFile read_mesh(Read&& read, Pack&& pack, OpContext& ctx) {
  PolygonMesh polygons = read();
  const Triangulation triangles = triangulate(polygons, ctx);
  MeshFile file{pack(polygons, triangles, ctx), std::move(polygons.material_names),
                std::move(polygons.libraries),  std::move(polygons.warnings),
                triangles.skipped_count,        triangles.flat_face_count,
                triangles.crossing_face_count};
  return file;
}

template <class T>
Napi::Value column_or_null(Napi::Env env, Column<T>&& column) {
  return column.size() == 0 ? env.Null() : Napi::Value(ColumnHandle::wrap(env, std::move(column)));
}

Napi::Value mesh_to_js(Napi::Env env, MeshFile&& file) {
  auto out = Napi::Object::New(env);
  out.Set("vertices", ColumnHandle::wrap(env, std::move(file.mesh.vertices)));
  out.Set("indices", ColumnHandle::wrap(env, std::move(file.mesh.indices)));
  out.Set("normals", ColumnHandle::wrap(env, std::move(file.mesh.normals)));
  out.Set("colors", column_or_null(env, std::move(file.mesh.colors)));
  out.Set("uvs", column_or_null(env, std::move(file.mesh.uvs)));
  out.Set("triangle_material", column_or_null(env, std::move(file.mesh.triangle_material)));
  out.Set("material_names", to_js(env, file.material_names));
  out.Set("libraries", to_js(env, file.libraries));
  out.Set("warnings", to_js(env, file.warnings));
  out.Set("bounds", to_js(env, file.mesh.bounds));
  out.Set("skipped_count", static_cast<double>(file.skipped_count));
  out.Set("flat_face_count", static_cast<double>(file.flat_face_count));
  out.Set("crossing_face_count", static_cast<double>(file.crossing_face_count));
  out.Set("flat_count", static_cast<double>(file.mesh.flat_count));
  return out;
}

// readObj(path: string, shift: Triple): NativeJob<MeshFile>
Napi::Value read_obj_job(const Napi::CallbackInfo& info) {
  const std::string path = strict_string(info[0], "path");
  const Vec3d shift = number_triple(info[1], "shift");
  return start_job<MeshFile>(
      info.Env(), job_options(info[2]),
      [=](OpContext& ctx) {
        return read_mesh([&] { return io::read_obj(path, shift, ctx); }, expand_triangles, ctx);
      },
      mesh_to_js);
}

// readPlyMesh(path: string, shift: Triple): NativeJob<MeshFile>
Napi::Value read_ply_mesh_job(const Napi::CallbackInfo& info) {
  const std::string path = strict_string(info[0], "path");
  const Vec3d shift = number_triple(info[1], "shift");
  return start_job<MeshFile>(
      info.Env(), job_options(info[2]),
      [=](OpContext& ctx) {
        return read_mesh([&] { return io::read_ply_mesh(path, shift, ctx); }, share_vertices, ctx);
      },
      mesh_to_js);
}

// readStl(path: string, shift: Triple): NativeJob<MeshFile>
Napi::Value read_stl_job(const Napi::CallbackInfo& info) {
  const std::string path = strict_string(info[0], "path");
  const Vec3d shift = number_triple(info[1], "shift");
  return start_job<MeshFile>(
      info.Env(), job_options(info[2]),
      [=](OpContext& ctx) {
        return read_mesh([&] { return io::read_stl(path, shift, ctx); }, expand_triangles, ctx);
      },
      mesh_to_js);
}

// readMtl(path: string): NativeJob<{ materials: [{ name, color: Triple | null, texture, last_token }], warnings }>
Napi::Value read_mtl_job(const Napi::CallbackInfo& info) {
  const std::string path = strict_string(info[0], "path");
  return start_job<io::MtlFile>(
      info.Env(), job_options(info[1]), [=](OpContext& ctx) { return io::read_mtl(path, ctx); },
      [](Napi::Env env, io::MtlFile&& file) -> Napi::Value {
        auto materials = Napi::Array::New(env, file.materials.size());
        for (std::size_t i = 0; i < file.materials.size(); ++i) {
          const io::MtlMaterial& material = file.materials[i];
          auto js = Napi::Object::New(env);
          js.Set("name", material.name);
          const auto& color = material.color;
          js.Set("color",
                 color ? Napi::Value(to_js(env, Vec3d{(*color)[0], (*color)[1], (*color)[2]})) : env.Null());
          js.Set("texture", material.texture);
          js.Set("last_token", material.last_token);
          materials.Set(static_cast<std::uint32_t>(i), js);
        }
        auto out = Napi::Object::New(env);
        out.Set("materials", materials);
        out.Set("warnings", to_js(env, file.warnings));
        return out;
      });
}

// paintTriangles(triangle_material: u32, material_colors: number[], vertex_colors: f32 | null): NativeJob<f32>
Napi::Value paint_triangles_job(const Napi::CallbackInfo& info) {
  const auto materials = typed_column(info[0], DType::kU32, "triangle_material");
  const std::vector<double> listed = number_list(info[1], "material_colors");
  const std::vector<float> colors(listed.begin(), listed.end());
  const auto vertex_colors = optional_typed_column(info[2], DType::kF32, "vertex_colors");
  return start_job<Column<float>>(
      info.Env(), job_options(info[3]),
      [=](OpContext& ctx) {
        return paint_triangles(materials->as<std::uint32_t>(), colors, view_or_empty<float>(vertex_colors),
                               ctx);
      },
      [](Napi::Env env, Column<float>&& out) -> Napi::Value {
        return ColumnHandle::wrap(env, std::move(out));
      });
}

// groupTriangles(triangle_material: u32, material_count): NativeJob<{ triangles: u32, firsts: number[] }>
Napi::Value group_triangles_job(const Napi::CallbackInfo& info) {
  const auto materials = typed_column(info[0], DType::kU32, "triangle_material");
  const auto count = strict_whole<std::uint32_t>(info[1], "material_count");
  return start_job<MaterialGroups>(
      info.Env(), job_options(info[2]),
      [=](OpContext& ctx) { return group_triangles(materials->as<std::uint32_t>(), count, ctx); },
      [](Napi::Env env, MaterialGroups&& groups) -> Napi::Value {
        auto firsts = Napi::Array::New(env, groups.firsts.size());
        for (std::size_t i = 0; i < groups.firsts.size(); ++i) {
          firsts.Set(static_cast<std::uint32_t>(i), static_cast<double>(groups.firsts[i]));
        }
        auto out = Napi::Object::New(env);
        out.Set("triangles", ColumnHandle::wrap(env, std::move(groups.triangles)));
        out.Set("firsts", firsts);
        return out;
      });
}

}  // namespace

void register_mesh_readers(Napi::Env env, Napi::Object exports) {
  add<read_obj_job>(env, exports, "readObj");
  add<read_ply_mesh_job>(env, exports, "readPlyMesh");
  add<read_stl_job>(env, exports, "readStl");
  add<read_mtl_job>(env, exports, "readMtl");
  add<paint_triangles_job>(env, exports, "paintTriangles");
  add<group_triangles_job>(env, exports, "groupTriangles");
}

}  // namespace pc::binding
