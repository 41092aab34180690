#pragma once
#include <cstdint>

#include "ops/plant/species.h"

namespace pc {

/// An estimate of a plant before it grows.
struct PlantCost {
  std::uint64_t phytomers;
  std::uint64_t organs;  ///< petioles, blades, floral buds and flowers
  std::uint64_t bytes;   ///< of its PlantStructure
};

/// Twice the expected numbers at an age, at most kMostPhytomers and kMostOrgans. Plants of one species differ less than that:
/// with the species of this repository no seed of 200 exceeds the estimate.
///
/// Cost     O(days of births x nodes); below 10 ms for the species of this repository.
/// Errors   kInvalidArgument: an age that is negative or not finite.
PlantCost plant_cost(const PlantSpecies& species, double age_days);

}  // namespace pc
