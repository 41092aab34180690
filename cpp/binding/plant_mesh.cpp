#include "binding/plant_mesh.h"

#include "binding/column_handle.h"
#include "binding/js_values.h"

namespace pc::binding {

Napi::Object to_js(Napi::Env env, PlantMesh&& mesh) {
  auto out = Napi::Object::New(env);
  PackedMesh& packed = mesh.mesh;
  out.Set("triangle_count", static_cast<double>(mesh.organ_codes.size()));
  out.Set("origin", to_js(env, mesh.origin));
  out.Set("bounds", to_js(env, packed.bounds));
  out.Set("vertices", ColumnHandle::wrap(env, std::move(packed.vertices)));
  out.Set("indices", ColumnHandle::wrap(env, std::move(packed.indices)));
  out.Set("normals", ColumnHandle::wrap(env, std::move(packed.normals)));
  out.Set("colors", ColumnHandle::wrap(env, std::move(packed.colors)));
  if (packed.uvs.size() > 0) {
    out.Set("uvs", ColumnHandle::wrap(env, std::move(packed.uvs)));
  } else {
    out.Set("uvs", env.Null());
  }
  out.Set("triangle_texture", ColumnHandle::wrap(env, std::move(packed.triangle_material)));
  out.Set("organ_codes", ColumnHandle::wrap(env, std::move(mesh.organ_codes)));
  out.Set("triangle_plant", ColumnHandle::wrap(env, std::move(mesh.triangle_plant)));
  return out;
}

Napi::Object to_js(Napi::Env env, PlantInstances&& instances) {
  auto out = Napi::Object::New(env);
  out.Set("tubes", to_js(env, std::move(instances.tubes)));
  out.Set("instance_prototype", ColumnHandle::wrap(env, std::move(instances.instance_prototype)));
  out.Set("instance_plant", ColumnHandle::wrap(env, std::move(instances.instance_plant)));
  out.Set("instance_matrix", ColumnHandle::wrap(env, std::move(instances.instance_matrix)));
  return out;
}

}  // namespace pc::binding
