#include "ops/lad/lost_hits_moving.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "core/error.h"
#include "core/memory.h"
#include "core/random.h"
#include "support/cancel.h"
#include "support/columns.h"

namespace pc {
namespace {

/// Rows of a scanner that flies.
struct Flight {
  std::vector<Vec3d> positions, origins;
  std::vector<std::uint8_t> is_miss;
  std::shared_ptr<AnyColumn> miss_column;

  BeamScan scan(const Vec3d& shift = {0, 0, 0}) {
    miss_column = std::make_shared<AnyColumn>(test::column_of(is_miss));
    BeamScan out;
    out.positions = test::span_of(positions);
    out.origins = test::span_of(origins);
    out.shift = shift;
    out.is_miss = miss_column.get();
    return out;
  }
};

struct Terrain {
  double lost = 0, noise_m = 0;
  std::size_t beams = 60'000;
  bool pond = false;  ///< none of the beams at x above 12 m comes back
};

/// Beams from 20 m above a slope, straight down to 45 degrees aside, along a track of 20 m; of the hits `lost` are misses.
Flight over(const Terrain& terrain) {
  Flight out;
  for (std::uint64_t i = 0; i < terrain.beams; ++i) {
    const double along = 20 * static_cast<double>(i) / static_cast<double>(terrain.beams);
    const Vec3d from{along, 10 + std::sin(along), 24};
    const double s = 1.4 * (random_unit(1, i) - 0.5), t = 1.4 * (random_unit(2, i) - 0.5);
    // z = 0.2 x + 0.1 y
    const double range = (from.z - 0.2 * from.x - 0.1 * from.y) / (1 + 0.2 * s + 0.1 * t) +
                         terrain.noise_m * (random_unit(3, i) - 0.5);
    const Vec3d down{s, t, -1};
    const Vec3d hit = from + down * range;
    const bool miss = random_unit(4, i) < terrain.lost || (terrain.pond && hit.x > 12);
    out.origins.push_back(from);
    out.positions.push_back(miss ? from + down * 700 : hit);
    out.is_miss.push_back(miss ? 1 : 0);
  }
  return out;
}

LostHits found_in(Flight flight, int threads = 2, const Vec3d& shift = {0, 0, 0}) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  const BeamScan scan = flight.scan(shift);
  return lost_hits_moving({&scan, 1}, ctx);
}

double share_of(const LostHits& found) {
  return static_cast<double>(found.lost) / static_cast<double>(found.between);
}

TEST(LostHitsMoving, MissesThroughASurfaceAreTheLostOnes) {
  const LostHits whole = found_in(over({}));
  EXPECT_EQ(whole.lost, 0U);
  EXPECT_GT(whole.looked_at, 45'000U);
  EXPECT_LT(whole.looked_at, 55'000U);
  EXPECT_GT(whole.between, 0.3 * static_cast<double>(whole.looked_at));
  for (const double lost : {0.05, 0.3, 0.6}) {
    // Cubes that happen to hold 12 hits count, those that happen to hold fewer do not.
    EXPECT_NEAR(share_of(found_in(over({lost}))), lost, 0.04) << lost;
    EXPECT_NEAR(share_of(found_in(over({lost, 0.05}))), lost, 0.04) << "with 5 cm of noise";
  }
}

TEST(LostHitsMoving, HitsMayLieInALevelPlane) {
  Flight flight = over({});
  for (std::size_t i = 0; i < flight.positions.size(); ++i) {
    const Vec3d along = flight.positions[i] - flight.origins[i];
    const bool miss = random_unit(4, i) < 0.3;
    flight.is_miss[i] = miss ? 1 : 0;
    flight.positions[i] = flight.origins[i] + along * ((miss ? 900 : 24) / -along.z);
    if (!miss) flight.positions[i].z = 0;
  }
  EXPECT_NEAR(share_of(found_in(flight)), 0.3, 0.04);
}

TEST(LostHitsMoving, AWholePondIsNotLost) {
  const LostHits found = found_in(over({0, 0.02, 60'000, true}));
  EXPECT_GT(found.between, 10'000U);
  EXPECT_LT(share_of(found), 0.02);
}

TEST(LostHitsMoving, LeavesInTheAirAreHardlySurfaces) {
  Flight leaves;
  for (std::uint64_t i = 0; i < 60'000; ++i) {
    const Vec3d from{10 * random_unit(1, i), 5, 20};
    const Vec3d at{10 * random_unit(2, i), 10 * random_unit(3, i), 5 * random_unit(4, i)};
    const bool miss = random_unit(5, i) < 0.5;
    leaves.origins.push_back(from);
    leaves.positions.push_back(miss ? from + (at - from) * 30 : at);
    leaves.is_miss.push_back(miss ? 1 : 0);
  }
  const LostHits found = found_in(leaves);
  EXPECT_LT(found.between, 0.05 * static_cast<double>(found.looked_at));
}

TEST(LostHitsMoving, ManyHitsOfOneCubeTakeNoLongerEach) {
  Flight flight = over({0, 0, 20'000});
  for (std::uint64_t i = 0; i < 400'000; ++i) {  // on one side of a beam's crossing, all within 1 cm
    flight.origins.push_back({5, 10, 24});
    flight.positions.push_back(
        {5 + 0.01 * random_unit(8, i), 10 + 0.01 * random_unit(9, i), 2 + 1e-3 * random_unit(10, i)});
    flight.is_miss.push_back(0);
  }
  const auto began = std::chrono::steady_clock::now();
  found_in(flight);
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count(), 10);
}

TEST(LostHitsMoving, DependsOnNeitherThreadsNorOrderNorPlace) {
  const LostHits one = found_in(over({0.2, 0.02}), 1), four = found_in(over({0.2, 0.02}), 4);
  EXPECT_EQ(one.between, four.between);
  EXPECT_EQ(one.lost, four.lost);
  Flight turned = over({0.2, 0.02});
  std::reverse(turned.positions.begin(), turned.positions.end());
  std::reverse(turned.origins.begin(), turned.origins.end());
  std::reverse(turned.is_miss.begin(), turned.is_miss.end());
  const LostHits backwards = found_in(turned);
  EXPECT_EQ(backwards.looked_at, one.looked_at);
  EXPECT_NEAR(share_of(backwards), share_of(one), 0.01);
  EXPECT_NEAR(share_of(found_in(over({0.2, 0.02}), 2, {5e6, -4e6, 100})), 0.2, 0.04);
}

TEST(LostHitsMoving, RecoveredMissesAreAPartOfTheirOwn) {
  Flight hits, misses;
  const Flight all = over({0.3});
  for (std::size_t i = 0; i < all.positions.size(); ++i) {
    Flight& to = all.is_miss[i] != 0 ? misses : hits;
    to.positions.push_back(all.positions[i]);
    to.origins.push_back(all.origins[i]);
    to.is_miss.push_back(all.is_miss[i]);
  }
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  const BeamScan parts[] = {hits.scan(), misses.scan()};
  const LostHits found = lost_hits_moving({parts, 2}, ctx), together = found_in(all);
  EXPECT_EQ(found.between, together.between);
  EXPECT_EQ(found.lost, together.lost);
}

TEST(LostHitsMoving, OfMoreHitsSquaresAreLookedThrough) {
  Flight flight = over({0.1, 0, 5'300'000});
  static_assert(4'700'000 > kMostLookedThrough);
  const BeamScan scan = flight.scan();
  const std::uint64_t before = bulk_bytes_in_use();
  reset_bulk_bytes_peak();
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  const LostHits found = lost_hits_moving({&scan, 1}, ctx);
  EXPECT_LT(bulk_bytes_peak() - before, lost_hits_bytes(flight.positions.size()));
  EXPECT_GT(found.between, 0.5 * static_cast<double>(found.looked_at));
  EXPECT_NEAR(share_of(found), 0.1, 0.01);
}

TEST(LostHitsMoving, OddRowsDoNoHarm) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  Flight odd;
  odd.positions = {{kNan, 0, 0}, {0, 0, 0}, {1, 0, 0}, {HUGE_VAL, 0, 0}, {0, 1e300, 0}, {1e15, 1, -1e15}};
  odd.origins = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {kNan, 0, 0}};
  odd.is_miss = {0, 1, 0, 0, 0, 0};
  EXPECT_EQ(found_in(odd).between, 0U);
  Flight same;
  for (int i = 0; i < 1000; ++i) {
    same.positions.push_back({1, 2, 3});
    same.origins.push_back({0, 0, 0});
    same.is_miss.push_back(0);
  }
  EXPECT_EQ(found_in(same).between, 0U);
  EXPECT_EQ(found_in(Flight{}).looked_at, 0U);
  Flight line = over({});  // one row of hits is no surface
  for (std::size_t i = 0; i < line.positions.size(); ++i) line.positions[i] = {line.positions[i].x, 10, 0};
  EXPECT_EQ(found_in(line).between, 0U);
  Flight far = over({0.3});  // one hit a million kilometres away
  far.positions.push_back({1e9, 1e9, 1e9});
  far.origins.push_back({0, 0, 0});
  far.is_miss.push_back(0);
  EXPECT_NEAR(share_of(found_in(far)), 0.3, 0.05);
  EXPECT_EQ(test::code_of([] { found_in(over({}), 2, {kNan, 0, 0}); }), ErrorCode::kInvalidArgument);
  Flight few = over({});
  few.origins.resize(7);
  EXPECT_EQ(test::code_of([&] { found_in(few); }), ErrorCode::kInvalidArgument);
}

TEST(LostHitsMoving, IsCanceledInTime) {
  Flight flight = over({0.1, 0, 400'000});
  const BeamScan scan = flight.scan();
  test::expect_cancel_in_phase("Looking for lost hits", [&](OpContext& ctx) {
    lost_hits_moving({&scan, 1}, ctx);
  });
}

}  // namespace
}  // namespace pc
