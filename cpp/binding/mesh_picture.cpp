#include <cmath>
#include <memory>

#include "binding/cloud_edit_values.h"
#include "binding/coded.h"
#include "binding/families.h"
#include "binding/js_values.h"
#include "ops/mesh/rasterize.h"

namespace pc::binding {

namespace {

using Held = std::shared_ptr<const AnyColumn>;

Held optional_column(const Napi::Object& object, const char* name, DType dtype) {
  const Napi::Value value = object.Get(name);
  return is_nothing(value) ? nullptr : typed_column(value, dtype, name);
}

/// The columns of a PaintedMesh.
struct MeshInput {
  Held vertices, indices, normals, colors, uvs, triangle_image;
  struct Texture {
    std::uint32_t width, height;
    Held rgba;
  };
  std::vector<Texture> textures;

  PaintedMesh view() const {
    PaintedMesh mesh{vertices->as<float>(),
                     indices->as<std::uint32_t>(),
                     view_or_empty<float>(normals),
                     view_or_empty<float>(colors),
                     view_or_empty<float>(uvs),
                     view_or_empty<std::uint32_t>(triangle_image),
                     {}};
    for (const auto& texture : textures)
      mesh.textures.push_back({texture.width, texture.height, texture.rgba->as<std::uint8_t>()});
    return mesh;
  }
};

MeshInput mesh_input(const Napi::Object& js) {
  MeshInput mesh{typed_column(js.Get("vertices"), DType::kF32, "vertices"),
                 typed_column(js.Get("indices"), DType::kU32, "indices"),
                 optional_column(js, "normals", DType::kF32),
                 optional_column(js, "colors", DType::kF32),
                 optional_column(js, "uvs", DType::kF32),
                 optional_column(js, "triangle_image", DType::kU32),
                 {}};
  const Napi::Array textures = array_field(js, "textures");
  for (std::uint32_t i = 0; i < textures.Length(); ++i) {
    const Napi::Object texture = strict_object(textures.Get(i), "texture");
    mesh.textures.push_back({whole_field<std::uint32_t>(texture, "width"),
                             whole_field<std::uint32_t>(texture, "height"),
                             typed_column(texture.Get("rgba"), DType::kU8, "rgba")});
  }
  return mesh;
}

RasterCamera camera_of(const Napi::Object& js) {
  return {number_array<12>(js.Get("view"), "view"),
          bool_field(js, "perspective"),
          number_field(js, "scale"),
          number_field(js, "near_m"),
          whole_field<std::uint32_t>(js, "width"),
          whole_field<std::uint32_t>(js, "height")};
}

RasterLight light_of(const Napi::Object& js) {
  RasterLight light{
      vec3_field(js, "toward"), number_field(js, "ambient"), bool_field(js, "is_smooth"), {0, 0, 0, 0}};
  const auto background = number_array<4>(js.Get("background"), "background");
  for (int i = 0; i < 4; ++i) {
    if (!(background[i] >= 0 && background[i] <= 255) || background[i] != std::floor(background[i]))
      throw Error(ErrorCode::kInvalidArgument, "background must be four whole numbers from 0 to 255");
    light.background[i] = static_cast<unsigned char>(background[i]);
  }
  return light;
}

// rasterizeMesh(mesh, camera, light, samples): NativeJob<{ rgba: u8, depth: f32, triangles: u32 }>
Napi::Value rasterize_mesh_job(const Napi::CallbackInfo& info) {
  const MeshInput mesh = mesh_input(strict_object(info[0], "mesh"));
  const RasterCamera camera = camera_of(strict_object(info[1], "camera"));
  const RasterLight light = light_of(strict_object(info[2], "light"));
  const auto samples = strict_whole<std::uint32_t>(info[3], "samples");
  return start_job<MeshPicture>(
      info.Env(), job_options(info[4]),
      [=](OpContext& ctx) { return rasterize_mesh(mesh.view(), camera, light, samples, ctx); },
      [](Napi::Env env, MeshPicture&& picture) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("rgba", ColumnHandle::wrap(env, std::move(picture.rgba)));
        out.Set("depth", ColumnHandle::wrap(env, std::move(picture.depth)));
        out.Set("triangles", ColumnHandle::wrap(env, std::move(picture.triangles)));
        return out;
      });
}

}  // namespace

void register_mesh_picture(Napi::Env env, Napi::Object exports) {
  add<rasterize_mesh_job>(env, exports, "rasterizeMesh");
}

}  // namespace pc::binding
