#pragma once
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "core/random.h"
#include "core/vec3.h"

namespace pc::test {

struct TreePlot {
  std::vector<Vec3d> points;
  std::vector<std::uint32_t> tree;  ///< 1 .. of each point
};

/// A tree on level ground at a place: points on the mantle of its stem and in the shell of its crown.
inline void add_tree(TreePlot& plot, double x, double y, double height, std::uint32_t stem_points,
                     std::uint32_t crown_points) {
  const std::uint32_t tree = plot.tree.empty() ? 1 : plot.tree.back() + 1;
  std::uint64_t counter = 0;
  const auto unit = [&] { return random_unit(1000 + tree, counter++); };
  const auto add = [&](const Vec3d& p) {
    plot.points.push_back(p);
    plot.tree.push_back(tree);
  };
  for (std::uint32_t i = 0; i < stem_points; ++i) {
    const double angle = 2 * std::numbers::pi * unit(), up = unit();
    const double r = 0.15 * (1 - 0.6 * up);
    add({x + r * std::cos(angle), y + r * std::sin(angle), 0.1 + up * height * 0.7});
  }
  for (std::uint32_t i = 0; i < crown_points; ++i) {
    const double angle = 2 * std::numbers::pi * unit(), z = 2 * unit() - 1, s = 0.8 + 0.2 * unit();
    const double flat = std::sqrt(1 - z * z) * s * height * 0.15;
    add({x + flat * std::cos(angle), y + flat * std::sin(angle), height * 0.7 + z * s * height * 0.3});
  }
}

/// Rows of trees 5 m apart, 8 to 11 m high.
inline TreePlot tree_plot(std::uint32_t columns, std::uint32_t rows, std::uint32_t points_per_tree) {
  TreePlot plot;
  for (std::uint32_t r = 0; r < rows; ++r) {
    for (std::uint32_t c = 0; c < columns; ++c)
      add_tree(plot, 5.0 * c, 5.0 * r, 8 + (c * 7 + r * 3) % 4, points_per_tree / 4, 3 * points_per_tree / 4);
  }
  return plot;
}

}  // namespace pc::test
