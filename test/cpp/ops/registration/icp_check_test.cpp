#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>

#include "ops/registration/icp.h"
#include "support/rigid_scenes.h"

namespace pc {
namespace {

using test::apart;
using test::boxes_on_ground;
using test::moved;
using test::Points;
using test::turned;

const Points kFixed = boxes_on_ground(6000, 40, 3, 1);
/// Where the points of kSeen were before.
const RigidTransform kTruth = turned({0, 0, 2.4}, {7, -12, 3});
const Points kMoving = moved(inverse(kTruth), boxes_on_ground(6000, 40, 3, 2));

IcpParams from(const std::optional<RigidTransform>& start, IcpInitial initial = IcpInitial::kCentroid) {
  return {IcpMethod::kGicp, initial, start, std::nullopt, 1e-9, 100};
}

struct Running {
  explicit Running(const Points& fixed, const Points& moving, const IcpParams& with, int threads = 2)
      : ctx(control, Device::kCpu, threads),
        icp({{fixed.data(), fixed.size()}, {}, {0, 0, 0}, 1},
            {{moving.data(), moving.size()}, {}, {0, 0, 0}, 1}, with, ctx) {
    iterate();
  }
  void iterate() {
    while (!icp.advance(20, ctx).finished) {
    }
    result = icp.result(ctx);
  }

  JobControl control;
  OpContext ctx;
  IcpRegistration icp;
  IcpResult result{};
};

TEST(IcpCheck, ARightPoseIsConfirmed) {
  Running run(kFixed, kMoving, from(kTruth));
  ASSERT_LT(apart(run.result.pose, kTruth, kMoving), 0.05);
  const IcpCheck check = run.icp.check(run.ctx);
  EXPECT_EQ(check.verdict, IcpVerdict::kConfirmed);
  EXPECT_EQ(check.found.outcome, GlobalOutcome::kFound);
  EXPECT_EQ(check.turn_rad, 0);
  EXPECT_EQ(check.shift_m, 0);
}

TEST(IcpCheck, AWrongPoseIsContradictedAndStaysUntilTheFoundOneIsTaken) {
  Running run(kFixed, kMoving, from(std::nullopt));
  const RigidTransform wrong = run.result.pose;
  ASSERT_GT(apart(wrong, kTruth, kMoving), 5);
  const IcpCheck check = run.icp.check(run.ctx);
  EXPECT_EQ(check.verdict, IcpVerdict::kContradicted);
  EXPECT_NEAR(check.turn_rad, turn_between(wrong, kTruth), 0.02);
  Vec3d middle{0, 0, 0};
  for (const Vec3d& p : kMoving) middle = middle + p * (1 / static_cast<double>(kMoving.size()));
  EXPECT_NEAR(check.shift_m, std::sqrt(squared_distance(wrong(middle), kTruth(middle))), 0.1);

  const IcpResult after = run.icp.result(run.ctx);
  EXPECT_EQ(std::memcmp(&after.pose, &wrong, sizeof wrong), 0);
  EXPECT_EQ(after.history.size(), run.result.history.size());
  EXPECT_EQ(after.final_limit_m, run.result.final_limit_m);

  run.icp.take_found(run.ctx);
  run.iterate();
  EXPECT_LT(apart(run.result.pose, kTruth, kMoving), 0.05);
  EXPECT_EQ(run.result.start, IcpStart::kGlobal);
  EXPECT_TRUE(run.result.converged);
  EXPECT_GT(run.result.history.size(), after.history.size());
  EXPECT_EQ(run.icp.check(run.ctx).verdict, IcpVerdict::kConfirmed);
}

/// Rows of posts, as many points on each; alike = all of one size.
Points posts(bool alike, std::uint64_t seed) {
  Points out;
  for (int i = 0; i < 9; ++i)
    for (int j = 0; j < (i < 3 ? 7 : 4); ++j)
      for (std::uint64_t k = 0; k < 60; ++k) {
        const std::uint64_t id = 1000 * static_cast<std::uint64_t>(20 * i + j) + k;
        const double angle = 6.2831853 * random_unit(seed, 2 * id);
        const double size = alike ? 0.2 : 0.15 + 0.02 * ((5 * i + 3 * j) % 7);
        const double high = alike ? 2 : 1 + 0.4 * ((3 * i + 2 * j) % 5), aside = alike ? 0 : 0.2 * (i % 3);
        out.push_back({3.0 * i + size * std::cos(angle), 3.0 * j + aside + size * std::sin(angle),
                       high * random_unit(seed, 2 * id + 1)});
      }
  return out;
}

TEST(IcpCheck, APoseBesideTheRightOneIsContradicted) {
  for (const bool alike : {false, true}) {
    const Points moving = posts(alike, 2);
    Running run(posts(alike, 1), moving, from(turned({0, 0, 0}, {3, 0, 0})));
    ASSERT_GT(apart(run.result.pose, RigidTransform{}, moving), 2);
    const IcpCheck check = run.icp.check(run.ctx);
    EXPECT_EQ(check.verdict, IcpVerdict::kContradicted);
    EXPECT_EQ(check.found.outcome, alike ? GlobalOutcome::kAmbiguous : GlobalOutcome::kFound);
    const IcpResult after = run.icp.result(run.ctx);
    EXPECT_EQ(after.final_limit_m, run.result.final_limit_m);
    EXPECT_EQ(after.final_rmse_m, run.result.final_rmse_m);
    if (!alike) {
      EXPECT_NEAR(check.shift_m, 3, 0.3);
    }
  }
}

TEST(IcpCheck, StripsThatOverlapInPartBelongWhereTheyWereSent) {
  // Low boxes: on the whole, the strips lie on each other as well as one ground does on another.
  Points fixed, moving;
  for (const Vec3d& p : boxes_on_ground(40'000, 200, 5, 1))
    if (p.x < 120) fixed.push_back({p.x, p.y, 0.3 * p.z});
  for (const Vec3d& p : boxes_on_ground(40'000, 200, 5, 2))
    if (p.x > 80) moving.push_back({p.x + 0.4, p.y - 0.3, 0.3 * p.z + 0.2});
  const RigidTransform truth = turned({0, 0, 0}, {-0.4, 0.3, -0.2});
  Running run(fixed, moving, from(std::nullopt));
  ASSERT_EQ(run.result.start, IcpStart::kCentroid);
  ASSERT_GT(apart(run.result.pose, truth, moving), 50);
  const IcpCheck check = run.icp.check(run.ctx);
  EXPECT_EQ(check.verdict, IcpVerdict::kContradicted);
  EXPECT_TRUE(check.is_as_placed);
  run.icp.take_found(run.ctx);
  run.iterate();
  EXPECT_LT(apart(run.result.pose, truth, moving), 0.3);
}

TEST(IcpCheck, OfASymmetricShapeNoOtherPoseIsBetter) {
  Points cube;
  for (int i = 0; i < 14; ++i)
    for (int j = 0; j < 14; ++j)
      for (const double end : {0.0, 1.3})
        for (int axis = 0; axis < 3; ++axis) {
          const double a = 0.1 * i, b = 0.1 * j;
          cube.push_back(axis == 0 ? Vec3d{end, a, b} : axis == 1 ? Vec3d{a, end, b} : Vec3d{a, b, end});
        }
  Running run(cube, cube, from(turned({0, 0, 0}, {0, 0, 0})));
  EXPECT_NE(run.icp.check(run.ctx).verdict, IcpVerdict::kContradicted);
}

TEST(IcpCheck, TheSameBitsForAnyThreadCount) {
  Running one(kFixed, kMoving, from(std::nullopt), 1), more(kFixed, kMoving, from(std::nullopt), 3);
  const IcpCheck a = one.icp.check(one.ctx), b = more.icp.check(more.ctx);
  EXPECT_EQ(a.turn_rad, b.turn_rad);
  EXPECT_EQ(a.shift_m, b.shift_m);
  EXPECT_EQ(a.found.agreement, b.found.agreement);
}

TEST(IcpCheck, NothingToRecognizeIsUndecidedAndLeavesNothingToTake) {
  Points line;
  for (int i = 0; i < 80; ++i) line.push_back({0.1 * i, 0.2 * i, 0});
  Running run(line, line, from(turned({0, 0, 0}, {0, 0, 0})));
  EXPECT_EQ(run.icp.check(run.ctx).verdict, IcpVerdict::kUndecided);
  EXPECT_THROW(run.icp.take_found(run.ctx), Error);
}

TEST(IcpCheck, TakesTheSearchOfTheStart) {
  Running run(kFixed, kMoving, from(std::nullopt, IcpInitial::kAuto));
  const IcpCheck check = run.icp.check(run.ctx);
  EXPECT_EQ(check.verdict, IcpVerdict::kConfirmed);
  EXPECT_EQ(check.found.agreement, run.result.global->agreement);
}

}  // namespace
}  // namespace pc
