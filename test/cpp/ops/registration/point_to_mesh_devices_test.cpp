#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "core/gpu.h"
#include "core/gpu_table.h"
#include "ops/registration/point_to_mesh_distance.h"
#include "ops/registration/point_to_mesh_kernel.h"
#include "support/fake_gpu.h"
#include "support/meshes.h"

namespace pc {
namespace {

using test::Mesh;

std::uint64_t searched_count = 0;

/// What the module's kernel does, in a plain loop.
GpuStatus functor_closest(const point_to_mesh_kernel::HostPass* host, const GpuControl* control, GpuError*) {
  if (control->canceled(control->user)) return GpuStatus::kCanceled;
  for (std::uint64_t i = 0; i < host->count; ++i)
    point_to_mesh_kernel::find_closest(i, host->tree, host->points, host->found);
  searched_count += host->count;
  return GpuStatus::kOk;
}

GpuStatus full(const point_to_mesh_kernel::HostPass*, const GpuControl*, GpuError* error) {
  return test::no_gpu_memory(error);
}

GpuTable table_of(GpuStatus (*closest)(const point_to_mesh_kernel::HostPass*, const GpuControl*, GpuError*)) {
  GpuTable table = test::fake_gpu_table();
  table.closest_triangles = closest;
  return table;
}

struct Cloud {
  std::vector<Vec3d> points;
  std::vector<std::uint8_t> skip;
};

/// Some skipped, some not finite, some beyond what is measured; more than one block of rows.
Cloud mixed_cloud(std::size_t count) {
  test::MeshDraw draw(3);
  Cloud cloud;
  for (std::size_t i = 0; i < count; ++i) {
    Vec3d p = draw.in_cube(4);
    if (i % 50 == 7) p.y = std::numeric_limits<double>::quiet_NaN();
    if (i % 50 == 9) p.x = 1e16;
    cloud.points.push_back(p);
    cloud.skip.push_back(i % 3 == 1 ? 1 : 0);
  }
  return cloud;
}

PointToMeshResult measured(Device device, const Cloud& cloud, const Mesh& mesh,
                           const PointToMeshParams& params) {
  JobControl control;
  OpContext ctx(control, device, 2);
  return point_to_mesh_distance({cloud.points.data(), cloud.points.size()},
                                {cloud.skip.data(), cloud.skip.size()}, mesh.view(), params, ctx);
}

void expect_bits_of_the_cpu(std::size_t warnings) {
  const Cloud cloud = mixed_cloud(10'000);
  for (const Mesh& mesh : test::hard_meshes({0, 0, 0})) {
    if (mesh.view().triangle_count() == 0) continue;
    for (const std::uint64_t stride : {1U, 3U}) {
      const PointToMeshParams params{{0.25, -1, 3}, stride, true};
      const auto wanted = measured(Device::kCpu, cloud, mesh, params);
      const auto found = measured(Device::kCuda, cloud, mesh, params);
      ASSERT_EQ(found.point_count, wanted.point_count) << mesh.name;
      ASSERT_EQ(found.unmeasured_count, wanted.unmeasured_count) << mesh.name;
      ASSERT_EQ(std::memcmp(found.distances.view().data, wanted.distances.view().data,
                            wanted.distances.size() * sizeof(float)),
                0)
          << mesh.name;
      ASSERT_EQ(found.spread->mean, wanted.spread->mean) << mesh.name;
      ASSERT_EQ(found.sides->mean, wanted.sides->mean) << mesh.name;
      EXPECT_EQ(found.warnings.size(), warnings) << mesh.name;
      EXPECT_TRUE(wanted.warnings.empty()) << mesh.name;
    }
  }
}

using PointToMeshDevices = test::DeviceTest;

TEST_F(PointToMeshDevices, TheFunctorOfTheGpuGivesTheBitsOfTheCpu) {
  const GpuTable table = table_of(functor_closest);
  install(&table, "");
  searched_count = 0;
  expect_bits_of_the_cpu(0);
  EXPECT_GT(searched_count, 10'000U);
}

TEST_F(PointToMeshDevices, CudaGivesTheBitsOfTheCpu) {
  if (!test::load_cuda()) GTEST_SKIP() << "no CUDA device: " << gpu_reason();
  expect_bits_of_the_cpu(0);
}

TEST_F(PointToMeshDevices, WhatTheGpuCannotDoTheCpuDoesAndSaysSo) {
  const GpuTable table = table_of(full);
  install(&table, "");
  expect_bits_of_the_cpu(1);
  const auto found =
      measured(Device::kCuda, mixed_cloud(100), test::soup(50, 4, 1, 1), {{0, 0, 0}, 1, false});
  EXPECT_EQ(found.warnings, std::vector<std::string>{"Distances ran on the CPU: the GPU has no memory left"});
}

GpuStatus rounds_otherwise(const point_to_mesh_kernel::HostPass* host, const GpuControl* control,
                           GpuError* error) {
  const GpuStatus status = functor_closest(host, control, error);
  for (std::uint64_t i = 0; i < host->count; ++i)
    host->found[i].squared = std::nextafter(host->found[i].squared, 1e9);
  return status;
}

TEST_F(PointToMeshDevices, ADeviceThatRoundsOtherwiseIsNotBelieved) {
  const GpuTable table = table_of(rounds_otherwise);
  install(&table, "");
  expect_bits_of_the_cpu(1);
}

TEST_F(PointToMeshDevices, ACancelEndsTheSearch) {
  const GpuTable table = table_of(functor_closest);
  install(&table, "");
  const Cloud cloud = mixed_cloud(100);
  const Mesh mesh = test::soup(50, 4, 1, 1);
  JobControl control;
  control.cancel_requested = true;
  OpContext ctx(control, Device::kCuda, 2);
  EXPECT_ANY_THROW(point_to_mesh_distance({cloud.points.data(), cloud.points.size()}, {}, mesh.view(),
                                          {{0, 0, 0}, 1, false}, ctx));
}

}  // namespace
}  // namespace pc
