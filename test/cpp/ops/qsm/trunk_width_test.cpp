#include "ops/qsm/trunk_width.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "ops/qsm/build_qsm.h"
#include "support/tubes.h"

namespace {

using namespace pc;
constexpr double kPi = std::numbers::pi;

/// Points `apart` from each other, in the mean.
void add_tube(std::vector<Vec3d>& out, const test::Tube& tube, double apart, std::uint64_t seed) {
  const double area = 2 * kPi * tube.radius * std::sqrt(squared_distance(tube.from, tube.to));
  test::add_tube(out, tube, static_cast<std::size_t>(area / (apart * apart)), 0.002, seed);
}

QsmBuildResult build(const std::vector<Vec3d>& points, RadiusModel model) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  const QsmBuildParams params{0.00423, true, 0.75, 1, 0, 0, model};
  return build_qsm(HitPoints::assume_hits({points.data(), points.size()}), params, ctx);
}

/// A trunk that parts into three limbs.
std::vector<Vec3d> tree(double radius, double height) {
  std::vector<Vec3d> points;
  add_tube(points, {{0, 0, 0}, {0, 0, height}, radius}, 0.06, 1);
  for (int k = 0; k < 3; ++k) {
    const double turn = 2 * kPi * k / 3;
    add_tube(points, {{0, 0, height}, {3 * std::cos(turn), 3 * std::sin(turn), height + 3}, 0.2}, 0.05,
             2 + k);
  }
  return points;
}

double volume_below(const QsmBuildResult& built, double z) {
  double sum = 0;
  for (const QsmCylinder& c : built.qsm.cylinders)
    if (c.start.z < z && c.end.z < z) sum += kPi * c.radius * c.radius * c.length_m();
  return sum;
}

bool tells(const QsmBuildResult& built) {
  return std::any_of(built.warnings.begin(), built.warnings.end(), [](const std::string& text) {
    return text.find("radius_model isotonic knows no diameter above 1 m") != std::string::npos;
  });
}

TEST(TrunkWidth, TaperedModelsHaveThickTrunks) {
  for (const double radius : {0.4, 0.8, 1.4, 2.2}) {
    const double height = 10;
    const QsmBuildResult built = build(tree(radius, height), RadiusModel::kTapered);
    EXPECT_NEAR(volume_below(built, height) / (kPi * radius * radius * height), 1, 0.1) << radius;
    EXPECT_FALSE(tells(built));
  }
}

TEST(TrunkWidth, IsotonicModelsTellThatTheyHaveNone) {
  for (const double radius : {0.2, 0.4, 0.8, 1.4}) {
    const QsmBuildResult built = build(tree(radius, 10), RadiusModel::kIsotonic);
    EXPECT_EQ(tells(built), radius > 0.5) << radius;
    EXPECT_TRUE(radius < 0.5 || !built.has_intervals) << radius;
  }
}

TEST(TrunkWidth, BushesAndStemsInBushesHaveNone) {
  std::vector<Vec3d> bush;
  for (int k = 0; k < 24; ++k) {
    const double turn = 2 * kPi * k / 24;
    add_tube(bush, {{0, 0, 0}, {2.5 * std::cos(turn), 2.5 * std::sin(turn), 3}, 0.02}, 0.02, 1 + k);
  }
  EXPECT_FALSE(tells(build(bush, RadiusModel::kIsotonic)));
  add_tube(bush, {{0, 0, 0}, {0, 0, 8}, 0.15}, 0.03, 99);
  EXPECT_FALSE(tells(build(bush, RadiusModel::kIsotonic)));
}

TEST(TrunkWidth, NothingOfNothing) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 1);
  EXPECT_EQ(trunk_width({}, {}, ctx), 0);
  const std::vector<Vec3d> place(100, Vec3d{1, 2, 3});
  EXPECT_EQ(trunk_width({}, {place.data(), place.size()}, ctx), 0);
}

}  // namespace
