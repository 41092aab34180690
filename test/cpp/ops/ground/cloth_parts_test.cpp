#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

#include "ops/ground/class_threshold.h"
#include "ops/ground/cloth_drop.h"
#include "ops/ground/cloth_simulation_kernel.h"
#include "ops/ground/low_outliers.h"
#include "ops/ground/terrain_grid.h"
#include "support/ground_clouds.h"
#include "support/hidden_ground.h"

namespace pc {
namespace {

using test::GroundCloud;

DroppedCloth drop(const TerrainWindow& terrain, const ClothDropParams& params, int threads = 2) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  std::vector<std::string> warnings;
  GpuRun gpu(ctx, "Cloth simulation", warnings);
  return drop_cloth(terrain, params, gpu, ctx);
}

/// The published filter in plain loops and doubles, written from the paper: no band, no batch, no tie table.
struct PublishedCloth {
  std::vector<double> height;
  std::uint32_t steps;
};

PublishedCloth published_drop(const std::vector<float>& terrain, int nx, int rigidness, double start) {
  const int ny = static_cast<int>(terrain.size()) / nx;
  std::vector<double> z(terrain.size(), start), before = z;
  std::vector<char> lies(terrain.size());
  const double both = 0.5 * (1 - std::pow(0.4, rigidness)), single = 1 - std::pow(0.7, rigidness);
  std::vector<std::vector<std::size_t>> ties(terrain.size());
  for (int reach = 1; reach <= 2; ++reach) {
    const auto join = [&](int x, int y, int u, int v) {
      if (std::min({x, y, u, v}) < 0 || std::max(x, u) >= nx || std::max(y, v) >= ny) return;
      ties[static_cast<std::size_t>(y * nx + x)].push_back(static_cast<std::size_t>(v * nx + u));
      ties[static_cast<std::size_t>(v * nx + u)].push_back(static_cast<std::size_t>(y * nx + x));
    };
    for (int x = 0; x < nx; ++x) {
      for (int y = 0; y < ny; ++y) {
        join(x, y, x + reach, y);
        join(x, y, x, y + reach);
        join(x, y, x + reach, y + reach);
        join(x + reach, y, x, y + reach);
      }
    }
  }
  for (std::uint32_t step = 1; step <= 500; ++step) {
    for (std::size_t i = 0; i < z.size(); ++i) {
      if (lies[i] != 0) continue;
      const double now = z[i];
      z[i] += (now - before[i]) * 0.99 - 0.2 * std::pow(0.65, 4);
      before[i] = now;
    }
    for (std::size_t i = 0; i < z.size(); ++i) {
      for (const std::size_t j : ties[i]) {
        const double apart = z[j] - z[i];
        if (lies[i] == 0) z[i] += apart * (lies[j] == 0 ? both : single);
        if (lies[j] == 0) z[j] -= apart * (lies[i] == 0 ? both : single);
      }
    }
    double furthest = 0;
    for (std::size_t i = 0; i < z.size(); ++i) {
      if (lies[i] != 0) continue;
      furthest = std::max(furthest, std::abs(z[i] - before[i]));
      if (z[i] < terrain[i]) {
        z[i] = terrain[i];
        lies[i] = 1;
      }
    }
    if (furthest < 0.005) return {z, step};
  }
  return {z, 500};
}

TEST(ClothDrop, IsThePublishedOne) {
  constexpr std::uint32_t kNx = 61;
  for (const std::uint32_t ny : {3U, 16U, 33U, 100U}) {
    std::vector<float> terrain(std::size_t{kNx} * ny);
    for (std::size_t i = 0; i < terrain.size(); ++i) {
      const double x = static_cast<double>(i % kNx), y = static_cast<double>(i / kNx);
      const bool covered = std::fmod(x + 0.4 * y, 23) < 9;  // what stands above the ground: low when inverted
      terrain[i] = static_cast<float>(std::sin(x * 0.1) + std::cos(y * 0.13) - (covered ? 4 : 0));
    }
    for (const std::uint32_t rigidness : {1U, 2U, 3U}) {
      const auto expected = published_drop(terrain, kNx, static_cast<int>(rigidness), 2.05);
      for (const int threads : {1, 5}) {
        const auto cloth = drop({terrain.data(), kNx, kNx, ny}, {rigidness, 500, 2.05F}, threads);
        EXPECT_EQ(cloth.iterations, expected.steps) << ny << " " << rigidness;
        for (std::size_t i = 0; i < terrain.size(); ++i)
          ASSERT_NEAR(cloth.height[i], expected.height[i], 1e-4) << ny << " " << rigidness << " " << i;
      }
    }
  }
}

TEST(ClothDrop, LiesOnFlatTerrainAndSettles) {
  const std::vector<float> terrain(300 * 200, 2.5F);
  JobControl control;
  OpContext ctx(control);
  const auto cloth = drop({terrain.data(), 300, 300, 200}, {3, 500, 30.0F});
  EXPECT_TRUE(cloth.settled);
  EXPECT_LT(cloth.iterations, 60U);
  for (const float height : cloth.height) ASSERT_EQ(height, 2.5F);
}

TEST(ClothDrop, WindowsOfOneTerrainAgreeWithTheWhole) {
  std::vector<float> terrain(200 * 150);
  for (std::size_t i = 0; i < terrain.size(); ++i)
    terrain[i] = static_cast<float>(std::sin(static_cast<double>(i % 200) * 0.2));
  JobControl control;
  OpContext ctx(control);
  const auto whole = drop({terrain.data(), 200, 200, 150}, {3, 500, 1.05F});
  const auto part = drop({terrain.data() + 40 * 200 + 30, 200, 120, 80}, {3, 500, 1.05F});
  for (std::uint32_t y = 30; y < 50; ++y) {
    for (std::uint32_t x = 30; x < 90; ++x)
      ASSERT_NEAR(part.height[y * 120 + x], whole.height[(y + 40) * 200 + x + 30], 0.02) << x << " " << y;
  }
}

TEST(TerrainGrid, EmptyCellsAreFilledAlongTheirRowThenTheirColumn) {
  constexpr std::size_t kNx = 37, kNy = 41;
  const Lattice lattice{0, 0, 1, 0, 0, 0, 0, kNx, kNy};
  BulkVector<float> values(lattice.cells());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool some = random_unit(4, i) < 0.02;
    values[i] = some ? static_cast<float>(i) : std::numeric_limits<float>::quiet_NaN();
  }
  const std::vector<float> given(values.begin(), values.end());
  JobControl control;
  OpContext ctx(control);
  fill_empty_cells(lattice, values, ctx);
  const auto squared = [&](std::size_t a, std::size_t b) {
    const double dx = static_cast<double>(a % kNx) - static_cast<double>(b % kNx);
    const double dy = static_cast<double>(a / kNx) - static_cast<double>(b / kNx);
    return dx * dx + dy * dy;
  };
  std::size_t of_row = 0, of_column = 0, nearest = 0;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::size_t x = i % kNx, y = i / kNx;
    const auto known = [&](std::size_t u, std::size_t v) { return !std::isnan(given[v * kNx + u]); };
    std::size_t from = given.size();
    for (std::size_t u = x; u < kNx && from == given.size(); ++u) from = known(u, y) ? y * kNx + u : from;
    for (std::size_t u = x; u-- > 0 && from == given.size();) from = known(u, y) ? y * kNx + u : from;
    of_row += from < given.size();
    if (from == given.size()) {
      for (std::size_t v = y; v-- > 0 && from == given.size();) from = known(x, v) ? v * kNx + x : from;
      for (std::size_t v = y; v < kNy && from == given.size(); ++v) from = known(x, v) ? v * kNx + x : from;
      of_column += from < given.size();
    }
    if (from < given.size()) {
      ASSERT_EQ(static_cast<std::size_t>(values[i]), from) << i;
      continue;
    }
    nearest += 1;
    double best = HUGE_VAL;
    for (std::size_t j = 0; j < given.size(); ++j)
      if (!std::isnan(given[j])) best = std::min(best, squared(i, j));
    ASSERT_EQ(squared(i, static_cast<std::size_t>(values[i])), best) << i;
  }
  EXPECT_GT(std::min({of_row, of_column, nearest}), 20U);
}

TEST(TerrainGrid, AllEmptyStaysEmpty) {
  const Lattice lattice{0, 0, 1, 0, 0, 0, 0, 5, 4};
  BulkVector<float> values(20);
  for (float& value : values) value = std::numeric_limits<float>::quiet_NaN();
  JobControl control;
  OpContext ctx(control);
  fill_empty_cells(lattice, values, ctx);
  for (const float value : values) EXPECT_TRUE(std::isnan(value));
}

LowOutliers outliers_of(const GroundCloud& cloud) {
  JobControl control;
  OpContext ctx(control);
  return find_low_outliers(test::hits_of(cloud), ground_extent(test::hits_of(cloud), ctx),
                           kGroundConstants.low, ctx);
}

TEST(LowOutliers, FindsStraysAndLeavesGround) {
  GroundCloud cloud = test::surface_cloud(40, 0.25, [](double x, double y) { return 0.3 * x + std::sin(y); });
  const std::size_t ground = cloud.size();
  for (std::uint64_t i = 0; i < 30; ++i) {
    const double x = 40 * random_unit(5, 3 * i), y = 40 * random_unit(5, 3 * i + 1);
    cloud.push_back({x, y, 0.3 * x + std::sin(y) - 1.5 - 10 * random_unit(5, 3 * i + 2)});
  }
  const LowOutliers found = outliers_of(cloud);
  std::size_t strays = 0, lost = 0;
  for (std::size_t i = 0; i < cloud.size(); ++i) (i < ground ? lost : strays) += found.view().below(cloud[i]);
  EXPECT_EQ(strays, 30U);
  EXPECT_LE(lost, ground / 500);
  EXPECT_EQ(found.count, strays + lost);
}

TEST(LowOutliers, ADenseSceneWithoutStraysHasNone) {
  EXPECT_EQ(outliers_of(test::surface_cloud(20, 0.125, [](double, double) { return 5.0; })).count, 0U);
  EXPECT_EQ(outliers_of(GroundCloud(300, {1, 1, 1})).count, 0U);
}

TEST(LowOutliers, NoiseOfADenseScanIsNone) {
  // 400 points per square metre with a noise of 3 cm, as of drone and mobile scanners, and strays 0.6 m and more below.
  GroundCloud cloud;
  for (std::uint64_t i = 0; i < 160'000; ++i) {
    const double noise =
        std::sqrt(-2 * std::log(1 - random_unit(6, 4 * i))) * std::cos(2 * M_PI * random_unit(6, 4 * i + 1));
    const double x = 20 * random_unit(6, 4 * i + 2), y = 20 * random_unit(6, 4 * i + 3);
    cloud.push_back({x, y, 0.1 * x + 0.5 * std::sin(0.3 * y) + 0.03 * noise});
  }
  const std::size_t ground = cloud.size();
  for (std::uint64_t i = 0; i < 40; ++i) {
    const double x = 20 * random_unit(7, 3 * i), y = 20 * random_unit(7, 3 * i + 1);
    cloud.push_back({x, y, 0.1 * x + 0.5 * std::sin(0.3 * y) - 0.6 - 3 * random_unit(7, 3 * i + 2)});
  }
  const LowOutliers found = outliers_of(cloud);
  std::size_t strays = 0, lost = 0;
  for (std::size_t i = 0; i < cloud.size(); ++i) (i < ground ? lost : strays) += found.view().below(cloud[i]);
  EXPECT_EQ(strays, 40U);
  EXPECT_LE(lost, 10U);
}

TEST(LowOutliers, GroundThatPlantsHideIsNoneAndStraysBelowItAre) {
  test::HiddenGround scene = test::hidden_ground(20, 150, 0.4);
  const std::size_t all = scene.cloud.size();
  for (std::uint64_t i = 0; i < 20; ++i) {
    const double x = 20 * random_unit(9, 3 * i), y = 20 * random_unit(9, 3 * i + 1);
    scene.cloud.push_back({x, y, test::hidden_ground_height(x, y) - 1.5 - 2 * random_unit(9, 3 * i + 2)});
  }
  const LowOutliers found = outliers_of(scene.cloud);
  std::size_t strays = 0, lost = 0;
  for (std::size_t i = 0; i < scene.cloud.size(); ++i)
    (i < all ? lost : strays) += found.view().below(scene.cloud[i]);
  EXPECT_GE(strays, 18U);
  EXPECT_LE(lost, 20U);  // of 530 returns of hidden ground
}

std::vector<float> layer(std::size_t n, double sigma, double mean = 0) {
  std::vector<float> heights;
  for (std::size_t i = 0; i < n; ++i) {
    const double u = 1 - random_unit(8, 2 * i), v = random_unit(8, 2 * i + 1);
    heights.push_back(
        static_cast<float>(mean + sigma * std::sqrt(-2 * std::log(u)) * std::cos(2 * M_PI * v)));
  }
  return heights;
}

ClassThreshold threshold_of(const std::vector<float>& heights, double resolution) {
  JobControl control;
  OpContext ctx(control);
  return measure_class_threshold({heights.data(), heights.size()}, {}, resolution, 0.77, ctx);
}

TEST(ClassThreshold, FindsTheGapAboveTheGroundLayer) {
  std::vector<float> heights = layer(20'000, 0.03);
  const std::vector<float> shrubs = layer(5000, 0.1, 0.8);
  heights.insert(heights.end(), shrubs.begin(), shrubs.end());
  const ClassThreshold threshold = threshold_of(heights, 0.1);
  EXPECT_EQ(threshold.method, ThresholdMethod::kKnee);
  EXPECT_GT(threshold.value_m, 0.09);
  EXPECT_LT(threshold.value_m, 0.5);
}

TEST(ClassThreshold, TakesTheTailWhereNothingLiesAbove) {
  const ClassThreshold threshold = threshold_of(layer(20'000, 0.05), 0.1);
  EXPECT_EQ(threshold.method, ThresholdMethod::kTail);
  EXPECT_NEAR(threshold.value_m, 0.05 * std::sqrt(2 * std::log(100)),
              0.04);  // where a normal layer is at 1 %
}

TEST(ClassThreshold, FallsBackWithFewPointsOrNoLayer) {
  EXPECT_EQ(threshold_of(layer(499, 0.05), 0.1).method, ThresholdMethod::kFallback);
  EXPECT_EQ(threshold_of(layer(499, 0.05), 0.1).value_m, 0.77);
  EXPECT_EQ(threshold_of({}, 0.1).method, ThresholdMethod::kFallback);
  EXPECT_EQ(threshold_of(layer(5000, 0.05, 9), 0.1).method, ThresholdMethod::kFallback);
  EXPECT_EQ(threshold_of(std::vector<float>(1000, std::numeric_limits<float>::quiet_NaN()), 0.1).method,
            ThresholdMethod::kFallback);
}

TEST(ClassThreshold, AShallowDipIsNoGap) {
  // The layer dips to 70 % at 0.05 m before it thins out for good.
  std::vector<float> heights = layer(20'000, 0.015);
  const std::vector<float> second = layer(60'000, 0.03, 0.09);
  heights.insert(heights.end(), second.begin(), second.end());
  const std::vector<float> shrubs = layer(8000, 0.1, 1.2);
  heights.insert(heights.end(), shrubs.begin(), shrubs.end());
  EXPECT_GT(threshold_of(heights, 0.1).value_m, 0.15);
}

TEST(ClassThreshold, ADipAboveHalfThePeakIsNoGap) {
  // The fullest bin is that of the lower layer; at 0.06 m the counts dip to 56 % of it before the second one.
  std::vector<float> heights = layer(20'000, 0.03);
  for (const auto& [n, sigma, mean] : {std::tuple{35'000, 0.06, 0.13}, {5000, 0.1, 1.2}}) {
    const std::vector<float> more = layer(static_cast<std::size_t>(n), sigma, mean);
    heights.insert(heights.end(), more.begin(), more.end());
  }
  EXPECT_GT(threshold_of(heights, 0.02).value_m, 0.2);
}

TEST(ClassThreshold, AMinimumThatIsSoonUndercutIsNoGap) {
  std::vector<float> heights = layer(20'000, 0.02);
  for (const auto& [n, sigma, mean] : {std::tuple{1200, 0.006, 0.07}, {5000, 0.1, 0.8}}) {
    const std::vector<float> more = layer(static_cast<std::size_t>(n), sigma, mean);
    heights.insert(heights.end(), more.begin(), more.end());
  }
  EXPECT_GT(threshold_of(heights, 0.02).value_m, 0.08);  // beyond the bump, not before it at 0.055
}

TEST(ClassThreshold, ASlightRiseEndsNoGap) {
  // Low plants up to 0.5 m, a tenth more at the top: the gap is above them.
  std::vector<float> heights = layer(20'000, 0.02);
  for (int bin = 0; bin < 250; ++bin) {
    for (int k = 0; k < 80 + 8 * bin / 250; ++k) heights.push_back(0.002F * (static_cast<float>(bin) + 0.5F));
  }
  heights.push_back(0.8F);
  EXPECT_NEAR(threshold_of(heights, 0.02).value_m, 0.5, 0.03);
}

TEST(ClassThreshold, NoiseMovesItLittle) {
  // A layer with heavy tails and low plants of even density: the gap between them is flat.
  double least = HUGE_VAL, most = 0;
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    std::vector<float> heights;
    for (std::uint64_t i = 0; i < 50'000; ++i) {
      const double sign = random_unit(seed, 3 * i) < 0.5 ? -1 : 1;
      heights.push_back(static_cast<float>(-0.02 * sign * std::log(1 - random_unit(seed, 3 * i + 1))));
    }
    for (std::uint64_t i = 0; i < 4000; ++i)
      heights.push_back(static_cast<float>(0.1 + 0.8 * random_unit(seed, 3 * i + 2)));
    for (std::uint64_t i = 0; i < 4000; ++i)
      heights.push_back(static_cast<float>(0.9 + 0.4 * random_unit(seed + 99, i)));
    const ClassThreshold threshold = threshold_of(heights, 0.05);
    EXPECT_EQ(threshold.method, ThresholdMethod::kKnee) << seed;
    least = std::min(least, threshold.value_m);
    most = std::max(most, threshold.value_m);
  }
  EXPECT_LE(most, 1.15 * least);
}

TEST(ClassThreshold, ALayerThatReachesHighIsNoneOfGround) {
  std::vector<float> heights = layer(20'000, 0.05);
  const std::vector<float> trunk = layer(40'000, 0.6, 0.3);
  heights.insert(heights.end(), trunk.begin(), trunk.end());
  EXPECT_EQ(threshold_of(heights, 0.05).method, ThresholdMethod::kFallback);
}

TEST(ClassThreshold, IgnoredHeightsDoNotCount) {
  std::vector<float> heights = layer(20'000, 0.05);
  const ClassThreshold expected = threshold_of(heights, 0.1);
  std::vector<std::uint8_t> ignored(heights.size());
  for (int i = 0; i < 300; ++i) {
    heights.push_back(-900);
    ignored.push_back(1);
  }
  JobControl control;
  OpContext ctx(control);
  const auto found = measure_class_threshold({heights.data(), heights.size()},
                                             {ignored.data(), ignored.size()}, 0.1, 0.77, ctx);
  EXPECT_EQ(found.value_m, expected.value_m);
  EXPECT_EQ(threshold_of(heights, 0.1).method, ThresholdMethod::kFallback);
}

TEST(ClassThreshold, StaysInItsBounds) {
  std::vector<float> thin = layer(20'000, 0.0005);
  const std::vector<float> above = layer(5000, 0.05, 1);
  thin.insert(thin.end(), above.begin(), above.end());
  EXPECT_EQ(threshold_of(thin, 0.01).value_m, 0.02);
  EXPECT_EQ(threshold_of(layer(20'000, 2), 1).value_m, 5);
}

}  // namespace
}  // namespace pc
