#include "ops/qsm/stem_base.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

namespace pc {
namespace {

QsmBuildResult stem(Vec3d start, Vec3d end) {
  QsmBuildResult built;
  built.qsm.cylinders = {{0, start, end, 0.1, -1, 0, 0}, {1, end, end + Vec3d{0, 0, 1}, 0.08, 0, 0, 0}};
  built.total = {0.9, 1.1};
  built.stem = {0.8, 1.0};
  built.branches = {0.1, 0.2};
  return built;
}

TEST(StemBase, AStemReachesTheGround) {
  QsmBuildResult built = stem({1, 2, 10.25}, {1, 2, 11});
  EXPECT_NEAR(draw_to_ground(built, 10), 0.25, 1e-12);
  EXPECT_NEAR(built.qsm.cylinders[0].start.z, 10, 1e-12);
  const double more = std::numbers::pi * 0.01 * 0.25;
  EXPECT_NEAR(built.total.low, 0.9 + more, 1e-12);
  EXPECT_NEAR(built.total.high, 1.1 + more, 1e-12);
  EXPECT_NEAR(built.stem.high, 1.0 + more, 1e-12);
  EXPECT_EQ(built.branches.high, 0.2);
  EXPECT_TRUE(built.warnings.empty());
}

TEST(StemBase, ALeaningStemGoesOnAlongItsAxis) {
  QsmBuildResult built = stem({0, 0, 1}, {0.5, 0, 2});
  EXPECT_NEAR(draw_to_ground(built, 0.5), 0.5, 1e-12);
  EXPECT_NEAR(built.qsm.cylinders[0].start.x, -0.25, 1e-12);
  EXPECT_NEAR(built.qsm.cylinders[0].start.z, 0.5, 1e-12);
  ASSERT_EQ(built.warnings.size(), 1U);
  EXPECT_NE(built.warnings[0].find("0.5 m above the ground: the model was drawn out"), std::string::npos);
}

TEST(StemBase, FarFromTheGroundItIsToldAlone) {
  QsmBuildResult built = stem({0, 0, 3}, {0, 0, 4});
  EXPECT_NEAR(draw_to_ground(built, 1), 2, 1e-12);
  EXPECT_EQ(built.qsm.cylinders[0].start.z, 3);
  EXPECT_EQ(built.total.high, 1.1);
  ASSERT_EQ(built.warnings.size(), 1U);
  EXPECT_NE(built.warnings[0].find("is not part of the model"), std::string::npos);
}

TEST(StemBase, WhatIsNotKnownOrBelowTheGroundStays) {
  QsmBuildResult built = stem({0, 0, 1}, {0, 0, 2});
  EXPECT_TRUE(std::isnan(draw_to_ground(built, std::numeric_limits<double>::quiet_NaN())));
  EXPECT_EQ(draw_to_ground(built, 1.2), 0);
  EXPECT_EQ(built.qsm.cylinders[0].start.z, 1);
  QsmBuildResult lying = stem({0, 0, 1}, {2, 0, 1.5});
  EXPECT_NEAR(draw_to_ground(lying, 0.9), 0.1, 1e-12);
  EXPECT_EQ(lying.qsm.cylinders[0].start.z, 1);
  QsmBuildResult nothing;
  EXPECT_TRUE(std::isnan(draw_to_ground(nothing, 0)));
}

}  // namespace
}  // namespace pc
