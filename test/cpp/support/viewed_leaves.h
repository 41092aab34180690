#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numbers>
#include <vector>

#include "core/random.h"
#include "ops/lad/scanner_view.h"
#include "support/columns.h"

/// Square leaves, and scanners that see them: a raster and the nearest leaf of each beam, leaf by leaf.
namespace pc::test {

struct SquareLeaf {
  Vec3d centre, normal;  ///< unit normal
  double edge, turn;
  bool is_wood = false;
};

inline Vec3d unit_of(const Vec3d& v) { return v * (1 / std::sqrt(dot(v, v))); }

/// Leaves of any inclination at random in a ball of radius 1 m, each of 4 cm.
inline std::vector<SquareLeaf> ball_of_leaves(std::size_t count, std::uint64_t seed) {
  std::vector<SquareLeaf> out;
  for (std::uint64_t i = 0; out.size() < count; ++i) {
    double u[6];
    for (std::uint64_t k = 0; k < 6; ++k) u[k] = random_unit(seed, 6 * i + k);
    const Vec3d at{2 * u[0] - 1, 2 * u[1] - 1, 2 * u[2] - 1};
    if (dot(at, at) > 1) continue;
    const double z = 2 * u[3] - 1, r = std::sqrt(1 - z * z), bearing = 2 * std::numbers::pi * u[4];
    out.push_back({at, {r * std::cos(bearing), r * std::sin(bearing), z}, 0.04, 2 * std::numbers::pi * u[5]});
  }
  return out;
}

inline double area_of(const std::vector<SquareLeaf>& leaves) {
  double sum = 0;
  for (const SquareLeaf& leaf : leaves) sum += leaf.is_wood ? 0 : leaf.edge * leaf.edge;
  return sum;
}

/// The rows of one scanner.
struct LeafScan {
  Vec3d origin{};
  std::vector<Vec3d> positions;
  std::vector<std::uint8_t> is_miss, is_leaf;
  std::shared_ptr<AnyColumn> miss_column;

  ViewedScan scan(const Vec3d& shift = {0, 0, 0}) {
    miss_column = std::make_shared<AnyColumn>(column_of(is_miss));
    return {origin + shift, {{span_of(positions), shift, miss_column.get(), {}, span_of(is_leaf)}}};
  }
};

/// Where a beam meets a leaf, metres along it; 0 = nowhere.
inline double range_on(const SquareLeaf& leaf, const Vec3d& origin, const Vec3d& beam) {
  const Vec3d to = leaf.centre - origin;
  const double along = dot(to, leaf.normal) / dot(beam, leaf.normal);
  if (!(along > 0 && std::isfinite(along))) return 0;
  const Vec3d aside = std::abs(leaf.normal.z) > 0.9 ? Vec3d{1, 0, 0} : Vec3d{0, 0, 1};
  const Vec3d u = unit_of(cross(leaf.normal, aside)), v = cross(leaf.normal, u), off = beam * along - to;
  const double a = std::cos(leaf.turn) * dot(off, u) + std::sin(leaf.turn) * dot(off, v),
               b = std::cos(leaf.turn) * dot(off, v) - std::sin(leaf.turn) * dot(off, u);
  return std::abs(a) < leaf.edge / 2 && std::abs(b) < leaf.edge / 2 ? along : 0;
}

/// A raster of beams `step` apart within `half` of the direction to the middle of the scene, in a frame of its own.
inline LeafScan scanned(const std::vector<SquareLeaf>& leaves, const Vec3d& origin, double half_rad,
                        double step_rad) {
  const auto side = static_cast<std::int64_t>(std::ceil(half_rad / step_rad));
  const std::size_t width = static_cast<std::size_t>(2 * side + 1);
  const Vec3d ahead = unit_of(origin * -1.0), across = unit_of(cross(ahead, {0.1, 0.2, 1})),
              up = cross(across, ahead);
  const auto beam = [&](std::int64_t i, std::int64_t j) {
    return unit_of(ahead + across * std::tan(step_rad * static_cast<double>(i)) +
                   up * std::tan(step_rad * static_cast<double>(j)));
  };
  std::vector<double> ranges(width * width, HUGE_VAL);
  std::vector<std::uint8_t> leaf_of(width * width, 0);
  for (const SquareLeaf& leaf : leaves) {
    const Vec3d to = leaf.centre - origin;
    const double depth = dot(to, ahead), reach = leaf.edge / depth;
    const auto bin = [&](double tangent) {
      return std::clamp(static_cast<std::int64_t>(std::round(std::atan(tangent) / step_rad)), -side, side);
    };
    const double x = dot(to, across) / depth, y = dot(to, up) / depth;
    for (std::int64_t i = bin(x - reach); i <= bin(x + reach); ++i)
      for (std::int64_t j = bin(y - reach); j <= bin(y + reach); ++j) {
        const double range = range_on(leaf, origin, beam(i, j));
        const std::size_t at =
            static_cast<std::size_t>(i + side) * width + static_cast<std::size_t>(j + side);
        if (range == 0 || range >= ranges[at]) continue;
        ranges[at] = range;
        leaf_of[at] = leaf.is_wood ? 0 : 1;
      }
  }
  LeafScan out;
  out.origin = origin;
  for (std::int64_t i = -side; i <= side; ++i)
    for (std::int64_t j = -side; j <= side; ++j) {
      const std::size_t at = static_cast<std::size_t>(i + side) * width + static_cast<std::size_t>(j + side);
      const bool miss = std::isinf(ranges[at]);
      out.positions.push_back(origin + beam(i, j) * (miss ? 100.0 : ranges[at]));
      out.is_miss.push_back(miss ? 1 : 0);
      out.is_leaf.push_back(leaf_of[at]);
    }
  return out;
}

}  // namespace pc::test
