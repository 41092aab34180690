#include "ops/registration/local_features.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "support/rigid_scenes.h"

namespace pc {
namespace {

using Features = BulkVector<LocalFeature>;

double distance(const LocalFeature& a, const LocalFeature& b) {
  double sum = 0;
  for (std::size_t k = 0; k < LocalFeature::kSize; ++k)
    sum += (a.value[k] - b.value[k]) * (a.value[k] - b.value[k]);
  return std::sqrt(sum);
}

/// Features by the row of the points.
std::vector<LocalFeature> features_of(const test::Points& points, double radius_m, bool flip = false,
                                      int threads = 2) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  IcpLevel level = icp_level({points.data(), points.size()}, ctx);
  if (flip)
    for (std::size_t i = 0; i < level.normals.size(); i += 2) level.normals[i] = level.normals[i] * -1;
  const Features by_slot = local_features(level, radius_m, ctx);
  std::vector<LocalFeature> out(points.size());
  for (std::size_t slot = 0; slot < by_slot.size(); ++slot)
    for (std::size_t row = 0; row < points.size(); ++row)
      if (points[row] == level.points[slot]) out[row] = by_slot[slot];
  return out;
}

TEST(LocalFeatures, ARigidMotionChangesNothing) {
  const test::Points points = test::rough_ground(600, 20, 1);
  const auto here = features_of(points, 4);
  const auto there = features_of(test::moved(test::turned({2, -1, 0.5}, {30, 40, 50}), points), 4);
  for (std::size_t i = 0; i < points.size(); ++i) ASSERT_LT(distance(here[i], there[i]), 1e-3) << i;
}

TEST(LocalFeatures, TheSideOfTheNormalsChangesNothing) {
  const test::Points points = test::rough_ground(600, 20, 2);
  const auto one = features_of(points, 4), other = features_of(points, 4, true);
  for (std::size_t i = 0; i < points.size(); ++i) ASSERT_LT(distance(one[i], other[i]), 1e-6) << i;
}

TEST(LocalFeatures, ACornerIsTheSameElsewhereAndUnlikeAPlane) {
  const test::Points corner = test::corner_of_planes(3000, 4, 3);
  const auto features = features_of(corner, 0.8);
  double length = 0, inside = 0, across = 0;
  std::size_t inner = 0, outer = 0;
  for (std::size_t i = 0; i < corner.size(); ++i) {
    const Vec3d& p = corner[i];
    for (const float v : features[i].value) length += v * v;
    const bool plane = p.x == 0 && p.y > 2 && p.y < 3 && p.z > 2 && p.z < 3;
    for (std::size_t j = 0; plane && j < corner.size(); ++j) {
      const Vec3d& q = corner[j];
      if (q.y == 0 && q.x > 2 && q.x < 3 && q.z > 2 && q.z < 3)
        inside += distance(features[i], features[j]), ++inner;
      if (q.x + q.y + q.z < 0.4) across += distance(features[i], features[j]), ++outer;
    }
  }
  EXPECT_NEAR(length / static_cast<double>(corner.size()), 1, 1e-6);
  EXPECT_GT(across / static_cast<double>(outer), 3 * inside / static_cast<double>(inner));
}

TEST(LocalFeatures, MatchesAreThoseOfBruteForce) {
  const auto a = features_of(test::rough_ground(500, 20, 4), 4),
             b = features_of(test::rough_ground(333, 20, 5), 4);
  JobControl control;
  OpContext ctx(control, Device::kCpu, 3);
  const auto matches = reciprocal_matches({a.data(), a.size()}, {b.data(), b.size()}, ctx);
  const auto squared = [](const LocalFeature& p, const LocalFeature& q) {
    float sum = 0;
    for (std::size_t k = 0; k < LocalFeature::kSize; ++k)
      sum += (q.value[k] - p.value[k]) * (q.value[k] - p.value[k]);
    return sum;
  };
  const auto nearest = [&](const LocalFeature& f, const std::vector<LocalFeature>& all) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < all.size(); ++i)
      if (squared(f, all[i]) < squared(f, all[best])) best = i;
    return best;
  };
  std::size_t at = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::size_t j = nearest(a[i], b);
    if (nearest(b[j], a) != i) continue;
    ASSERT_LT(at, matches.size());
    EXPECT_EQ(matches[at].moving, i);
    EXPECT_EQ(matches[at].fixed, j);
    ++at;
  }
  EXPECT_EQ(at, matches.size());
  EXPECT_GT(at, 20U);
}

TEST(LocalFeatures, PointsWithoutASurfaceMatchNothing) {
  test::Points line;
  for (int i = 0; i < 50; ++i) line.push_back({0.1 * i, 0, 0});
  const auto features = features_of(line, 1);
  JobControl control;
  OpContext ctx(control, Device::kCpu, 1);
  EXPECT_TRUE(reciprocal_matches({features.data(), 50}, {features.data(), 50}, ctx).empty());
  EXPECT_TRUE(reciprocal_matches({}, {features.data(), 50}, ctx).empty());
}

}  // namespace
}  // namespace pc
