#pragma once
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ops/plant/organ_mesh.h"
#include "ops/plant/shapes.h"

/// Shapes of plant organs, and what every mesh of one must fulfil.
namespace pc::test {

inline BladeShape cordate() {
  BladeShape blade;
  blade.form = BladeForm::kPolar;
  blade.width_ratio = 1.05;
  blade.outline = {{0, 1}, {15, 0.79}, {50, 0.68}, {100, 0.6}, {148, 0.47}, {175, 0.15}};
  blade.fold_deg = 8, blade.cup_deg = -12, blade.bend_deg = 20;
  blade.length_divisions = 20;
  return blade;
}

inline std::vector<std::pair<std::string, BladeShape>> blades() {
  BladeShape ovate;
  ovate.width_ratio = 0.6, ovate.base_exponent = 0.5, ovate.tip_exponent = 0.9, ovate.fold_deg = 15,
  ovate.bend_deg = 30;
  BladeShape grass;
  grass.width_ratio = 0.1, grass.base_exponent = 0.28, grass.tip_exponent = 0.75, grass.twist_deg = 60;
  grass.buckle_deg = {25, 55}, grass.bend_deg = 60, grass.wave_amplitude = 0.01, grass.wave_count = 8;
  grass.length_divisions = 40, grass.width_divisions = 6;
  BladeShape needle;
  needle.form = BladeForm::kNeedle, needle.width_ratio = 0.03, needle.base_exponent = 0.3,
  needle.tip_exponent = 0.3;
  return {{"ovate", ovate}, {"grass", grass}, {"needle", needle}, {"cordate", cordate()}};
}

using TriangleList = std::vector<std::array<std::uint32_t, 3>>;

struct EdgeCounts {
  std::size_t open = 0;      ///< edges of one triangle only
  std::size_t repeated = 0;  ///< directed edges of more than one triangle
};

/// In a closed surface whose triangles agree, every directed edge occurs once, and so does its opposite.
inline EdgeCounts edge_counts(const TriangleList& triangles) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> edges;
  for (const auto& t : triangles)
    for (int k = 0; k < 3; ++k) ++edges[{t[k], t[(k + 1) % 3]}];
  EdgeCounts counts;
  for (const auto& [edge, count] : edges) {
    counts.repeated += count > 1;
    counts.open += edges.find({edge.second, edge.first}) == edges.end();
  }
  return counts;
}

/// Finite positions, indices in range, and no triangle without area, also when it is narrowed to float32.
inline void expect_sound(const OrganMesh& mesh) {
  ASSERT_FALSE(mesh.triangles.empty());
  for (const Vec3d& p : mesh.positions) ASSERT_TRUE(is_finite(p));
  const auto narrow = [](const Vec3d& p) {
    return Vec3d{static_cast<float>(p.x), static_cast<float>(p.y), static_cast<float>(p.z)};
  };
  for (const auto& [a, b, c] : mesh.triangles) {
    ASSERT_LT(std::max({a, b, c}), mesh.positions.size());
    const Vec3d n =
        triangle_area_vector(narrow(mesh.positions[a]), narrow(mesh.positions[b]), narrow(mesh.positions[c]));
    ASSERT_GT(dot(n, n), 1e-24) << a << " " << b << " " << c;
  }
}

}  // namespace pc::test
