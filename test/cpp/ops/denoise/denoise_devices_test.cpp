#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "core/gpu.h"
#include "core/memory.h"
#include "ops/denoise/radius_outlier_kernel.h"
#include "ops/denoise/statistical_outlier.h"
#include "ops/denoise/statistical_outlier_kernel.h"
#include "ops/denoise/tiled_noise.h"
#include "ops/denoise/voxel_count_kernel.h"
#include "support/fake_gpu.h"
#include "support/spacing_clouds.h"

namespace pc {
namespace {

using test::SpacingCloud;

// What the module's kernels do, in plain loops.

GpuStatus functor_radius(const radius_outlier_kernel::HostPass* host, const GpuControl* control, GpuError*) {
  if (control->canceled(control->user)) return GpuStatus::kCanceled;
  const KdTreeView& tree = host->tree.tree;
  for (std::uint64_t leaf = 0; leaf < host->tree.leaf_count; ++leaf) {
    for (std::uint32_t lane = 0; lane < kd_tree::kLeafPoints; ++lane)
      radius_outlier_kernel::label_point(tree.nodes[host->tree.leaves[leaf]], lane, host->ball, tree,
                                         host->labels);
  }
  return GpuStatus::kOk;
}

GpuStatus functor_means(const statistical_outlier_kernel::HostPass* host, const GpuControl* control,
                        GpuError*) {
  if (control->canceled(control->user)) return GpuStatus::kCanceled;
  constexpr std::uint64_t kThreads = 7;  // lists lie interleaved
  const KdTreeView& tree = host->tree.tree;
  std::vector<double> lists(kThreads * host->k);
  std::uint64_t turn = 0;
  for (std::uint64_t leaf = 0; leaf < host->tree.leaf_count; ++leaf) {
    for (std::uint32_t lane = 0; lane < kd_tree::kLeafPoints; ++lane)
      statistical_outlier_kernel::measure_point(tree.nodes[host->tree.leaves[leaf]], lane, host->k, tree,
                                                lists.data() + turn++ % kThreads, kThreads, host->means);
  }
  return GpuStatus::kOk;
}

GpuStatus functor_voxels(const voxel_count_kernel::HostPass* host, const GpuControl* control, GpuError*) {
  if (control->canceled(control->user)) return GpuStatus::kCanceled;
  std::uint64_t slots = 4;
  while (slots < 2 * host->count) slots *= 2;
  std::vector<std::uint64_t> keys(slots, voxel_count_kernel::kNoCell);
  std::vector<std::uint32_t> counts(slots, 0);
  const voxel_count_kernel::Table table{keys.data(), counts.data(), slots - 1};
  for (std::uint64_t i = 0; i < host->count; ++i)
    voxel_count_kernel::count_point(host->points[i], host->cells, table);
  for (std::uint64_t i = 0; i < host->count; ++i)
    voxel_count_kernel::label_point(host->points[i], host->cells, table, host->min_points, host->labels + i);
  return GpuStatus::kOk;
}

template <class Pass>
GpuStatus full(const Pass*, const GpuControl*, GpuError* error) {
  return test::no_gpu_memory(error);
}

GpuTable table_of(decltype(GpuTable::radius_outlier) radius, decltype(GpuTable::mean_distances) means,
                  decltype(GpuTable::voxel_count) voxels) {
  GpuTable table = test::fake_gpu_table();
  table.radius_outlier = radius;
  table.mean_distances = means;
  table.voxel_count = voxels;
  return table;
}
const GpuTable kFunctors = table_of(functor_radius, functor_means, functor_voxels);
const GpuTable kFull = table_of(full, full, full);

using Method = std::function<NoiseResult(HitPoints, OpContext&)>;

struct Case {
  std::string name;
  Method method;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const double length_m : {1e-4, 0.4, 4.0, 1e9}) {
    for (const std::uint32_t count : {1U, 3U, 40U}) {
      const std::string of = std::to_string(length_m) + " " + std::to_string(count);
      all.push_back({"radius " + of, [=](HitPoints points, OpContext& ctx) {
                       return radius_outlier(points, {length_m, count}, ctx);
                     }});
      all.push_back({"voxels " + of, [=](HitPoints points, OpContext& ctx) {
                       return voxel_count(points, {length_m, count, std::nullopt}, ctx);
                     }});
    }
  }
  for (const std::uint32_t k : {1U, 8U, 13U, 31U, 64U, 1000U}) {
    all.push_back({"sor " + std::to_string(k), [=](HitPoints points, OpContext& ctx) {
                     return statistical_outlier(points, {k, 1}, ctx);
                   }});
  }
  all.push_back({"tiles", [](HitPoints points, OpContext& ctx) {
                   return radius_outlier_tiled(points, {0.3, 2}, 100, ctx).noise;
                 }});
  return all;
}

NoiseResult run_on(Device device, const SpacingCloud& cloud, const Method& method) {
  JobControl control;
  OpContext ctx(control, device, 2);
  return method(HitPoints::assume_hits(cloud.view()), ctx);
}

/// Every case on the GPU's table that is installed gives the bits of the CPU.
void expect_bits_of_the_cpu(std::size_t warnings) {
  for (const SpacingCloud& cloud : test::spacing_clouds(300, 53)) {
    for (const Case& one : cases()) {
      const NoiseResult expected = run_on(Device::kCpu, cloud, one.method);
      const NoiseResult result = run_on(Device::kCuda, cloud, one.method);
      const auto labels = result.noise_class.view(), wanted = expected.noise_class.view();
      ASSERT_TRUE(std::equal(labels.begin(), labels.end(), wanted.begin(), wanted.end()))
          << cloud.name << ": " << one.name;
      EXPECT_EQ(result.flagged_count, expected.flagged_count) << cloud.name << ": " << one.name;
      EXPECT_EQ(result.non_finite_count, expected.non_finite_count) << cloud.name << ": " << one.name;
      EXPECT_LE(result.warnings.size(), expected.warnings.size() + warnings)
          << cloud.name << ": " << one.name;
    }
  }
}

using DenoiseDevices = test::DeviceTest;

TEST_F(DenoiseDevices, TheFunctorsOfTheGpuGiveTheBitsOfTheCpu) {
  install(&kFunctors, "");
  expect_bits_of_the_cpu(0);
}

TEST_F(DenoiseDevices, CudaGivesTheBitsOfTheCpu) {
  if (!test::load_cuda()) GTEST_SKIP() << "no CUDA device: " << gpu_reason();
  expect_bits_of_the_cpu(0);
}

TEST_F(DenoiseDevices, WhatTheGpuCannotDoTheCpuDoesAndSaysSo) {
  const SpacingCloud cloud = test::spacing_clouds(300, 59)[3];
  for (const auto& [table, reason] : {std::pair{&kFull, "the GPU has no memory left"},
                                      std::pair{static_cast<const GpuTable*>(nullptr), "none here"}}) {
    install(table, table == nullptr ? reason : "");
    for (const Case& one : cases())
      EXPECT_EQ(run_on(Device::kCuda, cloud, one.method).warnings,
                std::vector<std::string>{std::string("Denoise ran on the CPU: ") + reason})
          << one.name;
    expect_bits_of_the_cpu(1);
  }
}

GpuStatus wrong_labels(const radius_outlier_kernel::HostPass* host, const GpuControl* control,
                       GpuError* error) {
  const GpuStatus status = functor_radius(host, control, error);
  std::fill_n(host->labels, host->row_count, kNoise);
  return status;
}

GpuStatus wrong_means(const statistical_outlier_kernel::HostPass* host, const GpuControl* control,
                      GpuError* error) {
  const GpuStatus status = functor_means(host, control, error);
  for (std::uint64_t i = 0; i < host->row_count; ++i)
    if (!std::isnan(host->means[i])) host->means[i] = static_cast<double>(i % 7);
  return status;
}

TEST_F(DenoiseDevices, ADeviceThatIsWrongIsNotBelieved) {
  GpuTable table = kFunctors;
  table.radius_outlier = wrong_labels;
  table.mean_distances = wrong_means;
  install(&table, "");
  expect_bits_of_the_cpu(1);
}

TEST_F(DenoiseDevices, ACancelEndsAPassAndGivesTheScratchBack) {
  install(&kFunctors, "");
  const SpacingCloud cloud = test::spacing_clouds(300, 59)[3];
  const std::uint64_t before = bulk_bytes_in_use();
  for (const Case& one : cases()) {
    JobControl control;
    control.cancel_requested = true;
    OpContext ctx(control, Device::kCuda, 2);
    EXPECT_ANY_THROW(one.method(HitPoints::assume_hits(cloud.view()), ctx)) << one.name;
    EXPECT_EQ(bulk_bytes_in_use(), before) << one.name;
  }
}

}  // namespace
}  // namespace pc
