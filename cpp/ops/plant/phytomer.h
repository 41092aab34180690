#pragma once
#include <cstdint>
#include <optional>

#include "core/plant_structure.h"
#include "ops/plant/shoot_draws.h"

namespace pc {

/// Where a phytomer stands and when it emerges.
struct PhytomerPlace {
  std::uint32_t node;  ///< index along the shoot
  double birth_day;    ///< days
  double pitch_deg;    ///< of the first internode of a shoot; other nodes draw theirs
  double heading_deg;  ///< sum of the yaw perturbations of the shoot so far
  bool has_leaves;     ///< false: they have fallen before age 0
};

/// A phytomer at its birth: full-grown sizes, buds and their fates; sizes of today are left to update_sizes().
/// `growth.leaves_emerged` counts its leaves.
Phytomer make_phytomer(const ShootDraws& shoot, const PhytomerPlace& place, GrowthState& growth);

/// Gives a bud that flowers or bears fruit its peduncle and flowers if it has none, and takes them from any other.
void furnish_bud(const ShootDraws& shoot, std::uint32_t node, FloralBud& bud);

/// Place of the leaf `ordinal` (0, 1, ...) of a plant in the leaf inclination distribution: the van der Corput sequence
/// plus a shift per plant, so that the first n leaves of every plant are spread evenly over [0, 1).
double stratified_unit(const GrowthState& growth, std::uint64_t ordinal);

}  // namespace pc
