#include "ops/ray/trajectory_join.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "support/columns.h"

namespace pc {
namespace {

TrajectoryJoin join(const std::vector<double>& times, const std::vector<double>& poses,
                    const Vec3d& lever_arm, const Vec3d& shift = {0, 0, 0}, int threads = 2) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return trajectory_join(test::span_of(times), test::span_of(poses), lever_arm, shift, ctx);
}

void expect_near(const Vec3d& got, const Vec3d& wanted) {
  EXPECT_NEAR(got.x, wanted.x, 1e-9);
  EXPECT_NEAR(got.y, wanted.y, 1e-9);
  EXPECT_NEAR(got.z, wanted.z, 1e-9);
}

/// Two poses 10 s and 20 m apart; the second is turned by 90 degrees about +z (and its quaternion is not of length 1).
const std::vector<double> kTurn{100, 0, 0, 5, 0, 0, 0, 1, 110, 20, 0, 5, 0, 0, 2, 2};

TEST(TrajectoryJoin, PositionsAreLinearAndTheLeverArmTurnsAtConstantSpeed) {
  const auto found = join({100, 105, 110, 102.5}, kTurn, {1, 0, 0.5});
  expect_near(found.origins[0], {1, 0, 5.5});
  const double half = std::numbers::pi / 4, eighth = std::numbers::pi / 8;
  expect_near(found.origins[1], {10 + std::cos(half), std::sin(half), 5.5});
  expect_near(found.origins[2], {20, 1, 5.5});
  expect_near(found.origins[3], {5 + std::cos(eighth), std::sin(eighth), 5.5});
  EXPECT_EQ(found.outside_count, 0U);
  EXPECT_EQ(found.first_time_s, 100);
  EXPECT_EQ(found.last_time_s, 110);
}

TEST(TrajectoryJoin, BeforeAndAfterThePosesTheNearestOneHolds) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto found = join({-5, 1e9, nan, 105}, kTurn, {0, 0, 0}, {0, 0, 5});
  expect_near(found.origins[0], {0, 0, 0});
  expect_near(found.origins[1], {20, 0, 0});
  EXPECT_TRUE(std::isnan(found.origins[2].x));
  EXPECT_EQ(found.outside_count, 2U);
  EXPECT_EQ(found.untimed_count, 1U);
  EXPECT_EQ(found.last_time_s, 1e9);
  EXPECT_TRUE(std::isnan(join({nan}, kTurn, {0, 0, 0}).first_time_s));
  EXPECT_EQ(join({}, kTurn, {0, 0, 0}).origins.size(), 0U);
}

TEST(TrajectoryJoin, PrecisionFarFromTheOrigin) {
  std::vector<double> far = kTurn;
  for (const std::size_t pose : {0, 8}) far[pose + 1] += 4.5e5, far[pose + 2] += 5.4e6;
  const auto found = join({103}, far, {1, 0, 0}, {4.5e5, 5.4e6, 0});
  const auto near = join({103}, kTurn, {1, 0, 0});
  expect_near(found.origins[0], near.origins[0]);
}

TEST(TrajectoryJoin, RefusesPosesThatAreNone) {
  const auto refused = [](const std::vector<double>& poses) {
    std::string message;
    EXPECT_EQ(test::code_of([&] { join({1}, poses, {0, 0, 0}); }, &message), ErrorCode::kInvalidArgument);
    return message;
  };
  refused({});
  refused({1, 2, 3});
  std::vector<double> backwards = kTurn, still = kTurn, endless = kTurn;
  backwards[8] = 100;
  still[14] = still[15] = 0;
  endless[9] = HUGE_VAL;
  EXPECT_NE(refused(backwards).find("poses[1]: times must increase"), std::string::npos);
  EXPECT_NE(refused(still).find("no length"), std::string::npos);
  EXPECT_NE(refused(endless).find("not finite"), std::string::npos);
}

}  // namespace
}  // namespace pc
