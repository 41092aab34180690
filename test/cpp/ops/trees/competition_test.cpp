#include "ops/trees/competition.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <numbers>
#include <random>
#include <string>

#include "core/error.h"
#include "support/cancel.h"

namespace {

using namespace pc;

ConvexPolygon square(double side) { return {{0, 0}, {side, 0}, {side, side}, {0, side}}; }

Competition compete(const std::vector<Vec2d>& stems, const std::vector<double>& diameters, double radius,
                    const ConvexPolygon& plot = {}, int threads = 2) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return competition({stems.data(), stems.size()}, {diameters.data(), diameters.size()}, {radius, plot, 0.1},
                     ctx);
}

struct Stand {
  std::vector<Vec2d> stems;
  std::vector<double> diameters;
};

Stand poisson_stand(double side, double per_m2, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::poisson_distribution<int> count(side * side * per_m2);
  std::uniform_real_distribution<double> place(0, side), diameter(0.1, 0.5);
  Stand stand;
  for (int i = count(random); i > 0; --i) {
    stand.stems.push_back({place(random), place(random)});
    stand.diameters.push_back(diameter(random));
  }
  return stand;
}

TEST(Competition, EqualsBruteForceForAnyThreadCount) {
  Stand stand = poisson_stand(60, 0.1, 3);
  for (std::size_t i = 0; i < stand.stems.size(); i += 9) stand.diameters[i] = std::nan("");
  stand.stems[1] = stand.stems[0];
  stand.diameters[0] = stand.diameters[1] = 0.2;
  const Competition found = compete(stand.stems, stand.diameters, 6, square(60), 3);
  const Competition again = compete(stand.stems, stand.diameters, 6, square(60), 1);
  EXPECT_EQ(found.edge, again.edge);
  for (std::size_t i = 0; i < stand.stems.size(); ++i) {
    const Vec2d& p = stand.stems[i];
    double sum = 0;
    std::uint32_t count = 0;
    for (std::size_t j = 0; j < stand.stems.size(); ++j) {
      const double d = std::hypot(stand.stems[j].x - p.x, stand.stems[j].y - p.y);
      if (j == i || d > 6 || !(stand.diameters[j] > 0)) continue;
      sum += stand.diameters[j] / stand.diameters[i] / std::max(d, 0.1);
      ++count;
    }
    EXPECT_EQ(found.neighbor_count[i], count);
    if (std::isnan(stand.diameters[i])) {
      EXPECT_TRUE(std::isnan(found.hegyi[i]));
      continue;
    }
    EXPECT_NEAR(found.hegyi[i], sum, 1e-12 * sum);
    EXPECT_EQ(found.hegyi[i], again.hegyi[i]);
    EXPECT_EQ(found.hegyi_corrected[i], again.hegyi_corrected[i]);
    const bool edge = std::min({p.x, p.y, 60 - p.x, 60 - p.y}) < 6;
    EXPECT_EQ(found.edge[i] != 0, edge);
    EXPECT_TRUE(edge ? found.hegyi_corrected[i] >= found.hegyi[i]
                     : found.hegyi_corrected[i] == found.hegyi[i]);
  }
}

/// Over 200 stands, trees near the edge have the same mean index as those in the middle after the correction.
TEST(Competition, TheCorrectedIndexIsFreeOfBias) {
  double edge = 0, middle = 0, plain = 0;
  std::size_t edges = 0, middles = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Stand stand = poisson_stand(40, 0.1, seed);
    const Competition found =
        compete(stand.stems, std::vector<double>(stand.stems.size(), 0.3), 6, square(40));
    for (std::size_t i = 0; i < stand.stems.size(); ++i) {
      (found.edge[i] != 0 ? edge : middle) += found.hegyi_corrected[i];
      (found.edge[i] != 0 ? edges : middles) += 1;
      if (found.edge[i] != 0) plain += found.hegyi[i];
    }
  }
  const double expected = middle / static_cast<double>(middles);
  EXPECT_NEAR(edge / static_cast<double>(edges), expected, 0.02 * expected);
  EXPECT_LT(plain / static_cast<double>(edges), 0.85 * expected);
}

TEST(Competition, NoPlotNoTreesAndOneTree) {
  const Competition none = compete({}, {}, 6);
  EXPECT_TRUE(none.hegyi.empty());
  const Competition one = compete({{5e6, 5e6}}, {0.3}, 6);
  EXPECT_EQ(one.hegyi[0], 0);
  EXPECT_TRUE(std::isnan(one.hegyi_corrected[0]));
  EXPECT_EQ(one.edge[0], 1);
  const Competition far = compete({{0, 0}, {1e300, 0}, {std::nan(""), 0}}, {0.3, 0.3, 0.3}, 6, square(10));
  EXPECT_EQ(far.neighbor_count[0], 0u);
  EXPECT_TRUE(std::isnan(far.hegyi[2]));
}

TEST(Competition, ACancelIsSeenAmongManyNeighborsNearAnEdgeOfManyCorners) {
  ConvexPolygon plot;
  for (int k = 0; k < 720; ++k)
    plot.push_back(
        {50 + 50 * std::cos(k * std::numbers::pi / 360), 50 + 50 * std::sin(k * std::numbers::pi / 360)});
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> place(20, 80);
  std::vector<Vec2d> stems(3000);
  for (Vec2d& p : stems) p = {place(random), place(random)};
  const std::vector<double> diameters(stems.size(), 0.3);
  const auto run = [&](OpContext& ctx) {
    competition({stems.data(), stems.size()}, {diameters.data(), diameters.size()}, {100, plot, 0.1}, ctx);
  };
  test::expect_cancel_in_time(run, {"Stand metrics", 0, std::chrono::milliseconds(20), 1});
}

TEST(ConvexPolygon, HullAreaDepthAndArcs) {
  std::vector<Vec2d> points;
  for (int i = 0; i <= 71; ++i) {
    for (int j = 0; j <= 71; ++j) points.push_back({0.25 * i, 0.25 * j});
  }
  const ConvexPolygon hull = convex_hull({points.data(), points.size()});
  EXPECT_EQ(hull.size(), 4u);
  EXPECT_NEAR(area_of(hull), 17.75 * 17.75, 1e-9);
  EXPECT_EQ(depth_of(hull, {5, 1}), 1);
  EXPECT_EQ(depth_of(hull, {5, -2}), -2);
  EXPECT_NEAR(arc_inside(hull, {8, 8}, 1), 1, 0);
  EXPECT_NEAR(arc_inside(hull, {8, 0}, 1), 0.5, 1e-12);
  EXPECT_NEAR(arc_inside(hull, {0, 0}, 1), 0.25, 1e-12);
  EXPECT_NEAR(arc_inside(hull, {1, 8}, 2), 1 - std::acos(0.5) / std::numbers::pi, 1e-12);
  EXPECT_EQ(arc_inside(hull, {-30, -30}, 1), 0);
  EXPECT_EQ(arc_inside(hull, {8, 8}, 100), 0);
}

TEST(ConvexPolygon, IntersectionsHaveTheAreaOfABruteForceCount) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> unit(-1, 1);
  for (int run = 0; run < 20; ++run) {
    const auto polygon = [&](double shift) {
      std::vector<Vec2d> points;
      for (int i = 0; i < 12; ++i) points.push_back({unit(random) + shift, unit(random)});
      return convex_hull({points.data(), points.size()});
    };
    const ConvexPolygon a = polygon(0), b = polygon(0.7);
    const double area = area_of(intersection_of(a, b));
    int inside = 0;
    constexpr int kSteps = 400;
    for (int i = 0; i < kSteps; ++i) {
      for (int j = 0; j < kSteps; ++j) {
        const Vec2d p{-1 + 3.0 * (i + 0.5) / kSteps, -1 + 2.0 * (j + 0.5) / kSteps};
        inside += contains(a, p) && contains(b, p) ? 1 : 0;
      }
    }
    EXPECT_NEAR(area, inside * 6.0 / kSteps / kSteps, 0.004);
    EXPECT_NEAR(area, area_of(intersection_of(b, a)), 1e-12);
  }
  EXPECT_TRUE(intersection_of(square(1), {{5, 5}, {6, 5}, {5, 6}}).empty());
}

}  // namespace
