#include "ops/trees/crown_cover.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>

namespace {

using namespace pc;

ConvexPolygon circle(double x, double y, double radius, int corners = 720) {
  ConvexPolygon out;
  for (int i = 0; i < corners; ++i) {
    const double angle = 2 * i * std::numbers::pi / corners;
    out.push_back({x + radius * std::cos(angle), y + radius * std::sin(angle)});
  }
  return out;
}

CrownCover cover(const std::vector<ConvexPolygon>& hulls, const ConvexPolygon& plot, int threads = 2,
                 double most_pairs = 1e7) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return crown_cover(hulls, {plot, 0.1, 2e7, most_pairs}, ctx);
}

const ConvexPolygon kPlot{{0, 0}, {40, 0}, {40, 30}, {0, 30}};

TEST(CrownCover, TwoCirclesOverlapAsTheirLens) {
  const double d = 3, r = 2;
  const double lens = 2 * r * r * std::acos(d / (2 * r)) - d / 2 * std::sqrt(4 * r * r - d * d);
  const double disc = std::numbers::pi * r * r;
  const CrownCover found =
      cover({circle(10.03, 10.07, r), circle(13.03, 10.07, r), circle(30.01, 10.02, r), {}}, kPlot);
  EXPECT_NEAR(found.overlap_m2[0], lens, 0.001 * lens);
  EXPECT_NEAR(found.overlap_m2[0], found.overlap_m2[1], 1e-12);
  EXPECT_NEAR(found.overlap_fraction[0], lens / disc, 0.01);
  EXPECT_EQ(found.overlap_fraction[2], 0);
  EXPECT_TRUE(std::isnan(found.overlap_fraction[3]));
  EXPECT_NEAR(found.union_area_m2, 3 * disc - lens, 0.005 * disc * 3);
  EXPECT_EQ(found.cell_m, 0.1);
}

TEST(CrownCover, OnlyWhatLiesInThePlotCovers) {
  const double disc = std::numbers::pi * 4;
  const CrownCover found = cover({circle(0, 15, 2), circle(40, 30, 2), circle(100, 100, 2)}, kPlot);
  EXPECT_NEAR(found.union_area_m2, disc * 0.75, 0.01 * disc);
  EXPECT_EQ(cover({circle(0, 15, 2)}, {}).union_area_m2, 0);
}

TEST(CrownCover, EqualsACountOfSamplesForAnyThreadCount) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> x(-2, 42), y(-2, 32), r(0.5, 4);
  std::vector<ConvexPolygon> hulls;
  for (int i = 0; i < 120; ++i) hulls.push_back(circle(x(random), y(random), r(random), 24));
  const CrownCover found = cover(hulls, kPlot, 3), again = cover(hulls, kPlot, 1);
  EXPECT_EQ(found.union_area_m2, again.union_area_m2);
  EXPECT_EQ(found.overlap_m2, again.overlap_m2);
  EXPECT_EQ(found.overlap_fraction, again.overlap_fraction);
  std::size_t covered = 0;
  for (int i = 0; i < 400; ++i) {
    for (int j = 0; j < 300; ++j) {
      const Vec2d p{0.1 * i + 0.05, 0.1 * j + 0.05};
      bool any = false;
      for (const ConvexPolygon& hull : hulls) any = any || contains(hull, p);
      covered += any ? 1 : 0;
    }
  }
  EXPECT_NEAR(found.union_area_m2, static_cast<double>(covered) * 0.01, 0.05);
}

TEST(CrownCover, CrownsThatAllOverlapAreCountedNoFurtherThanTheLimit) {
  // 4e8 pairs: ids that are spread over a plot at random make such crowns. Past the limit four times as many crowns take
  // four times as long; were their pairs counted, sixteen times. A ratio holds under sanitizers and on busy machines.
  const auto seconds_of = [](std::size_t crowns) {
    const std::vector<ConvexPolygon> hulls(crowns, ConvexPolygon{{1, 1}, {39, 1}, {39, 29}, {1, 29}});
    double least = std::numeric_limits<double>::infinity();
    for (int run = 0; run < 3; ++run) {
      const auto started = std::chrono::steady_clock::now();
      const CrownCover found = cover(hulls, kPlot);
      least =
          std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count());
      EXPECT_FALSE(found.overlap_known);
      EXPECT_TRUE(std::isnan(found.overlap_m2[0]) && std::isnan(found.overlap_fraction[0]));
      EXPECT_NEAR(found.union_area_m2, 38 * 28, 1e-6);
    }
    return least;
  };
  const double few = seconds_of(5'000), many = seconds_of(20'000);
  EXPECT_LT(many, 7 * few);
}

TEST(CrownCover, LongThinCrownsHaveNoHugeRow) {
  const ConvexPolygon thin{{0, 0}, {1e13, 0}, {1e13, 1e-3}};
  const CrownCover found = cover({thin, thin}, {});
  EXPECT_NEAR(found.overlap_m2[0], 5e9, 1);
}

TEST(CrownCover, NoCrowns) {
  const CrownCover found = cover({}, kPlot);
  EXPECT_EQ(found.union_area_m2, 0);
  EXPECT_TRUE(found.overlap_m2.empty());
}

}  // namespace
