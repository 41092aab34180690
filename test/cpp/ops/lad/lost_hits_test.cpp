#include "ops/lad/lost_hits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/error.h"
#include "core/memory.h"
#include "core/random.h"
#include "support/cancel.h"
#include "support/columns.h"
#include "support/viewed_leaves.h"

namespace pc {
namespace {

using test::LeafScan;

/// 300 x 300 beams (or as many squared) at a slanted wall 5 m away, of whose hits `lost` are misses; ranges have noise.
LeafScan wall(double lost, double noise_m = 0, std::uint64_t across = 300) {
  LeafScan out;
  out.origin = {1, 2, 3};
  const double step = 0.6 / static_cast<double>(across);
  for (std::uint64_t i = 0; i < across * across; ++i) {
    const double s = -0.3 + step * static_cast<double>(i % across),
                 t = -0.3 + step * static_cast<double>(i / across);
    const double share = 5 / (0.3 * s + 1 + 0.2 * t) + noise_m * (random_unit(3, i) - 0.5);
    const bool miss = random_unit(7, i) < lost;
    out.positions.push_back(out.origin + Vec3d{s, 1, t} * (miss ? 500 : share));
    out.is_miss.push_back(miss ? 1 : 0);
    out.is_leaf.push_back(1);
  }
  return out;
}

LostHits found_in(LeafScan scan, int threads = 2, const Vec3d& shift = {0, 0, 0}) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return lost_hits(scan.scan(shift), ctx);
}

double share_of(const LostHits& found) {
  return static_cast<double>(found.lost) / static_cast<double>(found.between);
}

TEST(LostHits, MissesAmidHitsOfASurfaceAreTheLostOnes) {
  const LostHits whole = found_in(wall(0));
  EXPECT_EQ(whole.lost, 0U);
  EXPECT_GT(whole.looked_at, 45'000U);
  EXPECT_LT(whole.looked_at, 55'000U);
  EXPECT_GT(whole.between, 0.95 * static_cast<double>(whole.looked_at));
  for (const double lost : {0.05, 0.3, 0.6}) {
    EXPECT_NEAR(share_of(found_in(wall(lost))), lost, 0.01) << lost;
    EXPECT_NEAR(share_of(found_in(wall(lost, 0.01))), lost, 0.02) << "with 1 cm of noise";
  }
}

TEST(LostHits, SkyBesideASurfaceIsNotLost) {
  // Beams that leave beside the wall: every hit beyond a column is sky.
  LeafScan scan = wall(0);
  for (std::size_t i = 0; i < scan.positions.size(); ++i) {
    if (i % 300 < 150) continue;
    scan.positions[i] = scan.origin + (scan.positions[i] - scan.origin) * 100;
    scan.is_miss[i] = 1;
  }
  const LostHits found = found_in(scan);
  EXPECT_GT(found.between, 10'000U);
  EXPECT_EQ(found.lost, 0U);
}

TEST(LostHits, LeavesInTheAirAreHardlySurfaces) {
  const auto leaves = test::ball_of_leaves(2000, 1);
  const LostHits found = found_in(test::scanned(leaves, {3.5, 0.3, 0.4}, 0.4, 0.003));
  EXPECT_LT(found.between, 0.1 * static_cast<double>(found.looked_at));
}

TEST(LostHits, DependsOnNeitherThreadsNorOrderNorPlace) {
  const LostHits one = found_in(wall(0.2), 1), four = found_in(wall(0.2), 4);
  EXPECT_EQ(one.between, four.between);
  EXPECT_EQ(one.lost, four.lost);
  LeafScan turned = wall(0.2);
  std::reverse(turned.positions.begin(), turned.positions.end());
  std::reverse(turned.is_miss.begin(), turned.is_miss.end());
  EXPECT_EQ(found_in(turned).looked_at, one.looked_at);
  EXPECT_NEAR(share_of(found_in(turned)), share_of(one), 0.002);
  EXPECT_NEAR(share_of(found_in(wall(0.2), 2, {5e6, -4e6, 100})), 0.2, 0.01);
}

TEST(LostHits, OfMoreBeamsPatchesAreLookedThrough) {
  constexpr std::uint64_t kAcross = 2300;  // 5.3 million
  static_assert(kAcross * kAcross > kMostLookedThrough);
  LeafScan scan = wall(0.1, 0, kAcross);
  const ViewedScan view = scan.scan();
  const std::uint64_t before = bulk_bytes_in_use();
  reset_bulk_bytes_peak();
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  const LostHits found = lost_hits(view, ctx);
  EXPECT_LT(bulk_bytes_peak() - before, lost_hits_bytes(scan.positions.size()));
  EXPECT_GT(found.between, 0.9 * static_cast<double>(found.looked_at));
  EXPECT_NEAR(share_of(found), 0.1, 0.01);
}

TEST(LostHits, OddRowsDoNoHarm) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  LeafScan odd;
  odd.origin = {0, 0, 0};
  odd.positions = {{kNan, 0, 0}, {0, 0, 0}, {1, 0, 0}, {HUGE_VAL, 0, 0}, {0, 1e300, 0}};
  odd.is_miss = {0, 1, 0, 0, 0};
  odd.is_leaf = {1, 1, 1, 1, 1};
  EXPECT_EQ(found_in(odd).between, 0U);
  LeafScan same;
  for (int i = 0; i < 1000; ++i) {
    same.positions.push_back({1, 2, 3});
    same.is_miss.push_back(0);
    same.is_leaf.push_back(1);
  }
  EXPECT_EQ(found_in(same).between, 0U);
  EXPECT_EQ(found_in(LeafScan{}).looked_at, 0U);
  // One row of a raster is no surface.
  LeafScan line = wall(0);
  line.positions.resize(300), line.is_miss.resize(300), line.is_leaf.resize(300);
  EXPECT_EQ(found_in(line).lost, 0U);
  LeafScan nowhere = wall(0);
  nowhere.origin.x = kNan;
  EXPECT_EQ(test::code_of([&] { found_in(nowhere); }), ErrorCode::kInvalidArgument);
}

TEST(LostHits, IsCanceledInTimeAndNeedsNoMoreMemoryThanItSays) {
  LeafScan scan = wall(0.1);
  const ViewedScan view = scan.scan();
  const auto run = [&](OpContext& ctx) { lost_hits(view, ctx); };
  test::expect_cancel_in_phase("Looking for lost hits", run);
  const std::uint64_t before = bulk_bytes_in_use();
  reset_bulk_bytes_peak();
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  run(ctx);
  EXPECT_LT(bulk_bytes_peak() - before, lost_hits_bytes(scan.positions.size()));
}

}  // namespace
}  // namespace pc
