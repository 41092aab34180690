#pragma once
#include <cstdint>
#include <optional>

#include "core/op_context.h"
#include "core/plant_structure.h"
#include "core/vec3.h"
#include "ops/plant/species.h"

namespace pc {

struct GrowthParams {
  double age_days;                                  ///< >= 0; growth stops at the species' max_age_days
  std::uint64_t seed;                               ///< the same seed gives the same plant
  std::uint64_t plant_index;                        ///< in a canopy; every index gives another plant
  Vec3d base_position;                              ///< metres
  std::optional<LeafInclination> leaf_inclination;  ///< kept for the geometry
};

/// Grows a plant from its start at age 0. plant_age of the result is the age reached: the smaller of age_days and the
/// species' max_age_days.
///
/// Order    A pure function of its arguments. Growing on with advance_plant in any steps gives the same bits as one
///          step: only births, bud breaks and dormancies are events; everything else is a closed form of the age. Every
///          shoot draws from a random stream of its own.
/// Cost     O(organs log shoots), and O(organs) per year; plant_cost().
/// Cancel   Within 50 ms; no partial plant.
/// Errors   kInvalidArgument: an age that is negative or not finite, a species that breaks a rule, more phytomers than
///          kMostPhytomers or organs than kMostOrgans (plant_sizes.h).
/// Source   contract plants section 7 and 8.1. Girth: pipe model, Shinozaki et al. 1964, with the area of the present
///          year, and never less than in earlier years. Deviations: elongation and expansion are exact instead of in steps.
PlantStructure grow_plant(const PlantSpecies& species, const GrowthParams& params, OpContext& ctx);

/// Grows a plant on; `days` 0 only sets the sizes again. Edited lengths, radii and angles keep their edit.
///
/// Errors   as above, and kInvalidArgument for days < 0, a plant without GrowthState or of another species, and a
///          structure whose shoots or lists do not fit together.
PlantStructure advance_plant(const PlantStructure& plant, const PlantSpecies& species, double days,
                             OpContext& ctx);

}  // namespace pc
