#pragma once
#include <memory>
#include <vector>

#include "binding/napi_setup.h"
#include "binding/opaque_handle.h"
#include "core/plant_structure.h"
#include "ops/plant/geometry.h"
#include "ops/plant/prototypes.h"
#include "ops/plant/species.h"

/// Handles and values of plants that several binding files share.
namespace pc::binding {

/// A species that can grow: its growth parameters and the prototypes of its organs.
struct OpenSpecies {
  PlantSpecies growth;
  PlantPrototypes prototypes;
};
using SpeciesPtr = std::shared_ptr<const OpenSpecies>;
Napi::Object species_handle(Napi::Env env, SpeciesPtr species);
SpeciesPtr species_of(const Napi::Value& value);

using PlantPtr = std::shared_ptr<const PlantStructure>;
Napi::Object plant_handle(Napi::Env env, PlantPtr plant);
PlantPtr plant_of(const Napi::Value& value);

/// Plants of one species with their organs in place. Jobs fill disjoint parts of `plants` before anybody reads them.
struct PlacedPlants {
  SpeciesPtr species;
  mutable std::vector<PlantParts> plants;
};
using PlacedPtr = std::shared_ptr<const PlacedPlants>;

Napi::Object placed_handle(Napi::Env env, PlacedPtr plants);
PlacedPtr placed_of(const Napi::Value& value);

/// The growth part of a species file as the contract (shared/contract/plant-species.ts) gives it, with every field.
PlantSpecies plant_species_of(const Napi::Object& js);
/// { beta_mu, beta_nu } or null.
std::optional<LeafInclination> inclination_field(const Napi::Object& js, const char* name);
/// Any whole number up to 2^53, also a negative one.
std::uint64_t seed_field(const Napi::Object& js, const char* name);

}  // namespace pc::binding
