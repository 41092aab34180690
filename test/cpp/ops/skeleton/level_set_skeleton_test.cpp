#include "ops/skeleton/level_set_skeleton.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numbers>
#include <random>

#include "support/cancel.h"
#include "support/columns.h"
#include "support/nasty_clouds.h"
#include "support/skeleton_checks.h"

namespace {

using namespace pc;
using pc::test::skeleton_params;
using pc::test::span_of;
using pc::test::tree_fault;

constexpr double kTurn = 2 * std::numbers::pi;

/// Points on a cylinder, `spacing` apart; those at azimuths above `seen` turns are hidden. On multiples of 2^-20 m.
void add_cylinder(std::vector<Vec3d>& out, const Vec3d& from, const Vec3d& to, double radius, double spacing,
                  double seen = 1) {
  const Vec3d step = to - from;
  const double length = std::sqrt(dot(step, step));
  const Vec3d w = step * (1 / length);
  const Vec3d side = std::fabs(w.z) < 0.9 ? Vec3d{0, 0, 1} : Vec3d{1, 0, 0};
  Vec3d u = cross(w, side);
  u = u * (1 / std::sqrt(dot(u, u)));
  const Vec3d v = cross(w, u);
  const int rows = static_cast<int>(length / spacing), around = static_cast<int>(kTurn * radius / spacing);
  const auto snapped = [](double x) { return std::round(x * 0x1p20) / 0x1p20; };
  for (int i = 0; i <= rows; ++i) {
    for (int k = 0; k < around; ++k) {
      const double turn = (k + 0.5 * (i % 2)) / around;
      if (turn >= seen) continue;
      const double angle = kTurn * turn;
      const Vec3d p =
          from + w * (i * length / rows) + u * (radius * std::cos(angle)) + v * (radius * std::sin(angle));
      out.push_back({snapped(p.x), snapped(p.y), snapped(p.z)});
    }
  }
}

/// A stem of 2 m with two branches of 1 m.
std::vector<Vec3d> fork(double seen = 1) {
  std::vector<Vec3d> points;
  add_cylinder(points, {0, 0, 0}, {0, 0, 2}, 0.1, 0.015, seen);
  add_cylinder(points, {0.05, 0, 2}, {0.8, 0, 2.7}, 0.05, 0.015, seen);
  add_cylinder(points, {-0.05, 0, 2}, {-0.8, 0, 2.7}, 0.05, 0.015, seen);
  return points;
}

Skeleton extract(const std::vector<Vec3d>& points, const SkeletonParams& params = skeleton_params(),
                 int threads = 2) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return level_set_skeleton(span_of(points), {}, params, ctx);
}

void expect_equal(const Skeleton& a, const Skeleton& b, const Vec3d& moved = {0, 0, 0}) {
  ASSERT_EQ(a.failure, b.failure);
  ASSERT_EQ(a.points.size(), b.points.size());
  EXPECT_EQ(a.edges, b.edges);
  EXPECT_EQ(a.branch_orders, b.branch_orders);
  EXPECT_EQ(a.total_length_m, b.total_length_m);
  for (std::size_t i = 0; i < a.points.size(); ++i) EXPECT_EQ(a.points[i] + moved, b.points[i]);
  ASSERT_EQ(a.blocks.size(), b.blocks.size());
  for (std::size_t i = 0; i < a.blocks.size(); ++i) {
    EXPECT_EQ(a.blocks[i].center + moved, b.blocks[i].center);
    EXPECT_EQ(a.blocks[i].num_points, b.blocks[i].num_points);
    EXPECT_EQ(a.blocks[i].parent, b.blocks[i].parent);
    EXPECT_EQ(a.blocks[i].children, b.blocks[i].children);
  }
}

TEST(LevelSetSkeleton, AForkHasOneForkAndThreeEnds) {
  const Skeleton s = extract(fork());
  ASSERT_EQ(tree_fault(s), "");
  EXPECT_EQ(s.failure, SkeletonFailure::kNone);
  std::vector<int> degree(s.points.size());
  for (const auto& [from, to] : s.edges) ++degree[from], ++degree[to];
  EXPECT_EQ(std::count(degree.begin(), degree.end(), 1), 3);
  EXPECT_EQ(std::count(degree.begin(), degree.end(), 3), 1);
  EXPECT_EQ(*std::max_element(s.branch_orders.begin(), s.branch_orders.end()), 2U);
  EXPECT_NEAR(s.total_length_m, 2 + 2 * std::hypot(0.75, 0.7), 0.15);
}

/// Largest distance of the nodes of the stem below the fork from its axis.
double off_axis(const Skeleton& s) {
  double most = 0;
  for (const Vec3d& p : s.points)
    if (p.z < 1.8) most = std::max(most, std::hypot(p.x, p.y));
  return most;
}

TEST(LevelSetSkeleton, RecenterFindsTheAxisOfAStemSeenFromOneSide) {
  SkeletonParams params = skeleton_params();
  params.remove_outliers = false;
  const Skeleton on = extract(fork(0.45), params);
  params.recenter = false;
  const Skeleton off = extract(fork(0.45), params);
  ASSERT_EQ(tree_fault(on), "");
  EXPECT_LT(off_axis(on), 0.005);
  EXPECT_GT(off_axis(off), 0.05);  // the centroid of an arc of 162 degrees
  ASSERT_EQ(on.blocks.size(), off.blocks.size());
  for (std::size_t b = 0; b < on.blocks.size(); ++b) EXPECT_EQ(on.blocks[b].center, off.blocks[b].center);
}

TEST(LevelSetSkeleton, EndsReachTheTips) {
  SkeletonParams params = skeleton_params();
  params.remove_outliers = false;
  const Skeleton s = extract(fork(), params);
  for (const double side : {-1.0, 1.0}) {
    double nearest = HUGE_VAL;
    for (const Vec3d& p : s.points)
      nearest = std::min(nearest, std::sqrt(squared_distance(p, {side * 0.8, 0, 2.7})));
    EXPECT_LT(nearest, 0.05) << side;  // 5 % of the branch, or 2 cm
  }
  EXPECT_NEAR(s.points[0].z, 0, 0.02);
}

TEST(LevelSetSkeleton, TheOrderOfThePointsAndThreadsChangeNothing) {
  std::vector<Vec3d> points = fork(0.8);
  const std::vector<Vec3d> twice(points.begin(), points.begin() + 500);
  points.insert(points.end(), twice.begin(), twice.end());
  const Skeleton straight = extract(points, skeleton_params(), 1);
  ASSERT_EQ(straight.failure, SkeletonFailure::kNone);
  std::mt19937_64 random(3);
  for (int threads = 1; threads <= 3; ++threads) {
    std::shuffle(points.begin(), points.end(), random);
    expect_equal(straight, extract(points, skeleton_params(), threads));
  }
}

TEST(LevelSetSkeleton, FarFromTheOriginNothingChanges) {
  const std::vector<Vec3d> points = fork();
  const Vec3d far{5e6, -4e6, 2048};
  std::vector<Vec3d> moved;
  for (const Vec3d& p : points) moved.push_back(p + far);
  const Skeleton here = extract(points), there = extract(moved);
  ASSERT_EQ(here.points.size(), there.points.size());
  EXPECT_EQ(here.edges, there.edges);
  for (std::size_t i = 0; i < here.points.size(); ++i)  // a place at 5e6 m has steps of 1e-9 m
    EXPECT_LT(std::sqrt(squared_distance(here.points[i] + far, there.points[i])), 2e-9);
}

TEST(LevelSetSkeleton, UnreachedPointsAreDroppedAndCounted) {
  std::vector<Vec3d> points = fork();
  const std::size_t tree = points.size();
  add_cylinder(points, {5, 5, 1}, {5, 5, 1.5}, 0.1, 0.015);
  SkeletonParams params = skeleton_params();
  params.remove_outliers = false;
  const Skeleton s = extract(points, params);
  ASSERT_EQ(tree_fault(s), "");
  EXPECT_EQ(s.reached, tree);
  for (const Vec3d& p : s.points) EXPECT_LT(std::fabs(p.x), 1);
}

TEST(LevelSetSkeleton, PiecesOfTheBaseAreJoined) {
  std::vector<Vec3d> points;
  add_cylinder(points, {0, 0, 0}, {0, 0, 2}, 0.1, 0.015);
  add_cylinder(points, {1, 0, 0}, {1, 0, 1.5}, 0.05, 0.015);
  const Skeleton s = extract(points);
  ASSERT_EQ(tree_fault(s), "");
  EXPECT_EQ(s.joined_roots, 1U);
  EXPECT_NEAR(s.total_length_m, 2 + 1.5 + 1, 0.2);
}

TEST(LevelSetSkeleton, FailuresSayWhy) {
  std::vector<Vec3d> points = fork();
  EXPECT_EQ(extract({points.begin(), points.begin() + 49}).failure, SkeletonFailure::kFewPoints);
  SkeletonParams params = skeleton_params();
  params.outlier_std_ratio = -100;
  EXPECT_EQ(extract(points, params).failure, SkeletonFailure::kFewAfterOutliers);
  params = skeleton_params();
  params.root_threshold_m = 0;
  EXPECT_EQ(extract(points, params).failure, SkeletonFailure::kNoRoots);
  params = skeleton_params();
  params.search_radius_m = 0.002;
  EXPECT_EQ(extract(points, params).failure, SkeletonFailure::kUnreached);
  params = skeleton_params();
  params.threshold_filter = 1'000'000;
  EXPECT_EQ(extract(points, params).failure, SkeletonFailure::kNoBlocks);
  EXPECT_EQ(extract(std::vector<Vec3d>(100, Vec3d{1, 2, 3})).failure, SkeletonFailure::kFewBlocks);
  EXPECT_EQ(extract({}).failure, SkeletonFailure::kFewPoints);
  params.max_neighbors = 0;
  EXPECT_THROW(extract(points, params), Error);
}

TEST(LevelSetSkeleton, AnAutomaticRadiusIsTwoAndAHalfSpacings) {
  std::vector<Vec3d> points;
  for (int i = 0; i < 400; ++i) points.push_back({0, 0, 0.25 * i});
  SkeletonParams params = skeleton_params();
  params.search_radius_m = std::nullopt;
  params.threshold_filter = 1;
  const Skeleton s = extract(points, params);
  EXPECT_NEAR(s.search_radius_m, 0.625, 1e-12);
  EXPECT_EQ(tree_fault(s), "");
}

TEST(LevelSetSkeleton, NastyCloudsHaveATreeOrAReason) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    const std::vector<Vec3d> cloud = nasty_clouds::cloud(seed, 300);
    SkeletonParams params = skeleton_params();
    if (seed % 2 == 0) params.search_radius_m = std::nullopt;
    params.threshold_filter = seed % 3 == 0 ? 1 : 5;
    params.quantization_levels = 2 + static_cast<std::uint32_t>(seed % 7);
    params.max_neighbors = 1 + static_cast<std::uint32_t>(seed % 23);
    params.remove_outliers = seed % 5 != 0;
    params.root_threshold_m = seed % 2 == 0 ? 0.02 : 1e6;
    const Skeleton s = extract(cloud, params);
    EXPECT_EQ(tree_fault(s), "") << seed;
    found += s.failure == SkeletonFailure::kNone ? 1 : 0;
  }
  EXPECT_GT(found, 50);
}

TEST(LevelSetSkeleton, IsCanceledInEveryPhase) {
  std::vector<Vec3d> points;
  for (std::uint64_t i = 0; i < 120'000; ++i)
    points.push_back({random_unit(1, 3 * i), random_unit(1, 3 * i + 1), random_unit(1, 3 * i + 2)});
  SkeletonParams params = skeleton_params();
  params.threshold_filter = 1;
  params.quantization_levels = 1000;
  for (const char* phase : {"Sorting points", "Linking points", "Measuring paths"})
    test::expect_cancel_in_phase(
        phase, [&](OpContext& ctx) { level_set_skeleton(span_of(points), {}, params, ctx); });
}

}  // namespace
