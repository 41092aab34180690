#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <string>
#include <vector>

#include "core/gpu.h"
#include "core/gpu_table.h"
#include "ops/lad/beam_sums_kernel.h"
#include "support/beams.h"
#include "support/fake_gpu.h"

namespace pc {
namespace {

using beam_sums_kernel::BeamPart;
using beam_sums_kernel::HostBeams;
using beam_sums_kernel::HostCells;
using beam_sums_kernel::HostGrid;
using beam_sums_kernel::kReachSums;
using beam_sums_kernel::kSums;
using test::Pulses;

/// Parts that are sorted at once: few, so that a batch of beams needs several sorts.
constexpr std::size_t kParts = 5000;
std::uint64_t added_count = 0;
int open_count = 0;

/// What the module keeps.
struct OpenSums {
  HostGrid host;
  std::vector<double> sums, reach;
  std::vector<BeamPart> parts;

  void add_parts() {
    std::stable_sort(parts.begin(), parts.end(),
                     [](const BeamPart& a, const BeamPart& b) { return a.cell < b.cell; });
    for (const BeamPart& part : parts)
      beam_sums_kernel::add(sums.data() + kSums * part.cell,
                            reach.empty() ? nullptr : reach.data() + kReachSums * part.cell, part);
    parts.clear();
  }
};

GpuStatus open_sums(const HostGrid* host, const GpuControl* control, void** sums, GpuError*) {
  if (control->canceled(control->user)) return GpuStatus::kCanceled;
  const std::size_t cells = host->grid.lattice.layer() * host->grid.lattice.nz;
  *sums = new OpenSums{*host,
                       std::vector<double>(cells * kSums),
                       std::vector<double>(host->with_reach ? cells * kReachSums : 0),
                       {}};
  ++open_count;
  return GpuStatus::kOk;
}

void close_sums(void* sums) {
  delete static_cast<OpenSums*>(sums);
  --open_count;
}

/// What the module's kernels do, in plain loops.
GpuStatus add_beams(void* sums, const HostBeams* beams, const GpuControl* control, GpuError*) {
  if (control->canceled(control->user)) return GpuStatus::kCanceled;
  auto& open = *static_cast<OpenSums*>(sums);
  for (std::size_t i = 0; i < beams->count; ++i) {
    beam_sums_kernel::for_each_part(open.host.grid, beams->list, i,
                                    [&](const BeamPart& part) { open.parts.push_back(part); });
    if (open.parts.size() > kParts) open.add_parts();
  }
  open.add_parts();
  added_count += beams->count;
  return GpuStatus::kOk;
}

GpuStatus read_sums(void* sums, const HostCells* cells, const GpuControl*, GpuError*) {
  const auto& open = *static_cast<OpenSums*>(sums);
  for (std::size_t n = 0; n < cells->count; ++n) {
    const std::size_t cell = cells->cells == nullptr ? n : cells->cells[n];
    std::copy_n(open.sums.data() + kSums * cell, kSums, cells->sums + kSums * n);
    if (cells->reach != nullptr)
      std::copy_n(open.reach.data() + kReachSums * cell, kReachSums, cells->reach + kReachSums * n);
  }
  return GpuStatus::kOk;
}

GpuStatus full(const HostGrid*, const GpuControl*, void**, GpuError* error) {
  return test::no_gpu_memory(error);
}

/// Adds the sample, but not what comes after it.
GpuStatus breaks_down(void* sums, const HostBeams* beams, const GpuControl* control, GpuError* error) {
  if (beams->count <= 256) return add_beams(sums, beams, control, error);
  std::snprintf(error->text, sizeof error->text, "the GPU could not finish a computation");
  return GpuStatus::kFailed;
}

/// Reads the sample, but only half of all voxels.
GpuStatus half_read(void* sums, const HostCells* cells, const GpuControl* control, GpuError* error) {
  if (cells->cells != nullptr) return read_sums(sums, cells, control, error);
  const HostCells half{nullptr, cells->count / 2, cells->sums, cells->reach};
  read_sums(sums, &half, control, error);
  std::snprintf(error->text, sizeof error->text, "the GPU could not copy data");
  return GpuStatus::kFailed;
}

/// Adds the beams the other way round.
GpuStatus backwards(void* sums, const HostBeams* beams, const GpuControl*, GpuError*) {
  auto& open = *static_cast<OpenSums*>(sums);
  for (std::size_t i = beams->count; i-- > 0;)
    beam_sums_kernel::for_each_part(open.host.grid, beams->list, i,
                                    [&](const BeamPart& part) { open.parts.push_back(part); });
  open.add_parts();
  return GpuStatus::kOk;
}

GpuTable table_of(decltype(GpuTable::open_beam_sums) open, decltype(GpuTable::add_beams) add,
                  decltype(GpuTable::read_beam_sums) read) {
  GpuTable table = test::fake_gpu_table();
  table.open_beam_sums = open;
  table.add_beams = add;
  table.read_beam_sums = read;
  table.close_beam_sums = close_sums;
  return table;
}

BeamTraversalResult traced_on(Device device, const std::vector<BeamScan>& scans, const VoxelBox& grid,
                              Span<const double> factors) {
  JobControl control;
  OpContext ctx(control, device, 2);
  return beam_traversal(scans, grid, factors, ctx);
}

/// Returns that are grouped to pulses, three scans, with and without shares, raised columns, factors.
class BeamDevices : public test::DeviceTest {
 protected:
  BeamDevices() : single_(test::random_pulses(40'000, 1)), multi_(test::random_pulses(9000, 2)) {
    for (std::size_t i = 0; i < multi_.positions.size(); ++i) {
      multi_.times.push_back(static_cast<double>(i / 3));
      multi_.target_index.push_back(static_cast<std::uint8_t>(i % 3));
      if (i % 3 == 0) continue;
      // The returns of a pulse lie on one ray.
      const Vec3d& from = multi_.origins[i - i % 3];
      const Vec3d along = multi_.positions[i - i % 3] - from;
      multi_.origins[i] = from;
      multi_.positions[i] = from + along * (1 - 0.13 * static_cast<double>(i % 3));
    }
    for (std::size_t i = 0; i < multi_.positions.size(); ++i)
      intensity_.push_back(test::in_range(4, i, 0, 0.6));
    intensity_column_ = std::make_shared<AnyColumn>(test::column_of(intensity_));
    grid_ = test::plain_box();
    for (std::uint32_t c = 0; c < grid_.nx * grid_.ny; ++c) {
      offsets_.push_back(test::in_range(5, c, -0.8, 0.9));
      kept_.push_back(c % 9 == 4 ? 0 : 1);
    }
    for (std::uint64_t i = 0; i < grid_.nz * kZenithBins; ++i)
      factors_.push_back(test::in_range(9, i / 30, 0.1, 1));
  }
  void expect_bits_of_the_cpu(const std::vector<std::string>& warnings) {
    std::vector<BeamScan> alike{single_.scan(), multi_.scan()};
    std::vector<BeamScan> shared = alike;
    shared[1].intensity = intensity_column_.get();
    VoxelBox raised = grid_;
    raised.rotation_deg = 20;
    raised.offsets = test::span_of(offsets_);
    raised.kept = test::span_of(kept_);
    const Span<const double> all{factors_.data(), factors_.size()},
        of_all_layers{factors_.data(), kZenithBins};
    expect_same(alike, grid_, {}, warnings);
    expect_same(alike, raised, all, warnings);
    expect_same(shared, grid_, of_all_layers, warnings);
    shared[1].partial_misses = true;
    expect_same(shared, raised, {}, warnings);
  }

 private:
  static std::vector<std::uint64_t> bits(const Column<double>& column) {
    std::vector<std::uint64_t> out;
    for (const double value : column.view()) out.push_back(std::bit_cast<std::uint64_t>(value));
    return out;
  }
  void expect_same(const std::vector<BeamScan>& scans, const VoxelBox& grid, Span<const double> factors,
                   const std::vector<std::string>& warnings) {
    const auto wanted = traced_on(Device::kCpu, scans, grid, factors),
               found = traced_on(Device::kCuda, scans, grid, factors);
    ASSERT_GT(wanted.beam_count, 10'000U);
    EXPECT_EQ(bits(found.sums), bits(wanted.sums));
    EXPECT_EQ(bits(found.reach), bits(wanted.reach));
    EXPECT_EQ(found.zenith_count, wanted.zenith_count);
    EXPECT_EQ(found.warnings, warnings);
    EXPECT_TRUE(wanted.warnings.empty());
    EXPECT_EQ(open_count, 0);
  }

  Pulses single_, multi_;
  std::vector<double> intensity_, offsets_, factors_;
  std::vector<std::uint8_t> kept_;
  std::shared_ptr<AnyColumn> intensity_column_;
  VoxelBox grid_;

 protected:
  BeamScan one_scan() { return single_.scan(); }
  const VoxelBox& grid() const { return grid_; }
};

TEST_F(BeamDevices, TheFunctorOfTheGpuGivesTheBitsOfTheCpu) {
  const GpuTable table = table_of(open_sums, add_beams, read_sums);
  install(&table);
  added_count = 0;
  expect_bits_of_the_cpu({});
  EXPECT_GT(added_count, 60'000U);
}

TEST_F(BeamDevices, CudaGivesTheBitsOfTheCpu) {
  if (!test::load_cuda()) GTEST_SKIP() << "no CUDA device: " << gpu_reason();
  expect_bits_of_the_cpu({});
}

TEST_F(BeamDevices, WhatTheGpuCannotDoTheCpuDoesAndSaysSo) {
  const GpuTable no_memory = table_of(full, add_beams, read_sums);
  install(&no_memory);
  expect_bits_of_the_cpu({"Tracing beams ran on the CPU: the GPU has no memory left"});
  const GpuTable broken = table_of(open_sums, breaks_down, read_sums);
  install(&broken);
  expect_bits_of_the_cpu({"Tracing beams ran on the CPU: the GPU could not finish a computation"});
  const GpuTable cut_off = table_of(open_sums, add_beams, half_read);
  install(&cut_off);
  expect_bits_of_the_cpu({"Tracing beams ran on the CPU: the GPU could not copy data"});
}

TEST_F(BeamDevices, ADeviceThatAddsInAnotherOrderIsNotBelieved) {
  const GpuTable table = table_of(open_sums, backwards, read_sums);
  install(&table);
  expect_bits_of_the_cpu(
      {"Tracing beams ran on the CPU: the GPU gave other results than the CPU for a sample"});
}

TEST_F(BeamDevices, ACancelEndsItAndLeavesNothing) {
  const GpuTable table = table_of(open_sums, add_beams, read_sums);
  install(&table);
  JobControl control;
  control.cancel_requested = true;
  OpContext ctx(control, Device::kCuda, 2);
  EXPECT_ANY_THROW(beam_traversal({one_scan()}, grid(), ctx));
  EXPECT_EQ(open_count, 0);
}

}  // namespace
}  // namespace pc
