#include "ops/registration/surface_agreement.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "core/random.h"
#include "support/rigid_scenes.h"

namespace pc {
namespace {

using test::Points;
using test::turned;

constexpr double kSide = 40;

SurfaceAgreement agreement_of(const Points& fixed, const Points& moving, const RigidTransform& pose,
                              int threads = 2) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  const IcpScale scale{0, icp_level({fixed.data(), fixed.size()}, ctx),
                       icp_level({moving.data(), moving.size()}, ctx)};
  return surface_agreement(scale, pose, ctx);
}

/// About the middle of the scene.
RigidTransform about_middle(const Vec3d& turn, const Vec3d& shift = {0, 0, 0}) {
  const Vec3d middle{kSide / 2, kSide / 2, 0};
  RigidTransform motion = rotation(turn);
  motion.translation = middle - motion.rotate(middle) + shift;
  return motion;
}

TEST(SurfaceAgreement, TellsTheRightPoseFromWrongOnes) {
  // Other points of the same boxes on the same ground.
  const Points fixed = test::boxes_on_ground(30'000, kSide, 1, 2),
               moving = test::boxes_on_ground(30'000, kSide, 1, 3);
  const SurfaceAgreement right = agreement_of(fixed, moving, {});
  EXPECT_GT(right.agreement, 0.7);  // edges of boxes are rounded by their neighbours
  EXPECT_GT(right.covered, 0.6);
  EXPECT_GT(right.place_count, 1000U);
  // On the ground all of these are right.
  for (const double turn : {0.35, 1.0, 1.5707963, 3.1415927}) {
    const SurfaceAgreement wrong = agreement_of(fixed, moving, about_middle({0, 0, turn}));
    EXPECT_LT(wrong.agreement, 0.5) << turn;
  }
  EXPECT_LT(agreement_of(fixed, moving, about_middle({0, 0, 0}, {2.5, 1, 0})).agreement, 0.6);
  EXPECT_LT(agreement_of(fixed, moving, about_middle({0.1, 0, 0})).agreement, 0.5);
}

TEST(SurfaceAgreement, WhatOneSideAloneHasDoesNotCount) {
  Points fixed, moving;
  for (const Vec3d& p : test::boxes_on_ground(30'000, kSide, 1, 2))
    if (p.x < 24) fixed.push_back(p);
  for (const Vec3d& p : test::boxes_on_ground(30'000, kSide, 1, 3))
    if (p.x > 14) moving.push_back(p);
  const SurfaceAgreement right = agreement_of(fixed, moving, {});
  EXPECT_GT(right.agreement, 0.85);
  EXPECT_NEAR(right.covered, 10.0 / 26, 0.15);
  EXPECT_LT(agreement_of(fixed, moving, about_middle({0, 0, 0.5})).agreement, 0.6);
}

TEST(SurfaceAgreement, LeavesAndLinesSayNothing) {
  Points leaves, line;
  for (std::uint64_t i = 0; i < 4000; ++i)
    leaves.push_back({random_unit(1, 3 * i), random_unit(1, 3 * i + 1), random_unit(1, 3 * i + 2)});
  for (int i = 0; i < 500; ++i) line.push_back({0.1 * i, 0.2 * i, 0.3 * i});
  EXPECT_LT(agreement_of(leaves, leaves, {}).place_count, 200U);
  EXPECT_EQ(agreement_of(line, line, {}).place_count, 0U);
  for (const Points& few :
       {Points(4, Vec3d{1, 2, 3}), Points(100, Vec3d{1, 2, 3}), Points{{0, 0, 0}, {1, 0, 0}}}) {
    const SurfaceAgreement none = agreement_of(few, leaves, {});
    EXPECT_EQ(none.place_count, 0U);
    EXPECT_EQ(none.agreement, 0);
    EXPECT_EQ(none.covered, 0);
  }
  EXPECT_EQ(agreement_of(leaves, leaves, turned({0, 0, 0}, {50, 0, 0})).place_count, 0U);
}

TEST(SurfaceAgreement, TheSameBitsForAnyThreadCount) {
  const Points fixed = test::boxes_on_ground(8000, kSide, 1, 2),
               moving = test::boxes_on_ground(8000, kSide, 1, 3);
  const RigidTransform pose = about_middle({0, 0, 0.02}, {0.3, 0, 0});
  const SurfaceAgreement one = agreement_of(fixed, moving, pose, 1),
                         more = agreement_of(fixed, moving, pose, 5);
  EXPECT_EQ(one.agreement, more.agreement);
  EXPECT_EQ(one.covered, more.covered);
  EXPECT_EQ(one.place_count, more.place_count);
}

}  // namespace
}  // namespace pc
