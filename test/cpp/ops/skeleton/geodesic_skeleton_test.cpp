#include "ops/skeleton/geodesic_skeleton.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "support/nasty_clouds.h"

namespace pc {
namespace {

constexpr double kPi = 3.14159265358979323846;

/// A tube of points from `a` to `b`.
void add_tube(std::vector<Vec3d>& out, const Vec3d& a, const Vec3d& b, double radius, std::size_t count,
              std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> unit;
  const Vec3d w = (b - a) * (1 / std::sqrt(squared_distance(a, b)));
  const Vec3d helper = std::fabs(w.x) < 0.5 ? Vec3d{1, 0, 0} : Vec3d{0, 1, 0};
  Vec3d u = cross(w, helper);
  u = u * (1 / std::sqrt(dot(u, u)));
  const Vec3d v = cross(w, u);
  for (std::size_t i = 0; i < count; ++i) {
    const double angle = 2 * kPi * unit(random);
    out.push_back(a + (b - a) * unit(random) + u * (radius * std::cos(angle)) +
                  v * (radius * std::sin(angle)));
  }
}

/// A stem with two branches, one of them beyond a gap.
std::vector<Vec3d> small_tree() {
  std::vector<Vec3d> points;
  add_tube(points, {0, 0, 0}, {0, 0, 2}, 0.05, 8000, 1);
  add_tube(points, {0, 0, 1}, {0.8, 0, 1.6}, 0.02, 1600, 2);
  add_tube(points, {-0.06, 0, 1.4}, {-0.7, 0.1, 1.9}, 0.015, 1200, 3);
  return points;
}

GeodesicSkeleton skeleton(const std::vector<Vec3d>& points, int threads = 1) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return geodesic_skeleton(HitPoints::assume_hits({points.data(), points.size()}), ctx);
}

void expect_one_tree(const GeodesicSkeleton& found) {
  for (std::size_t i = 0; i < found.nodes.size(); ++i) {
    const SkeletonNode& node = found.nodes[i];
    EXPECT_TRUE(is_finite(node.position));
    if (i == 0)
      EXPECT_EQ(node.parent, kNoSkeletonNode);
    else
      EXPECT_LT(node.parent, i);
  }
  for (const std::uint32_t node : found.node_of_point.view())
    EXPECT_TRUE(node == kNoSkeletonNode || node < found.nodes.size());
}

TEST(GeodesicSkeleton, NodesLieOnTheAxes) {
  const auto points = small_tree();
  const GeodesicSkeleton found = skeleton(points);
  expect_one_tree(found);
  EXPECT_EQ(found.reached_count, points.size());
  ASSERT_GT(found.nodes.size(), 20U);
  double top = 0, off = 0, stem_nodes = 0;
  for (const SkeletonNode& node : found.nodes) {
    top = std::max(top, node.position.z);
    if (node.position.z > 0.9 || node.position.z < 0.1) continue;
    const auto weight = static_cast<double>(node.count);
    off += weight * std::hypot(node.position.x, node.position.y);
    stem_nodes += weight;
  }
  EXPECT_GT(top, 1.9);
  ASSERT_GT(stem_nodes, 1000);
  EXPECT_LT(off / stem_nodes, 0.02);
}

TEST(GeodesicSkeleton, DistancesGrowAlongTheStem) {
  const auto points = small_tree();
  const GeodesicSkeleton found = skeleton(points);
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (std::hypot(points[i].x, points[i].y) > 0.0501) continue;
    EXPECT_NEAR(found.distance_m[i], std::max(0.0, points[i].z - 0.05), 0.05 + 0.12 * points[i].z);
  }
}

TEST(GeodesicSkeleton, AGapIsBridgedUpTo15Spacings) {
  std::vector<Vec3d> points;
  for (int i = 0; i < 40; ++i)
    for (int j = 0; j < 4; ++j) points.push_back({j * 0.01, 0, i * 0.01});
  const auto joined = [&](double gap) {
    std::vector<Vec3d> both = points;
    for (int i = 0; i < 20; ++i)
      for (int j = 0; j < 4; ++j) both.push_back({j * 0.01, 0, 0.39 + gap + i * 0.01});
    return skeleton(both);
  };
  const GeodesicSkeleton near = joined(0.14), far = joined(0.16);
  EXPECT_NEAR(near.spacing_m, 0.01, 1e-4);
  EXPECT_EQ(near.reached_count, 240U);
  EXPECT_EQ(near.bridge_count, 1U);
  EXPECT_EQ(far.reached_count, 160U);
  EXPECT_EQ(far.bridge_count, 0U);
}

TEST(GeodesicSkeleton, ThreadsAndTheOrderOfPointsChangeNothing) {
  const auto points = small_tree();
  std::vector<std::size_t> row(points.size());
  for (std::size_t i = 0; i < row.size(); ++i) row[i] = i;
  std::shuffle(row.begin(), row.end(), std::mt19937_64(4));
  std::vector<Vec3d> mixed;
  for (const std::size_t i : row) mixed.push_back(points[i]);
  const GeodesicSkeleton a = skeleton(points), b = skeleton(mixed, 3);
  ASSERT_EQ(a.nodes.size(), b.nodes.size());
  for (std::size_t i = 0; i < a.nodes.size(); ++i) {
    EXPECT_EQ(a.nodes[i].position, b.nodes[i].position);
    EXPECT_EQ(a.nodes[i].parent, b.nodes[i].parent);
  }
  for (std::size_t i = 0; i < row.size(); ++i) {
    EXPECT_EQ(a.node_of_point[row[i]], b.node_of_point[i]);
    EXPECT_EQ(a.distance_m[row[i]], b.distance_m[i]);
  }
}

TEST(GeodesicSkeleton, AnOffsetKeepsTheTree) {
  auto points = small_tree();
  const GeodesicSkeleton a = skeleton(points);
  for (Vec3d& p : points) p = p + Vec3d{5e6, -5e6, 500};
  const GeodesicSkeleton b = skeleton(points);
  EXPECT_NEAR(static_cast<double>(a.nodes.size()), static_cast<double>(b.nodes.size()), 3);
  EXPECT_EQ(a.reached_count, b.reached_count);
}

TEST(GeodesicSkeleton, NotANumberIsLeftOut) {
  auto points = small_tree();
  const GeodesicSkeleton clean = skeleton(points);
  points.insert(points.begin() + 5, {std::numeric_limits<double>::quiet_NaN(), 0, 0});
  const GeodesicSkeleton dirty = skeleton(points);
  EXPECT_EQ(clean.nodes.size(), dirty.nodes.size());
  EXPECT_EQ(dirty.node_of_point[5], kNoSkeletonNode);
  EXPECT_TRUE(std::isnan(dirty.distance_m[5]));
  EXPECT_EQ(dirty.finite_count, points.size() - 1);
}

TEST(GeodesicSkeleton, AFarPointIsNotReached) {
  auto points = small_tree();
  points.push_back({1e7, 1e7, -50});
  const GeodesicSkeleton found = skeleton(points);
  EXPECT_EQ(found.reached_count, points.size() - 1);
  EXPECT_GT(found.nodes.size(), 20U);
}

TEST(GeodesicSkeleton, StrangeCloudsGiveATreeOrNothing) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const auto points = nasty_clouds::cloud(seed, 200);
    const GeodesicSkeleton found = skeleton(points);
    expect_one_tree(found);
    EXPECT_LE(found.reached_count, found.finite_count);
  }
  EXPECT_TRUE(skeleton({}).nodes.empty());
  EXPECT_TRUE(skeleton(std::vector<Vec3d>(100, Vec3d{1, 2, 3})).nodes.empty());
}

}  // namespace
}  // namespace pc
