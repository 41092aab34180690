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

constexpr VoxelEdges kEdges{0.005, 0.02, 0.8};

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

double single_share(const VoxelCloud& cloud) {
  const auto single = std::count(cloud.nodes.points.begin(), cloud.nodes.points.end(), 1U);
  return static_cast<double>(single) / static_cast<double>(cloud.size());
}

// Of voxels with a mean of m points, m / (exp(m) - 1) of those that have any have one: .8 for m = .43.
TEST(VoxelEdges, VoxelsAreAsFineAsLeavesFewWithOnePoint) {
  const VoxelCloud cloud = voxels_of(sheet(10'000));
  EXPECT_NEAR(single_share(cloud), 0.8, 0.01);
  EXPECT_NEAR(cloud.nodes.edge_m, std::sqrt(0.43 / 10'000), 0.0002);
  // Counted from one voxel in 16.
  EXPECT_NEAR(single_share(voxels_of(sheet(400'000, 6))), 0.8, 0.02);
}

// Most points lie on a dense part, most voxels on a sparse one.
TEST(VoxelEdges, ADenseStemDoesNotDecideForTheCrown) {
  std::vector<Vec3d> points = sheet(500);
  for (Vec3d p : sheet(20'000)) points.push_back({0.05 * p.x, 0.05 * p.y, 1});
  EXPECT_EQ(voxels_of(points).nodes.edge_m, kEdges.coarsest_m);
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
  for (const VoxelEdges edges :
       {VoxelEdges{0, 0.02, 0.8}, VoxelEdges{0.03, 0.02, 0.8}, VoxelEdges{0.01, inf, 0.8},
        VoxelEdges{0.01, 0.02, 0}, VoxelEdges{0.01, 0.02, 1.01}})
    EXPECT_THROW(voxels_of({{0, 0, 0}}, edges), Error);
}

}  // namespace
