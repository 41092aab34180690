#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "core/error.h"
#include "core/memory.h"
#include "ops/denoise/statistical_outlier.h"
#include "ops/denoise/tiled_noise.h"
#include "support/cancel.h"
#include "support/cpu_time.h"
#include "support/denoise_oracles.h"
#include "support/plot.h"
#include "support/spacing_clouds.h"

namespace pc {
namespace {

using test::Labels;
using test::SpacingCloud;

using Method = std::function<NoiseResult(HitPoints, OpContext&)>;

NoiseResult run(Span<const Vec3d> points, int threads, const Method& method) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return method(HitPoints::assume_hits(points), ctx);
}

Labels labels_of(const NoiseResult& result) {
  const auto labels = result.noise_class.view();
  return {labels.begin(), labels.end()};
}

Method ror(double radius_m, std::uint32_t nb_points) {
  return [=](HitPoints points, OpContext& ctx) { return radius_outlier(points, {radius_m, nb_points}, ctx); };
}
Method voxels(double voxel_m, std::uint32_t min_points) {
  return [=](HitPoints points, OpContext& ctx) {
    return voxel_count(points, {voxel_m, min_points, std::nullopt}, ctx);
  };
}
Method sor(std::uint32_t k, double std_ratio) {
  return [=](HitPoints points, OpContext& ctx) { return statistical_outlier(points, {k, std_ratio}, ctx); };
}

void expect_counts(const NoiseResult& result, Span<const Vec3d> points, const char* name) {
  const Labels labels = labels_of(result);
  EXPECT_EQ(result.flagged_count,
            static_cast<std::uint64_t>(std::count(labels.begin(), labels.end(), kNoise)))
      << name;
  std::uint64_t non_finite = 0;
  for (const Vec3d& p : points) non_finite += is_finite(p) ? 0 : 1;
  EXPECT_EQ(result.non_finite_count, non_finite) << name;
}

constexpr double kLengths[] = {1e-4, 0.05, 0.4, 4.0, 50.0, 1e9};

TEST(RadiusOutlier, EqualsBruteForce) {
  for (const SpacingCloud& cloud : test::spacing_clouds(1300, 31)) {
    for (const double radius_m : kLengths) {
      for (const std::uint32_t nb_points : {1U, 2U, 40U, 5000U}) {
        const Labels expected = test::radius_oracle(cloud.view(), radius_m, nb_points);
        for (const int threads : {1, 4}) {
          const NoiseResult result = run(cloud.view(), threads, ror(radius_m, nb_points));
          ASSERT_EQ(labels_of(result), expected) << cloud.name << " " << radius_m << " " << nb_points;
          expect_counts(result, cloud.view(), cloud.name.c_str());
        }
      }
    }
  }
}

TEST(RadiusOutlier, ANeighbourAtTheRadiusCounts) {
  const std::vector<Vec3d> points{{0, 0, 0}, {0.5, 0, 0}, {2, 0, 0}, {2.5000000001, 0, 0}};
  EXPECT_EQ(labels_of(run({points.data(), points.size()}, 1, ror(0.5, 1))),
            (Labels{kClean, kClean, kNoise, kNoise}));
}

TEST(VoxelCount, EqualsBruteForce) {
  for (const SpacingCloud& cloud : test::spacing_clouds(3000, 37)) {
    for (const double voxel_m : kLengths) {
      for (const std::uint32_t min_points : {1U, 2U, 30U}) {
        const Labels expected = test::voxel_oracle(cloud.view(), voxel_m, min_points);
        for (const int threads : {1, 4}) {
          const NoiseResult result = run(cloud.view(), threads, voxels(voxel_m, min_points));
          ASSERT_EQ(labels_of(result), expected) << cloud.name << " " << voxel_m << " " << min_points;
          expect_counts(result, cloud.view(), cloud.name.c_str());
        }
      }
    }
  }
}

TEST(VoxelCount, ManyCellsOfOneShareGrowItsTable) {
  SpacingCloud cloud{"cube", {}};
  for (std::size_t i = 0; i < 120'000; ++i) cloud.points.push_back(test::random_point(3, i / 2) * 40.0);
  EXPECT_EQ(labels_of(run(cloud.view(), 3, voxels(0.001, 2))), Labels(cloud.points.size(), kClean));
  EXPECT_EQ(labels_of(run(cloud.view(), 3, voxels(0.1, 3))), test::voxel_oracle(cloud.view(), 0.1, 3));
}

TEST(StatisticalOutlier, EqualsBruteForce) {
  for (const SpacingCloud& cloud : test::spacing_clouds(350, 41)) {
    for (const std::uint32_t k : {1U, 8U, 100U, 1000U}) {
      for (const double std_ratio : {0.5, 4.0}) {
        const auto expected = test::statistical_oracle(cloud.view(), k, std_ratio);
        Labels first;
        for (const int threads : {1, 4}) {
          const NoiseResult result = run(cloud.view(), threads, sor(k, std_ratio));
          const Labels labels = labels_of(result);
          ASSERT_EQ(labels.size(), expected.labels.size());
          for (std::size_t i = 0; i < labels.size(); ++i) {
            if (expected.on_edge[i]) continue;
            ASSERT_EQ(labels[i], expected.labels[i]) << cloud.name << " " << k << " " << i;
          }
          if (threads == 1) first = labels;
          EXPECT_EQ(labels, first) << cloud.name;
          expect_counts(result, cloud.view(), cloud.name.c_str());
        }
      }
    }
  }
}

/// A floor of 60 x 60 points 0.1 m apart with 20 lonely points 2 to 3 m above it.
TEST(StatisticalOutlier, StraysThatHideOtherNoiseAreTold) {
  std::vector<Vec3d> points;
  for (int i = 0; i < 3600; ++i) points.push_back({0.1 * (i % 60), 0.1 * (i / 60), 0.003 * (i * 7 % 11)});
  for (int i = 0; i < 20; ++i) points.push_back({0.3 * i, 0.25 * (i * 7 % 20), 2.0 + 0.05 * i});
  const auto found = [&] { return run({points.data(), points.size()}, 2, sor(8, 4)); };
  const NoiseResult without = found();
  EXPECT_EQ(without.flagged_count, 20U);
  EXPECT_TRUE(without.warnings.empty());
  points.push_back({0, 0, 900});
  points.push_back({-700, 0, std::nan("")});
  const NoiseResult with = found();
  EXPECT_EQ(with.flagged_count, 2U);
  ASSERT_EQ(with.warnings.size(), 1U);
  EXPECT_NE(with.warnings[0].find(
                "1 point lies so far out that it decides the limit for all others: without it 20 more"),
            std::string::npos)
      << with.warnings[0];
}

TEST(Denoise, TilesChangeNothing) {
  const test::PlotCloud plot = test::make_plot(60'000);
  std::vector<Vec3d> points(plot.positions.view().begin(), plot.positions.view().end());
  points.push_back({1e7, -1e7, 3});
  points.push_back({std::nan(""), 0, 0});
  const Span<const Vec3d> xyz{points.data(), points.size()};
  for (const std::uint64_t target : {std::uint64_t{200}, std::uint64_t{5000}, std::uint64_t{1'000'000}}) {
    for (const double length_m : {0.02, 0.13, 0.5, 30.0}) {
      JobControl control;
      OpContext ctx(control, Device::kCpu, 3);
      const auto radius = radius_outlier_tiled(HitPoints::assume_hits(xyz), {length_m, 3}, target, ctx);
      EXPECT_EQ(labels_of(radius.noise), labels_of(run(xyz, 1, ror(length_m, 3))))
          << target << " " << length_m;
      expect_counts(radius.noise, xyz, "radius");
      const auto voxel =
          voxel_count_tiled(HitPoints::assume_hits(xyz), {length_m, 3, std::nullopt}, target, ctx);
      EXPECT_EQ(labels_of(voxel.noise), labels_of(run(xyz, 1, voxels(length_m, 3))))
          << target << " " << length_m;
      expect_counts(voxel.noise, xyz, "voxel");
      if (target == 5000 && length_m < 1) {
        EXPECT_GE(radius.plan.tiles, 8U);
        EXPECT_LE(radius.plan.points_per_tile_max, 30'000U);
      }
    }
  }
}

TEST(Denoise, TilesOfOddClouds) {
  for (const SpacingCloud& cloud : test::spacing_clouds(700, 43)) {
    JobControl control;
    OpContext ctx(control, Device::kCpu, 2);
    const auto radius = radius_outlier_tiled(HitPoints::assume_hits(cloud.view()), {0.3, 2}, 100, ctx);
    EXPECT_EQ(labels_of(radius.noise), test::radius_oracle(cloud.view(), 0.3, 2)) << cloud.name;
    const auto voxel =
        voxel_count_tiled(HitPoints::assume_hits(cloud.view()), {0.3, 2, std::nullopt}, 100, ctx);
    EXPECT_EQ(labels_of(voxel.noise), test::voxel_oracle(cloud.view(), 0.3, 2)) << cloud.name;
  }
}

TEST(Denoise, LabelsFollowTheRows) {
  SpacingCloud cloud{"cube", {}};
  for (std::size_t i = 0; i < 5000; ++i) cloud.points.push_back(test::random_point(3, i) * 3.0);
  std::vector<Vec3d> turned(cloud.points.rbegin(), cloud.points.rend());
  for (const Method& method : {ror(0.13, 2), voxels(0.3, 4), sor(16, 1.0)}) {
    Labels expected = labels_of(run(cloud.view(), 2, method));
    std::reverse(expected.begin(), expected.end());
    EXPECT_EQ(labels_of(run({turned.data(), turned.size()}, 2, method)), expected);
  }
}

TEST(Denoise, APointFarAwayChangesNeitherTheOthersNorTheTime) {
  const test::PlotCloud plot = test::make_plot(100'000);
  std::vector<Vec3d> points(plot.positions.view().begin(), plot.positions.view().end());
  std::vector<Vec3d> with_far = points;
  with_far.push_back({1e7, 1e7, 1e7});
  for (const Method& method : {ror(0.3, 2), voxels(0.5, 2)}) {
    NoiseResult alone, beside;
    const double base = test::least_cpu_seconds(3, [&] {
      alone = run({points.data(), points.size()}, 1, method);
    });
    const double taken = test::least_cpu_seconds(3, [&] {
      beside = run({with_far.data(), with_far.size()}, 1, method);
    });
    Labels labels = labels_of(beside);
    EXPECT_EQ(labels.back(), kNoise);
    labels.pop_back();
    EXPECT_EQ(labels, labels_of(alone));
    EXPECT_LT(taken, 3 * base + 0.1);  // the benchmark looks at the 10 %; this finds a grid over the extent
  }
}

TEST(Denoise, RefusesWhatCannotBe) {
  const std::vector<Vec3d> points{{0, 0, 0}, {1, 0, 0}};
  const Span<const Vec3d> xyz{points.data(), points.size()};
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  for (const Method& method : {ror(0, 2), ror(-1, 2), ror(nan, 2), ror(inf, 2), voxels(0, 2), voxels(nan, 2),
                               voxels(inf, 2), sor(0, 4), sor(1001, 4), sor(20, nan)}) {
    try {
      run(xyz, 1, method);
      ADD_FAILURE();
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kInvalidArgument);
    }
  }
}

TEST(Denoise, CancelEndsItInTimeAndGivesTheScratchBack) {
  SpacingCloud cloud{"cube", {}};
  for (std::size_t i = 0; i < 300'000; ++i) cloud.points.push_back(test::random_point(3, i));
  // The worst: a ball of half the cloud that must be counted box by box; a thousand neighbours a point.
  const std::pair<Method, std::vector<const char*>> cases[] = {
      {ror(0.5, 250'000), {"", "Counting neighbours"}},
      {voxels(1e-3, 2), {""}},
      {sor(1000, 4), {"", "Measuring"}},
  };
  for (const auto& [method, phases] : cases) {
    for (const char* phase : phases) {
      const auto run = [&](OpContext& ctx) { method(HitPoints::assume_hits(cloud.view()), ctx); };
      test::expect_cancel_in_time(run, {phase, 1, {}, 2});
    }
  }
}

}  // namespace
}  // namespace pc
