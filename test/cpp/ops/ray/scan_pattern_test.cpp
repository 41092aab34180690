#include "ops/ray/scan_pattern.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ops/ray/pose_stream.h"

namespace pc {
namespace {

using scan_pattern::Kind;
using scan_pattern::kPi;

double degrees(double radians) { return radians * 180 / kPi; }
double radians(double degrees) { return degrees * kPi / 180; }

void expect_near(const Vec3d& found, const Vec3d& wanted, double bound) {
  EXPECT_NEAR(found.x, wanted.x, bound);
  EXPECT_NEAR(found.y, wanted.y, bound);
  EXPECT_NEAR(found.z, wanted.z, bound);
}

TEST(ScanPattern, BearingsAreClockwiseFromY) {
  expect_near(scan_pattern::direction_of(radians(90), 0), {0, 1, 0}, 1e-15);
  expect_near(scan_pattern::direction_of(radians(90), radians(90)), {1, 0, 0}, 1e-15);
  expect_near(scan_pattern::direction_of(0, 1), {0, 0, 1}, 1e-15);
  for (const double phi : {-3.0, -0.5, 0.0, 2.5}) {
    const Vec3d d = scan_pattern::direction_of(1.2, phi);
    EXPECT_NEAR(scan_pattern::bearing_of(d), phi, 1e-14);
    EXPECT_NEAR(scan_pattern::zenith_of(d), 1.2, 1e-14);
  }
}

TEST(ScanPattern, RowsAreFiredFirstWhileTheScannerTurns) {
  ScanPattern pattern{};
  pattern.kind = Kind::kRaster;
  pattern.row_count = 5;
  pattern.pulse_count = 20;
  pattern.theta_first_rad = radians(60);
  pattern.theta_step_rad = scan_pattern::step_between(radians(60), radians(80), 5);
  pattern.phi_first_rad = radians(10);
  pattern.phi_step_rad = scan_pattern::step_between(radians(10), radians(40), 4);
  const Vec3d d = scan_pattern::pulse_direction(pattern, 13);  // row 3 of column 2
  EXPECT_NEAR(degrees(scan_pattern::zenith_of(d)), 75, 1e-12);
  EXPECT_NEAR(degrees(scan_pattern::bearing_of(d)), 10 + 10 * (2 + 3 / 5.0), 1e-12);
  EXPECT_EQ(scan_pattern::step_between(1, 2, 1), 0);
}

TEST(ScanPattern, MultibeamRowsAreChannels) {
  const double channels[2] = {radians(80), radians(100)};
  ScanPattern pattern{};
  pattern.kind = Kind::kSpinningMultibeam;
  pattern.row_count = 2;
  pattern.channel_theta_rad = channels;
  pattern.phi_step_rad = radians(1);
  EXPECT_NEAR(degrees(scan_pattern::zenith_of(scan_pattern::pulse_direction(pattern, 7))), 100, 1e-12);
  EXPECT_NEAR(degrees(scan_pattern::bearing_of(scan_pattern::pulse_direction(pattern, 7))), 3.5, 1e-12);
}

ScanPattern prisms(double rate_a, double rate_b, double phase_b) {
  ScanPattern pattern{};
  pattern.kind = Kind::kRisley;
  pattern.row_count = 1;
  pattern.prism_count = 2;
  pattern.prisms[0] = {radians(18), 1.51, rate_a, 0};
  pattern.prisms[1] = {radians(18), 1.51, rate_b, phase_b};
  pattern.index_outside = 1;
  pattern.pulse_rate_hz = 1000;
  return pattern;
}

TEST(ScanPattern, OnePrismDeviatesByTheAngleOfSnellsLaw) {
  ScanPattern pattern = prisms(1, 1, 0);
  pattern.prism_count = 1;
  const Vec3d d = scan_pattern::pulse_direction(pattern, 0);
  const double wanted = std::asin(1.51 * std::sin(radians(18))) - radians(18);
  expect_near(d, {std::sin(wanted), std::cos(wanted), 0}, 1e-14);
  const Vec3d quarter = scan_pattern::pulse_direction(pattern, 250);  // a quarter of a turn later
  expect_near(quarter, {0, std::cos(wanted), std::sin(wanted)}, 1e-12);
}

TEST(ScanPattern, TwoPrismsSweepADiscOfNineteenDegrees) {
  const ScanPattern pattern = prisms(7.3, -4.1, 0);
  double most = 0, least = 10;
  for (std::uint64_t pulse = 0; pulse < 100'000; ++pulse) {
    const Vec3d d = scan_pattern::pulse_direction(pattern, pulse);
    EXPECT_NEAR(dot(d, d), 1, 1e-12);
    const double off = std::atan2(std::hypot(d.x, d.z), d.y);
    most = std::fmax(most, off);
    least = std::fmin(least, off);
  }
  EXPECT_NEAR(degrees(most), 19.2, 0.1);
  EXPECT_LT(degrees(least), 0.5);
}

TEST(ScanPattern, TotalReflectionHasNoDirection) {
  ScanPattern pattern = prisms(1, 1, 0);
  pattern.prisms[0].wedge_angle_rad = radians(60);
  const Vec3d d = scan_pattern::pulse_direction(pattern, 0);
  EXPECT_EQ(dot(d, d), 0);
}

Quaternion about_z(double angle) { return {0, 0, std::sin(angle / 2), std::cos(angle / 2)}; }

TEST(PoseStream, PositionsAreLinearAndAttitudesOnTheShortestArc) {
  const Quaternion turned = about_z(1.2);
  const Pose poses[] = {{10, {0, 0, 0}, about_z(0)},
                        {12, {4, 2, 0}, {-turned.x, -turned.y, -turned.z, -turned.w}},
                        {13, {4, 2, 8}, turned}};
  const PoseStreamView stream{{poses, 3}, {1, 0, 0}, roll_pitch_yaw(0, 0, 0)};
  const Pose middle = stream.at(10.5);
  expect_near(middle.position, {1, 0.5, 0}, 1e-15);
  expect_near(middle.turn.rotation().apply({1, 0, 0}), {std::cos(0.3), std::sin(0.3), 0}, 1e-14);
  expect_near(stream.origin(middle), {1 + std::cos(0.3), 0.5 + std::sin(0.3), 0}, 1e-14);
  expect_near(stream.at(12.5).position, {4, 2, 4}, 1e-15);
  expect_near(stream.at(12).position, {4, 2, 0}, 1e-15);
  expect_near(stream.at(-1e9).position, {0, 0, 0}, 0);
  expect_near(stream.at(1e9).position, {4, 2, 8}, 0);
  const PoseStreamView alone{{poses + 1, 1}, {0, 0, 0}, roll_pitch_yaw(0, 0, 0)};
  expect_near(alone.at(99).position, {4, 2, 0}, 0);
}

TEST(PoseStream, RollIsAppliedBeforePitchAndYaw) {
  const double quarter = kPi / 2;
  expect_near(roll_pitch_yaw(quarter, 0, 0).apply({0, 1, 0}), {0, 0, 1}, 1e-15);
  expect_near(roll_pitch_yaw(0, quarter, 0).apply({0, 0, 1}), {1, 0, 0}, 1e-15);
  expect_near(roll_pitch_yaw(0, 0, quarter).apply({1, 0, 0}), {0, 1, 0}, 1e-15);
  expect_near(roll_pitch_yaw(quarter, quarter, 0).apply({0, 1, 0}), {1, 0, 0}, 1e-15);
  const Rotation any = roll_pitch_yaw(0.3, -0.7, 2);
  expect_near(any.undo(any.apply({1, 2, 3})), {1, 2, 3}, 1e-14);
}

}  // namespace
}  // namespace pc
