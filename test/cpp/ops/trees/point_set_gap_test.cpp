#include "ops/trees/point_set_gap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "ops/trees/cut_pursuit_nodes.h"
#include "ops/trees/gap_components.h"
#include "spatial/union_find.h"

namespace {

using namespace pc;

TEST(PointSetGaps, EqualBruteForce) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> place(0, 20);
  std::vector<Vec3d> points;
  std::vector<std::uint32_t> set;
  for (int i = 0; i < 900; ++i) {
    points.push_back({std::floor(place(random)), place(random), place(random)});
    set.push_back(static_cast<std::uint32_t>(random() % 4 == 0 ? random() % 9 : 9));
  }
  JobControl control;
  OpContext ctx(control);
  const PointSetGaps gaps({points.data(), points.size()}, {set.data(), set.size()}, 11, ctx);
  for (std::uint32_t a = 0; a < 11; ++a) {
    double to_point = 1e9;
    for (std::uint32_t b = 0; b < 11; ++b) {
      double least = 1e9;
      for (std::size_t i = 0; i < points.size(); ++i) {
        for (std::size_t j = 0; j < points.size(); ++j) {
          if (set[i] == a && set[j] == b) least = std::min(least, squared_distance(points[i], points[j]));
        }
      }
      EXPECT_EQ(gaps.squared_gap(a, b, 1e9), least);
      EXPECT_EQ(gaps.squared_gap(a, b, 0.01), std::min(least, 0.01));
    }
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (set[i] == a) to_point = std::min(to_point, squared_distance(points[i], {3, 4, 5}));
    }
    EXPECT_EQ(gaps.squared_gap(a, Vec3d{3, 4, 5}, 1e9), to_point);
  }
}

/// `found` has the sets of single linkage, numbered by their lowest point.
void expect_single_linkage(const std::vector<Vec3d>& points, double gap, OpContext& ctx) {
  UnionFind joined(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (squared_distance(points[i], points[j]) < gap * gap) joined.join(i, j);
    }
  }
  const auto found = gap_components({points.data(), points.size()}, gap, ctx);
  std::vector<std::uint32_t> number(points.size(), kNoNode);
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    std::uint32_t& expected = number[joined.root_of(i)];
    if (expected == kNoNode) expected = next++;
    ASSERT_EQ(found[i], expected) << i;
  }
}

TEST(GapComponents, EqualSingleLinkage) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> place(-10, 10);
    std::vector<Vec3d> points;
    for (int i = 0; i < 150; ++i)
      points.push_back(
          local_position({place(random), place(random), seed % 3 == 0 ? 0 : place(random)}, {0, 0, 0}));
    JobControl control;
    OpContext ctx(control);
    expect_single_linkage(points, 0.5 + 0.1 * static_cast<double>(seed), ctx);
  }
}

TEST(GapComponents, EqualSingleLinkageWhereThreadsMeet) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> place(-10, 10);
    std::normal_distribution<double> spread(0, 0.15);
    std::vector<Vec3d> points;  // clumps and thin chains: full voxels beside empty ones
    while (points.size() < 4000) {
      const Vec3d center{place(random), place(random), place(random)};
      const Vec3d step{spread(random), spread(random), spread(random)};
      for (int k = 0; k < 40; ++k) {
        const Vec3d p = seed % 2 == 0
                            ? center + step * k
                            : center + Vec3d{spread(random), spread(random), spread(random)} * (1 + k % 3);
        points.push_back(local_position(p, {0, 0, 0}));
      }
    }
    JobControl control;
    OpContext ctx(control, Device::kCpu, 4);
    expect_single_linkage(points, 0.25 + 0.05 * static_cast<double>(seed), ctx);
  }
}

TEST(VoxelNodes, OneNodePerVoxelForAnyOrderOfPoints) {
  std::mt19937_64 random(8);
  std::uniform_real_distribution<double> place(-3, 3);
  std::vector<Vec3d> points;
  for (int i = 0; i < 5000; ++i)
    points.push_back(local_position({place(random), place(random), place(random)}, {0, 0, 0}));
  points[17].y = NAN;
  points[99] = {3e6, -3e6, 0};  // far outlier: voxels are numbered without the gap
  JobControl control;
  OpContext ctx(control);
  const VoxelNodes nodes = voxel_nodes({points.data(), points.size()}, 0.25, ctx);
  EXPECT_EQ(voxel_count({points.data(), points.size()}, 0.25, ctx), nodes.position.size());
  EXPECT_EQ(nodes.of_point[17], kNoNode);
  std::vector<std::vector<std::int64_t>> cells;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (i == 17) continue;
    const Vec3d& p = points[i];
    const Vec3d& node = nodes.position[nodes.of_point[i]];
    cells.push_back({std::llround(p.x * 4), std::llround(p.y * 4), std::llround(p.z * 4)});
    EXPECT_EQ(cells.back(), (std::vector<std::int64_t>{std::llround(node.x * 4), std::llround(node.y * 4),
                                                       std::llround(node.z * 4)}));
  }
  std::sort(cells.begin(), cells.end());
  EXPECT_EQ(static_cast<std::size_t>(std::unique(cells.begin(), cells.end()) - cells.begin()),
            nodes.position.size());
  std::vector<Vec3d> turned(points.rbegin(), points.rend());
  const VoxelNodes again = voxel_nodes({turned.data(), turned.size()}, 0.25, ctx);
  ASSERT_EQ(again.position.size(), nodes.position.size());
  for (std::size_t i = 0; i < nodes.position.size(); ++i) EXPECT_TRUE(again.position[i] == nodes.position[i]);
  EXPECT_THROW(voxel_nodes({points.data(), points.size()}, 1e-9, ctx), Error);
}

}  // namespace
