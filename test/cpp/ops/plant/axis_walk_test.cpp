#include "ops/plant/axis_walk.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "support/plants.h"

namespace pc {
namespace {

constexpr double kDeg = std::numbers::pi / 180;

Phytomer internode(double length, double pitch = 0, double phyllotaxis = 0, std::uint32_t segments = 1) {
  Phytomer out;
  out.internode.internode_length = out.internode.internode_length_max = length;
  out.internode.internode_pitch = pitch;
  out.internode.internode_phyllotactic_angle = phyllotaxis;
  out.internode.internode_length_segments = segments;
  out.internode.curvature_perturbations.assign(segments, 0);
  out.internode.yaw_perturbations.assign(segments, 0);
  out.petioles.resize(2);
  return out;
}

PlantStructure stem(BaseRotation rotation, std::vector<Phytomer> phytomers) {
  PlantStructure plant;
  plant.base_position = {1, 2, 3};
  plant.shoots.resize(1);
  plant.shoots[0].base_rotation = rotation;
  plant.shoots[0].phytomers = std::move(phytomers);
  return plant;
}

PlantAxes walked(const PlantStructure& plant) {
  JobControl control;
  OpContext ctx(control);
  return walk_axes(plant, ctx);
}

void expect_near(const Vec3d& a, const Vec3d& b, double tolerance = 1e-12) {
  EXPECT_NEAR(a.x, b.x, tolerance);
  EXPECT_NEAR(a.y, b.y, tolerance);
  EXPECT_NEAR(a.z, b.z, tolerance);
}

TEST(AxisWalk, AnUprightStemGoesUpAndCountsItsAzimuth) {
  const PlantAxes axes = walked(stem({0, 0, 10}, {internode(0.5, 0, 90, 2), internode(0.25, 0, 300)}));
  ASSERT_EQ(axes.frames.size(), 4U);
  expect_near(axes.frames[1].point, {1, 2, 3.25});
  expect_near(axes.frames[3].point, {1, 2, 3.75});
  EXPECT_EQ(axes.nodes[0].first_frame, 0U);
  EXPECT_EQ(axes.nodes[0].last_frame, 2U);
  EXPECT_EQ(axes.nodes[1].last_frame, 3U);
  EXPECT_DOUBLE_EQ(axes.nodes[0].azimuth_deg, 100);
  EXPECT_DOUBLE_EQ(axes.nodes[1].azimuth_deg, 40);
  // Azimuth 0 is +x and azimuths turn counter-clockwise seen from above.
  expect_near(across_axis(axes.frames[3], 0), {1, 0, 0});
  expect_near(across_axis(axes.frames[3], 90), {0, 1, 0});
}

TEST(AxisWalk, BaseRotationTiltsTowardItsYaw) {
  const PlantAxes axes = walked(stem({30, 90, 0}, {internode(1)}));
  expect_near(axes.frames[1].point, {1, 2 + std::sin(30 * kDeg), 3 + std::cos(30 * kDeg)});
}

TEST(AxisWalk, TheFirstInternodePitchesForwardAndOthersAwayFromTheirLeaf) {
  const PlantAxes axes = walked(stem({}, {internode(1, 20, 0), internode(1, 20, 0)}));
  expect_near(axes.frames[1].tangent, {std::sin(20 * kDeg), 0, std::cos(20 * kDeg)});
  expect_near(axes.frames[2].tangent, {0, 0, 1});  // the leaf is at azimuth 0, so it tilts back
}

TEST(AxisWalk, ALateralLeavesTowardItsPetiole) {
  PlantStructure plant = stem({}, {internode(1, 0, 90), internode(1)});
  plant.shoots.resize(2);
  PlantShoot& lateral = plant.shoots[1];
  lateral.parent_shoot_id = 0;
  lateral.parent_petiole_index = 1;  // of two: at 90 + 180 degrees
  lateral.phytomers = {internode(2, 60)};
  const PlantAxes axes = walked(plant);
  expect_near(axes.frames.back().point, {1, 2 - 2 * std::sin(60 * kDeg), 4 + 2 * std::cos(60 * kDeg)});
  lateral.parent_petiole_index = -1;
  expect_near(walked(plant).frames.back().point,
              {1 + 2 * std::sin(60 * kDeg), 2, 4 + 2 * std::cos(60 * kDeg)});
}

TEST(AxisWalk, BendingIsExactForAnyNumberOfSegments) {
  // Runge-Kutta of dt/ds = -g (1 - cos t) / 2 with steps of a thousandth.
  for (const double curvature : {150.0, 700.0, -60.0}) {
    double angle = 70 * kDeg, x = 0, z = 0;
    const double h = 1e-4, g = curvature * kDeg;
    const auto slope = [&](double t) { return -g * (1 - std::cos(t)) / 2; };
    for (int i = 0; i < 10'000; ++i) {
      const double k1 = slope(angle), k2 = slope(angle + h / 2 * k1), k3 = slope(angle + h / 2 * k2),
                   k4 = slope(angle + h * k3), middle = angle + h / 2 * k1;
      x += h * std::sin(middle);
      z += h * std::cos(middle);
      angle += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    }
    for (const std::uint32_t segments : {1U, 10U, 64U}) {
      PlantStructure plant = stem({}, {internode(5, 0, 180), internode(1, 70, 0, segments)});
      plant.base_position = {0, 0, -5};
      plant.shoots[0].phytomers[1].internode.curvature_perturbations.assign(segments, curvature);
      const AxisFrame tip = walked(plant).frames.back();
      EXPECT_NEAR(std::acos(tip.tangent.z), angle, 1e-9) << curvature << " " << segments;
      EXPECT_NEAR(tip.tangent.y, 0, 1e-12);
      if (segments == 64) expect_near(tip.point, {x, 0, z}, 0.02);
    }
  }
}

TEST(AxisWalk, DroopingStopsWhenTheAxisHangs) {
  const AxisFrame horizontal{{0, 0, 0}, {1, 0, 0}, {0, 0, 1}};
  expect_near(bent(horizontal, -1e5, 10).tangent, {0, 0, -1});
  expect_near(bent(horizontal, 1e9, 10).tangent, {0, 0, 1}, 1e-7);
  const AxisFrame upright{{0, 0, 0}, {0, 0, 1}, {1, 0, 0}};
  expect_near(bent(upright, -1e5, 10).tangent, {0, 0, 1});
}

TEST(AxisWalk, NothingGoesBelowTheGround) {
  for (const double pitch : {91.0, 120.0, 180.0, 250.0}) {
    const PlantStructure plant = stem({pitch, 40, 0}, {internode(1, 5, 137, 5), internode(1, -30, 137, 5)});
    const PlantAxes axes = walked(plant);
    for (std::size_t i = 0; i < axes.frames.size(); ++i) {
      EXPECT_GE(axes.frames[i].point.z, 3);
      EXPECT_NEAR(dot(axes.frames[i].tangent, axes.frames[i].tangent), 1, 1e-12);
      EXPECT_NEAR(dot(axes.frames[i].tangent, axes.frames[i].normal), 0, 1e-12);
      if (i > 0) {
        EXPECT_NEAR(std::sqrt(squared_distance(axes.frames[i].point, axes.frames[i - 1].point)), 0.2, 1e-9);
      }
    }
  }
}

TEST(AxisWalk, FramesStayOrthonormalOnAWholeTree) {
  const PlantStructure plant = test::grown(test::tree_species(), 800);
  const PlantAxes axes = walked(plant);
  EXPECT_EQ(axes.nodes.size(), test::phytomer_count(plant));
  for (const AxisFrame& frame : axes.frames) {
    EXPECT_NEAR(dot(frame.tangent, frame.tangent), 1, 1e-12);
    EXPECT_NEAR(dot(frame.normal, frame.normal), 1, 1e-12);
    EXPECT_NEAR(dot(frame.tangent, frame.normal), 0, 1e-12);
    EXPECT_GE(frame.point.z, 0);
  }
  EXPECT_GT(axis_height(plant, axes), 0.5);
}

TEST(AxisWalk, RefusesStructuresThatDoNotFit) {
  PlantStructure plant = stem({}, {internode(1)});
  plant.shoots.resize(2);
  plant.shoots[1].phytomers = {internode(1)};
  plant.shoots[1].parent_shoot_id = 1;
  EXPECT_THROW(walked(plant), Error);
  plant.shoots[1].parent_shoot_id = 0;
  plant.shoots[1].parent_node_index = 1;
  EXPECT_THROW(walked(plant), Error);
  plant.shoots[1].parent_node_index = 0;
  plant.shoots[1].parent_petiole_index = 2;
  EXPECT_THROW(walked(plant), Error);
  plant.shoots[1].parent_petiole_index = 0;
  EXPECT_NO_THROW(walked(plant));
  for (double* value : {&plant.shoots[1].phytomers[0].internode.internode_length,
                        &plant.shoots[1].phytomers[0].internode.curvature_perturbations[0],
                        &plant.shoots[1].base_rotation.pitch}) {
    const double before = *value;
    *value = std::numeric_limits<double>::quiet_NaN();
    EXPECT_THROW(walked(plant), Error);
    *value = before;
  }
  plant.shoots[1].phytomers[0].internode.internode_length_segments = 0;
  EXPECT_THROW(walked(plant), Error);
  plant.shoots[1].phytomers[0].internode.internode_length_segments = 2;
  EXPECT_THROW(walked(plant), Error);
}

}  // namespace
}  // namespace pc
