#include "ops/registration/far_cluster.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "support/meshes.h"

namespace pc {
namespace {

FarCluster find(const std::vector<Vec3d>& points) {
  JobControl control;
  OpContext ctx(control);
  return far_cluster({points.data(), points.size()}, ctx);
}

std::vector<Vec3d> cube(std::size_t count, double side) {
  test::MeshDraw draw(2);
  std::vector<Vec3d> points;
  for (std::size_t i = 0; i < count; ++i) points.push_back(Vec3d{4.5e5, 5.4e6, 100} + draw.in_cube(side));
  return points;
}

TEST(FarCluster, FindsSkyPoints) {
  std::vector<Vec3d> points = cube(900, 50);
  for (int i = 0; i < 100; ++i) points.push_back(points[static_cast<std::size_t>(i)] + Vec3d{0, 600, 800});
  points.push_back({std::numeric_limits<double>::quiet_NaN(), 0, 0});
  const FarCluster found = find(points);
  EXPECT_EQ(found.count, 100U);
  ASSERT_EQ(found.skip.size(), points.size());
  EXPECT_EQ(found.skip[899], 0);
  EXPECT_EQ(found.skip[900], 1);
  EXPECT_EQ(found.skip[1000], 0);
}

TEST(FarCluster, LeavesWideCloudsAndNearOutliersAlone) {
  EXPECT_EQ(find(cube(5000, 4000)).count, 0U) << "dense up to 3 km";
  std::vector<Vec3d> near = cube(900, 2);
  near.push_back(near[0] + Vec3d{0, 0, 700});
  EXPECT_EQ(find(near).count, 0U) << "nearer than 800 m";
  std::vector<Vec3d> steps = cube(900, 400);
  for (const double r : {400.0, 700.0, 1400.0}) steps.push_back(steps[0] + Vec3d{r, 0, 0});
  EXPECT_EQ(find(steps).count, 0U) << "no gap of three";
  EXPECT_EQ(find({}).count, 0U);
}

}  // namespace
}  // namespace pc
