#pragma once
#include "binding/napi_setup.h"
#include "ops/plant/prototypes.h"
#include "ops/plant/shapes.h"

/// The `shapes` part of a species file as the contract (shared/contract/plant-shapes.ts) gives it, with every field.
namespace pc::binding {

PlantShapes plant_shapes_of(const Napi::Object& js);
BladeShape blade_of(const Napi::Object& js);

/// { name, organ, texture, area, positions: f32 (3 V), indices: u32 (3 T), colors: f32 (3 T), uvs: f32 (2 V) | null }
Napi::Object to_js(Napi::Env env, const OrganPrototype& prototype);

}  // namespace pc::binding
