#pragma once
#include <cstdint>
#include <vector>

#include "core/op_context.h"
#include "core/plant_structure.h"
#include "ops/plant/shoot_draws.h"

namespace pc {

/// Most phytomers, and most leaf blades, floral buds and flowers together, of one plant:
/// 14 times the largest tree of the library, and released within 250 ms.
inline constexpr std::uint64_t kMostPhytomers = 500'000, kMostOrgans = 4'000'000;

/// Throws kInvalidArgument: the plant is larger than that.
[[noreturn]] void refuse_size(const PlantSpecies& species, double day);

/// Sets every value that follows from the age in closed form: lengths and leaf scales min(1, rate x days) of their final
/// size, fallen leaves, floral buds, and the radii: the cross-section [cm2] is girth_area_factor times the largest leaf
/// area [m2] carried so far, at least that of a young internode.
///
/// draws    one per shoot
/// Cost     O(organs).
/// Cancel   Within 50 ms.
void update_sizes(PlantStructure& plant, const PlantSpecies& species, const std::vector<ShootDraws>& draws,
                  OpContext& ctx);

/// The start of a dormancy: each internode keeps the leaf area that it carried in the season that ends on `day`.
void record_carried_area(PlantStructure& plant, const PlantSpecies& species,
                         const std::vector<ShootDraws>& draws, double day, OpContext& ctx);

}  // namespace pc
