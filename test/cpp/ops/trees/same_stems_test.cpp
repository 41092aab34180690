// Circles at breast height that stand in the place of another.
#include "ops/trees/same_stems.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include "support/columns.h"
#include "support/cpu_time.h"
#include "support/inventory_defaults.h"

namespace {

using namespace pc;

using Holders = std::vector<std::optional<std::size_t>>;
constexpr auto kAlone = std::nullopt;

Holders holders(const std::vector<BreastCircle>& circles) {
  JobControl control;
  const OpContext ctx(control, Device::kCpu, 1);
  return same_stems({circles.data(), circles.size()}, ctx);
}

TEST(SameStems, TheBetterKnownCircleKeepsThePlace) {
  EXPECT_EQ(holders({}), Holders{});
  // 2 cm apart, 20 cm thick.
  EXPECT_EQ(holders({{7, {0, 0}, 0.1, 0.004}, {9, {0.02, 0}, 0.1, 0.002}}), (Holders{1, kAlone}));
  // The part of the diameter counts, not the metres: 4 of 60 cm are worse known than 0.4 of 8.
  EXPECT_EQ(holders({{7, {0, 0}, 0.3, 0.04}, {9, {0.2, 0}, 0.04, 0.004}}), (Holders{1, kAlone}));
  EXPECT_EQ(holders({{7, {0, 0}, 0.3, 0.01}, {9, {0.2, 0}, 0.04, 0.004}}), (Holders{kAlone, 0}));
  // Of equals the smaller number, and an unknown error is the worst.
  EXPECT_EQ(holders({{9, {0, 0}, 0.1, 0.01}, {7, {0, 0}, 0.1, 0.01}}), (Holders{1, kAlone}));
  EXPECT_EQ(holders({{7, {0, 0}, 0.1, std::nan("")}, {9, {0, 0}, 0.1, 0.2}}), (Holders{1, kAlone}));
}

TEST(SameStems, StemsBesideEachOtherAreTwo) {
  // They touch; and overlap a little, as errors of both make them.
  EXPECT_EQ(holders({{1, {0, 0}, 0.1, 0.01}, {2, {0.2, 0}, 0.1, 0.01}}), (Holders{kAlone, kAlone}));
  EXPECT_EQ(holders({{1, {0, 0}, 0.1, 0.01}, {2, {0.11, 0}, 0.1, 0.01}}), (Holders{kAlone, kAlone}));
}

TEST(SameStems, ACircleThatLostItsPlaceTakesNone) {
  // 2 lies in 1, and 3 in 2, but not in 1.
  EXPECT_EQ(holders({{1, {0, 0}, 0.1, 0.001}, {2, {0.09, 0}, 0.1, 0.002}, {3, {0.18, 0}, 0.1, 0.003}}),
            (Holders{kAlone, 0, kAlone}));
  // One around five culms; and two that hold it, of which the better known is named.
  std::vector<BreastCircle> culms{{1, {0, 0}, 0.3, 0.05}};
  for (std::uint64_t i = 0; i < 5; ++i)
    culms.push_back({2 + i, {0.25 * std::cos(1.2 * i), 0.25 * std::sin(1.2 * i)}, 0.03, 0.001 + 0.0001 * i});
  const Holders found = holders(culms);
  EXPECT_EQ(found[0], 1U);
  EXPECT_EQ(std::count(found.begin(), found.end(), kAlone), 5);
}

TEST(SameStems, EveryPairIsLookedAt) {
  std::mt19937_64 random{3};
  std::uniform_real_distribution<double> unit(0, 1);
  std::vector<BreastCircle> circles;
  for (std::uint64_t i = 0; i < 600; ++i)
    circles.push_back({i + 1,
                       {5e6 + 12 * unit(random), -3e6 + 12 * unit(random)},
                       0.02 + std::pow(unit(random), 4),
                       0.1 * unit(random)});
  const Holders found = holders(circles);
  const auto same = [&](std::size_t a, std::size_t b) {
    return std::hypot(circles[a].center.x - circles[b].center.x, circles[a].center.y - circles[b].center.y) <
           std::max(circles[a].radius_m, circles[b].radius_m);
  };
  const auto better = [&](std::size_t a, std::size_t b) {
    return circles[a].sigma_m / circles[a].radius_m < circles[b].sigma_m / circles[b].radius_m;
  };
  std::size_t lost = 0;
  for (std::size_t i = 0; i < circles.size(); ++i) {
    std::optional<std::size_t> best;
    for (std::size_t other = 0; other < circles.size(); ++other)
      if (other != i && !found[other] && same(i, other) && better(other, i) &&
          (!best || better(other, *best)))
        best = other;
    EXPECT_EQ(found[i], best) << i;
    lost += best ? 1 : 0;
  }
  EXPECT_GT(lost, 100U);
}

TEST(SameStems, AnyPlacesAndMany) {
  for (const double far : {1e7, 1e15, 1e300, -1e300})
    EXPECT_EQ(holders({{1, {far, far}, 0.1, 0.01}, {2, {far, far}, 0.1, 0.02}}), (Holders{kAlone, 0}));
  const auto seconds = [](std::size_t count, double spacing) {
    std::vector<BreastCircle> circles;
    for (std::size_t i = 0; i < count; ++i)
      circles.push_back({i + 1, {spacing * static_cast<double>(i), 0}, 0.1, 0.01});
    return test::least_cpu_seconds(2, [&] { (void)holders(circles); });
  };
  for (const double spacing : {0.0, 0.001, 0.15, 4.0}) EXPECT_LT(seconds(100'000, spacing), 2) << spacing;
}

TEST(SameStems, AStemOfTwoNumbersIsMeasuredOnce) {
  std::mt19937_64 random{5};
  std::uniform_real_distribution<double> unit(0, 1);
  std::vector<Vec3d> points;
  std::vector<std::uint32_t> ids;
  std::vector<std::uint8_t> ground;
  const auto add = [&](const Vec3d& p, std::uint32_t id) {
    points.push_back(p);
    ids.push_back(id);
    ground.push_back(id == 0 ? 1 : 2);
  };
  for (double x = -4; x <= 12; x += 0.25)
    for (double y = -4; y <= 4; y += 0.25) add({x, y, 0}, 0);
  // Two stems: of the one, a sixth of the points has another number.
  for (int i = 0; i < 24'000; ++i) {
    const double turn = 2 * std::numbers::pi * unit(random), r = 0.15 + 0.004 * (unit(random) - 0.5);
    const bool second = i % 2 == 0;
    add({(second ? 8 : 0) + r * std::cos(turn), r * std::sin(turn), 9 * unit(random)},
        second ? 4 : (i % 12 == 1 ? 2 : 3));
  }
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  const AnyColumn tree = test::column_of(ids), classes = test::column_of(ground);
  const auto found = tree_inventory({{points.data(), points.size()}, {0, 0, 0}, {}, &tree, nullptr, &classes},
                                    inventory_defaults(), ctx);
  ASSERT_EQ(found.trees.size(), 3U);
  const MeasuredTree &part = found.trees[0], &most = found.trees[1], &other = found.trees[2];
  EXPECT_EQ(part.same_stem_as, 3U);
  EXPECT_FALSE(part.no_crown);  // which is said of stems with a diameter
  EXPECT_FALSE(part.stem.breast_height.has_value());
  EXPECT_TRUE(std::isnan(part.dbh_sigma_m));
  EXPECT_TRUE(std::none_of(part.stem.curve.begin(), part.stem.curve.end(),
                           [](const StemSection& at) { return at.ok; }));
  EXPECT_TRUE(std::isnan(found.stand->competition.hegyi[0]));
  for (const MeasuredTree* stem : {&most, &other}) {
    EXPECT_EQ(stem->same_stem_as, 0U);
    ASSERT_TRUE(stem->stem.breast_height.has_value());
    EXPECT_NEAR(stem->stem.breast_height->circle.radius, 0.15, 0.002);
  }
}

}  // namespace
