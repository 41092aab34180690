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

/// What sums say of the shape around them.
struct VoxelShape {
  float linearity = 0, planarity = 0, sphericity = 0,
        upright = 0;  ///< |z| of the main direction; 0 without extent
  Vec3d mean{0, 0, 0};
};

inline VoxelShape shape_of(const ShapeSums& sums) {
  const SymmetricEigen3 eigen = sums.eigen();
  const double most = eigen.value[2];
  const double middle = std::clamp(eigen.value[1], 0.0, std::max(0.0, most));
  const double least = std::clamp(eigen.value[0], 0.0, middle);
  VoxelShape shape;
  shape.mean = sums.mean();
  if (!(sums.count > 2 && most > 0 && std::isfinite(most))) return shape;
  shape.linearity = static_cast<float>((most - middle) / most);
  shape.planarity = static_cast<float>((middle - least) / most);
  shape.sphericity = static_cast<float>(least / most);
  shape.upright = static_cast<float>(std::abs(eigen.vector[2].z));
  return shape;
}

/// The shape; then the distance of `place` (relative as the mean) from the mean over `size`, and `last`.
inline void write_shape(const VoxelShape& shape, const Vec3d& place, double size, float last, float* out) {
  out[0] = shape.linearity;
  out[1] = shape.planarity;
  out[2] = shape.sphericity;
  out[3] = shape.upright;
  const double off = size > 0 ? std::sqrt(squared_distance(place, shape.mean)) / size : 0;
  out[4] = static_cast<float>(std::min(4.0, off));
  out[5] = last;
}

/// log2 of a length or a number.
inline float log_size(double value) { return static_cast<float>(std::log2(std::clamp(value, 1e-6, 1e6))); }

}  // namespace pc
