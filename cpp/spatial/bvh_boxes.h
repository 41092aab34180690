#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "core/host_device.h"

namespace pc::bvh {

/// The next numbers below and above that are at most two steps away: |f| 2^-23 is between one and two of them.
PC_HD inline float rounded_down(double value) {
  const auto f = static_cast<float>(value);
  return f - (f < 0 ? -f : f) * 0x1p-23F;
}
PC_HD inline float rounded_up(double value) {
  const auto f = static_cast<float>(value);
  return f + (f < 0 ? -f : f) * 0x1p-23F;
}

/// A box of four lanes, the last one unused: the compiler then needs two instructions to enlarge it.
struct alignas(16) Box4 {
  float min[4], max[4];

  static Box4 empty() {
    constexpr float kInf = std::numeric_limits<float>::infinity();
    return {{kInf, kInf, kInf, 0}, {-kInf, -kInf, -kInf, 0}};
  }
  void add(const float* low, const float* high) {
    for (int k = 0; k < 4; ++k) min[k] = low[k] < min[k] ? low[k] : min[k];
    for (int k = 0; k < 4; ++k) max[k] = high[k] > max[k] ? high[k] : max[k];
  }
  void add(const Box4& other) { add(other.min, other.max); }
  /// Half the surface; 0 for an empty box.
  float half_area() const {
    const float x = max[0] - min[0], y = max[1] - min[1], z = max[2] - min[2];
    return x >= 0 ? x * y + y * z + z * x : 0;
  }
};

/// A triangle while the tree is built. `box.max[3]` is its index.
struct Item {
  Box4 box;

  void set_index(std::uint32_t index) { std::memcpy(&box.max[3], &index, sizeof index); }
  std::uint32_t index() const {
    std::uint32_t index;
    std::memcpy(&index, &box.max[3], sizeof index);
    return index;
  }
  /// Twice the middle of the box.
  float middle(int axis) const { return box.min[axis] + box.max[axis]; }
};

}  // namespace pc::bvh
