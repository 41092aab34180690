#pragma once
#include "binding/napi_setup.h"
#include "ops/plant/geometry.h"

/// Meshes of plants for JavaScript.
namespace pc::binding {

/// { triangle_count, origin, bounds, vertices, indices, normals, colors, uvs | null, triangle_texture, organ_codes,
/// triangle_plant }
Napi::Object to_js(Napi::Env env, PlantMesh&& mesh);
/// { tubes, instance_prototype, instance_plant, instance_matrix }
Napi::Object to_js(Napi::Env env, PlantInstances&& instances);

}  // namespace pc::binding
