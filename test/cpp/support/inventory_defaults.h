#pragma once
#include <optional>

#include "ops/trees/tree_inventory.h"

namespace pc {

/// The parameters of an inventory by default (shared/contract/cloud-session/tree-inventory.ts).
inline TreeInventoryParams inventory_defaults() {
  return {.stem = {.search = CircleSearch::kRansac,
                   .breast_height_m = 1.3,
                   .slice_thickness_m = 0.10,
                   .widened = {0.20, 0.30},
                   .inlier_distance_m = 0.02,
                   .curve_step_m = 0.5,
                   .curve_start_m = 0.5,
                   .min_radius_m = 0.02,
                   .max_radius_m = 1.5,
                   .min_inliers = 20,
                   .min_slice_points = 8,
                   .partial_arc_coverage = 0.5,
                   .seed_min_m = 0.5,
                   .seed_max_m = 2.5,
                   .seed_step_m = 0.25,
                   .lean_fit_max_m = 4,
                   .max_failures = 2,
                   .ellipticity_square = 0.0025,
                   .seed = 0},
          .thick = {.min_radius_m = 0.6, .max_radius_m = 4, .inlier_part = 0.03},
          .crown = {0.1, 1.0, 0.2, 0.05},
          .min_points = 50,
          .tree_ids = std::nullopt,
          .align_scans = true,
          .most_view_spread_m = 0.004,
          .competition_radius_m = 6,
          .least_distance_m = 0.1,
          .cover_cell_m = 0.1,
          .most_cover_cells = 2e7,
          .most_overlap_pairs = 1e7};
}

}  // namespace pc
