#include "ops/skeleton/ring_arcs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace pc {
namespace {

constexpr double kPi = 3.14159265358979323846;

/// Nodes of one bin, each with vertices of its own.
struct Bin {
  std::vector<SkeletonNode> nodes;
  std::vector<std::uint32_t> of_vertex;
  std::vector<Vec3d> vertices;

  /// Vertices between two angles of a ring of 8 cm height whose axis leans.
  void arc(const Vec3d& center, double radius, double from, double to, double noise) {
    std::mt19937_64 random(nodes.size() + 1);
    std::uniform_real_distribution<double> unit;
    std::normal_distribution<double> normal;
    const auto node = static_cast<std::uint32_t>(nodes.size());
    const int count = 20 + static_cast<int>(radius * (to - from) / 0.01);
    Vec3d sum{0, 0, 0};
    for (int i = 0; i < count; ++i) {
      const double angle = from + (to - from) * unit(random), r = radius + noise * normal(random);
      const double z = 0.08 * unit(random);
      vertices.push_back(center + Vec3d{r * std::cos(angle) + 0.1 * z, r * std::sin(angle), z});
      of_vertex.push_back(node);
      sum = sum + vertices.back();
    }
    nodes.push_back({sum * (1.0 / count), kNoSkeletonNode, 3, static_cast<std::uint64_t>(count)});
  }
  std::size_t count_after() const {
    JobControl control;
    OpContext ctx(control);
    UnionFind sets =
        ring_arcs(nodes, {of_vertex.data(), of_vertex.size()}, {vertices.data(), vertices.size()}, ctx);
    std::size_t roots = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) roots += sets.root_of(i) == i ? 1 : 0;
    return roots;
  }
};

TEST(RingArcs, ArcsOfAStemAreOne) {
  Bin two;
  two.arc({1, 2, 3}, 0.15, 0, 2.6, 0.004);
  two.arc({1, 2, 3}, 0.15, 3.1, 5.9, 0.004);
  EXPECT_EQ(two.count_after(), 1U);
  Bin three;
  for (int i = 0; i < 3; ++i) three.arc({0, 0, 0}, 0.3, 2.1 * i, 2.1 * i + 1.6, 0.01);
  EXPECT_EQ(three.count_after(), 1U);
}

TEST(RingArcs, BranchesStayApart) {
  Bin fork;  // two stems of a fork
  fork.arc({0, 0, 0}, 0.1, 0, 2 * kPi, 0.004);
  fork.arc({0.22, 0, 0}, 0.1, 0, 2 * kPi, 0.004);
  EXPECT_EQ(fork.count_after(), 2U);
  Bin twigs;  // thin ones on a circle
  for (int i = 0; i < 3; ++i)
    twigs.arc({0.1 * std::cos(2.1 * i), 0.1 * std::sin(2.1 * i), 0}, 0.01, 0, 2 * kPi, 0.002);
  EXPECT_EQ(twigs.count_after(), 3U);
  Bin beside;  // a stem and a branch that left it
  beside.arc({0, 0, 0}, 0.15, 0, 2 * kPi, 0.004);
  beside.arc({0.26, 0, 0}, 0.04, 0, 2 * kPi, 0.004);
  EXPECT_EQ(beside.count_after(), 2U);
}

TEST(RingArcs, OtherBinsAndStrangeShapesStayApart) {
  Bin bins;
  bins.arc({1, 2, 3}, 0.15, 0, 2.6, 0.004);
  bins.arc({1, 2, 3}, 0.15, 3.1, 5.9, 0.004);
  bins.nodes[1].level = 4;
  EXPECT_EQ(bins.count_after(), 2U);
  EXPECT_EQ(Bin().count_after(), 0U);
  Bin places;
  for (int i = 0; i < 3; ++i) places.arc({0, 0, 0}, 0, 0, 0, 0);
  EXPECT_EQ(places.count_after(), 3U);
}

}  // namespace
}  // namespace pc
