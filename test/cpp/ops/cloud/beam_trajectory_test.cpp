#include "ops/cloud/beam_trajectory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/memory.h"
#include "core/random.h"

namespace pc {
namespace {

struct Pulses {
  std::vector<double> times;
  std::vector<Vec3d> origins;
};

Pulses scrambled(std::size_t n, std::size_t distinct) {
  Pulses pulses;
  for (std::size_t i = 0; i < n; ++i) {
    const double t =
        (static_cast<double>(random_u64(3, i) % distinct) - static_cast<double>(distinct) / 3) * 0.25;
    pulses.times.push_back(t);
    pulses.origins.push_back({t * 2, static_cast<double>(i), 1});
  }
  return pulses;
}

BeamTrajectory run(const Pulses& pulses, std::uint64_t max_poses, int threads = 2) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return beam_trajectory({pulses.times.data(), pulses.times.size()},
                         {pulses.origins.data(), pulses.origins.size()}, max_poses, ctx);
}

TEST(BeamTrajectory, FirstRowOfEachTimeInOrder) {
  const auto pulses = scrambled(5000, 200);
  std::map<double, Vec3d> expected;
  for (std::size_t i = 0; i < pulses.times.size(); ++i)
    expected.try_emplace(pulses.times[i], pulses.origins[i]);
  const auto result = run(pulses, 3000);
  ASSERT_EQ(result.poses.size(), expected.size());
  EXPECT_EQ(result.distinct_times, expected.size());
  std::size_t i = 0;
  for (const auto& [time, origin] : expected) {
    EXPECT_EQ(result.poses[i].time_s, time);
    EXPECT_EQ(result.poses[i].position, origin);
    ++i;
  }
}

TEST(BeamTrajectory, ThinsToTheLimitAndKeepsBothEnds) {
  const auto pulses = scrambled(20000, 9001);
  const auto all = run(pulses, 1'000'000);
  for (const std::uint64_t limit : {2u, 3u, 100u, 3000u}) {
    const auto thinned = run(pulses, limit);
    EXPECT_LE(thinned.poses.size(), limit);
    EXPECT_EQ(thinned.poses.front().time_s, all.poses.front().time_s);
    EXPECT_EQ(thinned.poses.back().time_s, all.poses.back().time_s);
    EXPECT_TRUE(std::is_sorted(thinned.poses.begin(), thinned.poses.end(),
                               [](auto& a, auto& b) { return a.time_s < b.time_s; }));
  }
}

TEST(BeamTrajectory, UnusableRowsAreCountedAndLeftOut) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  const Pulses pulses{{3, nan, -inf, 1, -0.0, 0.0, 2},
                      {{1, 1, 1}, {2, 2, 2}, {3, 3, 3}, {nan, 0, 0}, {4, 4, 4}, {5, 5, 5}, {6, 6, 6}}};
  const auto result = run(pulses, 10);
  EXPECT_EQ(result.unusable, 3u);
  ASSERT_EQ(result.poses.size(), 3u);  // -0 and 0 are one time
  EXPECT_EQ(result.poses[0].position.x, 4);
  EXPECT_EQ(result.poses[2].time_s, 3);
}

TEST(BeamTrajectory, EmptyOneAndBadArguments) {
  EXPECT_TRUE(run({}, 2).poses.empty());
  EXPECT_EQ(run({{5}, {{1, 2, 3}}}, 2).poses.size(), 1u);
  EXPECT_THROW(run({{5}, {}}, 2), Error);
  EXPECT_THROW(run({{5}, {{1, 2, 3}}}, 1), Error);
}

TEST(BeamTrajectory, SameForAnyThreadCount) {
  const auto pulses = scrambled(100'000, 5000);
  const auto one = run(pulses, 700, 1), many = run(pulses, 700, 5);
  ASSERT_EQ(one.poses.size(), many.poses.size());
  for (std::size_t i = 0; i < one.poses.size(); ++i) EXPECT_EQ(one.poses[i].position, many.poses[i].position);
}

TEST(BeamTrajectory, CancelGivesTheMemoryBack) {
  const auto pulses = scrambled(1000, 10);
  const auto before = bulk_bytes_in_use();
  JobControl control;
  control.cancel_requested = true;
  OpContext ctx(control);
  EXPECT_THROW(beam_trajectory({pulses.times.data(), 1000}, {pulses.origins.data(), 1000}, 10, ctx), Error);
  EXPECT_EQ(bulk_bytes_in_use(), before);
}

}  // namespace
}  // namespace pc
