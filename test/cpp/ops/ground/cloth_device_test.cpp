#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "core/gpu.h"
#include "ops/ground/cloth_simulation.h"
#include "ops/ground/cloth_simulation_kernel.h"
#include "support/fake_gpu.h"
#include "support/ground_clouds.h"

namespace pc {
namespace {

using namespace cloth_kernel;

GpuStatus functor_raster(const HostRaster* host, const GpuControl* control, GpuError*) {
  if (control->canceled(control->user)) return GpuStatus::kCanceled;
  for (std::uint64_t i = 0; i < host->count; ++i) offer_nearest(i, host->pass);
  return GpuStatus::kOk;
}

/// The same functions in plain loops over the whole cloth, one particle after the other.
struct PlainCloth {
  HostDrop* host;
  std::vector<float> height, previous, grip, ground;
  std::vector<float> kept[3];

  explicit PlainCloth(HostDrop* drop)
      : host(drop),
        height(static_cast<std::size_t>(drop->nx) * drop->ny, drop->start),
        previous(height),
        grip(height.size(), stiffness_of(drop->rigidness).both),
        ground(height.size()) {
    for (std::size_t i = 0; i < ground.size(); ++i)
      ground[i] = drop->terrain[i / drop->nx * drop->stride + i % drop->nx];
  }
  void keep() {
    kept[0] = height;
    kept[1] = previous;
    kept[2] = grip;
  }
  void undo() {
    height = kept[0];
    previous = kept[1];
    grip = kept[2];
  }
  float step() {
    for (std::size_t i = 0; i < height.size(); ++i) {
      const Motion moved = fall({height[i], previous[i]}, grip[i]);
      height[i] = moved.height;
      previous[i] = moved.previous;
    }
    const ClothArrays arrays{height.data(), previous.data(), grip.data(), ground.data(), host->nx, host->ny};
    for (std::uint32_t y = 0; y < host->ny; ++y)
      for (std::uint32_t x = 0; x < host->nx; ++x) pull_ties(arrays, x, y);
    float furthest = 0;
    for (std::size_t i = 0; i < height.size(); ++i) {
      const Landing end = land({height[i], previous[i]}, grip[i], ground[i], stiffness_of(host->rigidness));
      height[i] = end.height;
      grip[i] = end.grip;
      furthest = std::max(furthest, end.moved);
    }
    return furthest;
  }
  void steps(std::uint32_t count, float* furthest) {
    for (std::uint32_t i = 0; i < count; ++i) furthest[i] = step();
  }
};

GpuStatus functor_drop(HostDrop* host, const GpuControl* control, GpuError*) {
  PlainCloth cloth(host);
  if (control->canceled(control->user)) return GpuStatus::kCanceled;
  const Drop drop = drop_until_settled(host->iterations, 32, cloth);
  host->iterations_run = drop.steps;
  host->settled = drop.settled;
  std::copy(cloth.height.begin(), cloth.height.end(), host->height);
  return GpuStatus::kOk;
}

GpuStatus full_raster(const HostRaster*, const GpuControl*, GpuError* error) {
  return test::no_gpu_memory(error);
}

/// A device that failed once is not asked again.
GpuStatus asked_again(HostDrop*, const GpuControl*, GpuError* error) {
  std::snprintf(error->text, sizeof error->text, "asked again after a failure");
  return GpuStatus::kOutOfMemory;
}

GpuTable table_of(decltype(GpuTable::cloth_raster) raster, decltype(GpuTable::cloth_drop) drop) {
  GpuTable table = test::fake_gpu_table();
  table.cloth_raster = raster;
  table.cloth_drop = drop;
  return table;
}
const GpuTable kFunctors = table_of(functor_raster, functor_drop);
const GpuTable kFull = table_of(full_raster, asked_again);

test::GroundCloud rough_cloud() {
  test::GroundCloud cloud =
      test::surface_cloud(18, 0.25, [](double x, double y) { return std::sin(x) + 0.3 * y; });
  for (std::uint64_t i = 0; i < 4000; ++i)
    cloud.push_back(
        {18 * random_unit(1, 3 * i), 18 * random_unit(1, 3 * i + 1), 12 * random_unit(1, 3 * i + 2) - 2});
  return cloud;
}

ClothSimulationResult run_on(Device device, const test::GroundCloud& cloud) {
  JobControl control;
  OpContext ctx(control, device, 2);
  auto params = test::cloth_defaults(0.1, 0.1);
  params.want_heights = true;
  params.iterations = 40;
  return cloth_simulation(test::hits_of(cloud), params, ctx);
}

void expect_same(const ClothSimulationResult& result, const ClothSimulationResult& expected) {
  EXPECT_EQ(test::labels_of(result.ground_class), test::labels_of(expected.ground_class));
  EXPECT_TRUE(std::equal(result.height_above_cloth.view().begin(), result.height_above_cloth.view().end(),
                         expected.height_above_cloth.view().begin()));
  EXPECT_EQ(result.iterations_run, expected.iterations_run);
  EXPECT_EQ(result.settled, expected.settled);
}

TEST(ClothDevices, TheFunctorsOfTheGpuGiveTheBitsOfTheCpu) {
  const test::GroundCloud cloud = rough_cloud();
  const auto expected = run_on(Device::kCpu, cloud);
  gpu_install(&kFunctors, "");
  const auto result = run_on(Device::kCuda, cloud);
  gpu_install(nullptr, "the test is over");
  expect_same(result, expected);
  EXPECT_TRUE(result.warnings.empty());
}

TEST(ClothDevices, FallsBackToTheCpuAndSaysSo) {
  const test::GroundCloud cloud = rough_cloud();
  const auto expected = run_on(Device::kCpu, cloud);
  gpu_install(&kFull, "");
  const auto full = run_on(Device::kCuda, cloud);
  gpu_install(nullptr, "no driver here");
  const auto absent = run_on(Device::kCuda, cloud);
  expect_same(full, expected);
  expect_same(absent, expected);
  EXPECT_EQ(full.warnings,
            std::vector<std::string>{"Cloth simulation ran on the CPU: the GPU has no memory left"});
  EXPECT_EQ(absent.warnings, std::vector<std::string>{"Cloth simulation ran on the CPU: no driver here"});
}

TEST(ClothDevices, ARealDeviceGivesTheBitsOfTheCpu) {
  if (!test::load_cuda()) GTEST_SKIP() << "no CUDA device: " << gpu_reason();
  const test::GroundCloud cloud = rough_cloud();
  const auto result = run_on(Device::kCuda, cloud);
  expect_same(result, run_on(Device::kCpu, cloud));
  EXPECT_TRUE(result.warnings.empty());
}

}  // namespace
}  // namespace pc
