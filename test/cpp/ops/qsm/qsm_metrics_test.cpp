#include "ops/qsm/qsm_metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "core/error.h"

namespace {

using namespace pc;

constexpr double kPi = std::numbers::pi;

QsmMetrics metrics_of(const Qsm& qsm) {
  JobControl control;
  OpContext ctx(control);
  return qsm_metrics(qsm, ctx);
}

/// A stem of two cylinders, a branch at 60 degrees from the upright, of 3 + 1 m, and a second root above.
Qsm sample(const Vec3d& o) {
  const double s = std::sqrt(3.0) / 2;
  Qsm qsm;
  qsm.cylinders = {{.cyl_id = 10,
                    .start = o,
                    .end = {o.x, o.y, o.z + 2},
                    .radius = 0.2,
                    .parent_id = -1,
                    .shoot_id = 1,
                    .rank = 0},
                   {.cyl_id = 11,
                    .start = {o.x, o.y, o.z + 2},
                    .end = {o.x, o.y, o.z + 5},
                    .radius = 0.1,
                    .parent_id = 10,
                    .shoot_id = 1,
                    .rank = 0},
                   {.cyl_id = 12,
                    .start = {o.x, o.y, o.z + 2},
                    .end = {o.x + 3 * s, o.y, o.z + 3.5},
                    .radius = 0.05,
                    .parent_id = 10,
                    .shoot_id = 2,
                    .rank = 1},
                   {.cyl_id = 13,
                    .start = {o.x + 3 * s, o.y, o.z + 3.5},
                    .end = {o.x + 3 * s, o.y + 1, o.z + 3.5},
                    .radius = 0.01,
                    .parent_id = 12,
                    .shoot_id = 2,
                    .rank = 1},
                   {.cyl_id = 14,
                    .start = {o.x, o.y, o.z + 1},
                    .end = {o.x, o.y, o.z + 1},
                    .radius = 0.3,
                    .parent_id = -1,
                    .shoot_id = 3,
                    .rank = 2}};
  qsm.shoots = {{.shoot_id = 1, .rank = 0, .cylinder_ids = {10, 11}, .child_shoot_ids = {2}},
                {.shoot_id = 2,
                 .rank = 1,
                 .cylinder_ids = {12, 13},
                 .parent_shoot_id = 1,
                 .parent_cyl_id = 10,
                 .child_shoot_ids = {}},
                {.shoot_id = 3, .rank = 2, .cylinder_ids = {14}, .child_shoot_ids = {}}};
  return qsm;
}

TEST(QsmMetrics, TheTrunkIsNotATwigThatBeginsLower) {
  Qsm qsm = sample({0, 0, 0});
  qsm.cylinders.push_back({.cyl_id = 15,
                           .start = {0, 0, -0.1},
                           .end = {0.1, 0, 0},
                           .radius = 0.004,
                           .parent_id = -1,
                           .shoot_id = 4,
                           .rank = 1});
  qsm.shoots.push_back({.shoot_id = 4, .rank = 1, .cylinder_ids = {15}, .child_shoot_ids = {}});
  EXPECT_NEAR(metrics_of(qsm).trunk_diameter_m, 0.4, 1e-15);
}

TEST(QsmMetrics, OfTwoStemsTheTrunkIsTheOneOfRankZero) {
  const auto stem = [](std::int32_t rank, double radius, double height) {
    return QsmCylinder{.cyl_id = rank + 1,
                       .start = {0.2 * rank, 0, 0},
                       .end = {0.2 * rank, 0, height},
                       .radius = radius,
                       .parent_id = -1,
                       .shoot_id = rank + 1,
                       .rank = rank};
  };
  Qsm qsm;
  qsm.cylinders = {stem(1, 0.12, 4), stem(0, 0.06, 8)};
  qsm.shoots = {{.shoot_id = 2, .rank = 1, .cylinder_ids = {2}, .child_shoot_ids = {}},
                {.shoot_id = 1, .rank = 0, .cylinder_ids = {1}, .child_shoot_ids = {}}};
  const QsmMetrics found = metrics_of(qsm);
  EXPECT_NEAR(found.trunk_diameter_m, 0.12, 1e-15)
      << "that of stem_volume, not of the thicker stem beside it";
  EXPECT_NEAR(found.stem_volume_m3, kPi * 0.06 * 0.06 * 8, 1e-12);
}

TEST(QsmMetrics, EqualHandComputedValues) {
  const QsmMetrics m = metrics_of(sample({0, 0, 0}));
  EXPECT_NEAR(m.tcsa_m2, kPi * 0.04, 1e-15);
  EXPECT_NEAR(m.trunk_diameter_m, 0.4, 1e-15);
  EXPECT_NEAR(m.tree_height_m, 5, 1e-15);
  EXPECT_EQ(m.scaffold_count, 1U);
  EXPECT_EQ(m.shoot_count, 3U);
  EXPECT_EQ(m.max_rank, 2);
  EXPECT_NEAR(m.stem_volume_m3, kPi * (0.04 * 2 + 0.01 * 3), 1e-14);
  EXPECT_NEAR(m.branch_volume_m3, kPi * (0.0025 * 3 + 0.0001), 1e-14);
  EXPECT_NEAR(m.total_woody_volume_m3, m.stem_volume_m3 + m.branch_volume_m3, 1e-15);
  EXPECT_NEAR(m.total_length_m, 9, 1e-14);
  EXPECT_NEAR(m.canopy_width_m, std::hypot(1.5 * std::sqrt(3.0), 1.0), 1e-14);
  EXPECT_NEAR(m.canopy_height_m, 2.5, 1e-14) << "z 1 (the second root) to 3.5";
  ASSERT_EQ(m.per_rank.size(), 3U);
  EXPECT_TRUE(std::isnan(m.per_rank[0].mean_branch_angle_rad));
  EXPECT_NEAR(m.per_rank[1].mean_branch_angle_rad, kPi / 3, 1e-12);
  EXPECT_NEAR(m.per_rank[1].mean_diameter_m, (0.1 * 3 + 0.02) / 4, 1e-15);
  EXPECT_NEAR(m.per_rank[1].mean_shoot_length_m, 4, 1e-14);
  EXPECT_NEAR(m.per_rank[2].mean_diameter_m, 0.6, 1e-15);
  EXPECT_TRUE(std::isnan(m.per_rank[2].mean_branch_angle_rad));
}

TEST(QsmMetrics, HoldFarFromTheOrigin) {
  const QsmMetrics near = metrics_of(sample({0, 0, 0})), far = metrics_of(sample({5e6, -3e6, 4000}));
  EXPECT_NEAR(near.total_woody_volume_m3, far.total_woody_volume_m3, 1e-8);
  EXPECT_NEAR(near.canopy_width_m, far.canopy_width_m, 1e-8);
}

TEST(QsmMetrics, RefusesAModelWithoutCylinders) { EXPECT_THROW(metrics_of({}), Error); }

}  // namespace
