#include "ops/cloud/point_spacing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/gpu.h"
#include "core/memory.h"
#include "ops/cloud/percentile.h"
#include "ops/cloud/point_spacing_kernel.h"
#include "support/cancel.h"
#include "support/fake_gpu.h"
#include "support/spacing_clouds.h"

namespace pc {
namespace {

using test::SpacingCloud;

/// Slow and obvious: the distance of every finite point to its nearest other finite point.
/// `elsewhere`: to the nearest point at another position.
std::vector<double> brute_force(const SpacingCloud& cloud, bool elsewhere = false) {
  std::vector<double> distances;
  for (std::size_t i = 0; i < cloud.points.size(); ++i) {
    if (!is_finite(cloud.points[i])) continue;
    double best = HUGE_VAL;
    for (std::size_t j = 0; j < cloud.points.size(); ++j) {
      if (j == i || !is_finite(cloud.points[j])) continue;
      const double squared = squared_distance(cloud.points[i], cloud.points[j]);
      if (!elsewhere || squared > 0) best = std::min(best, squared);
    }
    if (std::isfinite(best)) distances.push_back(std::sqrt(best));
  }
  std::sort(distances.begin(), distances.end());
  return distances;
}

/// A table whose pass runs the kernel functor in a plain loop: what the module does, without a device.
GpuStatus functor_pass(const point_spacing_kernel::HostPass* host, const GpuControl* control, GpuError*) {
  if (control->canceled(control->user)) return GpuStatus::kCanceled;
  for (std::uint64_t i = 0; i < host->count; ++i) point_spacing_kernel::visit_point(i, host->pass);
  control->advance(control->user, host->count);
  return GpuStatus::kOk;
}

GpuStatus out_of_memory_pass(const point_spacing_kernel::HostPass*, const GpuControl*, GpuError* error) {
  return test::no_gpu_memory(error);
}

GpuTable table_of(decltype(GpuTable::point_spacing_pass) pass) {
  GpuTable table = test::fake_gpu_table();
  table.point_spacing_pass = pass;
  return table;
}
const GpuTable kFunctorTable = table_of(functor_pass);
const GpuTable kFullTable = table_of(out_of_memory_pass);

/// Where the op runs: CPU with some threads, the functor path, or a real device through pc_cuda.
struct RunOn {
  const char* name;
  Device device;
  int threads;
  bool real_gpu;
};

class PointSpacing : public testing::TestWithParam<RunOn> {
 protected:
  void SetUp() override {
    const RunOn& on = GetParam();
    if (on.device != Device::kCuda) return;
    if (!on.real_gpu) {
      gpu_install(&kFunctorTable, "");
      return;
    }
    if (!test::load_cuda()) GTEST_SKIP() << "no CUDA device: " << gpu_reason();
  }
  void TearDown() override {
    if (GetParam().device == Device::kCuda && !GetParam().real_gpu) gpu_install(nullptr, "the test is over");
  }
  PointSpacingResult run(Span<const Vec3d> points, std::uint32_t max_samples,
                         std::optional<std::uint64_t> seed = 5) {
    JobControl control;
    OpContext ctx(control, GetParam().device, GetParam().threads);
    return point_spacing(HitPoints::assume_hits(points), {max_samples, seed}, ctx);
  }
};

TEST_P(PointSpacing, EqualsBruteForceWhenEveryPointIsSampled) {
  for (const SpacingCloud& cloud : test::spacing_clouds(1800, 17)) {
    const std::vector<double> expected = brute_force(cloud);
    const PointSpacingResult result = run(cloud.view(), 200'000);
    EXPECT_EQ(result.point_count, cloud.points.size()) << cloud.name;
    EXPECT_EQ(result.sampled_count, expected.size()) << cloud.name;
    EXPECT_EQ(result.median_m.has_value(), !expected.empty()) << cloud.name;
    EXPECT_EQ(result.p95_m.has_value(), !expected.empty()) << cloud.name;
    if (expected.empty()) continue;
    const Span<const double> sorted{expected.data(), expected.size()};
    EXPECT_EQ(*result.median_m, sorted_percentile(sorted, 0.5)) << cloud.name;
    EXPECT_EQ(*result.p95_m, sorted_percentile(sorted, 0.95)) << cloud.name;
    const auto duplicates = static_cast<std::size_t>(std::count(expected.begin(), expected.end(), 0.0));
    EXPECT_EQ(result.duplicate_count, duplicates) << cloud.name;
    const std::vector<double> elsewhere = brute_force(cloud, true);
    const bool mostly_twice = 2 * (expected.size() - duplicates) < expected.size();
    const Span<const double> apart =
        mostly_twice ? Span<const double>{elsewhere.data(), elsewhere.size()}
                     : Span<const double>{expected.data() + duplicates, expected.size() - duplicates};
    EXPECT_EQ(result.distinct_p95_m.has_value(), apart.size > 0) << cloud.name;
    if (apart.size == 0) continue;
    EXPECT_EQ(result.distinct_median_m, sorted_percentile(apart, 0.5)) << cloud.name;
    EXPECT_EQ(result.distinct_p95_m, sorted_percentile(apart, 0.95)) << cloud.name;
  }
}

TEST_P(PointSpacing, OfASampleEqualsBruteForce) {
  constexpr std::size_t kCount = 6500, kSamples = 90;  // few enough for the passes, which a GPU runs
  std::size_t compared = 0;
  for (const SpacingCloud& cloud : test::spacing_clouds(kCount, 19)) {
    const std::size_t n = cloud.points.size(), step = n / kSamples, longer = n % kSamples;
    if (n / 64 <= kSamples) continue;
    ++compared;
    std::vector<double> expected;
    for (std::size_t t = 0; t < kSamples; ++t) {
      const std::size_t row = t * step + std::min(t, longer);
      double best = HUGE_VAL;
      if (!is_finite(cloud.points[row])) continue;
      for (std::size_t j = 0; j < n; ++j)
        if (j != row && is_finite(cloud.points[j]))
          best = std::min(best, squared_distance(cloud.points[row], cloud.points[j]));
      if (std::isfinite(best)) expected.push_back(std::sqrt(best));
    }
    std::sort(expected.begin(), expected.end());
    const PointSpacingResult result = run(cloud.view(), kSamples, std::nullopt);
    EXPECT_EQ(result.sampled_count, expected.size()) << cloud.name;
    if (expected.empty()) continue;
    const Span<const double> sorted{expected.data(), expected.size()};
    EXPECT_EQ(result.median_m, sorted_percentile(sorted, 0.5)) << cloud.name;
    EXPECT_EQ(result.p95_m, sorted_percentile(sorted, 0.95)) << cloud.name;
  }
  EXPECT_GE(compared, 8U);
}

TEST_P(PointSpacing, WithoutASeedTheRowsAreEvenlySpaced) {
  // Row 3 k of every 3 has its neighbour at 0.25; the others are nearer to each other.
  SpacingCloud cloud{"thirds", {}};
  for (int i = 0; i < 3000; ++i)
    cloud.points.push_back({i / 3 * 10.0 + (i % 3 == 0 ? 0.0 : 0.25 + (i % 3) * 0.01), 0, 0});
  const PointSpacingResult result = run(cloud.view(), 1000, std::nullopt);
  EXPECT_EQ(result.sampled_count, 1000U);
  EXPECT_NEAR(*result.median_m, 0.26, 1e-9);
  EXPECT_NEAR(*result.p95_m, 0.26, 1e-9);
}

TEST_P(PointSpacing, ASampleFindsNeighboursAmongAllPoints) {
  // A lattice's spacing is 4 for every sample, whichever rows are drawn; a sample that only knew itself would say more.
  SpacingCloud lattice{"lattice", {}};
  for (int i = 0; i < 64'000; ++i)
    lattice.points.push_back({i % 40 * 4.0, i / 40 % 40 * 4.0, i / 1600 * 4.0});
  const PointSpacingResult result = run(lattice.view(), 100);
  EXPECT_EQ(result.sampled_count, 100U);
  EXPECT_EQ(result.median_m, 4.0);
  EXPECT_EQ(result.p95_m, 4.0);
}

TEST_P(PointSpacing, IsTheSameOnTheCpuWithOneThread) {
  for (const SpacingCloud& cloud : test::spacing_clouds(20'000, 23)) {
    JobControl control;
    OpContext ctx(control, Device::kCpu, 1);
    const PointSpacingResult expected = point_spacing(HitPoints::assume_hits(cloud.view()), {200, 9}, ctx);
    const PointSpacingResult result = run(cloud.view(), 200, 9);
    EXPECT_EQ(result.median_m, expected.median_m) << cloud.name;
    EXPECT_EQ(result.p95_m, expected.p95_m) << cloud.name;
    EXPECT_EQ(result.sampled_count, expected.sampled_count) << cloud.name;
    EXPECT_EQ(result.duplicate_count, expected.duplicate_count) << cloud.name;
    EXPECT_EQ(result.warnings, expected.warnings) << cloud.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, PointSpacing,
                         testing::Values(RunOn{"cpu1", Device::kCpu, 1, false},
                                         RunOn{"cpu4", Device::kCpu, 4, false},
                                         RunOn{"functor", Device::kCuda, 2, false},
                                         RunOn{"cuda", Device::kCuda, 2, true}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(PointSpacingPlain, NullResultsAndErrors) {
  JobControl control;
  OpContext ctx(control);
  const Vec3d one{1, 2, 3};
  const PointSpacingResult result = point_spacing(HitPoints::assume_hits({&one, 1}), {10, 0}, ctx);
  EXPECT_FALSE(result.median_m.has_value());
  EXPECT_EQ(result.point_count, 1U);
  EXPECT_EQ(result.sampled_count, 0U);
  for (const std::uint32_t samples : {0U, kMaxSpacingSamples + 1}) {
    try {
      point_spacing(HitPoints::assume_hits({&one, 1}), {samples, 0}, ctx);
      ADD_FAILURE() << samples;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kInvalidArgument);
      EXPECT_NE(std::string(e.what()).find("max_samples " + std::to_string(samples)), std::string::npos)
          << e.what();
    }
  }
}

TEST(PointSpacingPlain, SampleDependsOnSeedOnly) {
  SpacingCloud cloud{"cube", {}};
  for (std::size_t i = 0; i < 20'000; ++i) cloud.points.push_back(test::random_point(3, i));
  const auto median = [&](std::uint64_t seed) {
    JobControl control;
    OpContext ctx(control);
    return *point_spacing(HitPoints::assume_hits(cloud.view()), {200, seed}, ctx).median_m;
  };
  EXPECT_EQ(median(1), median(1));
  EXPECT_NE(median(1), median(2));
  EXPECT_NEAR(median(1) / median(2), 1.0, 0.2);  // standard error of a median of 200: about 3 %
}

TEST(PointSpacingPlain, FallsBackToTheCpuAndSaysSo) {
  const auto clouds = test::spacing_clouds(5000, 29);
  const SpacingCloud& cube =
      *std::find_if(clouds.begin(), clouds.end(), [](const auto& c) { return c.name == "cube"; });
  JobControl control;
  OpContext cpu(control), gpu(control, Device::kCuda);
  const auto expected = point_spacing(HitPoints::assume_hits(cube.view()), {50, 1}, cpu);
  EXPECT_TRUE(expected.warnings.empty());
  gpu_install(&kFullTable, "");
  const auto full = point_spacing(HitPoints::assume_hits(cube.view()), {50, 1}, gpu);
  gpu_install(nullptr, "no driver here");
  const auto absent = point_spacing(HitPoints::assume_hits(cube.view()), {50, 1}, gpu);
  EXPECT_EQ(full.median_m, expected.median_m);
  EXPECT_EQ(absent.median_m, expected.median_m);
  EXPECT_EQ(full.warnings,
            std::vector<std::string>{"Point spacing ran on the CPU: the GPU has no memory left"});
  EXPECT_EQ(absent.warnings, std::vector<std::string>{"Point spacing ran on the CPU: no driver here"});
}

TEST(PointSpacingPlain, ScratchIsGivenBackAndSmall) {
  SpacingCloud cloud{"cube", {}};
  for (std::size_t i = 0; i < 200'000; ++i) cloud.points.push_back(test::random_point(3, i));
  const std::uint64_t before = bulk_bytes_in_use();
  reset_bulk_bytes_peak();
  JobControl control;
  OpContext ctx(control);
  point_spacing(HitPoints::assume_hits(cloud.view()), {1000, 1}, ctx);
  EXPECT_EQ(bulk_bytes_in_use(), before);
  EXPECT_LE(bulk_bytes_peak() - before, 16 * cloud.points.size());
  EXPECT_EQ(control.done.load(), control.total.load());
}

TEST(PointSpacingPlain, CancelEndsItInTime) {
  SpacingCloud cloud{"cube", {}};
  for (std::size_t i = 0; i < 600'000; ++i) cloud.points.push_back(test::random_point(3, i));
  const auto run = [&](OpContext& ctx) {
    point_spacing(HitPoints::assume_hits(cloud.view()), {kMaxSpacingSamples, 1}, ctx);
  };
  test::expect_cancel_in_time(run, {"", 1, {}, 2});
}

}  // namespace
}  // namespace pc
