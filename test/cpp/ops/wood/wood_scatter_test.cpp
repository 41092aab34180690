#include "ops/wood/wood_scatter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include "core/error.h"
#include "ops/wood/wood_class.h"

namespace pc {
namespace {

struct Stem {
  std::vector<Vec3d> points;
  std::vector<std::uint8_t> labels;

  /// A stem of 3 m with a point per 1.5 cm, noise in all directions, and leaves beside it.
  Stem(double radius, double noise, double spacing = 0.015) {
    std::mt19937_64 random(3);
    std::normal_distribution<double> normal(0, 1);
    std::uniform_real_distribution<double> unit(0, 1);
    const auto count = static_cast<int>(2 * std::numbers::pi * radius * 3 / (spacing * spacing));
    for (int i = 0; i < count; ++i) {
      const double turn = 2 * std::numbers::pi * unit(random);
      const Vec3d on{radius * std::cos(turn), radius * std::sin(turn), 3 * unit(random)};
      add(on + Vec3d{normal(random), normal(random), normal(random)} * noise, kWood);
    }
    for (int i = 0; i < 20'000; ++i) add({1 + unit(random), unit(random), 3 * unit(random)}, kLeaf);
  }
  void add(const Vec3d& p, std::uint8_t label) {
    points.push_back(p);
    labels.push_back(label);
  }
  WoodScatter scatter(int threads = 2) const {
    JobControl control;
    OpContext ctx(control, Device::kCpu, threads);
    return wood_scatter({points.data(), points.size()}, {labels.data(), labels.size()}, ctx);
  }
};

TEST(WoodScatter, MeasuresNoiseAroundStems) {
  for (const double radius : {0.08, 0.15, 0.3}) {
    EXPECT_LT(Stem(radius, 0).scatter().scatter_m, 0.004) << radius;
    for (const double noise : {0.01, 0.02}) {
      const WoodScatter found = Stem(radius, noise).scatter();
      EXPECT_GT(found.places, 500U);
      EXPECT_NEAR(found.scatter_m / noise, 0.9, 0.2) << radius << " " << noise;
    }
    EXPECT_GT(Stem(radius, 0.05).scatter().scatter_m, 0.018) << radius;
  }
}

TEST(WoodScatter, SparsePointsSayNothing) {
  EXPECT_TRUE(std::isnan(Stem(0.15, 0.01, 0.09).scatter().scatter_m));
  Stem leaves(0.15, 0.01);
  leaves.labels.assign(leaves.labels.size(), kLeaf);
  EXPECT_EQ(leaves.scatter().places, 0U);
  leaves.labels.pop_back();
  EXPECT_THROW(leaves.scatter(), Error);
}

TEST(WoodScatter, TheSameForAnyThreadCountAndNearlySoForAnyOrder) {
  Stem stem(0.15, 0.02);
  stem.points[5].x = std::nan("");
  const WoodScatter one = stem.scatter(1), four = stem.scatter(4);
  EXPECT_EQ(one.scatter_m, four.scatter_m);
  EXPECT_EQ(one.places, four.places);
  std::reverse(stem.points.begin(), stem.points.end());
  std::reverse(stem.labels.begin(), stem.labels.end());
  const WoodScatter back = stem.scatter();
  EXPECT_EQ(back.places, one.places);
  EXPECT_NEAR(back.scatter_m, one.scatter_m, 1e-9);
}

}  // namespace
}  // namespace pc
