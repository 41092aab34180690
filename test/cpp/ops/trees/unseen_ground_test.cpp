#include "ops/trees/unseen_ground.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/random.h"

namespace {

using namespace pc;

/// Ground of a square, and points above it.
struct Plot {
  std::vector<Vec3d> points;
  std::vector<float> heights;
  std::vector<std::uint8_t> ground, skip;

  void add(const Vec3d& p, float height, std::uint8_t ground_class) {
    points.push_back(p);
    heights.push_back(height);
    ground.push_back(ground_class);
    skip.push_back(0);
  }
  /// Ground at random places, without it where `hidden` is true.
  template <class Hidden>
  void add_ground(double side, double per_m2, const Hidden& hidden) {
    const auto count = static_cast<std::uint64_t>(side * side * per_m2);
    for (std::uint64_t i = 0; i < count; ++i) {
      const double x = side * random_unit(1, 2 * i), y = side * random_unit(1, 2 * i + 1);
      if (!hidden(x, y)) add({x, y, 100 + 0.1 * x}, 0, 1);
    }
  }
  template <class T>
  static AnyColumn column(const std::vector<T>& values) {
    Column<T> out(values.size());
    std::copy(values.begin(), values.end(), out.view().begin());
    return AnyColumn(std::move(out));
  }
  double share(const ConvexPolygon& outline, const Vec3d& shift = {0, 0, 0}, bool with_heights = true,
               int threads = 2) const {
    const AnyColumn height = column(heights), classes = column(ground);
    JobControl control;
    OpContext ctx(control, Device::kCpu, threads);
    const TreeCloud cloud{{points.data(), points.size()},   shift,   {skip.data(), skip.size()}, nullptr,
                          with_heights ? &height : nullptr, &classes};
    return unseen_ground(cloud, outline, ctx);
  }
};

ConvexPolygon square(double side, const Vec2d& at = {0, 0}) {
  return {at, {at.x + side, at.y}, {at.x + side, at.y + side}, {at.x, at.y + side}};
}

TEST(UnseenGround, IsTheShareWithoutLowPoints) {
  Plot plot;
  plot.add_ground(40, 60, [](double x, double) { return x > 10 && x < 20; });
  EXPECT_NEAR(plot.share(square(40)), 0.25, 0.01);
  EXPECT_EQ(plot.share(square(40), {0, 0, 0}, true, 1), plot.share(square(40)));
  // Half of the hidden part: below 2 m a shrub was seen, above it crowns, which tell nothing of stems.
  for (double x = 10; x < 20; x += 0.25) {
    for (double y = 0; y < 40; y += 0.25) plot.add({x, y, 105}, y < 20 ? 1.9F : 2.1F, 2);
  }
  EXPECT_NEAR(plot.share(square(40)), 0.125, 0.01);
  // A part of the plot, and far from the origin.
  EXPECT_NEAR(plot.share({{15, 25}, {25, 25}, {25, 35}, {15, 35}}), 0.5, 0.02);
  EXPECT_NEAR(plot.share(square(40, {1e7, -1e7}), {1e7, -1e7, 0}), 0.125, 0.01);
}

TEST(UnseenGround, OfAShadowThatIsNoSquare) {
  Plot plot;  // the sector behind a stem of 0.5 m at 2 m from a scanner in the middle
  const double half = std::asin(0.25 / 2);
  plot.add_ground(30, 100, [&](double x, double y) {
    return std::hypot(x - 15, y - 15) > 2 && std::abs(std::atan2(y - 15, x - 15)) < half;
  });
  // Triangle of the sector within the square, without its first 2 m. Cells that the shadow fills in part count as seen.
  const double area = 15 * 15 * std::tan(half) - half * 4;
  const double share = plot.share(square(30));
  EXPECT_LT(share, area / 900);
  EXPECT_GT(share, 0.6 * area / 900);
}

TEST(UnseenGround, IsUnknownWhereNothingTellsIt) {
  Plot plot;
  plot.add_ground(40, 60, [](double, double) { return false; });
  EXPECT_TRUE(std::isnan(plot.share(square(40), {0, 0, 0}, false)));
  EXPECT_TRUE(std::isnan(plot.share({})));
  EXPECT_TRUE(std::isnan(plot.share(square(4))));
  EXPECT_TRUE(std::isnan(plot.share(square(1e6))));
  EXPECT_TRUE(std::isnan(plot.share({{0, 0}, {1e300, 0}, {1e300, 1e300}})));
  EXPECT_EQ(plot.share(square(40)), 0);
  Plot sparse;
  sparse.add_ground(40, 2, [](double, double) { return false; });
  EXPECT_TRUE(std::isnan(sparse.share(square(40))));
  EXPECT_TRUE(std::isnan(Plot().share(square(40))));
  Plot coarse;  // cells of 1 m
  coarse.add_ground(40, 10, [](double x, double) { return x < 20; });
  EXPECT_NEAR(coarse.share(square(40)), 0.5, 0.05);
}

TEST(UnseenGround, LeavesOutWhatIsNoPoint) {
  Plot plot;
  plot.add_ground(40, 60, [](double x, double) { return x < 20; });
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (double y = 0.25; y < 40; y += 0.5) {
    for (double x = 0.25; x < 20; x += 0.5) {
      plot.add({x, y, 100}, 0.5F, 2);
      plot.skip.back() = 1;
      plot.add({x, y, 100}, std::numeric_limits<float>::quiet_NaN(), 2);
      plot.add({x, y, 100}, 0, 2);  // unknown
    }
  }
  plot.add({nan, 1, 100}, 0.5F, 2);
  plot.add({1, HUGE_VAL, 100}, 0.5F, 2);
  EXPECT_NEAR(plot.share(square(40)), 0.5, 0.01);
}

}  // namespace
