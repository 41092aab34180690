#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/span.h"
#include "spatial/lattice_point.h"
#include "spatial/predicates.h"

namespace pc {

/// The order of the points of DivideDelaunay after a quarter turn clockwise: upwards, and from right to left.
inline bool lies_below(const LatticePoint& a, const LatticePoint& b) {
  return a.v < b.v || (a.v == b.v && a.u > b.u);
}
inline bool lies_below(const Vec2d& a, const Vec2d& b) { return a.y < b.y || (a.y == b.y && a.x > b.x); }
inline double height(const LatticePoint& p) { return p.v; }
inline double height(const Vec2d& p) { return p.y; }

/// Sorts the numbers [begin, end) of points upwards, into `order`: by 2^22 intervals of the height, then within each.
template <class Point>
void sort_upwards(Span<const Point> points, std::size_t begin, std::size_t end, std::uint32_t* order) {
  constexpr int kDigit = 11;
  constexpr std::uint64_t kMask = (1U << kDigit) - 1;
  double low = height(points[begin]), high = low;
  for (std::size_t i = begin; i < end; ++i) {
    low = std::min(low, height(points[i]));
    high = std::max(high, height(points[i]));
  }
  const double last = (1U << (2 * kDigit)) - 1, scale = high > low ? last / (high - low) : 0;
  std::vector<std::uint64_t> keys, copy(end - begin);  // intervals, below them numbers of points
  keys.reserve(end - begin);
  std::array<std::vector<std::uint32_t>, 2> places;
  for (auto& place : places) place.assign(kMask + 2, 0);
  for (std::size_t i = begin; i < end; ++i) {
    const auto key = static_cast<std::uint64_t>(std::min((height(points[i]) - low) * scale, last));
    keys.push_back(key << 32 | i);
    ++places[0][(key & kMask) + 1];
    ++places[1][(key >> kDigit) + 1];
  }
  for (std::size_t d = 0; d < 2; ++d) {
    for (std::size_t k = 1; k < places[d].size(); ++k) places[d][k] += places[d][k - 1];
    for (const std::uint64_t key : keys) copy[places[d][key >> (32 + d * kDigit) & kMask]++] = key;
    keys.swap(copy);
  }
  for (std::size_t k = 0; k < keys.size();) {
    const std::size_t first = k;
    for (; k < keys.size() && keys[k] >> 32 == keys[first] >> 32; ++k)
      order[k] = static_cast<std::uint32_t>(keys[k]);
    if (k - first > 1) {
      std::sort(order + first, order + k,
                [&](std::uint32_t a, std::uint32_t b) { return lies_below(points[a], points[b]); });
    }
  }
}

}  // namespace pc
