#include "ops/qsm/plant_scale.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "ops/qsm/build_qsm.h"
#include "ops/qsm/stem_base.h"
#include "support/tubes.h"

namespace pc {
namespace {

constexpr double kPi = std::numbers::pi;

PlantScale scale_of(const std::vector<Vec3d>& points) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 1);
  return plant_scale({points.data(), points.size()}, kTreeSpan, ctx);
}

using test::Tube;
using test::volume_of;

/// 40 random points on the square of its radius, with noise as a share of it.
void add_tube(std::vector<Vec3d>& out, const Tube& tube, std::uint64_t seed, double noise = 0.1) {
  const double length = std::sqrt(squared_distance(tube.from, tube.to));
  const auto count = static_cast<std::size_t>(40 * 2 * kPi * length / tube.radius);
  test::add_tube(out, tube, count, noise * tube.radius, seed);
}

/// A young plant of 0.4 m: a stem of 6 to 3.6 mm, six petioles of 3 mm, each `size` times as large.
std::vector<Tube> young_plant(double size) {
  std::vector<Tube> tubes;
  for (int i = 0; i < 4; ++i) tubes.push_back({{0, 0, 0.1 * i}, {0, 0, 0.1 * (i + 1)}, 0.003 - 0.0004 * i});
  for (int i = 0; i < 6; ++i) {
    const double turn = 2.4 * i, z = 0.1 + 0.05 * i;
    tubes.push_back({{0, 0, z}, {0.12 * std::cos(turn), 0.12 * std::sin(turn), z + 0.06}, 0.0015});
  }
  for (Tube& t : tubes) t = {t.from * size, t.to * size, t.radius * size};
  return tubes;
}

std::vector<Vec3d> points_of(const std::vector<Tube>& tubes, double noise = 0.1) {
  std::vector<Vec3d> points;
  std::uint64_t seed = 0;
  for (const Tube& tube : tubes) add_tube(points, tube, ++seed, noise);
  return points;
}

QsmBuildResult build(const std::vector<Vec3d>& points, double twig_radius_m = kTreeTwigRadius,
                     RadiusModel model = RadiusModel::kTapered) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  return build_qsm(HitPoints::assume_hits({points.data(), points.size()}),
                   {twig_radius_m, true, 0.75, 1, 0, 0, model}, ctx);
}

bool tells(const QsmBuildResult& built, const std::string& text) {
  return std::any_of(built.warnings.begin(), built.warnings.end(),
                     [&](const std::string& w) { return w.find(text) != std::string::npos; });
}

TEST(PlantScale, IsTheSpanOfATreeOverTheWidestSpan) {
  std::vector<Vec3d> points;
  for (int i = 0; i <= 1000; ++i) points.push_back({100 + 0.0002 * i, -7, 0.0006 * i});
  const PlantScale scale = scale_of(points);
  EXPECT_NEAR(scale.factor, 3 / (0.99 * 0.6), 0.01);
  EXPECT_NEAR(scale.center.x, 100.001, 1e-9);
  EXPECT_NEAR(scale.center.z, 0.003, 1e-9);
  points.push_back({0, 0, 500});
  points.push_back({0, std::numeric_limits<double>::quiet_NaN(), 0});
  EXPECT_NEAR(scale_of(points).factor, scale.factor, 0.02);
}

TEST(PlantScale, TreesAndPlacesWithoutASpanKeepTheirSize) {
  EXPECT_EQ(scale_of({}).factor, 1);
  EXPECT_EQ(scale_of(std::vector<Vec3d>(100, Vec3d{1, 2, 3})).factor, 1);
  std::vector<Vec3d> points;
  for (int i = 0; i <= 1000; ++i) points.push_back({0, 0.0026 * i, 0});
  EXPECT_EQ(scale_of(points).factor, 1);
  for (Vec3d& p : points) p = p * 1e-6;
  EXPECT_EQ(scale_of(points).factor, 100);
}

/// Saplings of few points, enlarged, looked like stems as thick as their points are apart.
TEST(PlantScale, EnlargedPointsStayTogether) {
  const auto line = [](double spacing) {
    std::vector<Vec3d> points;
    for (int i = 0; i * spacing <= 1; ++i) points.insert(points.end(), 2, {0, 0, spacing * i});
    return scale_of(points);
  };
  EXPECT_NEAR(line(0.001).factor, 3, 0.05);
  EXPECT_NEAR(line(0.005).factor, 2, 1e-9);
  EXPECT_NEAR(line(0.005).span_m, 0.99, 0.01);
  EXPECT_EQ(line(0.02).factor, 1);
}

TEST(PlantScale, CylindersComeBack) {
  const PlantScale scale{7, {4, 5, 6}};
  std::vector<QsmCylinder> cylinders{{0, {4, 5, 6}, {4, 5, 7}, 0.1, -1, 0, 0, 0.5, 0.01, 0.02}};
  std::vector<QsmCylinder> large = enlarged(cylinders, scale);
  EXPECT_NEAR(large[0].end.z, 7, 1e-12);
  EXPECT_NEAR(large[0].radius_se, 0.14, 1e-12);
  EXPECT_NEAR(typical_radius(large), 0.7, 1e-12);
  reduce(large, scale);
  EXPECT_NEAR(large[0].end.z, 7, 1e-12);
  EXPECT_NEAR(large[0].radius, 0.1, 1e-12);
  EXPECT_NEAR(large[0].mad, 0.01, 1e-12);
}

/// With the lengths of trees its volume is several times too large.
TEST(PlantScale, AYoungPlantHasTheWoodThatItHas) {
  for (const RadiusModel model : {RadiusModel::kTapered, RadiusModel::kIsotonic}) {
    const std::vector<Tube> tubes = young_plant(1);
    const QsmBuildResult built = build(points_of(tubes), kTreeTwigRadius, model);
    EXPECT_GT(built.scale.factor, 7);
    EXPECT_NEAR(volume_of(built.qsm) / volume_of(tubes), 1, 0.12);
    EXPECT_LT(built.total.low, volume_of(tubes));
    EXPECT_GT(built.total.high, volume_of(tubes));
    EXPECT_NEAR(built.qsm.cylinders[0].radius, 0.003, 0.0003);
    EXPECT_TRUE(tells(built, "the plant spans only 0.4 m")) << built.warnings.size();
    EXPECT_TRUE(tells(built, "its twigs as 0.56 mm"));
  }
}

TEST(PlantScale, ThePlantFarAwayAndThePlantTwiceAsLargeHaveTheSameModel) {
  const QsmBuildResult built = build(points_of(young_plant(1)));
  std::vector<Vec3d> away = points_of(young_plant(1));
  for (Vec3d& p : away) p = p + Vec3d{5e6, -3e6, 400};
  EXPECT_NEAR(volume_of(build(away).qsm) / volume_of(built.qsm), 1, 0.01);
  const QsmBuildResult larger = build(points_of(young_plant(2)));
  EXPECT_NEAR(volume_of(larger.qsm) / 8 / volume_of(built.qsm), 1, 0.001);
  EXPECT_NEAR(larger.total.high / 8 / built.total.high, 1, 0.001);
}

TEST(PlantScale, ATwigThatWasMeasuredIsTakenAsItIs) {
  const std::vector<Vec3d> points = points_of(young_plant(1));
  const QsmBuildResult usual = build(points), thick = build(points, 0.003);
  EXPECT_GT(thick.scale.factor, 7);
  EXPECT_FALSE(tells(thick, "what is known of trees was taken in proportion"));
  EXPECT_GT(volume_of(thick.qsm), 1.05 * volume_of(usual.qsm));
}

/// What scatters little among it says nothing of the rest: volumes were up to twice the true ones, with an interval of 20 %.
TEST(PlantScale, NoiseAsThickAsThePlantLeavesNoInterval) {
  EXPECT_TRUE(build(points_of(young_plant(1))).has_intervals);
  const QsmBuildResult noisy = build(points_of(young_plant(1), 0.5));
  EXPECT_FALSE(noisy.has_intervals);
  EXPECT_TRUE(tells(noisy, "points scatter by a third of the radius and more about most of the wood"));
}

/// A log of 1 m is as thick as the tree that it was cut from.
TEST(PlantScale, ALogKeepsItsSize) {
  std::vector<Vec3d> points;
  add_tube(points, {{0, 0, 0}, {0, 0, 1}, 0.2}, 1);
  std::vector<Vec3d> dense = points;
  add_tube(dense, {{0, 0, 0}, {0, 0, 1}, 0.2}, 2);
  for (std::uint64_t seed = 3; seed < 12; ++seed) add_tube(dense, {{0, 0, 0}, {0, 0, 1}, 0.2}, seed);
  const QsmBuildResult built = build(dense);
  EXPECT_EQ(built.scale.factor, 1);
  EXPECT_FALSE(tells(built, "spans only"));
}

/// A stem that ends at the rim of its pot is not drawn through it to the table.
TEST(PlantScale, APotIsNoStem) {
  QsmBuildResult built;
  built.qsm.cylinders = {{0, {0, 0, 0.2}, {0, 0, 0.5}, 0.003, -1, 0, 0}};
  built.scale = {7, {0, 0, 0}};
  EXPECT_NEAR(draw_to_ground(built, 0), 0.2, 1e-12);
  EXPECT_EQ(built.qsm.cylinders[0].start.z, 0.2);
  EXPECT_TRUE(tells(built, "0.20 m above the ground: what is below them is not part of the model"));
  EXPECT_NEAR(draw_to_ground(built, 0.17), 0.03, 1e-12);
  EXPECT_NEAR(built.qsm.cylinders[0].start.z, 0.17, 1e-12);
}

}  // namespace
}  // namespace pc
