#include "ops/cloud/normals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "core/random.h"
#include "support/cancel.h"
#include "support/nasty_surfaces.h"
#include "support/surfaces.h"

namespace pc {
namespace {

using test::Surface;

const double kNoLimit = std::numeric_limits<double>::infinity();

NormalsResult normals_of(const std::vector<Vec3d>& points, const NormalsParams& params, int threads = 2,
                         const std::vector<Vec3d>& origins = {}) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return estimate_normals(HitPoints::assume_hits({points.data(), points.size()}), params,
                          {origins.data(), origins.size()}, ctx);
}

const NormalsParams kConsistent{kNoLimit, 16, NormalOrientation::kConsistent, 15};

/// Share of the normals within 30 degrees of the exact ones.
double right_share(const NormalsResult& found, const Surface& surface) {
  double right = 0;
  for (std::size_t i = 0; i < surface.points.size(); ++i)
    right += dot(found.normals[i], surface.normals[i]) > 0.866 ? 1 : 0;
  return right / static_cast<double>(surface.points.size());
}

TEST(Normals, ConsistentOnesPointOutOfClosedSurfacesAnywhere) {
  for (const Vec3d& offset : {Vec3d{0, 0, 0}, Vec3d{500'000, 5'400'000, 300}}) {
    const Surface sphere = test::sphere(5000, 1, offset), torus = test::torus(8000, 1, 0.35, offset);
    EXPECT_EQ(right_share(normals_of(sphere.points, kConsistent), sphere), 1);
    EXPECT_EQ(right_share(normals_of(torus.points, kConsistent), torus), 1);
  }
}

TEST(Normals, EveryComponentIsOriented) {
  Surface both = test::sphere(3000, 1, {0, 0, 0});
  const Surface far = test::sphere(3000, 0.2, {3, 0, 0});
  both.points.insert(both.points.end(), far.points.begin(), far.points.end());
  both.normals.insert(both.normals.end(), far.normals.begin(), far.normals.end());
  const NormalsResult found = normals_of(both.points, kConsistent);
  EXPECT_EQ(found.component_count, 2U);
  EXPECT_EQ(right_share(found, both), 1);
}

TEST(Normals, SheetsPointUp) {
  const Surface sheet = test::wave(5000, 0.05);
  const NormalsResult found = normals_of(sheet.points, kConsistent);
  EXPECT_EQ(found.component_count, 1U);
  EXPECT_GT(right_share(found, sheet), 0.999);
}

TEST(Normals, FromCentroidAndTowardOrigins) {
  const Surface sphere = test::sphere(2000, 1, {7, 8, 9});
  const NormalsResult out = normals_of(sphere.points, {0.3, 30, NormalOrientation::kFromCentroid, 0});
  EXPECT_EQ(right_share(out, sphere), 1);
  const NormalsResult in =
      normals_of(sphere.points, {0.3, 30, NormalOrientation::kTowardOrigins, 0}, 2, {{7, 8, 9}});
  for (std::size_t i = 0; i < sphere.points.size(); ++i)
    ASSERT_LT(dot(in.normals[i], sphere.normals[i]), -0.866) << i;
}

/// Two plates that are nearer to each other than the points of either.
TEST(Normals, AgreeingOnesComeFromTheCentroidOnlyWhereNeighborsThenAgree) {
  const NormalsParams agreeing{kNoLimit, 16, NormalOrientation::kAgreeing, 15};
  const Surface sphere = test::sphere(5000, 1, {7, 8, 9}), torus = test::torus(8000, 1, 0.35, {0, 0, 0});
  const NormalsResult round = normals_of(sphere.points, agreeing), ring = normals_of(torus.points, agreeing);
  EXPECT_EQ(right_share(round, sphere), 1);
  EXPECT_EQ(round.component_count, 0U);
  EXPECT_EQ(right_share(ring, torus), 1);
  EXPECT_EQ(ring.component_count, 1U);
  const Surface sheet = test::wave(5000, 0.05);
  EXPECT_GT(right_share(normals_of(sheet.points, agreeing), sheet), 0.999);
}

TEST(Normals, NeighborsSeenFromTheOtherSideDoNotCount) {
  std::vector<Vec3d> points, origins;
  for (std::uint64_t i = 0; i < 1600; ++i) {
    const double side = i % 2 == 0 ? 1 : -1;
    points.push_back({0.03 * side, random_unit(4, 2 * i), random_unit(4, 2 * i + 1)});
    origins.push_back({2 * side, 0.5, 0.4});
  }
  const auto farthest_off = [&](const NormalsResult& found) {
    double off = 0;
    for (const Vec3d& n : found.normals.view()) off = std::max(off, std::sqrt(n.y * n.y + n.z * n.z));
    return off;
  };
  const NormalsResult known = normals_of(points, {1, 20, NormalOrientation::kTowardOrigins, 0}, 2, origins);
  EXPECT_LT(farthest_off(known), 1e-9);
  for (std::size_t i = 0; i < points.size(); ++i) ASSERT_GT(known.normals[i].x * points[i].x, 0) << i;
  EXPECT_GT(farthest_off(normals_of(points, {1, 20, NormalOrientation::kFromCentroid, 0})), 0.05);
}

/// Mean of squares of the distances to the plane through the mean of the neighbours.
double scatter(const std::vector<Vec3d>& near, const Vec3d& n) {
  Vec3d mean{0, 0, 0};
  for (const Vec3d& p : near) mean = mean + p * (1 / static_cast<double>(near.size()));
  double sum = 0;
  for (const Vec3d& p : near) sum += dot(p - mean, n) * dot(p - mean, n);
  return sum / static_cast<double>(near.size());
}

TEST(Normals, NoDirectionScattersLessOverTheHybridNeighbors) {
  const Surface cloud = test::torus(600, 1, 0.35, {0, 0, 0}, 0.05);
  const double radius = 0.25;
  const std::uint32_t most = 12;
  const NormalsResult found = normals_of(cloud.points, {radius, most, NormalOrientation::kFromCentroid, 0});
  for (std::size_t i = 0; i < cloud.points.size(); ++i) {
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t j = 0; j < cloud.points.size(); ++j) {
      const double squared = squared_distance(cloud.points[i], cloud.points[j]);
      if (squared <= radius * radius) order.emplace_back(squared, j);
    }
    std::sort(order.begin(), order.end());
    std::vector<Vec3d> near;
    for (std::size_t j = 0; j < order.size() && j < most; ++j) near.push_back(cloud.points[order[j].second]);
    if (near.size() < 3) {
      ASSERT_EQ(found.normals[i], (Vec3d{0, 0, 0})) << i;
      continue;
    }
    const double least = scatter(near, found.normals[i]);
    ASSERT_NEAR(dot(found.normals[i], found.normals[i]), 1, 1e-12);
    for (std::uint64_t s = 0; s < 300; ++s)
      ASSERT_GE(scatter(near, test::random_direction(i, s)), least - 1e-15) << i;
  }
}

TEST(Normals, PointsThatMakeNoPlaneHaveNone) {
  std::vector<Vec3d> line, pile(50, Vec3d{1, 2, 3});
  for (int i = 0; i < 50; ++i) line.push_back({0.1 * i, 0.2 * i, -0.1 * i});
  line.push_back({std::nan(""), 0, 0});
  for (const auto& points : {line, pile, std::vector<Vec3d>{}, std::vector<Vec3d>{{0, 0, 0}, {1, 0, 0}}}) {
    for (const auto way : {NormalOrientation::kConsistent, NormalOrientation::kFromCentroid}) {
      const NormalsResult found = normals_of(points, {kNoLimit, 30, way, 15});
      EXPECT_EQ(found.unestimated_count, points.size());
      EXPECT_EQ(found.component_count, 0U);
    }
  }
}

TEST(Normals, NastyCloudsGiveUnitVectorsOrNone) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const Surface cloud = test::nasty_cloud(seed);
    const auto way = seed % 2 == 0 ? NormalOrientation::kConsistent : NormalOrientation::kFromCentroid;
    const double radius = seed % 3 == 0 ? 0.3 : kNoLimit;
    const NormalsResult found =
        normals_of(cloud.points, {radius, 3 + static_cast<std::uint32_t>(seed % 20), way, 15}, 1);
    std::size_t none = 0;
    for (std::size_t i = 0; i < cloud.points.size(); ++i) {
      const double size = dot(found.normals[i], found.normals[i]);
      ASSERT_TRUE(size == 0 || std::abs(size - 1) < 1e-12) << "seed " << seed;
      none += size == 0 ? 1 : 0;
    }
    ASSERT_EQ(found.unestimated_count, none) << "seed " << seed;
  }
}

TEST(Normals, EndsSoonAfterACancel) {
  const Surface cloud = test::sphere(60'000, 1, {0, 0, 0});
  for (const char* const phase : {"Estimating normals", "Orienting normals"})
    test::expect_cancel_in_phase(phase, [&](OpContext& ctx) {
      estimate_normals(HitPoints::assume_hits({cloud.points.data(), cloud.points.size()}), kConsistent, {},
                       ctx);
    });
}

TEST(Normals, SameBitsForAnyThreadCount) {
  const Surface cloud = test::torus(4000, 1, 0.35, {0, 0, 0}, 0.02);
  const NormalsResult one = normals_of(cloud.points, kConsistent, 1),
                      many = normals_of(cloud.points, kConsistent, 5);
  for (std::size_t i = 0; i < cloud.points.size(); ++i) ASSERT_EQ(one.normals[i], many.normals[i]) << i;
}

TEST(Normals, RefusesWrongParameters) {
  const std::vector<Vec3d> points(5, Vec3d{0, 0, 0});
  EXPECT_THROW(normals_of(points, {0, 30, NormalOrientation::kFromCentroid, 0}), Error);
  EXPECT_THROW(normals_of(points, {std::nan(""), 30, NormalOrientation::kFromCentroid, 0}), Error);
  EXPECT_THROW(normals_of(points, {1, 2, NormalOrientation::kFromCentroid, 0}), Error);
  EXPECT_THROW(normals_of(points, {1, 1001, NormalOrientation::kFromCentroid, 0}), Error);
  EXPECT_THROW(normals_of(points, {1, 30, NormalOrientation::kConsistent, 0}), Error);
  EXPECT_THROW(normals_of(points, {1, 30, NormalOrientation::kTowardOrigins, 0}, 1, {{0, 0, 0}, {1, 1, 1}}),
               Error);
}

}  // namespace
}  // namespace pc
