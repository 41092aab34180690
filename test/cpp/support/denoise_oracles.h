#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

#include "core/span.h"
#include "core/vec3.h"
#include "ops/denoise/noise_class.h"

/// The criteria of contract classification section 3, slow and obvious.
namespace pc::test {

using Labels = std::vector<std::uint8_t>;

inline Labels radius_oracle(Span<const Vec3d> xyz, double radius_m, std::uint64_t nb_points) {
  Labels labels(xyz.size, kNoise);
  for (std::size_t i = 0; i < xyz.size; ++i) {
    if (!is_finite(xyz[i])) continue;
    std::uint64_t others = 0;
    for (std::size_t j = 0; j < xyz.size; ++j)
      others +=
          j != i && is_finite(xyz[j]) && squared_distance(xyz[i], xyz[j]) <= radius_m * radius_m ? 1 : 0;
    if (others >= nb_points) labels[i] = kClean;
  }
  return labels;
}

inline Labels voxel_oracle(Span<const Vec3d> xyz, double voxel_m, std::uint64_t min_points) {
  Box3d box;
  for (const Vec3d& p : xyz)
    if (is_finite(p)) box.add(p);
  const auto cell = [&](const Vec3d& p) {
    return std::array<double, 3>{std::floor((p.x - box.min.x) / voxel_m),
                                 std::floor((p.y - box.min.y) / voxel_m),
                                 std::floor((p.z - box.min.z) / voxel_m)};
  };
  std::map<std::array<double, 3>, std::uint64_t> counts;
  for (const Vec3d& p : xyz)
    if (is_finite(p)) ++counts[cell(p)];
  Labels labels(xyz.size, kNoise);
  for (std::size_t i = 0; i < xyz.size; ++i)
    if (is_finite(xyz[i]) && counts[cell(xyz[i])] >= min_points) labels[i] = kClean;
  return labels;
}

/// The last points may lie on the threshold by a rounding of its sums: `on_edge` says which.
struct StatisticalOracle {
  Labels labels;
  std::vector<bool> on_edge;
};

inline StatisticalOracle statistical_oracle(Span<const Vec3d> xyz, std::size_t k, double std_ratio) {
  std::vector<double> means(xyz.size, std::nan(""));
  double count = 0, sum = 0, squares = 0;
  for (std::size_t i = 0; i < xyz.size; ++i) {
    if (!is_finite(xyz[i])) continue;
    std::vector<double> distances;
    for (std::size_t j = 0; j < xyz.size; ++j)
      if (j != i && is_finite(xyz[j])) distances.push_back(std::sqrt(squared_distance(xyz[i], xyz[j])));
    std::sort(distances.begin(), distances.end());
    distances.resize(std::min(distances.size(), k));
    means[i] = 0;
    for (const double d : distances) means[i] += d;
    if (!distances.empty()) means[i] /= static_cast<double>(distances.size());
    sum += means[i];
    count += 1;
  }
  const double mean = sum / count;
  for (const double m : means) squares += std::isnan(m) ? 0 : (m - mean) * (m - mean);
  const double threshold = mean + std_ratio * (count > 1 ? std::sqrt(squares / (count - 1)) : 0);
  StatisticalOracle oracle{Labels(xyz.size, kNoise), std::vector<bool>(xyz.size, false)};
  for (std::size_t i = 0; i < xyz.size; ++i) {
    if (means[i] <= threshold) oracle.labels[i] = kClean;
    oracle.on_edge[i] = std::abs(means[i] - threshold) <= 1e-12 * std::abs(threshold);
  }
  return oracle;
}

}  // namespace pc::test
