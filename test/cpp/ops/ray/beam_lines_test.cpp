#include "ops/ray/beam_lines.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "support/columns.h"

namespace pc {
namespace {

/// Pulses with a return in crowns and one on the ground, from origins that are told or not.
struct Flight {
  std::vector<Vec3d> positions, origins;
  std::vector<double> times;
  std::vector<float> index;

  std::vector<BeamLine> lines(const std::vector<Vec3d>& said) const {
    JobControl control;
    OpContext ctx(control, Device::kCpu, 2);
    const AnyColumn number = test::column_of(index);
    return beam_lines({test::span_of(positions), test::span_of(said), test::span_of(times), &number, nullptr},
                      ctx);
  }
};

/// Where a drone is at a time: lines of 60 m there and back at 6 m/s, 3 m apart, 50 m above the ground, with gusts.
Vec3d drone_at(double t) {
  const double leg = std::floor(t / 10), along = 6 * (t - 10 * leg);
  const bool back = std::fmod(leg, 2) == 1;
  return {500'000 + (back ? 60 - along : along), 5'400'000 + 3 * leg, 50 + 0.3 * std::sin(t / 3)};
}

template <class Place>
Flight flight(std::size_t pulses, double seconds, double noise_m, const Place& place_at, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> even(0, 1);
  std::normal_distribution<double> noise(0, std::max(noise_m, 1e-9));
  Flight out;
  for (std::size_t k = 0; k < pulses; ++k) {
    const double t = seconds * static_cast<double>(k) / static_cast<double>(pulses);
    const Vec3d from = place_at(t);
    const double aside = 0.6 * (2 * even(random) - 1), ahead = 0.3 * (2 * even(random) - 1);
    const Vec3d beam{aside, ahead, -1};
    const double height = 2 + 15 * even(random);
    const bool several = even(random) < 0.3;
    float number = 1;
    for (const double z : {height, 0.0}) {
      if (z > 0 && !several) continue;
      const double range = (from.z - z) + noise(random);  // along the beam
      out.positions.push_back(from + beam * range);
      out.origins.push_back(from);
      out.times.push_back(1000 + t);
      out.index.push_back(number++);
    }
  }
  return out;
}

OriginFit fit(const std::vector<BeamLine>& lines) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  return origin_fit(test::span_of(lines), ctx);
}

std::vector<double> poses(double seconds, double clock) {
  std::vector<double> out;
  for (double t = -30; t <= seconds + 30; t += 0.25) {
    const Vec3d at = drone_at(std::clamp(t, 0.0, seconds));
    for (const double value : {1000 + t + clock, at.x, at.y, at.z, 0.0, 0.0, 0.0, 1.0}) out.push_back(value);
  }
  return out;
}

TEST(BeamLines, OriginsOfTheBeamsFitThem) {
  const Flight scan = flight(100'000, 200, 0.02, drone_at);
  const auto lines = scan.lines(scan.origins);
  EXPECT_GT(lines.size(), 15'000U);
  EXPECT_LT(lines.size(), 31'000U);
  const OriginFit found = fit(lines);
  EXPECT_LT(found.off_m, 1e-6);
  EXPECT_LT(std::sqrt(dot(found.shift, found.shift)), 1e-6);
}

TEST(BeamLines, AShiftOfAllOriginsIsFound) {
  const Flight scan = flight(30'000, 200, 0.02, drone_at);
  for (const Vec3d& off : {Vec3d{0, 0, 47.2}, Vec3d{1.5, -0.5, 0}, Vec3d{0.2, 0.1, -0.3}}) {
    std::vector<Vec3d> said = scan.origins;
    for (Vec3d& one : said) one = one + off;
    const OriginFit found = fit(scan.lines(said));
    EXPECT_NEAR(found.shift.x, -off.x, 1e-5);
    EXPECT_NEAR(found.shift.y, -off.y, 1e-5);
    EXPECT_NEAR(found.shift.z, -off.z, 1e-5);
    EXPECT_LT(found.shifted_off_m, 1e-6);
    EXPECT_GT(found.off_m, 0.01);
  }
}

TEST(BeamLines, ErrorsAcrossTheBeamAreInTheStandardError) {
  // Coordinates in steps of 2 cm; over seeds the shift scatters as its error says.
  std::vector<double> by_error;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    Flight scan = flight(4'000, 200, 0.02, drone_at, seed);
    for (Vec3d& p : scan.positions)
      p = {std::round(p.x * 50) / 50, std::round(p.y * 50) / 50, std::round(p.z * 50) / 50};
    const OriginFit found = fit(scan.lines(scan.origins));
    EXPECT_LT(found.off_m, 0.02);
    by_error.push_back(std::sqrt(dot(found.shift, found.shift)) / found.shift_error_m);
  }
  std::sort(by_error.begin(), by_error.end());
  EXPECT_LT(by_error[10], 3);
  EXPECT_LT(by_error.back(), 6);
}

TEST(BeamLines, ThirdOfThePulsesMixedUpDoNotMatter) {
  Flight scan = flight(30'000, 200, 0, drone_at);
  std::mt19937 random(7);
  std::uniform_real_distribution<double> metres(-5, 5), part(0, 1);
  for (Vec3d& p : scan.positions)
    if (part(random) < 0.15) p = p + Vec3d{metres(random), metres(random), metres(random)};
  std::vector<Vec3d> said = scan.origins;
  for (Vec3d& one : said) one = one + Vec3d{0, 3, 0};
  const OriginFit found = fit(scan.lines(said));
  EXPECT_NEAR(found.shift.y, -3, 0.02);
  EXPECT_LT(found.shifted_off_m, 0.01);
}

TEST(BeamLines, TheClockOfATrajectoryIsFound) {
  const Flight scan = flight(60'000, 200, 0.02, drone_at);
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  for (const double clock : {18.0, -17.0, 0.25, 0.0}) {
    const auto stream = poses(200, clock);
    std::vector<Vec3d> said;
    for (const double t : scan.times) said.push_back(drone_at(std::clamp(t - 1000 - clock, 0.0, 200.0)));
    const auto lines = scan.lines(said);
    const ClockFit found = clock_fit(test::span_of(lines), test::span_of(stream), {0, 0, 0}, {0, 0, 0}, ctx);
    EXPECT_NEAR(found.clock_s, clock, 0.01);
    EXPECT_LT(found.off_m, 0.01);
    EXPECT_EQ(found.moved_m > 5, std::abs(clock) > 10);
  }
  const auto elsewhere = poses(200, 5000);
  const auto lines = scan.lines(scan.origins);
  EXPECT_TRUE(
      std::isnan(clock_fit(test::span_of(lines), test::span_of(elsewhere), {0, 0, 0}, {0, 0, 0}, ctx).off_m));
}

TEST(BeamLines, BeamsThatAreParallelTellNoHeight) {
  std::vector<BeamLine> lines;
  for (int k = 0; k < 100; ++k) {
    const Vec3d at{static_cast<double>(k % 10), static_cast<double>(k / 10), 0};
    lines.push_back({at + Vec3d{0, 0, 5}, at, at + Vec3d{0.5, 0, 40}, static_cast<double>(k)});
  }
  const OriginFit found = fit(lines);
  EXPECT_NEAR(found.shift.x, -0.5, 1e-6);
  EXPECT_NEAR(found.shift.z, 0, 1e-6);
}

TEST(BeamLines, FewPulsesWithSeveralReturnsAreFoundAmongMany) {
  Flight scan = flight(300'000, 200, 0, drone_at), few;
  for (std::size_t i = 0, later = 0; i < scan.positions.size(); ++i) {
    if (scan.index[i] == 2 && later++ % 300 != 0) continue;
    few.positions.push_back(scan.positions[i]), few.origins.push_back(scan.origins[i]);
    few.times.push_back(scan.times[i]), few.index.push_back(scan.index[i]);
  }
  const auto lines = few.lines(few.origins);
  EXPECT_GT(lines.size(), 250U);
  EXPECT_LT(fit(lines).off_m, 1e-6);
}

TEST(BeamLines, NoPulses) {
  Flight scan = flight(1'000, 200, 0, drone_at);
  scan.times.assign(scan.times.size(), 5);  // one time
  EXPECT_TRUE(scan.lines(scan.origins).empty());
  EXPECT_TRUE(Flight{}.lines({{0, 0, 0}}).empty());
  EXPECT_EQ(fit({}).line_count, 0U);
  Flight rounded = flight(10'000, 200, 0, drone_at);
  for (double& t : rounded.times) t = std::floor(t * 10) / 10;
  EXPECT_TRUE(rounded.lines(rounded.origins).empty());
  Flight timeless = flight(10'000, 200, 0, drone_at);
  for (double& t : timeless.times) t = std::nan("");
  EXPECT_TRUE(timeless.lines(timeless.origins).empty());
}

TEST(BeamLines, TheOrderOfTheRowsDoesNotMatter) {
  const Flight scan = flight(10'000, 200, 0.02, drone_at);
  Flight turned = scan;
  std::reverse(turned.positions.begin(), turned.positions.end());
  std::reverse(turned.origins.begin(), turned.origins.end());
  std::reverse(turned.times.begin(), turned.times.end());
  std::reverse(turned.index.begin(), turned.index.end());
  const auto one = scan.lines(scan.origins), other = turned.lines(turned.origins);
  ASSERT_EQ(one.size(), other.size());
  for (std::size_t k = 0; k < one.size(); ++k) EXPECT_EQ(one[k].first, other[k].first);
}

}  // namespace
}  // namespace pc
