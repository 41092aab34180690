#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include "core/error.h"
#include "io/record_support.h"
#include "ops/wood/voxel_hierarchy.h"

namespace {

using namespace pc;
using record_test::with_context;

constexpr VoxelEdges kEdges{0.005, 0.02, 1.25};

/// A sheet of 1 m: about count times edge^2 points a voxel.
std::vector<Vec3d> sheet(std::size_t count, double size = 1) {
  std::mt19937_64 random(7);
  std::uniform_int_distribution<int> whole(0, 1 << 20);
  std::vector<Vec3d> points(count);
  for (auto& p : points) p = {size * whole(random) / (1 << 20), size * whole(random) / (1 << 20), 2};
  return points;
}

VoxelCloud voxels_of(const std::vector<Vec3d>& points, const VoxelEdges& edges = kEdges, int threads = 2) {
  return with_context(threads, [&](OpContext& ctx) {
    return voxel_cloud(HitPoints::assume_hits({points.data(), points.size()}), {}, edges, ctx);
  });
}

double per_voxel(const std::vector<Vec3d>& points, const VoxelCloud& cloud) {
  return static_cast<double>(points.size()) / static_cast<double>(cloud.size());
}

// Points of a sheet at a mean of m a voxel: m / (1 - exp(-m)) in those that have any; 1.25 for m = .464.
TEST(VoxelEdges, VoxelsAreAsFineAsHoldSoManyPoints) {
  const std::vector<Vec3d> points = sheet(10'000);
  const VoxelCloud cloud = voxels_of(points);
  EXPECT_NEAR(per_voxel(points, cloud), 1.25, 0.02);
  EXPECT_NEAR(cloud.nodes.edge_m, std::sqrt(0.464 / 10'000), 0.0002);
  // Counted from one voxel in 16.
  const std::vector<Vec3d> large = sheet(400'000, 6);
  EXPECT_NEAR(per_voxel(large, voxels_of(large)), 1.25, 0.03);
}

TEST(VoxelEdges, StayWithinTheirRange) {
  const std::vector<Vec3d> dense = sheet(200'000), sparse = sheet(500);
  EXPECT_EQ(voxels_of(dense).nodes.edge_m, kEdges.finest_m);
  EXPECT_EQ(voxels_of(sparse).nodes.edge_m, kEdges.coarsest_m);
  EXPECT_EQ(voxels_of(dense, VoxelEdges::of(0.02)).nodes.edge_m, 0.02);
}

TEST(VoxelEdges, SmallCloudsEnd) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const std::size_t count : {0, 1, 2, 8, 100}) {
    EXPECT_EQ(voxels_of(std::vector<Vec3d>(count, Vec3d{3, 2, 1})).nodes.edge_m,
              count == 1 ? kEdges.coarsest_m : kEdges.finest_m);
    EXPECT_EQ(voxels_of(std::vector<Vec3d>(count, Vec3d{nan, 2, 1})).size(), 0u);
  }
  // A voxel on each side of the middle, however large voxels are.
  std::vector<Vec3d> corners;
  for (int i = 0; i < 8; ++i) corners.push_back({i & 1 ? 9. : 0, i & 2 ? 9. : 0, i & 4 ? 9. : 0});
  EXPECT_EQ(voxels_of(corners).nodes.edge_m, kEdges.coarsest_m);
}

TEST(VoxelEdges, PointsThatAreNotFiniteDoNotCount) {
  std::vector<Vec3d> points = sheet(10'000);
  const double edge = voxels_of(points).nodes.edge_m;
  points.resize(30'000, Vec3d{0, std::numeric_limits<double>::infinity(), 0});
  EXPECT_EQ(voxels_of(points).nodes.edge_m, edge);
}

TEST(VoxelEdges, DoNotDependOnOrderPlaceOrThreads) {
  std::vector<Vec3d> points = sheet(100'000, 2);
  const double edge = voxels_of(points).nodes.edge_m;
  EXPECT_EQ(voxels_of(points, kEdges, 1).nodes.edge_m, edge);
  std::shuffle(points.begin(), points.end(), std::mt19937_64(3));
  EXPECT_EQ(voxels_of(points).nodes.edge_m, edge);
  for (auto& p : points) p = p + Vec3d{5'000'000, -300'000, 128};
  EXPECT_EQ(voxels_of(points).nodes.edge_m, edge);
}

TEST(VoxelEdges, OutsideTheirRangesAreRefused) {
  const double inf = std::numeric_limits<double>::infinity();
  for (const VoxelEdges edges : {VoxelEdges{0, 0.02, 2}, VoxelEdges{0.03, 0.02, 2}, VoxelEdges{0.01, inf, 2},
                                 VoxelEdges{0.01, 0.02, 0.9}, VoxelEdges{0.01, 0.02, inf}})
    EXPECT_THROW(voxels_of({{0, 0, 0}}, edges), Error);
}

}  // namespace
