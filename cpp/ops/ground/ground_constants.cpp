#include "ops/ground/ground_constants.h"

namespace pc {

std::array<NamedGroundConstant, 43> named_constants(GroundConstants& c) {
  return {{
      {"low_points_per_cell", &c.low.points_per_cell},
      {"low_support", &c.low.support},
      {"low_layer_per_cell", &c.low.layer_per_cell},
      {"low_layer_per_spread", &c.low.layer_per_spread},
      {"low_min_layer", &c.low.min_layer},
      {"low_max_layer", &c.low.max_layer},
      {"low_coherent_cells", &c.low.coherent_cells},
      {"low_max_depth", &c.low.max_depth},
      {"cells_per_spacing", &c.cells_per_spacing},
      {"min_cell", &c.min_cell},
      {"max_cell", &c.max_cell},
      {"coarsest_cell", &c.coarsest_cell},
      {"tolerance_m", &c.tolerance_m},
      {"tolerance_per_metre", &c.tolerance_per_metre},
      {"slope_share", &c.slope_share},
      {"roughness_share", &c.roughness_share},
      {"max_roughness_m", &c.max_roughness_m},
      {"plane_neighbors", &c.plane_neighbors},
      {"near_weight", &c.near_weight},
      {"pull", &c.pull},
      {"side_scatter", &c.side_scatter},
      {"side_fewest", &c.side_fewest},
      {"side_cone", &c.side_cone},
      {"side_falloff", &c.side_falloff},
      {"side_pull", &c.side_pull},
      {"side_slope", &c.side_slope},
      {"piece_above", &c.piece_above},
      {"face_share", &c.face_share},
      {"face_slope", &c.face_slope},
      {"layer_returns", &c.layer_returns},
      {"layer_fewest", &c.layer_fewest},
      {"layer_share", &c.layer_share},
      {"layer_m", &c.layer_m},
      {"scattered_tolerance_m", &c.scattered_tolerance_m},
      {"scattered_per_metre", &c.scattered_per_metre},
      {"class_per_spacing", &c.class_per_spacing},
      {"min_class", &c.min_class},
      {"max_spacing_class", &c.max_spacing_class},
      {"max_class", &c.max_class},
      {"class_slope_share", &c.class_slope_share},
      {"upper_slope_share", &c.upper_slope_share},
      {"upper_face_slope", &c.upper_face_slope},
      {"upper_scatter", &c.upper_scatter},
  }};
}

}  // namespace pc
