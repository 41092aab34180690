#include "ops/lad/clumping.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/beams.h"

namespace pc {
namespace {

constexpr double kG = 0.5, kDensity = 2;

/// Beams along x through a box of 2 x 1 x 1 m whose half above z = 0 has the leaves of `above` of the density.
test::Pulses beams_through(double above) {
  test::Pulses out;
  for (std::uint64_t i = 0; i < 200'000; ++i) {
    const double y = test::in_range(1, 2 * i, -0.5, 0.5), z = test::in_range(1, 2 * i + 1, -0.5, 0.5);
    const double density = kDensity * (z > 0 ? above : 2 - above);
    const double range = 1 - std::log(1 - random_unit(2, i)) / (kG * density);
    const bool miss = !(range < 3);
    out.add({-2, y, z}, {-2 + (miss ? 50 : range), y, z}, miss);
  }
  return out;
}

Clumping measured(test::Pulses pulses, int threads = 2) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  const std::vector<BeamScan> scans{pulses.scan()};
  const VoxelBox whole{{0, 0, 0}, {2, 1, 1}, 2, 1, 1, 0, {}, {}},
      eighths{{0, 0, 0}, {2, 1, 1}, 4, 2, 2, 0, {}, {}};
  const BeamTraversalResult a = beam_traversal(scans, whole, ctx), b = beam_traversal(scans, eighths, ctx);
  return clumping(a.sums.view(), b.sums.view(), {&kG, 1}, {{1, 1, 1}, 2, 1, 1, 5}, ctx);
}

TEST(Clumping, EvenLeavesHaveTheSameAreaInVoxelsOfAnySize) {
  const Clumping found = measured(beams_through(1));
  EXPECT_EQ(found.voxel_count, 2U);
  EXPECT_NEAR(found.whole_m2, 2 * kDensity, 0.03);
  EXPECT_NEAR(found.eighths_m2 / found.whole_m2, 1, 0.005);
}

TEST(Clumping, LeavesInOneHalfAreMissedByWholeVoxelsAsTheClosedFormSays) {
  const double above = 1.7;
  const Clumping found = measured(beams_through(above));
  EXPECT_NEAR(found.eighths_m2, 2 * kDensity, 0.05);
  // The first voxel is reached by all beams, the second by those that pass the first.
  const double k = kG * kDensity, dense = std::exp(-k * above), thin = std::exp(-k * (2 - above));
  const double first = -std::log((dense + thin) / 2) / kG;
  const double second = -std::log((dense * dense + thin * thin) / (dense + thin)) / kG;
  EXPECT_NEAR(found.whole_m2, first + second, 0.03);
  EXPECT_GT(found.eighths_m2 / found.whole_m2, 1.1);
}

TEST(Clumping, IsTheSameForAnyNumberOfThreads) {
  const Clumping one = measured(beams_through(1.5), 1), four = measured(beams_through(1.5), 4);
  EXPECT_EQ(one.whole_m2, four.whole_m2);
  EXPECT_EQ(one.eighths_m2, four.eighths_m2);
}

TEST(Clumping, SomeLayersAtATimeAddUpToAll) {
  test::Pulses pulses = beams_through(1.5);
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  const std::vector<BeamScan> scans{pulses.scan()};
  // Three layers; the box of the lower one and of the two above it.
  const VoxelBox whole{{0, 0, 0}, {2, 1, 0.9}, 2, 1, 3, 0, {}, {}};
  const VoxelBox low{{0, 0, -0.3}, {2, 1, 0.3}, 4, 2, 2, 0, {}, {}},
      high{{0, 0, 0.15}, {2, 1, 0.6}, 4, 2, 4, 0, {}, {}}, all{{0, 0, 0}, {2, 1, 0.9}, 4, 2, 6, 0, {}, {}};
  const BeamTraversalResult sums = beam_traversal(scans, whole, ctx);
  const std::vector<double> g{0.3, 0.5, 0.7};
  const auto compared = [&](const VoxelBox& eighths, std::uint32_t first, std::uint32_t layers) {
    const BeamTraversalResult fine = beam_traversal(scans, eighths, ctx);
    return clumping(sums.sums.view(), fine.sums.view(), test::span_of(g),
                    {{1, 1, 0.3}, 2, 1, 3, 5, first, layers}, ctx);
  };
  const Clumping lower = compared(low, 0, 1), upper = compared(high, 1, 2), both = compared(all, 0, 0);
  EXPECT_EQ(both.voxel_count, 6U);
  EXPECT_EQ(lower.voxel_count, 2U);
  EXPECT_EQ(upper.voxel_count, 4U);
  EXPECT_NEAR(lower.whole_m2 + upper.whole_m2, both.whole_m2, 1e-9);
  EXPECT_NEAR(lower.eighths_m2 + upper.eighths_m2, both.eighths_m2, 1e-6);
  EXPECT_EQ(test::code_of([&] { compared(high, 2, 2); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(test::code_of([&] { compared(high, 1, 1); }), ErrorCode::kInvalidArgument);
}

TEST(Clumping, VoxelsWithATooDarkEighthDoNotCount) {
  test::Pulses pulses;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const double y = test::in_range(1, i, -0.5, 0.5);
    pulses.add({-2, y, 0.25}, {50, y, 0.25}, true);
  }
  EXPECT_EQ(measured(std::move(pulses)).voxel_count, 0U);
}

TEST(Clumping, RefusesSumsOfAnotherGrid) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 1);
  const Column<double> some(2 * kVoxelSumFields), eight(8 * kVoxelSumFields);
  const auto code = [&](Span<const double> whole, double g, std::uint64_t beams) {
    return test::code_of([&] { clumping(whole, eight.view(), {&g, 1}, {{1, 1, 1}, 1, 1, 1, beams}, ctx); });
  };
  EXPECT_EQ(code(some.view(), 0.5, 5), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({some.view().data, kVoxelSumFields}, 0.5, 0), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace pc
