#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/symmetric_eigen.h"
#include "core/vec3.h"

namespace pc {

constexpr std::uint32_t kShapeWidth = 6;

/// Sums of places about one of them.
struct ShapeSums {
  double count = 0, x = 0, y = 0, z = 0;
  Symmetric3 square{0, 0, 0, 0, 0, 0};

  void add(const Vec3d& d) {
    ++count;
    x += d.x, y += d.y, z += d.z;
    square.xx += d.x * d.x, square.xy += d.x * d.y, square.xz += d.x * d.z;
    square.yy += d.y * d.y, square.yz += d.y * d.z, square.zz += d.z * d.z;
  }
  Vec3d mean() const { return count > 0 ? Vec3d{x / count, y / count, z / count} : Vec3d{0, 0, 0}; }
  SymmetricEigen3 eigen() const {
    const Vec3d m = mean();
    const double n = std::max(1.0, count);
    return symmetric_eigen({square.xx / n - m.x * m.x, square.xy / n - m.x * m.y, square.xz / n - m.x * m.z,
                            square.yy / n - m.y * m.y, square.yz / n - m.y * m.z, square.zz / n - m.z * m.z});
  }
};

/// linearity, planarity, sphericity, |z| of the main direction of the sums; then the distance of `place` (relative as
/// theirs) from their mean over `size`, and log2 of `last`. 0 for sums without extent.
inline void write_shape(const ShapeSums& sums, const Vec3d& place, double size, double last, float* out) {
  const SymmetricEigen3 eigen = sums.eigen();
  const double most = eigen.value[2];
  const double middle = std::clamp(eigen.value[1], 0.0, std::max(0.0, most));
  const double least = std::clamp(eigen.value[0], 0.0, middle);
  const bool has_extent = sums.count > 2 && most > 0 && std::isfinite(most);
  const auto set = [&](int column, double value) { out[column] = static_cast<float>(value); };
  set(0, has_extent ? (most - middle) / most : 0);
  set(1, has_extent ? (middle - least) / most : 0);
  set(2, has_extent ? least / most : 0);
  set(3, has_extent ? std::abs(eigen.vector[2].z) : 0);
  set(4, size > 0 ? std::min(4.0, std::sqrt(squared_distance(place, sums.mean())) / size) : 0);
  set(5, std::log2(std::clamp(last, 1e-6, 1e6)));
}

}  // namespace pc
