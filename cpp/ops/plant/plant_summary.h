#pragma once
#include <array>
#include <cstdint>

#include "core/op_context.h"
#include "core/plant_structure.h"
#include "ops/plant/species.h"

namespace pc {

/// Measures of a plant, from its structure alone.
struct PlantSummary {
  double age_days;
  double axis_height_m;    ///< highest point of an axis above the base; leaves may be higher
  double axis_width_m;     ///< mean of the extents of the axes in x and y
  double main_axis_m;      ///< length of the first shoot
  double axis_length_m;    ///< of all shoots
  double base_diameter_m;  ///< of the first internode
  double wood_volume_m3;   ///< of all internodes as cylinders
  std::uint64_t shoot_count, phytomer_count;
  std::uint32_t max_branch_order;           ///< 0 = the base shoots only
  std::uint64_t leaf_count;                 ///< petioles with at least one blade
  std::uint64_t blade_count;                ///< blades; each leaflet counts
  double leaf_area_m2;                      ///< one-sided, present size; 0 if the species is not given
  std::uint64_t flower_count, fruit_count;  ///< in closed and open flower buds; in fruiting ones
  std::array<std::uint64_t, 6> bud_counts;  ///< by FloralBudState
  double mean_phyllotactic_angle_deg;  ///< circular, without the first node of shoots, 0..360; NaN = none
  double mean_insertion_angle_deg;     ///< first pitch of the shoots that grew from axils; NaN = none
};

/// species  for the leaf area; nullptr = none. Errors: kInvalidArgument for shoot types that it lacks, and walk_axes().
PlantSummary plant_summary(const PlantStructure& plant, const PlantSpecies* species, OpContext& ctx);

}  // namespace pc
