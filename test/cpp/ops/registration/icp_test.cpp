#include "ops/registration/icp.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/random.h"
#include "support/cancel.h"
#include "support/rigid_scenes.h"

namespace pc {
namespace {

using test::apart;
using test::corner_of_planes;
using test::moved;
using test::Points;
using test::rough_ground;
using test::turned;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr IcpMethod kMethods[] = {IcpMethod::kPointToPoint, IcpMethod::kPointToPlane, IcpMethod::kGicp};

IcpSide side(const Points& points) { return {{points.data(), points.size()}, {}, {0, 0, 0}, 1}; }

IcpParams params(IcpMethod method = IcpMethod::kGicp) {
  return {method, IcpInitial::kCentroid, std::nullopt, std::nullopt, 1e-9, 100};
}

IcpResult registered(const IcpSide& fixed, const IcpSide& moving, const IcpParams& with, int threads = 2) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  IcpRegistration registration(fixed, moving, with, ctx);
  while (!registration.advance(20, ctx).finished) {
  }
  return registration.result(ctx);
}

IcpResult registered(const Points& fixed, const Points& moving, const IcpParams& with = params(),
                     int threads = 2) {
  return registered(side(fixed), side(moving), with, threads);
}

std::string message_of(const Points& fixed, const Points& moving, const IcpParams& with = params()) {
  try {
    registered(fixed, moving, with);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    return error.what();
  }
  return "";
}

TEST(Icp, FindsAKnownMotionWithEveryMethod) {
  const Points fixed = rough_ground(2000, 40, 1);
  const RigidTransform truth = turned({0.02, -0.03, 0.05}, {0.4, -0.3, 0.2});
  const Points moving = moved(inverse(truth), fixed);
  for (const IcpMethod method : kMethods) {
    const IcpResult found = registered(fixed, moving, params(method));
    EXPECT_LT(apart(found.pose, truth, moving), 1e-6) << static_cast<int>(method);
    EXPECT_TRUE(found.converged);
    EXPECT_EQ(found.fitness, 1);
    EXPECT_FALSE(found.kept_start);
  }
}

TEST(Icp, PointToPlaneIsExactOnPlanesSampledElsewhere) {
  // Other points of the same three planes: no point has a counterpart, but every plane does.
  const Points fixed = corner_of_planes(1800, 4, 1), seen = corner_of_planes(1800, 4, 2);
  const RigidTransform truth = turned({0.01, 0.02, -0.015}, {0.05, -0.04, 0.03});
  const Points moving = moved(inverse(truth), seen);
  IcpParams with = params(IcpMethod::kPointToPlane);
  with.start = RigidTransform{};
  const IcpResult plane = registered(fixed, moving, with);
  EXPECT_LT(apart(plane.pose, truth, moving), 2e-3);  // normals at the edges mix two planes
  with.method = IcpMethod::kPointToPoint;
  EXPECT_GT(apart(registered(fixed, moving, with).pose, truth, moving), 4 * apart(plane.pose, truth, moving));
  with.method = IcpMethod::kGicp;
  EXPECT_LT(apart(registered(fixed, moving, with).pose, truth, moving), 2e-3);
}

TEST(Icp, TheSameBitsForAnyThreadCount) {
  const Points fixed = rough_ground(3000, 50, 3), other = rough_ground(3000, 50, 4);
  const Points moving = moved(turned({0.01, 0.02, 0.03}, {0.3, 0.2, 0.1}), other);
  const IcpResult one = registered(fixed, moving, params(), 1);
  for (const int threads : {2, 5}) {
    const IcpResult more = registered(fixed, moving, params(), threads);
    EXPECT_EQ(std::memcmp(&more.pose, &one.pose, sizeof one.pose), 0) << threads;
    EXPECT_EQ(more.history.size(), one.history.size());
    EXPECT_EQ(more.rmse_m, one.rmse_m);
    EXPECT_EQ(more.conditioning.ratio, one.conditioning.ratio);
  }
}

TEST(Icp, CoordinatesOfAMapGiveTheSameMotion) {
  const Points fixed = rough_ground(2000, 40, 5);
  const Points moving = moved(turned({0, 0, 0.02}, {0.3, 0.1, 0}), rough_ground(2000, 40, 6));
  const RigidTransform far = turned({0, 0, 0}, {5e5, 5.5e6, 300});
  const IcpResult here = registered(fixed, moving), there = registered(moved(far, fixed), moved(far, moving));
  for (const Vec3d& p : moving) {
    const Vec3d a = far(here.pose(p)), b = there.pose(far(p));
    ASSERT_LT(std::sqrt(squared_distance(a, b)), 1e-6);  // coordinates are rounded to 1e-9 m
  }
}

/// Two pieces of one ground. 60 % of each is common; the rest of either has no counterpart.
std::pair<Points, Points> overlapping(std::size_t count) {
  Points fixed, moving;
  for (const Vec3d& p : rough_ground(count, 60, 7))
    if (p.x < 45) fixed.push_back(p);
  for (const Vec3d& p : rough_ground(count, 60, 8))
    if (p.x > 15) moving.push_back(p);
  return {fixed, moving};
}

TEST(Icp, APartialOverlapIsNotDraggedAway) {
  const auto [fixed, moving] = overlapping(5000);
  const RigidTransform truth = turned({0.01, -0.01, 0.03}, {0.5, -0.4, 0.3});
  const Points before = moved(inverse(truth), moving);
  for (const IcpMethod method : {IcpMethod::kPointToPlane, IcpMethod::kGicp}) {
    IcpParams with = params(method);
    with.start = RigidTransform{};
    const IcpResult found = registered(fixed, before, with);
    EXPECT_LT(apart(found.pose, truth, before), 0.05) << static_cast<int>(method);
    EXPECT_GT(found.final_fitness, 0.99 * 30 / 45);
    EXPECT_LT(found.final_fitness,
              (30 + found.final_limit_m) / 45 + 0.02);  // beyond the border, within reach
    EXPECT_LT(found.final_limit_m, found.max_correspondence_distance_m);
  }
}

TEST(Icp, BothRmseBelongToTheLimitBesideThem) {
  const auto [fixed, moving] = overlapping(2000);
  IcpParams with = params();
  with.start = RigidTransform{};
  with.max_correspondence_distance_m = 8;
  const IcpResult found = registered(fixed, moving, with);
  std::vector<double> nearest;
  for (const Vec3d& p : moved(found.pose, moving)) {
    double least = kInfinity;
    for (const Vec3d& q : fixed) least = std::min(least, squared_distance(p, q));
    nearest.push_back(least);
  }
  const auto expect_fit = [&](double limit_m, double fitness, double rmse_m) {
    double count = 0, squared = 0;
    for (const double d2 : nearest) {
      if (d2 > limit_m * limit_m) continue;
      ++count;
      squared += d2;
    }
    EXPECT_NEAR(fitness, count / static_cast<double>(moving.size()), 1e-9) << limit_m;
    EXPECT_NEAR(rmse_m, std::sqrt(squared / count), 1e-9) << limit_m;
  };
  ASSERT_LT(found.final_limit_m, 6);
  expect_fit(8, found.fitness, found.rmse_m);
  expect_fit(found.final_limit_m, found.final_fitness, found.final_rmse_m);
  EXPECT_GT(found.rmse_m, 1.2 * found.final_rmse_m);
}

TEST(Icp, APlaneOnAPlaneIsToldToSlide) {
  Points plane = rough_ground(3000, 10, 9);
  for (Vec3d& p : plane) p.z = 1e-3 * (random_unit(1, static_cast<std::uint64_t>(p.x * 1e6)) - 0.5);
  const IcpResult sheet = registered(plane, plane);
  EXPECT_LT(sheet.conditioning.ratio, 1e-3);
  EXPECT_NEAR(dot(sheet.conditioning.turn, sheet.conditioning.turn) +
                  dot(sheet.conditioning.shift, sheet.conditioning.shift),
              1, 1e-9);
  EXPECT_LT(std::abs(sheet.conditioning.shift.z), 0.05);
  EXPECT_GT(registered(corner_of_planes(1800, 4, 1), corner_of_planes(1800, 4, 1)).conditioning.ratio, 0.05);
}

TEST(Icp, StartsWhereItFitsBetter) {
  const Points fixed = rough_ground(2000, 40, 10);
  Points part;
  for (const Vec3d& p : fixed)
    if (p.x > 15) part.push_back(p);
  const RigidTransform truth = turned({0, 0, 0.01}, {0.2, 0.1, 0.1});
  EXPECT_EQ(registered(fixed, moved(inverse(truth), part)).start, IcpStart::kAsPlaced);
  const Points away = moved(turned({0, 0, 0}, {500, 0, 0}), fixed);
  const IcpResult found = registered(fixed, away);
  EXPECT_EQ(found.start, IcpStart::kCentroid);
  EXPECT_LT(apart(found.pose, turned({0, 0, 0}, {-500, 0, 0}), away), 1e-9);
}

TEST(Icp, NeverEndsWorseThanTheStartUntold) {
  // Unrelated shapes: whatever comes out must fit at least as well as the start, or be the start.
  const Points fixed = rough_ground(800, 40, 11);
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    Points moving;
    for (std::uint64_t i = 0; i < 250; ++i)
      moving.push_back({40 * random_unit(seed, 3 * i), 40 * random_unit(seed, 3 * i + 1),
                        9 * random_unit(seed, 3 * i + 2)});
    IcpParams with = params(kMethods[seed % 3]);
    with.start = turned({0, 0, 0.1 * static_cast<double>(seed)}, {0, 0, 0});
    const IcpResult found = registered(fixed, moving, with);
    const double reach = std::max(found.final_limit_m, 3 * found.spacing_m);
    EXPECT_LE(test::misfit(found.pose, moving, fixed, reach),
              1.011 * test::misfit(*with.start, moving, fixed, reach));
    if (found.kept_start) {
      EXPECT_LT(apart(found.pose, *with.start, moving), 1e-9);
    }
  }
}

TEST(Icp, AutoEndsWhereTheTruthLeads) {
  // 57 % of each side are common; the rest must neither drag the pose nor decide that the start was better.
  Points fixed, other;
  for (const Vec3d& p : test::boxes_on_ground(1500, 40, 1, 2))
    if (p.x < 28) fixed.push_back(p);
  for (const Vec3d& p : test::boxes_on_ground(1500, 40, 1, 3))
    if (p.x > 12) other.push_back(p);
  const RigidTransform truth = turned({2, -1, 0.5}, {300, -200, 100});
  const Points moving = moved(inverse(truth), other);
  IcpParams with = params();
  with.start = truth;
  const IcpResult from_truth = registered(fixed, moving, with);
  EXPECT_EQ(from_truth.start, IcpStart::kGiven);
  EXPECT_FALSE(from_truth.global);
  with.initial = IcpInitial::kAuto;
  EXPECT_NE(message_of(fixed, moving, with).find("a start leaves nothing to search for"), std::string::npos);
  with.start.reset();
  const IcpResult found = registered(fixed, moving, with);
  EXPECT_EQ(found.start, IcpStart::kGlobal);
  ASSERT_TRUE(found.global);
  EXPECT_EQ(found.global->outcome, GlobalOutcome::kFound);
  EXPECT_FALSE(found.kept_start);
  EXPECT_LT(apart(found.pose, from_truth.pose, moving), 0.01);
  EXPECT_LT(apart(found.pose, truth, moving), 0.1);
}

TEST(Icp, KeepsAStartThatTheStepsLeaveForTheWorse) {
  // Turned so far that the first steps of a linearised turn lead away.
  const Points ground = rough_ground(800, 40, 11);
  IcpParams with = params(IcpMethod::kPointToPlane);
  with.max_iterations = 2;
  with.start = turned({0.15 * 9, 0.1 * 9, 0.2 * 9}, {0, 0, 0});
  const IcpResult found = registered(ground, ground, with);
  EXPECT_TRUE(found.kept_start);
  EXPECT_FALSE(found.converged);
  EXPECT_LT(apart(found.pose, *with.start, ground), 1e-9);
}

TEST(Icp, FewIterationsReachEveryLevel) {
  const Points fixed = rough_ground(6000, 100, 12);
  const Points moving = moved(turned({0, 0, 0.01}, {0.4, 0.2, 0.1}), fixed);
  for (const std::uint32_t most : {1U, 2U, 7U, 19U, 20U, 61U}) {
    IcpParams with = params();
    with.max_iterations = most;
    const IcpResult found = registered(fixed, moving, with);
    EXPECT_LE(found.history.size(), most);
    EXPECT_GE(found.history.size(), 1U);
    if (most >= 7) {
      EXPECT_EQ(found.history.back().voxel_m, 0);
    }
  }
}

TEST(Icp, RefusesWhatCannotBeRegistered) {
  const Points good = rough_ground(100, 10, 13);
  for (std::size_t count = 0; count < IcpRegistration::kLeastPoints; ++count) {
    const Points few(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(count));
    EXPECT_NE(message_of(few, good).find("the target has " + std::to_string(count)), std::string::npos);
    EXPECT_NE(message_of(good, few).find("the source has " + std::to_string(count)), std::string::npos);
  }
  EXPECT_NE(message_of(Points(50, Vec3d{1, 2, 3}), good).find("lie at one place"), std::string::npos);
  IcpParams wrong = params();
  wrong.max_correspondence_distance_m = kInfinity;
  EXPECT_NE(message_of(good, good, wrong).find("max_correspondence_distance"), std::string::npos);
  wrong = params();
  wrong.start = turned({0, 0, 0}, {std::nan(""), 0, 0});
  EXPECT_NE(message_of(good, good, wrong).find("start"), std::string::npos);
}

TEST(Icp, HostileCloudsEndInAFiniteMotion) {
  const Points ground = rough_ground(300, 10, 14);
  std::vector<Points> clouds{ground, {}, {}, {}, {}, {}};
  for (int i = 0; i < 60; ++i) clouds[1].push_back({0.1 * i, 0.2 * i, -0.1 * i});             // a line
  for (int i = 0; i < 60; ++i) clouds[2].push_back({0.1 * (i % 8), 0.1 * (i / 8), 0});        // a plane
  for (int i = 0; i < 60; ++i) clouds[3].push_back(ground[static_cast<std::size_t>(i % 4)]);  // duplicates
  for (int i = 0; i < 4; ++i) clouds[4].push_back(ground[static_cast<std::size_t>(i)]);
  clouds[5] = ground;
  clouds[5].push_back({std::nan(""), 0, 0});
  clouds[5].push_back({0, -kInfinity, 0});
  clouds[5].push_back({0, 1e300, 0});
  for (const Points& fixed : clouds)
    for (const Points& moving : clouds)
      for (const IcpMethod method : kMethods) {
        const IcpResult found = registered(fixed, moving, params(method));
        for (const Vec3d& row : found.pose.rows) ASSERT_NEAR(dot(row, row), 1, 1e-12);
        ASSERT_TRUE(is_finite(found.pose.translation));
        ASSERT_TRUE(std::isfinite(found.rmse_m) && found.fitness >= 0 && found.fitness <= 1);
        ASSERT_TRUE(std::isfinite(found.conditioning.ratio));
      }
  EXPECT_EQ(registered(ground, clouds[5]).moving_unusable, 3U);
}

TEST(Icp, NothingWithinReachKeepsTheStart) {
  const Points ground = rough_ground(500, 10, 15);
  IcpParams with = params();
  with.start = turned({0, 0, 0}, {1000, 0, 0});
  const IcpResult found = registered(ground, ground, with);
  EXPECT_EQ(found.fitness, 0);
  EXPECT_FALSE(found.converged);
  EXPECT_EQ(found.conditioning.ratio, 0);
  EXPECT_LT(apart(found.pose, *with.start, ground), 1e-9);
}

TEST(Icp, SkippedRowsStrideAndShiftSelectThePoints) {
  const Points ground = rough_ground(2000, 30, 16);
  Points mixed;
  std::vector<std::uint8_t> skip;
  for (const Vec3d& p : ground) {
    mixed.insert(mixed.end(), {p, {9e4, 9e4, 9e4}});
    skip.insert(skip.end(), {0, 1});
  }
  const IcpSide fixed{{mixed.data(), mixed.size()}, {skip.data(), skip.size()}, {7, 0, 0}, 1};
  const IcpSide moving{{mixed.data(), mixed.size()}, {skip.data(), skip.size()}, {0, 0, 0}, 2};
  const IcpResult found = registered(fixed, moving, params());
  EXPECT_EQ(found.fixed_count, 2000U);
  EXPECT_EQ(found.moving_count, 1000U);
  EXPECT_LT(apart(found.pose, turned({0, 0, 0}, {7, 0, 0}), ground), 0.01);
}

TEST(Icp, CancelTakesEffectWithin250Ms) {
  const Points fixed = rough_ground(200'000, 200, 17);
  for (const int wait_ms : {5, 60, 200}) {
    test::expect_cancel_after(std::chrono::milliseconds(wait_ms), [&](OpContext& ctx) {
      IcpRegistration registration(side(fixed), side(fixed), params(), ctx);
      for (;;) {
        registration.advance(20, ctx);
        registration.result(ctx);
      }
    });
  }
}

}  // namespace
}  // namespace pc
