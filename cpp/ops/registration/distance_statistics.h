#pragma once
#include <cstdint>
#include <vector>

#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"
#include "ops/registration/point_to_mesh_distance.h"

namespace pc {

/// Count, mean and spread of numbers, mergeable.
struct Moments {
  std::uint64_t count = 0;
  double mean = 0;
  double squares = 0;  ///< sum of squared deviations from the mean

  void add(double value);
  void add(const Moments& other);
  double deviation() const;  ///< of the population; 0 without values
};

/// What is known before the distances are sorted.
struct DistanceMoments {
  Moments unsigned_, sided;
  double min, max;
  Box3d box;  ///< of the measured points
};

/// Completes the statistics from the narrowed distances (NaN = not measured; the sign does not count). Needs at least
/// one. `bands_m` are thresholds besides the usual ones. Does not depend on threads. Cancel within 50 ms.
DistanceStatistics distance_statistics(const DistanceMoments& moments, Span<const float> distances,
                                       const std::vector<double>& bands_m, OpContext& ctx);

}  // namespace pc
