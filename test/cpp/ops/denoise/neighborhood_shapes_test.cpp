#include "ops/denoise/neighborhood_shapes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "support/spacing_clouds.h"

namespace pc {
namespace {

NeighborhoodShapes shapes(const std::vector<Vec3d>& points, int threads = 2) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  const KdTree tree({points.data(), points.size()}, ctx);
  return neighborhood_shapes(tree, 16, ctx);
}

double share(const std::vector<Vec3d>& points, int threads = 2) { return shapes(points, threads).thin_share; }

/// A level lattice of `side` points squared.
void add_lattice(std::vector<Vec3d>& points, std::size_t side, double step, double z) {
  for (std::size_t i = 0; i < side * side; ++i)
    points.push_back({step * static_cast<double>(i % side), step * static_cast<double>(i / side), z});
}

/// Points around straight ropes of 1 cm, 5 mm apart along them.
std::vector<Vec3d> ropes(std::size_t count) {
  std::vector<Vec3d> points;
  for (std::size_t i = 0; i < count; ++i) {
    const double turn = 2.4 * static_cast<double>(i % 1000);
    points.push_back({0.005 * static_cast<double>(i % 1000),
                      static_cast<double>(i / 1000) + 0.005 * std::cos(turn), 0.005 * std::sin(turn)});
  }
  return points;
}

TEST(NeighborhoodShapes, RopesAreThinWallsAndScanRowsAreNot) {
  EXPECT_GT(share(ropes(8000)), 0.95);
  std::vector<Vec3d> wall, rows, cube;
  for (std::size_t i = 0; i < 8000; ++i) {
    const Vec3d u = test::random_point(3, i);
    wall.push_back({u.x, u.y, 0.0001 * u.z});
    rows.push_back({0.002 * static_cast<double>(i % 1000), static_cast<double>(i / 1000), 0.00002 * u.z});
    cube.push_back(u);
  }
  EXPECT_LT(share(wall), 0.001);
  EXPECT_LT(share(rows), 0.02);
  EXPECT_LT(share(cube), 0.005);
  EXPECT_EQ(share({}), 0);
  EXPECT_EQ(share({{1, 2, 3}}), 0);
  EXPECT_EQ(share(std::vector<Vec3d>(100, Vec3d{1, 2, 3})), 0);
}

/// The sixteenth neighbour in a lattice is two steps along and one across: sqrt(5) steps.
TEST(NeighborhoodShapes, BallsTellHowEvenlySurfacesAreSampled) {
  std::vector<Vec3d> points;
  add_lattice(points, 100, 0.05, 0);
  const NeighborhoodShapes even = shapes(points);
  EXPECT_NEAR(even.surface_spread, 1, 1e-9);
  EXPECT_NEAR(even.surface_ball_m, std::sqrt(5.0) * 0.05, 0.2 * 0.05);
  for (Vec3d& p : points) p = p + Vec3d{5e6, -5e6, 100};
  EXPECT_NEAR(shapes(points).surface_ball_m, even.surface_ball_m, 1e-6);
  for (Vec3d& p : points) p = p - Vec3d{5e6, -5e6, 100};
  add_lattice(points, 100, 0.2, 50);
  const NeighborhoodShapes uneven = shapes(points);
  EXPECT_NEAR(uneven.surface_spread, 4, 0.01);
  EXPECT_NEAR(uneven.surface_ball_m, std::sqrt(5.0) * 0.2, 0.2 * 0.2);
  EXPECT_EQ(shapes(points, 1).surface_spread, uneven.surface_spread);
  EXPECT_EQ(shapes(points, 1).surface_ball_m, uneven.surface_ball_m);
}

TEST(NeighborhoodShapes, FewSurfacesTellNothing) {
  std::vector<Vec3d> points;
  add_lattice(points, 9, 0.05, 0);
  EXPECT_TRUE(std::isinf(shapes(points).surface_spread));
  EXPECT_TRUE(std::isinf(shapes(points).surface_ball_m));
  EXPECT_TRUE(std::isinf(shapes({}).surface_spread));
}

TEST(NeighborhoodShapes, CopiesOrderThreadsAndOriginDoNotMatter) {
  std::vector<Vec3d> points = ropes(3000);
  for (std::size_t i = 0; i < 27'000; ++i) points.push_back(test::random_point(5, i) * 4.0);
  const double expected = share(points);
  EXPECT_NEAR(expected, 0.1, 0.02);
  EXPECT_EQ(share(points, 1), expected);
  std::vector<Vec3d> other(points.rbegin(), points.rend());
  EXPECT_EQ(share(other), expected);
  other.insert(other.end(), points.begin(), points.end());
  EXPECT_NEAR(share(other), expected, 0.02);
  for (Vec3d& p : points) p = p + Vec3d{5e6, -5e6, 100};
  EXPECT_NEAR(share(points), expected, 0.02);
}

}  // namespace
}  // namespace pc
