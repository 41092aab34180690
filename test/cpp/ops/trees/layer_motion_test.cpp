#include "ops/trees/layer_motion.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <vector>

#include "core/error.h"
#include "ops/trees/divided_stems.h"
#include "support/cancel.h"

namespace {

using namespace pc;

constexpr double kPi = std::numbers::pi;

std::optional<LayerMotion> motion_of(const std::vector<PlacedLayers>& stems) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 1);
  return layer_motion({stems.data(), stems.size()}, ctx);
}

/// Stems of a plot of 40 m that show layers in any direction, 1.2 to 20 cm apart.
std::vector<PlacedLayers> any_layers(std::size_t n, std::mt19937_64& random) {
  std::uniform_real_distribution<double> place(0, 40), angle(0, kPi), away(std::log(0.012), std::log(0.2));
  std::vector<PlacedLayers> out;
  for (std::size_t i = 0; i < n; ++i) {
    const double a = angle(random), d = std::exp(away(random));
    out.push_back({{place(random), place(random)}, {d * std::cos(a), d * std::sin(a)}});
  }
  return out;
}

/// Stems that a motion shows twice, known to `error`, the layers either way round.
std::vector<PlacedLayers> moved_layers(std::size_t n, const LayerMotion& motion, double error,
                                       std::mt19937_64& random) {
  std::vector<PlacedLayers> out = any_layers(n, random);
  std::normal_distribution<double> off(0, error);
  for (PlacedLayers& stem : out) {
    const Vec2d apart = motion.at(stem.at);
    const double side = random() % 2 == 0 ? 1 : -1;
    stem.apart = {side * (apart.x + off(random)), side * (apart.y + off(random))};
  }
  return out;
}

TEST(LayerMotion, IsThePlantedOne) {
  std::mt19937_64 random(1);
  for (const std::size_t n : {std::size_t{8}, std::size_t{20}, std::size_t{300}}) {
    for (const std::size_t others : {std::size_t{0}, n / 4}) {
      for (const auto& [apart, turn] :
           {std::pair{Vec2d{0.03, -0.02}, 0.0}, {Vec2d{-0.05, 0.06}, 0.001}, {Vec2d{0.02, 0.02}, -0.004}}) {
        const LayerMotion planted{{20, 20}, apart, turn, 0, 0};
        std::vector<PlacedLayers> stems = moved_layers(n, planted, 0.001, random);
        for (const PlacedLayers& other : any_layers(others, random)) stems.push_back(other);
        const auto found = motion_of(stems);
        ASSERT_TRUE(found) << n << " stems and " << others << " others, turned by " << turn;
        EXPECT_GE(found->stems, n - n / 8);
        EXPECT_EQ(found->of, stems.size());
        EXPECT_TRUE(found->apart.x > 0);
        for (const PlacedLayers& stem : stems) {
          const Vec2d a = found->at(stem.at), b = planted.at(stem.at);
          EXPECT_LT(std::min(std::hypot(a.x - b.x, a.y - b.y), std::hypot(a.x + b.x, a.y + b.y)), 0.006)
              << n << ", turned by " << turn;
        }
        if (turn == 0) {
          EXPECT_EQ(found->turn, 0);
        }
      }
    }
  }
}

/// Three stems more, and a list of 2,000 that show anything.
TEST(LayerMotion, ChanceMakesNone) {
  std::mt19937_64 random(2);
  int found = 0;
  for (int list = 0; list < 400; ++list)
    found += motion_of(any_layers(4 + static_cast<std::size_t>(list % 60), random)) ? 1 : 0;
  EXPECT_EQ(found, 0);
  EXPECT_FALSE(motion_of(any_layers(2000, random)));
  EXPECT_FALSE(motion_of({}));
  EXPECT_FALSE(motion_of(moved_layers(3, {{0, 0}, {0.05, 0}, 0, 0, 0}, 0.001, random)));
  EXPECT_TRUE(motion_of(moved_layers(4, {{0, 0}, {0.05, 0}, 0, 0, 0}, 0.001, random)));
}

TEST(LayerMotion, WorstListsEnd) {
  std::mt19937_64 random(4);
  std::vector<PlacedLayers> many = moved_layers(100'000, {{0, 0}, {0.05, 0}, 0, 0, 0}, 0.002, random);
  EXPECT_EQ(motion_of(many)->of, many.size());
  for (PlacedLayers& stem : many) stem.at = {5e5, 5e6};
  EXPECT_TRUE(motion_of(many));
  const std::vector<PlacedLayers> large = any_layers(100'000, random);
  test::expect_cancel_after(std::chrono::milliseconds(5), [&](OpContext& ctx) {
    for (;;) layer_motion({large.data(), large.size()}, ctx);
  });
}

std::vector<std::size_t> divided(const std::vector<PlacedStem>& stems, const Vec2d& apart) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 1);
  return divided_stems({stems.data(), stems.size()}, {{0, 0}, apart, 0, 0, 0}, ctx);
}

TEST(DividedStems, PartsBelongToTheStemThatTheyStandIn) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  const std::vector<PlacedStem> stems{
      {{0, 0}, 0.3, 0.002, 5000},    {{0.1, 0}, 0.3, 0.002, 9000},  // both layers have a diameter
      {{5, 0}, kNone, kNone, 9000},  {{5.2, 0}, 0.3, 0.002, 100},   // 0.2 m: within the outer layer
      {{9, 0}, 0.3, 0.002, 100},     {{9.3, 0}, kNone, kNone, 10},  // beside it
      {{12, 0}, 0.08, 0.002, 100},   {{12.1, 0}, 0.08, 0.002, 10},  // stems of a coppice
      {{15, 0}, 0.3, 0.002, 100},    {{15.14, 0}, 0.3, 0.002, 10},  // farther than the layers
      {{20, 0}, kNone, kNone, 100},  {{20.01, 0}, kNone, kNone, 10},
      {{1e300, -1e300}, 0.3, 0, 10}, {{30, 0}, 50, 0, 10}};
  EXPECT_EQ(divided(stems, {0.1, 0}),
            (std::vector<std::size_t>{1, 1, 3, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}));
  EXPECT_EQ(divided({}, {0.1, 0}), std::vector<std::size_t>{});
}

/// A chain is one tree; thousands in one place are none.
TEST(DividedStems, ChainsAndCrowds) {
  std::vector<PlacedStem> chain;
  for (int i = 0; i < 5; ++i) chain.push_back({{0.1 * i, 0}, 0.3, 0.002, 100.0 + i});
  EXPECT_EQ(divided(chain, {0.1, 0}), std::vector<std::size_t>(5, 4));
  const std::vector<PlacedStem> crowd(100'000, {{1, 1}, 0.3, 0.002, 100});
  const auto alone = divided(crowd, {0.1, 0});
  for (std::size_t i = 0; i < alone.size(); i += 999) EXPECT_EQ(alone[i], i);
}

}  // namespace
