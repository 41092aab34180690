#include "ops/qsm/build_qsm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "core/error.h"
#include "ops/qsm/axis_termination.h"
#include "ops/qsm/shoot_tree.h"
#include "ops/qsm/taper_correction.h"
#include "support/nasty_clouds.h"
#include "support/tubes.h"

namespace pc {
namespace {

constexpr double kPi = 3.14159265358979323846;

using test::Tube;
using test::volume_of;

/// Random points of its surface with 1 mm of noise.
void add_tube(std::vector<Vec3d>& out, const Tube& tube, double spacing, std::uint64_t seed) {
  const double area = 2 * kPi * tube.radius * std::sqrt(squared_distance(tube.from, tube.to));
  test::add_tube(out, tube, static_cast<std::size_t>(area / (spacing * spacing)) + 40, 0.001, seed);
}

/// The same evenly, without noise.
void add_even_tube(std::vector<Vec3d>& out, const Tube& tube, int count) {
  const test::TubeFrame frame(tube);
  for (int i = 0; i < count; ++i) {
    const double angle = 2 * kPi * std::fmod((i + 0.5) * 0.7548776662, 1);
    out.push_back(tube.from + frame.edge * std::fmod((i + 0.5) * 0.5698402909, 1) +
                  frame.across(angle) * tube.radius);
  }
}

/// A stem of 3 m that thins, and branches of two sizes.
std::vector<Tube> tree_tubes() {
  std::vector<Tube> tubes;
  for (int i = 0; i < 6; ++i) tubes.push_back({{0, 0, 0.5 * i}, {0, 0, 0.5 * (i + 1)}, 0.09 - 0.012 * i});
  for (int i = 0; i < 8; ++i) {
    const double turn = 2.4 * i, z = 1 + 0.22 * i;
    const Vec3d base{0.06 * std::cos(turn), 0.06 * std::sin(turn), z};
    tubes.push_back(
        {base, base + Vec3d{0.8 * std::cos(turn), 0.8 * std::sin(turn), 0.5}, i % 2 == 0 ? 0.025 : 0.012});
  }
  return tubes;
}

std::vector<Vec3d> tree_points() {
  std::vector<Vec3d> points;
  std::uint64_t seed = 0;
  for (const Tube& tube : tree_tubes()) add_tube(points, tube, 0.008, ++seed);
  return points;
}

QsmBuildParams params_of(RadiusModel model) { return {0.008, true, 0.75, 1, 0, 0, model}; }

QsmBuildResult build(const std::vector<Vec3d>& points, RadiusModel model, int threads = 1) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return build_qsm(HitPoints::assume_hits({points.data(), points.size()}), params_of(model), ctx);
}

/// Everything that a reader of the records relies on.
void expect_sound(const QsmBuildResult& built) {
  const Qsm& qsm = built.qsm;
  std::set<std::int64_t> listed;
  for (const QsmShoot& shoot : qsm.shoots) {
    ASSERT_FALSE(shoot.cylinder_ids.empty());
    for (const std::int64_t id : shoot.cylinder_ids) {
      ASSERT_TRUE(listed.insert(id).second);
      const QsmCylinder& c = qsm.cylinders.at(static_cast<std::size_t>(id));
      EXPECT_EQ(c.shoot_id, shoot.shoot_id);
      EXPECT_EQ(c.rank, shoot.rank);
    }
    EXPECT_EQ(shoot.parent_cyl_id, qsm.cylinders[static_cast<std::size_t>(shoot.cylinder_ids[0])].parent_id);
    if (shoot.parent_shoot_id >= 0) {
      EXPECT_LT(shoot.parent_shoot_id, shoot.shoot_id);
    }
  }
  EXPECT_EQ(listed.size(), qsm.cylinders.size());
  for (std::size_t i = 0; i < qsm.cylinders.size(); ++i) {
    const QsmCylinder& c = qsm.cylinders[i];
    EXPECT_EQ(c.cyl_id, static_cast<std::int64_t>(i));
    EXPECT_LT(c.parent_id, c.cyl_id);
    EXPECT_TRUE(is_finite(c.start) && is_finite(c.end));
    EXPECT_GE(c.radius, 0.001);
    EXPECT_TRUE(c.radius_se > 0 && std::isfinite(c.radius_se));
    if (c.parent_id < 0) continue;
    EXPECT_LE(c.radius, qsm.cylinders[static_cast<std::size_t>(c.parent_id)].radius + 1e-12);
  }
  EXPECT_LE(built.total.low, built.total.high);
}

/// Mean and extremes of a model's radii between two heights, by length, over the axis of rank 0.
struct StemRadii {
  double mean = 0, least = 1e9, most = 0;
};

StemRadii stem_between(const Qsm& qsm, double low, double high) {
  StemRadii out;
  double length = 0;
  for (const QsmCylinder& c : qsm.cylinders) {
    const double z = (c.start.z + c.end.z) / 2;
    if (c.rank != 0 || z < low || z > high) continue;
    out.mean += c.radius * c.length_m();
    length += c.length_m();
    out.least = std::min(out.least, c.radius);
    out.most = std::max(out.most, c.radius);
  }
  out.mean = length > 0 ? out.mean / length : 0;
  return out;
}

class BuildQsm : public testing::TestWithParam<RadiusModel> {};

/// A stem of 0.1 m radius and 3 m, at random places of its surface.
TEST_P(BuildQsm, ACleanStemHasItsRadiusHoweverDenseItsPoints) {
  for (const std::size_t count : {1000U, 4000U, 20'000U, 80'000U}) {
    for (const std::uint64_t seed : {1U, 2U}) {
      std::vector<Vec3d> points;
      add_tube(points, {{0, 0, 0}, {0, 0, 3}, 0.1}, std::sqrt(2 * kPi * 0.1 * 3 / count), seed);
      const QsmBuildResult built = build(points, GetParam());
      expect_sound(built);
      const StemRadii stem = stem_between(built.qsm, 0.2, 2.8);
      EXPECT_NEAR(stem.mean, 0.1, 0.005) << count << " points, seed " << seed;
      EXPECT_GT(stem.least, 0.09) << count;
      EXPECT_LT(stem.most, 0.11) << count;
      EXPECT_LT(built.qsm.cylinders.size(), 800U) << count;
    }
  }
}

/// The branches have more than three times as many points on each square metre as the stem.
TEST_P(BuildQsm, AStemOfFewerPointsThanItsBranchesHasItsRadius) {
  for (const std::size_t count : {4000U, 20'000U}) {
    std::vector<Vec3d> points;
    add_tube(points, {{0, 0, 0}, {0, 0, 3}, 0.1}, std::sqrt(2 * kPi * 0.1 * 3 / (count / 2)), 1);
    for (const double side : {1.0, -1.0})
      add_tube(points, {{0, 0, 2}, {side, 0, 2.5}, 0.04},
               std::sqrt(2 * kPi * 0.04 * std::hypot(1, 0.5) / (count / 4)), side > 0 ? 2 : 3);
    const QsmBuildResult built = build(points, GetParam());
    expect_sound(built);
    const StemRadii stem = stem_between(built.qsm, 0.3, 1.5);
    EXPECT_NEAR(stem.mean, 0.1, 0.01) << count << " points";
    EXPECT_GT(stem.least, 0.085) << count;
    const double truth = kPi * (0.1 * 0.1 * 3 + 2 * 0.04 * 0.04 * std::hypot(1, 0.5));
    if (GetParam() == RadiusModel::kTapered) {
      EXPECT_NEAR(volume_of(built.qsm) / truth, 1, 0.15) << count;
    }
  }
}

TEST_P(BuildQsm, VolumeAndLengthOfATree) {
  const QsmBuildResult built = build(tree_points(), GetParam());
  expect_sound(built);
  const double truth = volume_of(tree_tubes()), found = volume_of(built.qsm);
  EXPECT_NEAR(found / truth, 1, GetParam() == RadiusModel::kTapered ? 0.10 : 0.15);
  EXPECT_LE(built.total.low, truth);
  EXPECT_GE(built.total.high, truth);
  double length = 0;
  for (const QsmCylinder& c : built.qsm.cylinders) length += c.length_m();
  // Bins of 6 spacings follow the surface of a dense cloud: the axes of the isotonic model zigzag.
  const double tolerance = GetParam() == RadiusModel::kTapered ? 0.10 : 0.20;
  EXPECT_NEAR(length / (3 + 8 * std::hypot(0.8, 0.5)), 1, tolerance);
}

TEST_P(BuildQsm, ThreadsAndTheOrderOfPointsChangeNothing) {
  auto points = tree_points();
  const QsmBuildResult a = build(points, GetParam());
  std::shuffle(points.begin(), points.end(), std::mt19937_64(9));
  const QsmBuildResult b = build(points, GetParam(), 3);
  ASSERT_EQ(a.qsm.cylinders.size(), b.qsm.cylinders.size());
  for (std::size_t i = 0; i < a.qsm.cylinders.size(); ++i) {
    EXPECT_EQ(a.qsm.cylinders[i].radius, b.qsm.cylinders[i].radius);
    EXPECT_EQ(a.qsm.cylinders[i].start, b.qsm.cylinders[i].start);
    EXPECT_EQ(a.qsm.cylinders[i].parent_id, b.qsm.cylinders[i].parent_id);
  }
  EXPECT_EQ(a.total.low, b.total.low);
  EXPECT_EQ(a.branches.high, b.branches.high);
}

TEST_P(BuildQsm, AnOffsetOfTheWorldChangesNothingThatMatters) {
  auto points = tree_points();
  const double near = volume_of(build(points, GetParam()).qsm);
  for (Vec3d& p : points) p = p + Vec3d{5e6, -5e6, 1000};
  EXPECT_NEAR(volume_of(build(points, GetParam()).qsm) / near, 1, 0.02);
}

TEST_P(BuildQsm, StrangeCloudsGiveASoundModelOrNone) {
  for (std::uint64_t seed = 0; seed < 25; ++seed)
    expect_sound(build(nasty_clouds::cloud(seed, 300), GetParam()));
  EXPECT_TRUE(build({}, GetParam()).qsm.cylinders.empty());
  std::vector<Vec3d> line;
  for (int i = 0; i < 500; ++i) line.push_back({0, 0, 0.01 * i});
  expect_sound(build(line, GetParam()));
}

TEST_P(BuildQsm, LostPointsAreToldOf) {
  auto points = tree_points();
  EXPECT_TRUE(build(points, GetParam()).warnings.empty());
  for (int i = 0; i < 1500; ++i) points.push_back({30 + 0.01 * (i % 20), 0.01 * (i / 20), 5});
  const QsmBuildResult built = build(points, GetParam());
  EXPECT_EQ(built.reached_count + 1500, built.points_used);
  EXPECT_EQ(built.warnings.size(), 1U);
}

bool warns(const QsmBuildResult& built, const std::string& text) {
  return std::any_of(built.warnings.begin(), built.warnings.end(),
                     [&](const std::string& one) { return one.find(text) != std::string::npos; });
}

TEST_P(BuildQsm, PointsThatScatterAreToldAndWidenTheInterval) {
  auto points = tree_points();
  const QsmBuildResult clean = build(points, GetParam());
  EXPECT_TRUE(clean.radii_known);
  EXPECT_FALSE(warns(clean, "points scatter"));
  std::mt19937_64 random(4);
  std::normal_distribution<double> noise(0, 0.012);
  for (Vec3d& p : points) p = p + Vec3d{noise(random), noise(random), noise(random)};
  const QsmBuildResult built = build(points, GetParam());
  EXPECT_TRUE(warns(built, "points scatter 1"));  // 10 to 19 mm
  EXPECT_GT(std::log(built.total.high / built.total.low), std::log(clean.total.high / clean.total.low) + 0.1);
  const double truth = volume_of(tree_tubes());
  EXPECT_LE(built.total.low, truth);
  EXPECT_GE(built.total.high, truth);
}

TEST_P(BuildQsm, GuessedRadiiAreTold) {
  std::vector<Vec3d> line;
  for (int i = 0; i < 500; ++i) line.push_back({0, 0, 0.01 * i});
  const QsmBuildResult built = build(line, GetParam());
  EXPECT_FALSE(built.radii_known);
  EXPECT_TRUE(warns(built, "no radius could be measured well"));
}

TEST(BuildQsmIsotonic, LostWoodIsToldAndWithinTheInterval) {
  // All from one side: the stem from -y, the branches from below.
  std::vector<Vec3d> points;
  for (const Vec3d& p : tree_points())
    if (p.y < 0 && std::hypot(p.x, p.y) < 0.12) points.push_back(p);
  const std::vector<Tube> tubes = tree_tubes();
  for (std::size_t i = 6; i < tubes.size(); ++i) {
    std::vector<Vec3d> branch;
    add_tube(branch, tubes[i], 0.008, i);
    const Vec3d along = tubes[i].to - tubes[i].from;
    for (const Vec3d& p : branch) {
      const Vec3d off = p - tubes[i].from;
      if (off.z < along.z * dot(off, along) / dot(along, along)) points.push_back(p);
    }
  }
  const double truth = volume_of(tree_tubes());
  const QsmBuildResult built = build(points, RadiusModel::kIsotonic);
  EXPECT_TRUE(warns(built, "radius_model isotonic gives"));
  EXPECT_LT(volume_of(built.qsm), 0.9 * truth);
  EXPECT_LE(built.total.low, truth);
  EXPECT_GE(built.total.high, truth);
  EXPECT_FALSE(warns(build(points, RadiusModel::kTapered), "radius_model"));
}

INSTANTIATE_TEST_SUITE_P(Models, BuildQsm, testing::Values(RadiusModel::kIsotonic, RadiusModel::kTapered));

/// A short piece at a fork that looks thin does not make what is seen all around above it thin, whatever the size of the tree.
TEST(BuildQsmTapered, AStemKeepsItsRadiusAboveItsForks) {
  for (const double size : {1.0, 1.02, 1.1, 1.3}) {
    std::vector<Vec3d> points;
    const std::vector<Tube> tubes{{{0, 0, 0}, {0, 0, 3}, 0.08},
                                  {{0, 0, 1.5}, {1, 0, 2.3}, 0.03},
                                  {{0, 0, 2}, {-0.4, 0.25, 2.4}, 0.025}};
    for (std::size_t i = 0; i < tubes.size(); ++i) add_even_tube(points, tubes[i], i == 0 ? 6000 : 2000);
    for (Vec3d& p : points) p = p * size;
    const QsmBuildResult built = build(points, RadiusModel::kTapered);
    EXPECT_NEAR(volume_of(built.qsm) / volume_of(tubes) / std::pow(size, 3), 1, 0.08) << size;
  }
}

TEST(BuildQsmTapered, AStemSeenFromOneSideHasItsVolume) {
  double off = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> unit;
    std::normal_distribution<double> normal;
    std::vector<Vec3d> points;
    for (int i = 0; i < 900; ++i) {
      const double z = 6 * unit(random), turn = (unit(random) - 0.5) * 140 * kPi / 180;
      const double r = 0.05 - 0.004 * z + 0.004 * normal(random);
      points.push_back({r * std::cos(turn), r * std::sin(turn), z});
    }
    const double truth = kPi * 6 * (0.05 * 0.05 + 0.05 * 0.026 + 0.026 * 0.026) / 3;
    const QsmBuildResult built = build(points, RadiusModel::kTapered);
    const double found = volume_of(built.qsm);
    off += std::abs(found / truth - 1) / 6;
    EXPECT_LE(built.total.low, truth);
    EXPECT_GE(built.total.high, truth);
  }
  EXPECT_LT(off, 0.12);
}

TEST(BuildQsmTapered, WhatLiesBesideTheModelIsToldAndWithinTheInterval) {
  std::vector<Vec3d> points = tree_points();
  const QsmBuildResult whole = build(points, RadiusModel::kTapered);
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> unit(-1, 1);
  const auto beside = points.size() / 10;
  for (std::size_t i = 0; i < beside; ++i)  // a crown of single points, far from the rest
    points.push_back({2 * unit(random), 2 * unit(random), 8 + 2 * unit(random)});
  const QsmBuildResult built = build(points, RadiusModel::kTapered);
  EXPECT_TRUE(warns(built, "lie on no part of the model")) << built.warnings.size();
  EXPECT_NEAR(volume_of(built.qsm), volume_of(whole.qsm), 0.05 * volume_of(whole.qsm));
  EXPECT_GT(built.total.high, whole.total.high);
}

TEST(BuildQsmParams, OutOfRangeIsRefused) {
  JobControl control;
  OpContext ctx(control);
  for (const QsmBuildParams& p : {QsmBuildParams{0, true, 0.75, 1, 0, 0, RadiusModel::kIsotonic},
                                  QsmBuildParams{0.004, true, 1.5, 1, 0, 0, RadiusModel::kIsotonic},
                                  QsmBuildParams{0.004, true, 0.75, -1, 0, 0, RadiusModel::kTapered}})
    EXPECT_THROW(build_qsm(HitPoints::assume_hits({}), p, ctx), Error);
}

TEST(NonIncreasing, IsTheLeastSquaresAnswer) {
  std::vector<double> values{5, 3, 4, 1, 2, 2};
  non_increasing(values, {1, 1, 3, 1, 1, 1});
  const std::vector<double> expected{5, 3.75, 3.75, 5.0 / 3, 5.0 / 3, 5.0 / 3};
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], expected[i], 1e-12);
}

/// A stem of two cylinders and two children at its end.
std::vector<QsmCylinder> fork(double r1, double r2, double length1, double length2, const Vec3d& lean) {
  std::vector<QsmCylinder> out;
  out.push_back({0, {0, 0, 0}, {0, 0, 1}, 0.10, -1, 0, 0});
  out.push_back({1, {0, 0, 1}, {0, 0, 2}, 0.10, 0, 0, 0});
  out.push_back({2, {0, 0, 2}, Vec3d{0, 0, 2} + Vec3d{-lean.x, lean.y, lean.z} * length1, r1, 1, 0, 0});
  out.push_back({3, {0, 0, 2}, Vec3d{0, 0, 2} + lean * length2, r2, 1, 1, 1});
  return out;
}

TEST(AxisTermination, EndsAtForksOfEqualsAndWhereEverythingBendsAway) {
  const auto ranks = [](std::vector<QsmCylinder> c, double symmetry) {
    axis_termination(c, symmetry);
    collect_shoots(c);
    return std::pair(c[2].rank, c[3].rank);
  };
  const Vec3d up{0.3, 0, 0.954}, away{0.95, 0, 0.312};
  EXPECT_EQ(ranks(fork(0.06, 0.055, 2, 1.8, up), 0.75), std::pair(1, 1));
  EXPECT_EQ(ranks(fork(0.06, 0.055, 2, 1.8, up), 0.95), std::pair(0, 1));
  EXPECT_EQ(ranks(fork(0.06, 0.055, 2, 0.5, up), 0.75), std::pair(0, 1));   // a short stub
  EXPECT_EQ(ranks(fork(0.06, 0.01, 2, 1.8, away), 0.75), std::pair(1, 1));  // 72 degrees
  EXPECT_EQ(ranks(fork(0.06, 0.01, 2, 0.05, away), 0.75), std::pair(0, 1));
}

TEST(TaperCorrection, KeepsEveryRule) {
  std::vector<QsmCylinder> c = fork(0.05, 0.03, 1, 1, {0.3, 0, 0.954});
  c[0].surf_cov = 0.9;
  c[1].surf_cov = 0.35;  // trust 0.5
  c[1].radius = 0.02;
  c[2].surf_cov = 0.9;
  c[3].surf_cov = 0.35;
  const auto shoots = collect_shoots(c);
  taper_correction(c, shoots, 0.004);
  EXPECT_NEAR(c[0].radius, 0.10, 1e-12);
  EXPECT_NEAR(c[3].radius, 0.03 * (1 - 0.45 * 0.5), 1e-12);
  // 0.02 (weight 0.5) and 0.05 (weight 1) are pooled to 0.04; then half of the way to the pipes.
  const double pipes = std::pow(std::pow(0.04, 2.5) + std::pow(c[3].radius, 2.5), 0.4);
  EXPECT_NEAR(c[2].radius, 0.04, 1e-12);
  EXPECT_NEAR(c[1].radius, 0.04 + 0.5 * (pipes - 0.04), 1e-12);
}

}  // namespace
}  // namespace pc
