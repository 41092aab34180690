#include "ops/lad/beam_traversal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <numbers>
#include <numeric>

#include "support/beams.h"
#include "support/cancel.h"

namespace pc {
namespace {

using test::Pulses;
using test::random_pulses;
using test::slow_sums;
using test::sums_of;
using test::trace;

void expect_same(const std::vector<VoxelSums>& got, const std::vector<VoxelSums>& wanted, double tolerance) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t v = 0; v < got.size(); ++v) {
    for (std::size_t m = 0; m < kChordMoments; ++m)
      EXPECT_NEAR(got[v].moment[m], wanted[v].moment[m], tolerance) << "voxel " << v << " moment " << m;
    EXPECT_NEAR(got[v].transmitted, wanted[v].transmitted, tolerance) << v;
    EXPECT_NEAR(got[v].transmitted_squared, wanted[v].transmitted_squared, tolerance) << v;
    EXPECT_EQ(got[v].hits, wanted[v].hits) << v;
  }
}

/// Columns raised by up to 1.7 m, every ninth dropped.
struct RaisedGrid {
  std::vector<double> offsets;
  std::vector<std::uint8_t> kept;
  explicit RaisedGrid(const VoxelBox& grid) {
    for (std::uint32_t c = 0; c < grid.nx * grid.ny; ++c) {
      offsets.push_back(test::in_range(5, c, -0.8, 0.9));
      kept.push_back(c % 9 == 4 ? 0 : 1);
    }
  }
  VoxelBox on(VoxelBox grid) const {
    grid.offsets = test::span_of(offsets);
    grid.kept = test::span_of(kept);
    return grid;
  }
};

TEST(BeamTraversal, EqualsABoxTestOfEveryBeamWithEveryVoxel) {
  Pulses pulses = random_pulses(3000, 1);
  const VoxelBox grid = test::plain_box();
  const auto traced = trace({pulses.scan()}, grid);
  const auto wanted = slow_sums(pulses, grid);
  expect_same(sums_of(traced), wanted, 1e-9);
  EXPECT_GT(wanted[70].moment[0], 50) << "the box test saw nothing";
  EXPECT_EQ(traced.scans[0].pulse_count, 3000U);
  EXPECT_EQ(static_cast<std::size_t>(std::count(pulses.is_miss.begin(), pulses.is_miss.end(), 1)),
            traced.scans[0].miss_count);
}

TEST(BeamTraversal, RaisedDroppedAndRotatedColumns) {
  Pulses pulses = random_pulses(3000, 2);
  VoxelBox grid = test::plain_box();
  grid.rotation_deg = 33;
  const RaisedGrid raised(grid);
  expect_same(sums_of(trace({pulses.scan()}, raised.on(grid))), slow_sums(pulses, raised.on(grid)), 1e-9);
}

/// Of 0.1 to 1, other ones in every layer.
std::vector<double> layered_factors(std::uint32_t layers) {
  std::vector<double> factors;
  for (std::uint64_t i = 0; i < layers * kZenithBins; ++i)
    factors.push_back(test::in_range(9, i / 30, 0.1, 1));
  return factors;
}

TEST(BeamTraversal, FactorsOfTheChordsByAngleAndLayer) {
  Pulses pulses = random_pulses(3000, 3);
  const VoxelBox grid = test::plain_box();
  const std::vector<double> layered = layered_factors(grid.nz);
  const auto wanted = slow_sums(pulses, grid, layered);
  EXPECT_LT(wanted[70].moment[1], 0.9 * slow_sums(pulses, grid)[70].moment[1]);
  expect_same(sums_of(trace({pulses.scan()}, grid, 2, layered)), wanted, 1e-9);
  const RaisedGrid raised(grid);
  expect_same(sums_of(trace({pulses.scan()}, raised.on(grid), 1, layered)),
              slow_sums(pulses, raised.on(grid), layered), 1e-9);
  std::vector<double> alike(layered.begin(), layered.begin() + kZenithBins), repeated;
  for (std::uint32_t k = 0; k < grid.nz; ++k) repeated.insert(repeated.end(), alike.begin(), alike.end());
  expect_same(sums_of(trace({pulses.scan()}, grid, 2, alike)), slow_sums(pulses, grid, repeated), 1e-9);
}

TEST(BeamTraversal, FactorsOfOneChangeNoBit) {
  Pulses pulses = random_pulses(3000, 4);
  const VoxelBox grid = test::plain_box();
  const auto plain = trace({pulses.scan()}, grid);
  const auto ones = trace({pulses.scan()}, grid, 2, std::vector<double>(kZenithBins, 1));
  EXPECT_EQ(std::memcmp(plain.sums.view().data, ones.sums.view().data, plain.sums.size() * sizeof(double)),
            0);
}

TEST(BeamTraversal, RefusesFactorsThatDoNotFit) {
  Pulses pulses = random_pulses(10, 5);
  std::vector<double> factors(kZenithBins, 1);
  for (const double wrong : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    factors[7] = wrong;
    EXPECT_THROW(trace({pulses.scan()}, test::plain_box(), 1, factors), Error);
  }
  EXPECT_THROW(trace({pulses.scan()}, test::plain_box(), 1, {1, 1}), Error);
}

TEST(BeamTraversal, TheSameBitsForAnyNumberOfThreads) {
  Pulses pulses = random_pulses(20'000, 3);
  const VoxelBox grid{{0.1, 0, 0}, {4, 3, 2}, 16, 12, 10, 12, {}, {}};
  const RaisedGrid raised(grid);
  const auto one = trace({pulses.scan()}, raised.on(grid), 1);
  for (const int threads : {2, 5}) {
    const auto many = trace({pulses.scan()}, raised.on(grid), threads);
    EXPECT_EQ(std::memcmp(one.sums.view().data, many.sums.view().data, one.sums.bytes()), 0) << threads;
    EXPECT_EQ(one.zenith_count, many.zenith_count);
    EXPECT_EQ(one.beam_count, many.beam_count);
  }
}

TEST(BeamTraversal, EachVoxelOfASlabHasTheChordsOfTheWholeGrid) {
  // The same voxels, cut into slabs along another axis: rays along cell faces and edges, too.
  Pulses pulses = random_pulses(500, 4);
  for (int i = -20; i <= 20; ++i) {
    pulses.add({-5, 0.1 * i, 0.05 * i}, {5, 0.1 * i, 0.05 * i}, true);
    pulses.add({0.1 * i, 0, -4}, {0.1 * i, 0, 4}, true);
    pulses.add({-3, -3 + 0.1 * i, 0}, {3, 3 + 0.1 * i, 0}, true);
  }
  const VoxelBox wide{{0, 0, 0}, {4, 3.2, 2}, 10, 8, 4, 0, {}, {}},
      tall{{0, 0, 0}, {4, 3.2, 4}, 10, 8, 8, 0, {}, {}};
  const VoxelBox deep{{0, 0, 0}, {4, 3.2, 10}, 10, 8, 20, 0, {}, {}};
  const auto middle = sums_of(trace({pulses.scan()}, wide)), taller = sums_of(trace({pulses.scan()}, tall)),
             deeper = sums_of(trace({pulses.scan()}, deep));
  const std::size_t layer = 80;
  std::size_t compared = 0;
  for (std::size_t v = 0; v < middle.size(); ++v) {
    EXPECT_EQ(middle[v].moment[0], taller[v + 2 * layer].moment[0]) << v;
    EXPECT_EQ(middle[v].moment[0], deeper[v + 8 * layer].moment[0]) << v;
    EXPECT_NEAR(middle[v].moment[1], deeper[v + 8 * layer].moment[1], 1e-9) << v;
    compared += middle[v].moment[0] > 0 ? 1 : 0;
  }
  EXPECT_GT(compared, 200U);
}

TEST(BeamTraversal, TranslationByAMillionMetresAndATurnOfSceneAndGrid) {
  Pulses pulses = random_pulses(2000, 6);
  const VoxelBox grid = test::plain_box();
  const auto here = sums_of(trace({pulses.scan()}, grid));
  const Vec3d shift{1e6, -3e6, 250};
  BeamScan moved = pulses.scan();
  moved.shift = shift;
  VoxelBox there = grid;
  there.center = shift;
  expect_same(sums_of(trace({moved}, there)), here, 1e-9);
  Pulses turned = pulses;
  const double angle = 25 * std::numbers::pi / 180;
  for (auto* list : {&turned.positions, &turned.origins}) {
    for (Vec3d& p : *list)
      p = Vec3d{std::cos(angle) * p.x - std::sin(angle) * p.y, std::sin(angle) * p.x + std::cos(angle) * p.y,
                p.z} +
          shift;
  }
  there.rotation_deg = 25;
  expect_same(sums_of(trace({turned.scan()}, there)), here, 1e-5);
}

TEST(BeamTraversal, OrderOfRowsAndDuplicates) {
  Pulses pulses = random_pulses(1000, 7), shuffled, twice = pulses;
  for (std::size_t i = 0; i < 1000; ++i) {
    const std::size_t from = (i * 617 + 5) % 1000;
    shuffled.add(pulses.origins[from], pulses.positions[from], pulses.is_miss[from] != 0);
    twice.add(pulses.origins[i], pulses.positions[i], pulses.is_miss[i] != 0);
  }
  const VoxelBox grid = test::plain_box();
  const auto once = sums_of(trace({pulses.scan()}, grid));
  expect_same(sums_of(trace({shuffled.scan()}, grid)), once, 1e-9);
  const auto both = sums_of(trace({twice.scan()}, grid));
  const BeamScan one = pulses.scan();
  const auto parts = sums_of(trace({one, one}, grid));
  for (std::size_t v = 0; v < once.size(); ++v) EXPECT_EQ(both[v].moment[0], 2 * once[v].moment[0]);
  expect_same(parts, both, 1e-9);
}

TEST(BeamTraversal, SharesOfAPulse) {
  // One pulse along x through three voxels of 1 m: returns at 0.5, 1.2 and 1.8 m, and a miss.
  const VoxelBox grid{{1.5, 0, 0}, {3, 1, 1}, 3, 1, 1, 0, {}, {}};
  Pulses pulse;
  for (const double x : {1.8, 0.5, 900.0, 1.2}) pulse.add({-1, 0, 0}, {x, 0, 0}, x > 100);
  pulse.times = {7, 7, 7, 7};
  pulse.target_index = {2, 0, 99, 1};
  const auto traced = trace({pulse.scan()}, grid);
  const auto sums = sums_of(traced);
  EXPECT_TRUE(traced.scans[0].grouped);
  EXPECT_EQ(traced.scans[0].pulse_count, 1U);
  const double share[3] = {3.0 / 4, 1.0 / 3, 1};
  for (std::size_t v = 0; v < 3; ++v) {
    EXPECT_EQ(sums[v].moment[0], 1);
    EXPECT_NEAR(sums[v].moment[1], 1 / std::sqrt(3.0), 1e-12);
    EXPECT_NEAR(sums[v].transmitted, share[v], 1e-12) << v;
    EXPECT_NEAR(sums[v].transmitted_squared, share[v] * share[v], 1e-12);
  }
  EXPECT_EQ(sums[0].hits + sums[1].hits + sums[2].hits, 3);
  // Without the miss the last voxel is not reached, and every row alone is another beam.
  pulse.is_miss[2] = 0, pulse.positions[2] = {1.9, 0, 0};
  EXPECT_EQ(sums_of(trace({pulse.scan()}, grid))[2].moment[0], 0);
  pulse.times.clear();
  EXPECT_EQ(sums_of(trace({pulse.scan()}, grid))[0].moment[0], 4);
}

TEST(BeamTraversal, RoundedTimesGroupNothing) {
  Pulses pulses = random_pulses(1000, 8);
  for (std::size_t i = 0; i < 1000; ++i) {
    pulses.times.push_back(std::floor(static_cast<double>(i) / 4));
    pulses.target_index.push_back(0);
  }
  const auto traced = trace({pulses.scan()}, test::plain_box());
  EXPECT_TRUE(traced.scans[0].times_repeat);
  EXPECT_FALSE(traced.scans[0].grouped);
  EXPECT_EQ(traced.scans[0].pulse_count, 1000U);
}

TEST(BeamTraversal, PulsesOfOneTimeAreToldApartByTheirPlaces) {
  Pulses apart[2], together;
  for (std::size_t i = 0; i < 600; ++i) {
    for (std::size_t scan = 0; scan < 2; ++scan) {
      const Vec3d origin{scan == 0 ? -9.0 : 9.0, 0.3, 0.1};
      const Vec3d towards{static_cast<double>(i % 20) / 20 - 0.5, static_cast<double>(i / 20) / 30 - 0.5,
                          0.05};
      const std::size_t returns = 1 + (i + scan) % 3;
      for (std::size_t k = 0; k < returns; ++k) {
        const Vec3d at = origin + (towards - origin) * (0.97 + 0.02 * static_cast<double>(k));
        for (Pulses* pulses : {&apart[scan], &together}) {
          pulses->add(origin, at, false);
          pulses->times.push_back(static_cast<double>(i));
          pulses->target_index.push_back(static_cast<std::uint8_t>(k));
        }
      }
    }
  }
  const auto one = trace({together.scan()}, test::plain_box());
  const auto two = trace({apart[0].scan(), apart[1].scan()}, test::plain_box());
  EXPECT_TRUE(one.scans[0].grouped);
  EXPECT_EQ(one.scans[0].pulse_count, 1200U);
  expect_same(sums_of(one), sums_of(two), 1e-9);
}

TEST(BeamTraversal, TimesInAnyOrder) {
  Pulses sorted = random_pulses(600, 9), mixed;
  for (std::size_t i = 0; i < 600; ++i) {
    sorted.times.push_back(static_cast<double>(i / 2) - 100);
    sorted.target_index.push_back(static_cast<std::uint8_t>(i % 2));
    sorted.positions[i] = sorted.origins[i - i % 2] + (sorted.positions[i] - sorted.origins[i]) * 1.0;
    sorted.origins[i] = sorted.origins[i - i % 2];
  }
  for (std::size_t i = 0; i < 600; ++i) {
    const std::size_t from = (i * 137 + 11) % 600;
    mixed.add(sorted.origins[from], sorted.positions[from], sorted.is_miss[from] != 0);
    mixed.times.push_back(sorted.times[from]);
    mixed.target_index.push_back(sorted.target_index[from]);
  }
  const auto a = trace({sorted.scan()}, test::plain_box()), b = trace({mixed.scan()}, test::plain_box());
  EXPECT_EQ(a.scans[0].pulse_count, 300U);
  EXPECT_EQ(b.scans[0].pulse_count, 300U);
  expect_same(sums_of(b), sums_of(a), 1e-9);
}

TEST(BeamTraversal, DeletedHitsCountOutsideTheGridOnly) {
  const VoxelBox grid{{0, 0, 0}, {1, 1, 1}, 1, 1, 1, 0, {}, {}};
  Pulses pulses;
  for (const double x : {-2.0, 0.0, 2.0, 0.1, 900.0}) pulses.add({-3, 0, 0}, {x, 0, 0}, x > 100);
  const auto all = sums_of(trace({pulses.scan()}, grid));
  EXPECT_EQ(all[0].moment[0], 4);
  pulses.deleted = {1, 0, 1, 0, 0};
  const auto outside = trace({pulses.scan()}, grid);
  expect_same(sums_of(outside), all, 0);
  EXPECT_EQ(outside.scans[0].deleted_inside_count, 0U);
  pulses.deleted = {0, 1, 0, 0, 0};
  const auto inside = trace({pulses.scan()}, grid);
  EXPECT_EQ(sums_of(inside)[0].moment[0], 3);
  EXPECT_EQ(inside.scans[0].deleted_inside_count, 1U);
}

TEST(BeamTraversal, OneBeamAScannerInsideAndNothingAtAll) {
  const VoxelBox grid{{0, 0, 0}, {2, 2, 2}, 2, 2, 2, 0, {}, {}};
  Pulses one;
  one.add({-0.5, -0.5, -0.5}, {-0.5, -0.5, 8}, true);
  const auto traced = trace({one.scan()}, grid);
  EXPECT_EQ(traced.beam_count, 1U);
  EXPECT_EQ(traced.zenith_count[0], 1U);
  EXPECT_NEAR(sums_of(traced)[0].moment[1], 0.5 / std::sqrt(3.0), 1e-12);  // from the scanner on
  EXPECT_NEAR(sums_of(traced)[4].moment[1], 1 / std::sqrt(3.0), 1e-12);
  VoxelBox away = grid;
  away.center = {50, 0, 0};
  EXPECT_EQ(trace({one.scan()}, away).beam_count, 0U);
  Pulses none;
  none.origins = {{0, 0, 0}};
  EXPECT_EQ(trace({none.scan()}, grid).beam_count, 0U);
  EXPECT_EQ(trace({}, grid).beam_count, 0U);
}

TEST(BeamTraversal, RowsWithoutADirectionAreCounted) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  Pulses pulses;
  pulses.add({-3, 0, 0}, {nan, 0, 0}, false);
  pulses.add({-3, 0, 0}, {0, -inf, 0}, true);
  pulses.add({nan, 0, 0}, {0, 0, 0}, false);
  pulses.add({1, 1, 1}, {1, 1, 1}, true);
  pulses.add({-3, 0, 0}, {9, 0, 0}, false);
  const auto traced = trace({pulses.scan()}, {{0, 0, 0}, {1, 1, 1}, 1, 1, 1, 0, {}, {}});
  EXPECT_EQ(traced.scans[0].unusable_count, 4U);
  EXPECT_EQ(traced.beam_count, 1U);
}

TEST(BeamTraversal, RefusesGridsAndColumnsThatDoNotFit) {
  Pulses pulses = random_pulses(10, 10);
  const auto refused = [&](VoxelBox grid) { return test::code_of([&] { trace({pulses.scan()}, grid); }); };
  VoxelBox flat = test::plain_box(), empty = flat, lost = flat, listed = flat;
  flat.size.z = 0;
  empty.nx = 0;
  lost.center.x = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> few(3, 0.0);
  listed.offsets = test::span_of(few);
  for (const VoxelBox& grid : {flat, empty, lost, listed})
    EXPECT_EQ(refused(grid), ErrorCode::kInvalidArgument);
  pulses.origins.pop_back();
  EXPECT_EQ(refused(test::plain_box()), ErrorCode::kInvalidArgument);
}

TEST(BeamTraversal, CancelEndsItInTime) {
  Pulses pulses = random_pulses(60'000, 11);
  const BeamScan scan = pulses.scan();
  const VoxelBox grid{{0, 0, 0}, {4, 3, 2}, 125, 100, 80, 12, {}, {}};  // the most voxels of a request
  test::expect_cancel_in_time([&](OpContext& ctx) { beam_traversal({scan}, grid, ctx); });
}

}  // namespace
}  // namespace pc
