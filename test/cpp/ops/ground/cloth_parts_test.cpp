#include <gtest/gtest.h>

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

namespace pc {
namespace {

using test::GroundCloud;

/// The scheme that the rigidness table reproduces: pairs of particles one after the other, structural and bending
/// springs. A free particle closes a share of the difference that grows with rigidness. Gap of `gap` cells.
double pairwise_sag(int gap, int rigidness) {
  const int width = gap + 8, rows = 24;
  const auto at = [&](int x, int y) { return static_cast<std::size_t>((y + rows) % rows * width + x); };
  const auto is_free = [&](std::size_t i) {
    const int x = static_cast<int>(i) % width;
    return x >= 4 && x < 4 + gap;
  };
  std::vector<double> z(static_cast<std::size_t>(width * rows)), before(z.size());
  const double both = 0.5 * (1 - std::pow(0.4, rigidness)), single = 1 - std::pow(0.7, rigidness);
  for (int step = 0; step < 500; ++step) {
    for (std::size_t i = 0; i < z.size(); ++i) {
      if (!is_free(i)) continue;
      const double now = z[i];
      z[i] += (now - before[i]) * 0.99 - 0.2 * 0.65 * 0.65;
      before[i] = now;
    }
    for (int x = 0; x < width; ++x) {
      for (int y = 0; y < rows; ++y) {
        for (int k = 0; k < 18; ++k) {
          const int reach = 1 + k / 9, dx = (k % 3 - 1) * reach, dy = (k / 3 % 3 - 1) * reach;
          if ((dx == 0 && dy == 0) || x + dx < 0 || x + dx >= width) continue;
          const std::size_t i = at(x, y), j = at(x + dx, y + dy);
          const double difference = z[j] - z[i];
          if (is_free(i)) z[i] += difference * (is_free(j) ? both : single);
          if (is_free(j)) z[j] -= difference * (is_free(i) ? both : single);
        }
      }
    }
  }
  double sag = 0;  // mean over the rows: the order of the pairs makes them differ
  for (int y = 0; y < rows; ++y) sag -= z[at(4 + gap / 2, y)] / rows;
  return sag;
}

DroppedCloth drop(const TerrainWindow& terrain, const ClothDropParams& params) {
  JobControl control;
  OpContext ctx(control);
  std::vector<std::string> warnings;
  GpuRun gpu(ctx, "Cloth simulation", warnings);
  return drop_cloth(terrain, params, gpu, ctx);
}

double simultaneous_sag(std::uint32_t gap, std::uint32_t rigidness) {
  const std::uint32_t width = gap + 8, rows = 24;
  std::vector<float> terrain(std::size_t{width} * rows, 0);
  for (std::uint32_t y = 0; y < rows; ++y) {
    for (std::uint32_t x = 4; x < 4 + gap; ++x) terrain[y * width + x] = -1000;
  }
  JobControl control;
  OpContext ctx(control);
  const auto cloth = drop({terrain.data(), width, width, rows}, {cloth_sweeps(rigidness), 500, 0});
  return -cloth.height[rows / 2 * width + 4 + gap / 2];
}

TEST(ClothDrop, SagsAsThePairwiseScheme) {
  for (const int rigidness : {1, 2, 3}) {
    for (const int gap : {9, 17, 33}) {
      const double expected = pairwise_sag(gap, rigidness);
      const double sag =
          simultaneous_sag(static_cast<std::uint32_t>(gap), static_cast<std::uint32_t>(rigidness));
      EXPECT_NEAR(sag, expected, 0.35 * expected) << rigidness << " " << gap;
    }
  }
}

TEST(ClothDrop, LiesOnFlatTerrainAndSettles) {
  const std::vector<float> terrain(300 * 200, 2.5F);
  JobControl control;
  OpContext ctx(control);
  const auto cloth = drop({terrain.data(), 300, 300, 200}, {9, 500, 30.0F});
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
  const auto whole = drop({terrain.data(), 200, 200, 150}, {9, 500, 1.05F});
  const auto part = drop({terrain.data() + 40 * 200 + 30, 200, 120, 80}, {9, 500, 1.05F});
  for (std::uint32_t y = 30; y < 50; ++y) {
    for (std::uint32_t x = 30; x < 90; ++x)
      ASSERT_NEAR(part.height[y * 120 + x], whole.height[(y + 40) * 200 + x + 30], 0.02) << x << " " << y;
  }
}

TEST(TerrainGrid, EmptyCellsGetTheHeightOfTheNearestFilledOne) {
  const Lattice lattice{0, 0, 1, 0, 0, 0, 0, 37, 23};
  BulkVector<float> values(lattice.cells());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool some = random_unit(4, i) < 0.02;
    values[i] = some ? static_cast<float>(i) : std::numeric_limits<float>::quiet_NaN();
  }
  const std::vector<float> given(values.begin(), values.end());
  JobControl control;
  OpContext ctx(control);
  fill_from_nearest(lattice, values, ctx);
  const auto squared = [&](std::size_t a, std::size_t b) {
    const double dx = static_cast<double>(a % 37) - static_cast<double>(b % 37);
    const double dy = static_cast<double>(a / 37) - static_cast<double>(b / 37);
    return dx * dx + dy * dy;
  };
  for (std::size_t i = 0; i < given.size(); ++i) {
    std::size_t best = given.size();  // the first of the nearest: the lowest row, then column
    for (std::size_t j = 0; j < given.size(); ++j)
      if (!std::isnan(given[j]) && (best == given.size() || squared(i, j) < squared(i, best))) best = j;
    ASSERT_EQ(static_cast<std::size_t>(values[i]), best) << i;
  }
}

TEST(TerrainGrid, AllEmptyStaysEmpty) {
  const Lattice lattice{0, 0, 1, 0, 0, 0, 0, 5, 4};
  BulkVector<float> values(20);
  for (float& value : values) value = std::numeric_limits<float>::quiet_NaN();
  JobControl control;
  OpContext ctx(control);
  fill_from_nearest(lattice, values, ctx);
  for (const float value : values) EXPECT_TRUE(std::isnan(value));
}

LowOutliers outliers_of(const GroundCloud& cloud) {
  JobControl control;
  OpContext ctx(control);
  return find_low_outliers(test::hits_of(cloud), ground_extent(test::hits_of(cloud), ctx), ctx);
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
  EXPECT_EQ(threshold_of(layer(20'000, 2.5), 1).value_m, 5);
}

}  // namespace
}  // namespace pc
