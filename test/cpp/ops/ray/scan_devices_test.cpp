#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "core/gpu.h"
#include "core/gpu_table.h"
#include "ops/ray/scene_trace_kernel.h"
#include "support/columns.h"
#include "support/fake_gpu.h"
#include "support/scans.h"

namespace pc {
namespace {

using scene_trace_kernel::HostRays;
using scene_trace_kernel::HostScene;
using test::RequestMesh;
using test::to_vector;

std::atomic<std::uint64_t> traced_count{0};
std::atomic<int> open_count{0};

/// What the module keeps of a scene.
struct OpenScene {
  HostScene host;
  std::vector<BvhView> prototypes;
};

GpuStatus open_scene(const HostScene* host, const GpuControl* control, void** scene, GpuError*) {
  if (control->canceled(control->user)) return GpuStatus::kCanceled;
  auto* opened = new OpenScene{*host, {}};
  for (std::uint64_t p = 0; p < host->prototype_count; ++p)
    opened->prototypes.push_back(host->prototypes[p].tree);
  *scene = opened;
  ++open_count;
  return GpuStatus::kOk;
}

void close_scene(void* scene) {
  delete static_cast<OpenScene*>(scene);
  --open_count;
}

/// What the module's kernel does, in a plain loop.
GpuStatus scene_hits(void* scene, const HostRays* rays, const GpuControl* control, GpuError*) {
  if (control->canceled(control->user)) return GpuStatus::kCanceled;
  const auto& opened = *static_cast<const OpenScene*>(scene);
  const InstancedBvhView view{opened.host.top.tree, opened.prototypes.data(), opened.host.placed,
                              static_cast<std::size_t>(opened.host.instance_count)};
  for (std::uint64_t i = 0; i < rays->count; ++i) {
    if (opened.prototypes.empty()) {
      scene_trace_kernel::first_hit(i, opened.host.top.tree, rays->rays, rays->hits);
    } else {
      scene_trace_kernel::first_hit(i, view, rays->rays, rays->placed_hits);
    }
  }
  traced_count += rays->count;
  return GpuStatus::kOk;
}

GpuStatus full(const HostScene*, const GpuControl*, void**, GpuError* error) {
  return test::no_gpu_memory(error);
}

/// Fails from the third call on, after it has overwritten half of the hits.
GpuStatus breaks_down(void* scene, const HostRays* rays, const GpuControl* control, GpuError* error) {
  static std::atomic<int> calls{0};
  if (++calls % 3 != 0) return scene_hits(scene, rays, control, error);
  for (std::uint64_t i = 0; i < rays->count / 2; ++i) rays->hits[i].triangle = 0x7fffffffU;
  std::snprintf(error->text, sizeof error->text, "the GPU could not finish a computation");
  return GpuStatus::kFailed;
}

GpuStatus rounds_otherwise(void* scene, const HostRays* rays, const GpuControl* control, GpuError* error) {
  const GpuStatus status = scene_hits(scene, rays, control, error);
  for (std::uint64_t i = 0; i < rays->count; ++i) rays->hits[i].t = std::nextafter(rays->hits[i].t, 1e9);
  return status;
}

GpuTable table_of(decltype(GpuTable::open_scene) open, decltype(GpuTable::scene_hits) hits) {
  GpuTable table = test::fake_gpu_table();
  table.open_scene = open;
  table.scene_hits = hits;
  table.close_scene = close_scene;
  return table;
}

SyntheticScan scanned_on(Device device, const ScanScene& scene, const SyntheticScanParams& params) {
  JobControl control;
  OpContext ctx(control, device, 2);
  return synthetic_scan(scene, {}, params, ctx);
}

/// A raster whose tiles have several columns; several rays per pulse; a box and misses.
std::vector<SyntheticScanParams> scans() {
  SyntheticScanParams one = test::scanner({150, 400, 40, 140, 0, 358});
  SyntheticScanParams many = test::scanner({40, 90, 60, 120, 0, 356});
  many.rays_per_pulse = 40;
  many.divergence_rad = 0.01;
  many.is_multi_return = true;
  many.record_misses = true;
  SyntheticScanParams boxed = one;
  boxed.box = TraceBox{{1, 1, 0}, {4, 5, 6}, 0.4};
  boxed.record_misses = true;
  return {one, many, boxed};
}

void expect_same_scan(const SyntheticScan& found, const SyntheticScan& wanted) {
  ASSERT_EQ(found.positions.size(), wanted.positions.size());
  ASSERT_GT(wanted.hit_count, 1000U);
  ASSERT_EQ(std::memcmp(found.positions.view().data, wanted.positions.view().data,
                        wanted.positions.size() * sizeof(Vec3d)),
            0);
  ASSERT_EQ(to_vector(found.intensity), to_vector(wanted.intensity));
  ASSERT_EQ(to_vector(found.distance), to_vector(wanted.distance));
  ASSERT_EQ(to_vector(found.target_index), to_vector(wanted.target_index));
  ASSERT_EQ(to_vector(found.ray_count), to_vector(wanted.ray_count));
  ASSERT_EQ(found.miss_count, wanted.miss_count);
}

void expect_bits_of_the_cpu(const ScanScene& scene, const std::vector<std::string>& warnings) {
  for (const SyntheticScanParams& params : scans()) {
    const auto wanted = scanned_on(Device::kCpu, scene, params),
               found = scanned_on(Device::kCuda, scene, params);
    expect_same_scan(found, wanted);
    EXPECT_EQ(found.warnings, warnings);
    EXPECT_TRUE(wanted.warnings.empty());
    EXPECT_EQ(open_count.load(), 0);
  }
}

/// A canopy: two prototypes, placed many times, turned and scaled.
class PlacedSoup {
 public:
  PlacedSoup() : prototypes_(test::soup(600, 1, 0.6, 5)) {
    test::MeshDraw draw(9);
    for (int i = 0; i < 60; ++i) {
      const double turn = 0.3 * i, size = 0.6 + 0.01 * i;
      const Vec3d at = draw.in_cube(8);
      numbers_.push_back(i % 2);
      matrices_.insert(matrices_.end(),
                       {size * std::cos(turn), -size * std::sin(turn), 0, at.x, size * std::sin(turn),
                        size * std::cos(turn), 0, at.y, 0, 0, size * 1.2, at.z});
    }
  }
  SceneMesh mesh() const {
    SceneMesh out;
    out.name = "meshes[0]";
    out.origin = {0, 0, 0};
    out.prototypes = prototypes_.surfaces();
    out.firsts = {0, 400, prototypes_.triangles.size() / 3};
    out.instance_prototype = {numbers_.data(), numbers_.size()};
    out.instance_matrix = {matrices_.data(), matrices_.size()};
    return out;
  }

 private:
  RequestMesh prototypes_;
  std::vector<double> numbers_, matrices_;
};

class ScanDevices : public test::DeviceTest {
 protected:
  const RequestMesh soup_{test::soup(3000, 8, 0.6, 5)};
  const PlacedSoup placed_;
};

TEST_F(ScanDevices, TheFunctorOfTheGpuGivesTheBitsOfTheCpu) {
  const GpuTable table = table_of(open_scene, scene_hits);
  install(&table);
  traced_count = 0;
  expect_bits_of_the_cpu(test::scene_of({soup_.mesh()}), {});
  EXPECT_GT(traced_count.load(), 150'000U);
  traced_count = 0;
  expect_bits_of_the_cpu(test::scene_of({placed_.mesh()}), {});
  EXPECT_GT(traced_count.load(), 150'000U);
}

TEST_F(ScanDevices, CudaGivesTheBitsOfTheCpu) {
  if (!test::load_cuda()) GTEST_SKIP() << "no CUDA device: " << gpu_reason();
  expect_bits_of_the_cpu(test::scene_of({soup_.mesh()}), {});
  expect_bits_of_the_cpu(test::scene_of({placed_.mesh()}), {});
}

TEST_F(ScanDevices, WhatTheGpuCannotDoTheCpuDoesAndSaysSo) {
  const GpuTable table = table_of(full, scene_hits);
  install(&table);
  expect_bits_of_the_cpu(test::scene_of({soup_.mesh()}),
                         {"The scan ran on the CPU: the GPU has no memory left"});
}

TEST_F(ScanDevices, ADeviceThatBreaksDownChangesNothing) {
  const GpuTable table = table_of(open_scene, breaks_down);
  install(&table);
  const ScanScene scene = test::scene_of({soup_.mesh()});
  const SyntheticScanParams params = test::scanner({300, 2000, 40, 140, 0, 358});
  const auto wanted = scanned_on(Device::kCpu, scene, params),
             found = scanned_on(Device::kCuda, scene, params);
  expect_same_scan(found, wanted);
  EXPECT_EQ(found.warnings,
            std::vector<std::string>{"The scan ran on the CPU: the GPU could not finish a computation"});
  EXPECT_EQ(open_count.load(), 0);
}

TEST_F(ScanDevices, ADeviceThatRoundsOtherwiseIsNotBelieved) {
  const GpuTable table = table_of(open_scene, rounds_otherwise);
  install(&table);
  expect_bits_of_the_cpu(test::scene_of({soup_.mesh()}),
                         {"The scan ran on the CPU: the GPU gave other results than the CPU for a sample"});
}

TEST_F(ScanDevices, ACancelEndsTheScanAndLeavesNoScene) {
  const GpuTable table = table_of(open_scene, scene_hits);
  install(&table);
  const ScanScene scene = test::scene_of({soup_.mesh()});
  JobControl control;
  control.cancel_requested = true;
  OpContext ctx(control, Device::kCuda, 2);
  EXPECT_ANY_THROW(synthetic_scan(scene, {}, scans()[0], ctx));
  EXPECT_EQ(open_count.load(), 0);
}

}  // namespace
}  // namespace pc
