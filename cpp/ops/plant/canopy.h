#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/op_context.h"
#include "core/plant_structure.h"
#include "core/vec3.h"
#include "ops/plant/geometry.h"
#include "ops/plant/species.h"

namespace pc {

/// Most places of a canopy.
inline constexpr std::uint64_t kMostCanopyPlants = 1'000'000;

/// Plants on a grid: place (i, j) is center + ((i - (count[0] - 1) / 2) spacing[0], (j - (count[1] - 1) / 2) spacing[1], 0).
struct CanopyParams {
  double age_days;  ///< >= 0
  std::uint64_t seed;
  std::optional<LeafInclination> leaf_inclination;
  Vec3d center;                        ///< metres
  std::array<double, 2> spacing;       ///< metres, >= 0
  std::array<std::uint32_t, 2> count;  ///< places along x and y, >= 1
  double germination_rate;             ///< 0 .. 1: probability that a place has a plant
};

/// A place with a plant.
struct CanopyPlace {
  std::uint64_t plant_index;  ///< j * count[0] + i
  Vec3d base;                 ///< metres
};

/// The places with a plant, j outer, i inner. Each place draws one number from the seed and keeps its plant if it is below
/// the rate. Errors: kInvalidArgument for values outside of their ranges.
std::vector<CanopyPlace> canopy_places(const CanopyParams& params);

struct Canopy {
  std::optional<PlantStructure> first;  ///< structure of the first plant; none without plants
  std::vector<PlantParts> plants;       ///< one per place with a plant, in the order of canopy_places
};

/// Grows every plant of a canopy and places its organs. Plant i grows as grow_plant does with plant_index i, at its place.
///
/// Order    Plants in the order of their places; the same bits for any thread count.
/// Cost     That of grow_plant and plant_parts for every plant; structures other than the first are freed at once.
/// Cancel   Within 250 ms.
/// Errors   Those of canopy_places, grow_plant and plant_parts.
Canopy grow_canopy(const PlantSpecies& species, const PlantPrototypes& prototypes, const CanopyParams& params,
                   const GeometryParams& geometry, OpContext& ctx);

}  // namespace pc
