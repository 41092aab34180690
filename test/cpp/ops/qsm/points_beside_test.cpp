#include "ops/qsm/points_beside.h"

#include <gtest/gtest.h>

#include <numbers>
#include <vector>

namespace pc {
namespace {

/// A stem of 4 m along z with 80 points on its surface, evenly by height.
struct Stem {
  std::vector<QsmCylinder> cylinders{{0, {0, 0, 0}, {0, 0, 2}, 0.1, -1, 0, 0},
                                     {1, {0, 0, 2}, {0, 0, 4}, 0.1, 0, 0, 0}};
  std::vector<Vec3d> points, unreached;
  FittedSurface surface;

  Stem() {
    for (int i = 0; i < 80; ++i) points.push_back({0.1, 0, 0.05 * i + 0.025});
    surface.first = {0, 40, 80};
    surface.point = BulkVector<std::uint32_t>(80);
    for (std::uint32_t i = 0; i < 80; ++i) surface.point[i] = i;
  }
  PointsBeside beside() const {
    return points_beside(cylinders, surface, {points.data(), points.size()}, unreached);
  }
};

TEST(PointsBeside, PointsOnTheModelAreNotBeside) {
  Stem stem;
  stem.points[3].x = 0.24;  // 14 cm off
  EXPECT_EQ(stem.beside().count, 0U);
  EXPECT_EQ(stem.beside().wood_m3, 0);
}

TEST(PointsBeside, AsMuchWoodAsThePartThatTheyLieIn) {
  Stem stem;
  for (int i = 0; i < 20; ++i) stem.unreached.push_back({1, 0, 2 + 0.1 * i});
  const PointsBeside found = stem.beside();
  EXPECT_EQ(found.count, 20U);
  // above 2.1 m, where the lowest twentieth ends: 38 points on the model, 1.9 m of it
  EXPECT_NEAR(found.wood_m3, 20.0 / 38 * std::numbers::pi * 0.01 * 1.9, 1e-12);
}

TEST(PointsBeside, FarFromItsCylinderOrGivenToNone) {
  Stem stem;
  for (std::size_t i = 60; i < 80; ++i) stem.points[i].x = 0.3;
  EXPECT_EQ(stem.beside().count, 20U);
  stem.points.push_back({5, 0, 3});  // beyond the reach of all
  EXPECT_EQ(stem.beside().count, 21U);
}

TEST(PointsBeside, AtMostThreeTimes) {
  Stem stem;
  for (int i = 0; i < 1000; ++i) stem.unreached.push_back({1, 0, 0});
  EXPECT_NEAR(stem.beside().wood_m3, 3 * std::numbers::pi * 0.01 * 4, 1e-12);
}

TEST(PointsBeside, WorstInput) {
  const FittedSurface none{{}, {}, {}, {}, {}, {0}, {}};
  EXPECT_EQ(points_beside({}, none, {}, {}).count, 0U);
  EXPECT_EQ(points_beside({}, none, {}, {{0, 0, 1}}).wood_m3, 0);
}

}  // namespace
}  // namespace pc
