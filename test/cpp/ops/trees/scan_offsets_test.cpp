#include "ops/trees/scan_offsets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <random>
#include <vector>

#include "core/error.h"

namespace pc {
namespace {

constexpr double kPi = std::numbers::pi;

struct Scan {
  double number, from_deg, x_m, y_m;  ///< where it looks from, and how far its points are moved
};

/// Stems in a row, each seen by every scan on the half that faces it.
struct Stand {
  std::vector<Vec3d> points;
  std::vector<std::uint32_t> trees;
  std::vector<std::uint8_t> scans;
  std::vector<StemCircle> circles;

  Stand(int stems, const std::vector<Scan>& seen_by, double noise_m, std::uint64_t seed = 1) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> unit;
    std::normal_distribution<double> noise(0, noise_m);
    for (int stem = 0; stem < stems; ++stem) {
      const double radius = 0.1 + 0.02 * stem, lean = 0.01 * (stem % 4);
      const Vec3d at{5.0 * stem, 2.0 * stem, 1.3};
      const double length = std::hypot(lean, 1);
      circles.push_back({static_cast<std::uint64_t>(stem) + 7, at, {lean / length, 0, 1 / length}, radius});
      for (const Scan& scan : seen_by)
        for (int i = 0; i < 400; ++i) {
          const double angle = scan.from_deg * kPi / 180 + kPi * (unit(random) - 0.5),
                       up = unit(random) - 0.5;
          const double r = radius + noise(random);
          points.push_back(
              at + Vec3d{r * std::cos(angle) + lean * up + scan.x_m, r * std::sin(angle) + scan.y_m, up});
          trees.push_back(static_cast<std::uint32_t>(stem) + 7);
          scans.push_back(static_cast<std::uint8_t>(scan.number));
        }
    }
  }

  std::vector<ScanOffset> offsets(int threads = 1) const {
    JobControl control;
    OpContext ctx(control, Device::kCpu, threads);
    const AnyColumn tree = column(trees), scan = column(scans);
    return scan_offsets({{points.data(), points.size()}, {0, 0, 0}, {}, &tree, nullptr, nullptr}, scan,
                        circles, ctx);
  }

  template <class T>
  static AnyColumn column(const std::vector<T>& values) {
    Column<T> out(values.size());
    std::copy(values.begin(), values.end(), out.view().begin());
    return AnyColumn(std::move(out));
  }
};

const std::vector<Scan> kThree{{1, 0, 0, 0}, {4, 100, 0.02, -0.01}, {9, 220, 0, 0.05}};

TEST(ScanOffsets, AreThoseOfTheScans) {
  const auto found = Stand(8, kThree, 0.003).offsets();
  ASSERT_EQ(found.size(), 3U);
  for (const ScanOffset& one : found) {
    const auto scan = [&](double number) {
      return *std::find_if(kThree.begin(), kThree.end(), [&](const Scan& s) { return s.number == number; });
    };
    const Scan a = scan(one.scan_a), b = scan(one.scan_b);
    EXPECT_LT(one.scan_a, one.scan_b);
    EXPECT_EQ(one.stems, 8U);
    EXPECT_NEAR(one.x_m, b.x_m - a.x_m, 0.001);
    EXPECT_NEAR(one.y_m, b.y_m - a.y_m, 0.001);
    EXPECT_LT(one.spread_m, 0.003);
  }
}

TEST(ScanOffsets, NoneWhereScansFitEachOther) {
  for (const double noise : {0.003, 0.02})
    for (const ScanOffset& one : Stand(12, {{1, 0, 0, 0}, {2, 180, 0, 0}, {3, 90, 0, 0}}, noise).offsets())
      EXPECT_LT(std::hypot(one.x_m, one.y_m), 0.2 * noise) << noise;
}

TEST(ScanOffsets, TheSameForAnyOrderOfRowsAndThreads) {
  Stand stand(5, kThree, 0.005);
  const auto one = stand.offsets();
  std::vector<std::size_t> order(stand.points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), std::mt19937_64(3));
  const Stand before = stand;
  for (std::size_t i = 0; i < order.size(); ++i) {
    stand.points[i] = before.points[order[i]];
    stand.trees[i] = before.trees[order[i]];
    stand.scans[i] = before.scans[order[i]];
  }
  const auto other = stand.offsets(4);
  ASSERT_EQ(one.size(), other.size());
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].x_m, other[i].x_m);
    EXPECT_EQ(one[i].y_m, other[i].y_m);
    EXPECT_EQ(one[i].spread_m, other[i].spread_m);
  }
}

TEST(ScanOffsets, FewStemsOneScanAndOtherTreesSayNothing) {
  EXPECT_TRUE(Stand(2, kThree, 0.003).offsets().empty());
  EXPECT_TRUE(Stand(8, {{1, 0, 0, 0}}, 0.003).offsets().empty());
  Stand strangers(8, kThree, 0.003);
  for (std::uint32_t& tree : strangers.trees) tree += 100;
  EXPECT_TRUE(strangers.offsets().empty());
  Stand strays(8, kThree, 0.003);
  strays.points.assign(strays.points.size(), {std::nan(""), 0, 0});
  EXPECT_TRUE(strays.offsets().empty());
  std::vector<Scan> many;
  for (int i = 0; i < 70; ++i) many.push_back({static_cast<double>(i), 0, 0, 0});
  EXPECT_TRUE(Stand(3, many, 0.003).offsets().empty());
}

TEST(ScanOffsets, RefusesColumnsOfAnotherLength) {
  Stand stand(4, kThree, 0.003);
  stand.scans.pop_back();
  EXPECT_THROW(stand.offsets(), Error);
}

}  // namespace
}  // namespace pc
