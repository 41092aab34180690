#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/op_context.h"
#include "core/plant_structure.h"
#include "core/span.h"
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

/// Grows plants of a canopy, one after the other, and places their organs: plant_index and place are those of `places`,
/// everything else as grow_plant does.
///
/// parts    (places) the plants with their organs in place
/// first    if not null, gets the structure of the first of these plants; the other structures are freed at once
/// Order    The same bits in any division of a canopy.
/// Cost     That of grow_plant and plant_parts for every plant.
/// Cancel   Within 50 ms.
/// Errors   Those of grow_plant and plant_parts.
void grow_places(const PlantSpecies& species, const PlantPrototypes& prototypes, const CanopyParams& params,
                 Span<const CanopyPlace> places, Span<PlantParts> parts, std::optional<PlantStructure>* first,
                 OpContext& ctx);

}  // namespace pc
