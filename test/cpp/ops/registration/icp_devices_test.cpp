#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "core/gpu.h"
#include "core/gpu_table.h"
#include "ops/registration/icp.h"
#include "ops/registration/icp_pairs.h"
#include "support/fake_gpu.h"
#include "support/rigid_scenes.h"

namespace pc {
namespace {

using test::Points;

using icp_pairs_kernel::HostPass;
using icp_pairs_kernel::HostSides;

std::uint64_t searched_count = 0;
int open_count = 0, opened_ever = 0;

/// What the module keeps of a registration.
struct OpenSides {
  HostSides host;
  std::vector<icp_pairs_kernel::Known> known;
  icp_pairs_kernel::Motions known_at;
};

GpuStatus open_sides(const HostSides* host, const GpuControl* control, void** sides, GpuError*) {
  if (control->canceled(control->user)) return GpuStatus::kCanceled;
  const std::size_t queries = host->fixed.point_count + host->moving.point_count;
  *sides = new OpenSides{*host, std::vector<icp_pairs_kernel::Known>(queries), {}};
  ++open_count;
  ++opened_ever;
  return GpuStatus::kOk;
}

void close_sides(void* sides) {
  delete static_cast<OpenSides*>(sides);
  --open_count;
}

/// What the module's kernel does, in a plain loop.
GpuStatus functor_pairs(void* sides, const HostPass* host, const GpuControl* control, GpuError*) {
  if (control->canceled(control->user)) return GpuStatus::kCanceled;
  auto& opened = *static_cast<OpenSides*>(sides);
  icp_pairs_kernel::Queries queries = host->queries;
  queries.fixed = {opened.host.fixed.tree.tree, opened.host.fixed.points};
  queries.moving = {opened.host.moving.tree.tree, opened.host.moving.points};
  for (std::uint64_t i = 0; i < host->count; ++i) {
    const icp_pairs_kernel::Nearest nearest =
        icp_pairs_kernel::find_pair(queries, i, opened.known_at, opened.known[i], icp_pairs_kernel::kNone);
    host->slot[i] = nearest.slot;
    host->squared[i] = icp_pairs_kernel::squared_of(nearest);
  }
  opened.known_at = queries.motions;
  searched_count += host->count;
  return GpuStatus::kOk;
}

/// Fails after half of the queries, of which it leaves partners that do not exist.
GpuStatus full(void*, const HostPass* host, const GpuControl*, GpuError* error) {
  for (std::uint64_t i = 0; i < host->count / 2; ++i) host->slot[i] = 0xfffffff0U;
  return test::no_gpu_memory(error);
}

GpuStatus rounds_otherwise(void* sides, const HostPass* host, const GpuControl* control, GpuError* error) {
  const GpuStatus status = functor_pairs(sides, host, control, error);
  for (std::uint64_t i = 0; i < host->count; ++i) host->squared[i] = std::nextafter(host->squared[i], 1e9);
  return status;
}

GpuTable table_of(decltype(GpuTable::icp_pairs) pairs) {
  GpuTable table = test::fake_gpu_table();
  table.open_sides = open_sides;
  table.icp_pairs = pairs;
  table.close_sides = close_sides;
  return table;
}

Span<const Vec3d> view(const Points& points) { return {points.data(), points.size()}; }

IcpResult registered(Device device, IcpMethod method) {
  const Points fixed = test::rough_ground(6000, 10, 1),
               moving = test::moved(test::turned({0.01, -0.02, 0.05}, {0.2, 0.1, 0.05}),
                                    test::rough_ground(5000, 10, 2));
  JobControl control;
  OpContext ctx(control, device, 2);
  IcpParams params{method, IcpInitial::kCentroid, std::nullopt, std::nullopt, 1e-9, 60};
  IcpRegistration registration({view(fixed), {}, {0, 0, 0}, 1}, {view(moving), {}, {0, 0, 0}, 1}, params,
                               ctx);
  while (!registration.advance(20, ctx).finished) continue;
  return registration.result(ctx);
}

void expect_bits_of_the_cpu(const std::vector<std::string>& warnings) {
  for (const IcpMethod method : {IcpMethod::kPointToPoint, IcpMethod::kPointToPlane, IcpMethod::kGicp}) {
    const IcpResult wanted = registered(Device::kCpu, method), found = registered(Device::kCuda, method);
    ASSERT_EQ(std::memcmp(&found.pose, &wanted.pose, sizeof wanted.pose), 0);
    ASSERT_EQ(found.rmse_m, wanted.rmse_m);
    ASSERT_EQ(found.fitness, wanted.fitness);
    ASSERT_EQ(found.final_fitness, wanted.final_fitness);
    ASSERT_EQ(found.history.size(), wanted.history.size());
    for (std::size_t i = 0; i < wanted.history.size(); ++i)
      ASSERT_EQ(found.history[i].rmse_m, wanted.history[i].rmse_m);
    EXPECT_EQ(found.warnings, warnings);
    EXPECT_TRUE(wanted.warnings.empty());
  }
}

using IcpDevices = test::DeviceTest;

TEST_F(IcpDevices, TheFunctorOfTheGpuGivesTheBitsOfTheCpu) {
  const GpuTable table = table_of(functor_pairs);
  install(&table);
  searched_count = 0;
  opened_ever = 0;
  expect_bits_of_the_cpu({});
  EXPECT_GT(searched_count, 100'000U);
  EXPECT_EQ(open_count, 0);
  EXPECT_LE(opened_ever, 3 * 6);  // once for each level, not for each iteration
}

TEST_F(IcpDevices, CudaGivesTheBitsOfTheCpu) {
  if (!test::load_cuda()) GTEST_SKIP() << "no CUDA device: " << gpu_reason();
  expect_bits_of_the_cpu({});
}

TEST_F(IcpDevices, WhatCudaKeepsOfPassesOfFewerQueriesChangesNoPair) {
  if (!test::load_cuda()) GTEST_SKIP() << "no CUDA device: " << gpu_reason();
  const Points fixed = test::rough_ground(2500, 10, 1), moving = test::rough_ground(1500, 10, 2);
  JobControl control;
  OpContext ctx(control, Device::kCuda, 2);
  IcpScale scale{0, icp_level(view(fixed), ctx), icp_level(view(moving), ctx)};
  std::vector<std::string> warnings;
  GpuRun run(ctx, "Registration", warnings);
  IcpDevice device;
  const IcpGpu gpu{run, device};
  const auto expect_pairs = [&](double at, IcpQueries wanted) {
    const RigidTransform pose = test::turned({0, 0, 0.1 * at}, {at, 0, 0});
    IcpPairs pairs, fresh;
    find_pairs(scale, pose, 0.6, wanted, pairs, ctx, &gpu);
    find_pairs(scale, pose, 0.6, wanted, fresh, ctx);
    ASSERT_EQ(pairs.slot.size(), fresh.slot.size());
    for (std::size_t i = 0; i < fresh.slot.size(); ++i) {
      ASSERT_EQ(pairs.slot[i], fresh.slot[i]) << at << ' ' << i;
      ASSERT_EQ(pairs.squared[i], fresh.squared[i]) << at << ' ' << i;
    }
  };
  expect_pairs(0.1, IcpQueries::kBoth);
  expect_pairs(0.35, IcpQueries::kMoving);
  expect_pairs(0.3501, IcpQueries::kBoth);
  expect_pairs(0.3502, IcpQueries::kBoth);
  IcpPairs lost;
  control.cancel_requested = true;
  EXPECT_ANY_THROW(
      find_pairs(scale, test::turned({0, 0, 0.1}, {0.9, 0, 0}), 0.6, IcpQueries::kBoth, lost, ctx, &gpu));
  control.cancel_requested = false;
  expect_pairs(0.3503, IcpQueries::kBoth);
  EXPECT_TRUE(warnings.empty());
}

TEST_F(IcpDevices, WhatTheGpuCannotDoTheCpuDoesAndSaysSoOnce) {
  const GpuTable table = table_of(full);
  install(&table);
  expect_bits_of_the_cpu({"Registration ran on the CPU: the GPU has no memory left"});
}

TEST_F(IcpDevices, SidesThatDoNotFitAreLeftToTheCpu) {
  GpuTable table = table_of(functor_pairs);
  table.open_sides = [](const HostSides*, const GpuControl*, void**, GpuError* error) {
    return test::no_gpu_memory(error);
  };
  install(&table);
  expect_bits_of_the_cpu({"Registration ran on the CPU: the GPU has no memory left"});
  EXPECT_EQ(open_count, 0);
}

TEST_F(IcpDevices, ADeviceThatRoundsOtherwiseIsNotBelieved) {
  const GpuTable table = table_of(rounds_otherwise);
  install(&table);
  expect_bits_of_the_cpu(
      {"Registration ran on the CPU: the GPU gave other results than the CPU for a sample"});
}

TEST_F(IcpDevices, ACancelEndsTheSearch) {
  const GpuTable table = table_of(functor_pairs);
  install(&table);
  const Points points = test::rough_ground(500, 10, 1);
  JobControl control;
  OpContext ctx(control, Device::kCuda, 2);
  IcpScale scale{0, icp_level(view(points), ctx), icp_level(view(points), ctx)};
  IcpPairs pairs;
  std::vector<std::string> warnings;
  GpuRun run(ctx, "Registration", warnings);
  IcpDevice device;
  const IcpGpu gpu{run, device};
  find_pairs(scale, {}, 1, IcpQueries::kBoth, pairs, ctx, &gpu);
  EXPECT_EQ(open_count, 1);
  control.cancel_requested = true;
  EXPECT_ANY_THROW(find_pairs(scale, {}, 1, IcpQueries::kBoth, pairs, ctx, &gpu));
  device.close();
  EXPECT_EQ(open_count, 0);
}

}  // namespace
}  // namespace pc
