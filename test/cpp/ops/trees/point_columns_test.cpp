#include "ops/trees/point_columns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include "support/columns.h"
#include "support/inventory_defaults.h"

namespace {

using namespace pc;
constexpr double kPi = std::numbers::pi;

/// Points of an arc about the origin, seen from -y.
std::vector<Vec2d> arc_of(double radius, double degrees, int count, double noise_m, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> noise(0, noise_m);
  std::vector<Vec2d> out;
  for (int i = 0; i < count; ++i) {
    const double turn = kPi / 180 * (degrees * ((i + 0.5) / count - 0.5) - 90), r = radius + noise(random);
    out.push_back({r * std::cos(turn), r * std::sin(turn)});
  }
  return out;
}

PointColumns columns_of(const std::vector<Vec2d>& points) {
  return point_columns({points.data(), points.size()});
}

TEST(PointColumns, TwoPlacesAreTwoGroups) {
  std::vector<Vec2d> points;
  for (int i = 0; i < 30; ++i) points.push_back(i % 3 == 0 ? Vec2d{1e6 + 0.3, -4} : Vec2d{1e6, -4.4});
  const PointColumns found = columns_of(points);
  EXPECT_NEAR(found.rms_m, 0, 1e-7);
  EXPECT_NEAR(found.gap_m, 0.5, 1e-9);
  EXPECT_NEAR(found.all_rms_m, 0.5 * std::sqrt(2.0) / 3, 1e-9);
  EXPECT_TRUE(are_columns(found, 0.002, 0.3));
}

/// The best of all splits of points on a line.
TEST(PointColumns, AreThoseWithTheLeastSquares) {
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> unit(0, 1);
  for (int run = 0; run < 50; ++run) {
    std::vector<double> at(12);
    for (double& x : at) x = unit(random);
    std::sort(at.begin(), at.end());
    double least = HUGE_VAL;
    for (std::size_t split = 1; split < at.size(); ++split) {
      double squares = 0;
      const auto add = [&](std::size_t from, std::size_t to) {
        double mean = 0;
        for (std::size_t i = from; i < to; ++i) mean += at[i] / static_cast<double>(to - from);
        for (std::size_t i = from; i < to; ++i) squares += (at[i] - mean) * (at[i] - mean);
      };
      add(0, split);
      add(split, at.size());
      least = std::min(least, squares);
    }
    std::vector<Vec2d> points;
    for (const double x : at) points.push_back({0.6 * x, 0.8 * x});
    EXPECT_NEAR(columns_of(points).rms_m, std::sqrt(least / 12), 1e-12);
  }
}

TEST(PointColumns, ArcsAreNone) {
  for (const double noise : {0.0, 0.002, 0.005})
    for (const double radius : {0.04, 0.1, 0.3})
      for (const double degrees : {70.0, 120.0, 180.0, 360.0})
        EXPECT_FALSE(are_columns(columns_of(arc_of(radius, degrees, 60, noise)), noise, radius))
            << noise << " " << radius << " " << degrees;
  EXPECT_FALSE(are_columns(columns_of(arc_of(0.1, 160, 400, 0.015)), 0.015, 0.1));  // a carried scanner
  std::vector<Vec2d> sides = arc_of(0.2, 40, 60, 0.002);  // both sides of a stem behind another one
  for (std::size_t i = 0; i < 30; ++i) sides[i] = {-sides[i].y, sides[i].x};
  for (std::size_t i = 30; i < 60; ++i) sides[i] = {sides[i].y, -sides[i].x};
  EXPECT_FALSE(are_columns(columns_of(sides), 0.002, 0.2));
}

TEST(PointColumns, FewPointsAndOnePlace) {
  EXPECT_FALSE(are_columns(columns_of({}), 0.01, 1));
  EXPECT_FALSE(are_columns(columns_of({{0, 0}, {1, 0}, {2, 0}}), 0.01, 1));
  EXPECT_TRUE(are_columns(columns_of(std::vector<Vec2d>(9, Vec2d{4, 5})), 0.01, 1));
  EXPECT_TRUE(are_columns(columns_of(std::vector<Vec2d>(8, Vec2d{0, 0})), 0.01, 1));
  EXPECT_TRUE(are_columns(columns_of(arc_of(0.3, 2, 30, 0.004)), std::nan(""), 0.3));
}

/// A young tree of 6 cm and 6 m that a car passed twice: each pass has one column on its stem, spread along its beams by noise.
struct YoungTree {
  std::vector<Vec3d> points;
  std::vector<std::uint32_t> ids;
  std::vector<std::uint8_t> ground;

  YoungTree(bool twice, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> noise(0, 0.006);
    std::uniform_real_distribution<double> unit(0, 1);
    const auto add = [&](const Vec3d& p, std::uint32_t id, std::uint8_t ground_class) {
      points.push_back(p);
      ids.push_back(id);
      ground.push_back(ground_class);
    };
    for (double x = -5; x <= 5; x += 0.25)
      for (double y = -5; y <= 5; y += 0.25) add({x, y, 0}, 0, 1);
    for (const double side : {-1.0, 1.0}) {
      if (side > 0 && !twice) continue;
      for (double z = 0.008; z < 2.5; z += 0.016) {
        const double along = noise(random) * std::sqrt(0.5);
        add({side * 0.029 + side * along, -0.008 + along, z}, 1, 2);
      }
    }
    for (int i = 0; i < 3000; ++i) {
      const double r = std::sqrt(unit(random)), turn = 2 * kPi * unit(random);
      add({r * std::cos(turn), r * std::sin(turn), 2.5 + 3.5 * unit(random)}, 1, 2);
    }
  }
  MeasuredTree measured() const {
    JobControl control;
    OpContext ctx(control, Device::kCpu, 1);
    const AnyColumn tree = test::column_of(ids), classes = test::column_of(ground);
    return tree_inventory({{points.data(), points.size()}, {0, 0, 0}, {}, &tree, nullptr, &classes},
                          inventory_defaults(), ctx)
        .trees.at(0);
  }
};

TEST(PointColumns, AStemOfOneOrTwoHasNoDiameter) {
  for (const bool twice : {false, true}) {
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      const MeasuredTree tree = YoungTree(twice, seed).measured();
      EXPECT_FALSE(tree.stem.breast_height.has_value())
          << twice << " " << seed << " " << 2 * tree.stem.breast_height->circle.radius << " +- "
          << tree.dbh_sigma_m;
      EXPECT_NEAR(tree.height_m, 6, 0.1);
    }
  }
}

}  // namespace
