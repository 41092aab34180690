#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "ops/qsm/build_qsm.h"

namespace pc {
namespace {

constexpr double kRadius = 0.08, kHeight = 3;

/// A stem of known radius, and around eight lines points that lie on no surface.
std::vector<Vec3d> stem_amid_clouds() {
  std::vector<Vec3d> points;
  std::mt19937_64 random(9);
  std::uniform_real_distribution<double> unit;
  std::normal_distribution<double> noise(0, 0.001), cloud(0, 0.05);
  for (int i = 0; i < 10'000; ++i) {
    const double angle = 2 * std::numbers::pi * unit(random), r = kRadius + noise(random);
    points.push_back({r * std::cos(angle), r * std::sin(angle), kHeight * unit(random)});
  }
  for (int i = 0; i < 8; ++i) {
    const double turn = 2.4 * i, z = 1.2 + 0.2 * i;
    for (int k = 0; k < 400; ++k) {
      const double along = kRadius + 1.5 * unit(random);
      points.push_back({along * std::cos(turn) + cloud(random), along * std::sin(turn) + cloud(random),
                        z + 0.3 * along + cloud(random)});
    }
  }
  return points;
}

QsmBuildResult built(const std::vector<Vec3d>& points, bool leafless) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  const QsmBuildParams params{0.008, true, 0.75, 1, 0, 0, RadiusModel::kTapered, 0, leafless};
  return build_qsm(HitPoints::assume_hits({points.data(), points.size()}), params, ctx);
}

double volume_of(const QsmBuildResult& model) {
  double sum = 0;
  for (const QsmCylinder& c : model.qsm.cylinders)
    sum += std::numbers::pi * c.radius * c.radius * c.length_m();
  return sum;
}

bool warns(const QsmBuildResult& model, const std::string& text) {
  return std::any_of(model.warnings.begin(), model.warnings.end(),
                     [&](const std::string& one) { return one.find(text) != std::string::npos; });
}

TEST(LeaflessWood, PointsOnNoSurfaceWidenTheIntervalAndThoseThatMayBeLeavesLeaveNone) {
  const auto points = stem_amid_clouds();
  const QsmBuildResult leafy = built(points, false), wood = built(points, true);
  ASSERT_GE(leafy.cluster_share, 0.5);
  EXPECT_FALSE(leafy.radii_known || leafy.has_intervals);
  EXPECT_TRUE(warns(leafy, "as leaves do"));
  EXPECT_TRUE(wood.has_intervals);
  EXPECT_FALSE(wood.radii_known);
  EXPECT_TRUE(warns(wood, "the interval of the volume is wide"));
  EXPECT_FALSE(warns(wood, "leaves"));
  EXPECT_EQ(volume_of(wood), volume_of(leafy));
  const double truth = std::numbers::pi * kRadius * kRadius * kHeight;
  EXPECT_LE(wood.stem.low, 1.1 * truth);
  EXPECT_GE(wood.stem.high, truth);
  EXPECT_GT(wood.total.high, 1.15 * volume_of(wood));
}

TEST(LeaflessWood, WithoutAMeasuredRadiusThereIsNoInterval) {
  std::vector<Vec3d> line;
  for (int i = 0; i < 500; ++i) line.push_back({0, 0, 0.01 * i});
  EXPECT_FALSE(built(line, true).has_intervals);
}

}  // namespace
}  // namespace pc
