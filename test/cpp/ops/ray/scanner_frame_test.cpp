#include "ops/ray/scanner_frame.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/error.h"
#include "core/random.h"
#include "ops/ray/trajectory_join.h"

namespace pc {
namespace {

Span<const double> span_of(const std::vector<double>& values) { return {values.data(), values.size()}; }
Span<const Vec3d> span_of(const std::vector<Vec3d>& values) { return {values.data(), values.size()}; }

/// A quarter turn to the left about z in 10 s, moving 2 m/s along x.
std::vector<double> quarter_turn() {
  std::vector<double> poses;
  for (int i = 0; i <= 10; ++i) {
    const double half = 0.25 * 3.14159265358979323846 * i / 10;
    poses.insert(poses.end(), {100.0 + i, 2.0 * i, 5, 1, 0, 0, std::sin(half), std::cos(half)});
  }
  return poses;
}

TEST(ScannerFrame, APointByHand) {
  JobControl control;
  OpContext ctx(control);
  const std::vector<double> poses = quarter_turn(), times{110, 100};
  // At the end the body looks along +y: its x axis is the world's y axis. The scanner is turned by half a turn in it.
  const MovingScanner scanner{span_of(poses), {1, 0, 0.5}, roll_pitch_yaw(0, 0, 3.14159265358979323846)};
  const std::vector<Vec3d> points{{20, 13, 2}, {4, 5, 1.5}};
  const Column<Vec3d> seen = to_scanner_frame(span_of(points), span_of(times), scanner, ctx);
  const Vec3d wanted[] = {{-7, 0, 0.5}, {-3, 0, 0}};
  for (int i = 0; i < 2; ++i) {
    EXPECT_NEAR(seen[i].x, wanted[i].x, 1e-12);
    EXPECT_NEAR(seen[i].y, wanted[i].y, 1e-12);
    EXPECT_NEAR(seen[i].z, wanted[i].z, 1e-12);
  }
}

TEST(ScannerFrame, BackAgainFromTheOriginsOfTheJoin) {
  JobControl control;
  OpContext ctx(control);
  const std::vector<double> poses = quarter_turn();
  const MovingScanner scanner{span_of(poses), {0.3, -0.2, 0.1}, roll_pitch_yaw(0.2, -0.1, 0.4)};
  std::vector<double> times;
  std::vector<Vec3d> points;
  for (std::uint64_t i = 0; i < 5000; ++i) {
    times.push_back(99 + 12 * random_unit(1, i));
    points.push_back({100 * random_unit(2, i), 100 * random_unit(3, i), 20 * random_unit(4, i)});
  }
  times[7] = std::numeric_limits<double>::quiet_NaN();
  const Column<Vec3d> seen = to_scanner_frame(span_of(points), span_of(times), scanner, ctx);
  const ScannerBeams beams = from_scanner_frame(seen.view(), span_of(times), scanner, ctx);
  const TrajectoryJoin joined =
      trajectory_join(span_of(times), span_of(poses), scanner.lever_arm, {0, 0, 0}, ctx);
  EXPECT_TRUE(std::isnan(seen[7].x) && std::isnan(beams.positions[7].z) && std::isnan(beams.origins[7].y));
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (i == 7) continue;
    const Vec3d off = beams.positions[i] - points[i], apart = beams.origins[i] - joined.origins[i];
    ASSERT_LT(std::sqrt(dot(off, off)) + std::sqrt(dot(apart, apart)), 1e-11);
    const Vec3d from_origin = points[i] - joined.origins[i];
    ASSERT_NEAR(dot(seen[i], seen[i]), dot(from_origin, from_origin), 1e-8);
  }
}

TEST(ScannerFrame, RefusesLengthsAndValues) {
  JobControl control;
  OpContext ctx(control);
  const std::vector<double> poses = quarter_turn(), none;
  const std::vector<Vec3d> points(3);
  const Rotation same = roll_pitch_yaw(0, 0, 0);
  const std::vector<double> times(2), three(3);
  EXPECT_THROW(to_scanner_frame(span_of(points), span_of(times), {span_of(poses), {}, same}, ctx), Error);
  EXPECT_THROW(to_scanner_frame(span_of(points), span_of(three), {span_of(none), {}, same}, ctx), Error);
  EXPECT_THROW(
      to_scanner_frame(span_of(points), span_of(three), {span_of(poses), {}, roll_pitch_yaw(NAN, 0, 0)}, ctx),
      Error);
}

}  // namespace
}  // namespace pc
