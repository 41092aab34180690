#include "ops/cloud/cloud_stats.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "ops/cloud/percentile.h"
#include "support/spacing_clouds.h"

namespace pc {
namespace {

void expect_oracle(const test::SpacingCloud& cloud, const std::vector<std::uint8_t>& skip, int threads) {
  std::vector<double> x, y, z;
  std::uint64_t skipped = 0;
  for (std::size_t i = 0; i < cloud.points.size(); ++i) {
    const Vec3d& p = cloud.points[i];
    if (!skip.empty() && skip[i] != 0) {
      ++skipped;
    } else if (is_finite(p)) {
      x.push_back(p.x);
      y.push_back(p.y);
      z.push_back(p.z);
    }
  }
  for (auto* axis : {&x, &y, &z}) std::sort(axis->begin(), axis->end());
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  const CloudStats stats = cloud_stats(cloud.view(), {skip.data(), skip.size()}, ctx);
  EXPECT_EQ(stats.point_count, cloud.points.size()) << cloud.name;
  EXPECT_EQ(stats.skipped_count, skipped) << cloud.name;
  EXPECT_EQ(stats.finite_count, x.size()) << cloud.name;
  EXPECT_EQ(stats.nonfinite_count, cloud.points.size() - skipped - x.size()) << cloud.name;
  ASSERT_EQ(stats.bounds.empty(), x.empty()) << cloud.name;
  ASSERT_EQ(stats.ground_z_m.has_value(), !x.empty()) << cloud.name;
  if (x.empty()) {
    EXPECT_TRUE(stats.robust_bounds.empty()) << cloud.name;
    return;
  }
  const auto at = [](const std::vector<double>& v, double f) {
    return sorted_percentile({v.data(), v.size()}, f);
  };
  EXPECT_EQ(stats.bounds.min, (Vec3d{x.front(), y.front(), z.front()})) << cloud.name;
  EXPECT_EQ(stats.bounds.max, (Vec3d{x.back(), y.back(), z.back()})) << cloud.name;
  EXPECT_EQ(stats.robust_bounds.min, (Vec3d{at(x, 0.01), at(y, 0.01), at(z, 0.01)})) << cloud.name;
  EXPECT_EQ(stats.robust_bounds.max, (Vec3d{at(x, 0.99), at(y, 0.99), at(z, 0.99)})) << cloud.name;
  EXPECT_EQ(*stats.ground_z_m, at(z, 0.005)) << cloud.name;
}

TEST(CloudStats, EqualsAPlainSortOnAdversarialClouds) {
  for (const std::size_t n : {1500U, 70'000U}) {
    for (const test::SpacingCloud& cloud : test::spacing_clouds(n, 31)) {
      std::vector<std::uint8_t> some(cloud.points.size()), all(cloud.points.size(), 2);
      for (std::size_t i = 0; i < some.size(); ++i) some[i] = i % 4 == 0;
      for (const int threads : {1, 4}) {
        expect_oracle(cloud, {}, threads);
        expect_oracle(cloud, some, threads);
      }
      expect_oracle(cloud, all, 2);
    }
  }
}

TEST(CloudStats, KnownPercentiles) {
  std::vector<Vec3d> points;
  for (int i = 0; i <= 1000; ++i) points.push_back({i * 1.0, i * 2.0, i * 0.1});
  JobControl control;
  OpContext ctx(control);
  const CloudStats stats = cloud_stats({points.data(), points.size()}, {}, ctx);
  EXPECT_EQ(stats.robust_bounds.min.x, 10.0);
  EXPECT_EQ(stats.robust_bounds.max.y, 1980.0);
  EXPECT_DOUBLE_EQ(*stats.ground_z_m, 0.5);
}

TEST(CloudStats, RefusesAnotherLengthAndCancels) {
  const std::vector<Vec3d> points(3);
  const std::uint8_t skip[2] = {0, 0};
  JobControl control;
  OpContext ctx(control);
  EXPECT_THROW(cloud_stats({points.data(), 3}, {skip, 2}, ctx), Error);
  control.cancel_requested = true;
  EXPECT_THROW(cloud_stats({points.data(), 3}, {}, ctx), Error);
}

TEST(Percentile, MatchesHandComputedValues) {
  const std::vector<double> v{1, 2, 4};
  EXPECT_EQ(sorted_percentile({v.data(), 3}, 0.0), 1.0);
  EXPECT_EQ(sorted_percentile({v.data(), 3}, 0.5), 2.0);
  EXPECT_EQ(sorted_percentile({v.data(), 3}, 0.75), 3.0);
  EXPECT_EQ(sorted_percentile({v.data(), 3}, 1.0), 4.0);
  EXPECT_EQ(sorted_percentile({v.data(), 1}, 0.3), 1.0);
  EXPECT_EQ(percentile_between(-1.7e308, 1.7e308, 0.5), 0.0);
}

}  // namespace
}  // namespace pc
