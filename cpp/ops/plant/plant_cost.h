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

/// Three times the expected numbers at an age, at most kMostPhytomers and kMostOrgans: where few early laterals decide, the
/// largest of ten plants has 2.5 times the expected number.
///
/// Cost     O(days of births x nodes); below 1 ms for the species of this repository.
/// Errors   kInvalidArgument: an age that is negative or not finite.
PlantCost plant_cost(const PlantSpecies& species, double age_days);

}  // namespace pc
