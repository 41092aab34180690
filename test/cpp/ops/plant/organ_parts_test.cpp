#include "ops/plant/organ_parts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "ops/plant/prototypes.h"
#include "support/plant_shapes.h"

namespace {

using namespace pc;
using Profile = std::vector<std::array<double, 2>>;

Profile half_circle(unsigned steps) {
  Profile out;
  for (unsigned i = 0; i <= steps; ++i) {
    const double a = M_PI * i / steps;
    out.push_back({0.5 - 0.5 * std::cos(a), i == 0 || i == steps ? 0 : 0.5 * std::sin(a)});
  }
  return out;
}

BodyShape body(Profile profile, std::uint32_t rings, std::uint32_t sides) {
  BodyShape out;
  out.profile = std::move(profile), out.rings = rings, out.sides = sides;
  return out;
}

TEST(Body, SphereHasItsVolumeAndArea) {
  const OrganMesh mesh = body_mesh(body(half_circle(8), 96, 96), 1);
  test::expect_sound(mesh);
  EXPECT_NEAR(enclosed_volume(mesh), M_PI / 6, 0.003);
  EXPECT_NEAR(surface_area(mesh), M_PI, 0.01);
  EXPECT_EQ(test::edge_counts(mesh.triangles).open, 0U);
}

TEST(Body, CylinderIsCappedUnlessItIsAShell) {
  BodyShape tube = body({{0, 0.2}, {1, 0.2}}, 4, 64);
  const double area = 64 * 0.5 * std::sin(2 * M_PI / 64) * 0.04;  // of the polygon
  EXPECT_NEAR(enclosed_volume(body_mesh(tube, 1)), area, 1e-12);
  tube.rings = 64, tube.bend_deg = 60;  // Pappus: the middle of the cross-section keeps its length
  const OrganMesh bent = body_mesh(tube, 1);
  EXPECT_NEAR(enclosed_volume(bent), area, 1e-3 * area);
  EXPECT_EQ(test::edge_counts(bent.triangles).open, 0U);
  tube.is_shell = true;
  EXPECT_EQ(test::edge_counts(body_mesh(tube, 1).triangles).open, 2 * 64U);
}

TEST(Body, RibsFlatnessAndCopies) {
  BodyShape fruit = body(half_circle(8), 40, 40);
  const double round = enclosed_volume(body_mesh(fruit, 1));
  fruit.flatness = 0.5;
  EXPECT_NEAR(enclosed_volume(body_mesh(fruit, 1)), round / 2, 1e-9);
  fruit.flatness = 1, fruit.ribs = 5, fruit.rib_depth = 0.4;
  // The mean of (1 - d (1 - cos) / 2)^2 over a turn: (1 - d/2)^2 + d^2 / 8.
  EXPECT_NEAR(enclosed_volume(body_mesh(fruit, 1)) / round, 0.64 + 0.02, 1e-2);
  fruit.ribs = 0, fruit.rib_depth = 0, fruit.copies = 7;
  fruit.copy_distance = {3, 3}, fruit.copy_scale = {0.5, 0.5}, fruit.jitter_deg = 20;
  EXPECT_NEAR(enclosed_volume(body_mesh(fruit, 1)), 7 * round / 8, 1e-9);
}

TEST(Whorl, BladesOpenByTheirAngle) {
  WhorlShape whorl;
  whorl.length = 0.5, whorl.opening_deg = 70, whorl.closed_deg = 10, whorl.closed_scale = 1,
  whorl.distance = 0.1;
  for (const bool is_closed : {false, true}) {
    const OrganMesh mesh = whorl_mesh(whorl, is_closed, 1);
    test::expect_sound(mesh);
    const double angle = (is_closed ? 10 : 70) * M_PI / 180;
    double front = 0, out = 0;
    for (const Vec3d& p : mesh.positions)
      front = std::max(front, p.x), out = std::max(out, -p.z);  // of the lowest blade
    EXPECT_NEAR(front, 0.5 * std::cos(angle), 1e-9);
    EXPECT_NEAR(out, 0.1 + 0.5 * std::sin(angle), 1e-9);
    // The upper sides face the axis: forwards when the flower is open.
    EXPECT_NEAR(mean_normal(mesh).x / surface_area(mesh), std::sin(angle), 1e-9);
  }
}

TEST(OrganMesh, HasTheExtentOneWhenItIsOpen) {
  OrganShape organ;
  organ.whorls.resize(1);
  organ.whorls[0].length = 7;
  organ.bodies.push_back(body(half_circle(4), 8, 8));
  organ.bodies.push_back(body({{3, 0.1}, {4, 0.1}}, 2, 5));
  organ.bodies[1].grows_on_opening = true;
  const OrganMesh open = organ_mesh(organ, false, 1), closed = organ_mesh(organ, true, 1);
  Box3d box;
  for (const Vec3d& p : open.positions) box.add(p);
  const Vec3d size = box.max - box.min;
  EXPECT_NEAR(std::max({size.x, size.y, size.z}), 1, 1e-12);
  EXPECT_EQ(closed.triangles.size() + 2 * 2 * 5 + 2 * 5, open.triangles.size());
}

LeafShape leaf(const std::string& name, const BladeShape& blade) {
  LeafShape out;
  out.name = name, out.blade = blade, out.variants = 2;
  return out;
}

TEST(Prototypes, NameAndMeasureTheirOrgans) {
  PlantShapes shapes;
  for (const auto& [name, blade] : test::blades()) shapes.leaves.push_back(leaf(name, blade));
  shapes.leaves[0].texture = shapes.leaves[3].texture = "green.png";
  shapes.leaves[0].coverage = 0.75;
  shapes.fruits.push_back({"ball", {{}, {body(half_circle(8), 20, 20)}}});
  const PlantPrototypes built = plant_prototypes(shapes, 1);
  ASSERT_EQ(built.organs.size(), 9U);
  EXPECT_EQ(built.textures, std::vector<std::string>{"green.png"});
  EXPECT_EQ(built.organs[1].name, "leaf/ovate/1");
  EXPECT_NEAR(built.organs[0].area, 0.75 * surface_area(built.organs[0].mesh), 1e-12);
  EXPECT_NEAR(built.leaves[0].area, (built.organs[0].area + built.organs[1].area) / 2, 1e-12);
  EXPECT_TRUE(built.organs[2].mesh.uvs.empty());
  // A spindle: half of its surface, about half the circumference times the flat outline's share.
  EXPECT_NEAR(built.leaves[2].area, 0.5 * surface_area(built.organs[4].mesh), 1e-12);
  EXPECT_EQ(built.organs[8].organ, OrganCode::kFruit);
  EXPECT_EQ(built.fruits[0].open, 8U);
  for (const OrganPrototype& organ : built.organs)
    EXPECT_EQ(organ.mesh.colors.size(), organ.mesh.triangles.size());
}

std::string refusal(const PlantShapes& shapes, double detail = 1) {
  try {
    plant_prototypes(shapes, detail);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    return error.what();
  }
  return "";
}

TEST(Prototypes, RefuseWhatCannotBeBuilt) {
  PlantShapes shapes;
  EXPECT_EQ(refusal(shapes, 0), "detail must be from 0.05 to 4");
  shapes.leaves = {leaf("odd", BladeShape{})};
  EXPECT_EQ(refusal(shapes), "");
  shapes.leaves[0].blade.width_ratio = NAN;
  EXPECT_EQ(refusal(shapes), "shape odd: width_ratio must be from 0.0001 to 4, not nan");
  shapes.leaves[0].blade = test::cordate();
  shapes.leaves[0].blade.outline[2].angle_deg = 10;
  EXPECT_EQ(refusal(shapes), "shape odd: outline: angle must be from 15.1 to 179, not 10");
  shapes.leaves.clear();
  shapes.flowers = {{"none", {}}};
  EXPECT_EQ(refusal(shapes), "shape none: it has no whorls and no bodies");
  shapes.flowers[0].shape.bodies = {body(half_circle(8), 128, 128)};
  shapes.flowers[0].shape.bodies[0].copies = 5000;
  EXPECT_EQ(refusal(shapes), "shape none: number of triangles must be from 0 to 262144, not 1.6384e+08");
}

}  // namespace
