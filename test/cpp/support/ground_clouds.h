#pragma once
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/random.h"
#include "core/span.h"
#include "core/vec3.h"
#include "ops/ground/cloth_simulation.h"

/// Scenes with a known ground, and ways to run a filter on them.
namespace pc::test {

using GroundCloud = std::vector<Vec3d>;

inline HitPoints hits_of(const GroundCloud& cloud) {
  return HitPoints::assume_hits({cloud.data(), cloud.size()});
}

/// `side` x `side` metres of surface, points `step` apart, coordinates multiples of 1/1024 where step is.
inline GroundCloud surface_cloud(double side, double step, const std::function<double(double, double)>& z) {
  GroundCloud cloud;
  const int count = static_cast<int>(side / step) + 1;
  for (int j = 0; j < count; ++j) {
    for (int i = 0; i < count; ++i) {
      const double x = i * step, y = j * step;
      cloud.push_back({x, y, std::rint(z(x, y) * 1024) / 1024});
    }
  }
  return cloud;
}

/// Contract defaults but for what a small scene needs.
inline ClothSimulationParams cloth_defaults(double resolution, double threshold) {
  return {.cloth_resolution = resolution,
          .rigidness = 3,
          .class_threshold = threshold,
          .iterations = 500,
          .slope_smooth = false,
          .auto_class_threshold = false,
          .ignore_low_outliers = true,
          .want_heights = false,
          .tile_min_points = 4'000'000,
          .tile_target_points = 3'000'000};
}

inline ClothSimulationResult run_cloth(const GroundCloud& cloud, const ClothSimulationParams& params,
                                       int threads = 2) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return cloth_simulation(hits_of(cloud), params, ctx);
}

inline std::vector<std::uint8_t> labels_of(const Column<std::uint8_t>& column) {
  return {column.view().begin(), column.view().end()};
}

}  // namespace pc::test
