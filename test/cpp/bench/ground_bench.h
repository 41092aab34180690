#pragma once
#include "ops/ground/cloth_simulation.h"

namespace pc::bench {

/// A stiff cloth in tiles, as the jobs drop it.
inline ClothSimulationParams cloth_params(double resolution_m) {
  return {.cloth_resolution = resolution_m,
          .rigidness = 3,
          .class_threshold = 0.02,
          .iterations = 500,
          .slope_smooth = false,
          .auto_class_threshold = true,
          .ignore_low_outliers = true,
          .want_heights = false,
          .tile_min_points = 4'000'000,
          .tile_target_points = 3'000'000};
}

}  // namespace pc::bench
