#include "ops/plant/level_of_detail.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "core/random.h"
#include "io/record_support.h"
#include "spatial/triangle_distance.h"
#include "support/plant_shapes.h"
#include "support/plants.h"

namespace {

using namespace pc;
using record_test::with_context;

PlantShapes shapes(double deviation_ratio) {
  PlantShapes out;
  for (const auto& [name, blade] : test::blades()) {
    LeafShape leaf;
    leaf.name = name, leaf.blade = blade, leaf.variants = 2;
    leaf.texture = "green.png";
    out.leaves.push_back(leaf);
  }
  out.leaves[0].name = "blade";
  BodyShape berry;
  berry.profile = {{0, 0}, {0.15, 0.35}, {0.5, 0.5}, {0.85, 0.35}, {1, 0}};
  WhorlShape petals;
  petals.blade.length_divisions = 4, petals.blade.width_divisions = 2;
  out.flowers = {{"flower", {{petals}, {}}}};
  out.fruits = {{"fruit", {{}, {berry}}}};
  out.deviation_ratio = deviation_ratio;
  return out;
}

PlantPrototypes prototypes_of(const PlantShapes& of) {
  PlantPrototypes out = plant_prototypes(of, 1);
  add_coarser_organs(of, out);
  return out;
}

double distance_to(const OrganMesh& mesh, const Vec3d& p) {
  double least = 1e9;
  for (const auto& [a, b, c] : mesh.triangles)
    least = std::min(least,
                     closest_on_triangle(mesh.positions[a], mesh.positions[b], mesh.positions[c], p).squared);
  return std::sqrt(least);
}

/// Largest distance of random points of one mesh to the other.
double sampled_distance(const OrganMesh& from, const OrganMesh& to) {
  double worst = 0;
  std::uint64_t at = 0;
  for (const auto& [a, b, c] : from.triangles)
    for (int i = 0; i < 8; ++i) {
      double u = random_unit(5, at++), v = random_unit(5, at++);
      if (u + v > 1) u = 1 - u, v = 1 - v;
      const Vec3d &p = from.positions[a], &q = from.positions[b], &r = from.positions[c];
      worst = std::max(worst, distance_to(to, p + (q - p) * u + (r - p) * v));
    }
  return worst;
}

TEST(PlantLevelOfDetail, CoarserOrgansKeepAreaAndStayNear) {
  const PlantPrototypes of = prototypes_of(shapes(3e-4));
  std::size_t levels = 0, organs = 0;
  for (const OrganPrototype& full : of.organs) {
    std::size_t before = full.mesh.triangles.size();
    organs += !full.coarser.empty();
    for (const OrganLevel& level : full.coarser) {
      const OrganPrototype& coarse = of.organs.at(level.prototype);
      EXPECT_LT(coarse.mesh.triangles.size(), before) << coarse.name;
      before = coarse.mesh.triangles.size();
      EXPECT_NEAR(surface_area(coarse.mesh), surface_area(full.mesh), 1.01e-3 * surface_area(full.mesh));
      EXPECT_EQ(coarse.area, full.area);
      EXPECT_EQ(coarse.texture, full.texture);
      EXPECT_EQ(coarse.organ, full.organ);
      EXPECT_EQ(coarse.mesh.uvs.size(), full.mesh.uvs.empty() ? 0 : coarse.mesh.positions.size());
      EXPECT_EQ(coarse.mesh.colors.size(), coarse.mesh.triangles.size());
      test::expect_sound(coarse.mesh);
      EXPECT_GE(level.deviation, 0);
      EXPECT_LT(sampled_distance(full.mesh, coarse.mesh), 1.1 * level.deviation + 1e-6) << coarse.name;
      EXPECT_LT(sampled_distance(coarse.mesh, full.mesh), 1.1 * level.deviation + 1e-6) << coarse.name;
      ++levels;
    }
  }
  EXPECT_GE(organs, 6U);
  EXPECT_GE(levels, 12U);
}

struct Drawn {
  PlantPrototypes prototypes;
  PlantParts parts;
  PlantMesh mesh;
};

Drawn draw(const PlantStructure& plant, const PlantSpecies& species, const PlantShapes& of) {
  return with_context(2, [&](OpContext& ctx) {
    Drawn out{prototypes_of(of), {}, {}};
    out.parts = plant_parts(plant, species, out.prototypes, {1}, ctx);
    out.mesh = expand_plants({&out.parts, 1}, out.prototypes, plant.base_position, ctx);
    return out;
  });
}

/// Area and volume of the triangles of one organ.
std::pair<double, double> sums_of(const PlantMesh& mesh, OrganCode organ) {
  double area = 0, volume = 0;
  for (std::size_t t = 0; t < mesh.organ_codes.size(); ++t) {
    if (mesh.organ_codes[t] != static_cast<std::uint8_t>(organ)) continue;
    const float* v = &mesh.mesh.vertices[9 * t];
    const Vec3d a{v[0], v[1], v[2]};
    const Vec3d n = triangle_area_vector(a, {v[3], v[4], v[5]}, {v[6], v[7], v[8]});
    area += std::sqrt(dot(n, n)), volume += dot(a, n) / 3;
  }
  return {area, volume};
}

PlantSpecies tree() {
  PlantSpecies species = test::tree_species();
  for (ShootType& type : species.shoot_types) {
    if (type.axillary) type.axillary->flower_shape = "flower", type.axillary->fruit_shape = "fruit";
    if (type.leaf) {
      type.leaf->petiole_length_segments = 3;
    }
  }
  return species;
}

TEST(PlantLevelOfDetail, KeepsAreaVolumeHeightAndGround) {
  const PlantSpecies species = tree();
  const PlantStructure plant = test::grown(species, 560);
  const Drawn full = draw(plant, species, shapes(0)), simple = draw(plant, species, shapes(5e-4));
  EXPECT_LT(simple.mesh.organ_codes.size(), 0.8 * static_cast<double>(full.mesh.organ_codes.size()));
  const auto [leaf, leaf_volume] = sums_of(full.mesh, OrganCode::kLeaf);
  EXPECT_NEAR(sums_of(simple.mesh, OrganCode::kLeaf).first, leaf, 1e-3 * leaf);
  for (const OrganCode organ : {OrganCode::kShoot, OrganCode::kPetiole}) {
    const double volume = sums_of(full.mesh, organ).second;
    EXPECT_GT(volume, 0);
    EXPECT_NEAR(sums_of(simple.mesh, organ).second, volume, 0.01 * volume);
  }
  EXPECT_EQ(simple.parts.height_m, full.parts.height_m);
  EXPECT_EQ(simple.parts.leaf_area_m2, full.parts.leaf_area_m2);
  EXPECT_EQ(simple.parts.wood_volume_m3, full.parts.wood_volume_m3);
  EXPECT_NEAR(simple.mesh.mesh.bounds.max.z, full.mesh.mesh.bounds.max.z, 1e-6);
  EXPECT_NEAR(simple.mesh.mesh.bounds.min.z, full.mesh.mesh.bounds.min.z, 1e-3);
}

OrganMesh soup_of(const PlantMesh& mesh, bool leaves) {
  OrganMesh out;
  for (std::size_t t = 0; t < mesh.organ_codes.size(); ++t) {
    if ((mesh.organ_codes[t] == 1) != leaves) continue;
    const auto corner = [&](std::size_t k) {
      const float* v = &mesh.mesh.vertices[9 * t + 3 * k];
      return out.add({v[0], v[1], v[2]});
    };
    const std::uint32_t a = corner(0), b = corner(1), c = corner(2);
    out.triangles.push_back({a, b, c});
  }
  return out;
}

TEST(PlantLevelOfDetail, NothingIsFartherThanStated) {
  PlantSpecies species = test::stem_species();
  ShootType& type = species.shoot_types[0];
  type.max_nodes = test::constant(6), type.internode_length_segments = 3;
  type.internode_length_max = test::constant(0.1);  // most leaves touch neither the ground nor the top
  type.internode_radius_initial = test::constant(0.0006), type.internode_pitch = test::constant(6);
  type.leaf->petiole_length_segments = 5, type.leaf->petiole_curvature = test::constant(-300);
  const PlantStructure plant = test::grown(species, 60);
  const double ratio = 0.003;
  const Drawn full = draw(plant, species, shapes(0)), simple = draw(plant, species, shapes(ratio));
  ASSERT_LT(simple.mesh.organ_codes.size(), full.mesh.organ_codes.size());
  const double d = ratio * full.parts.height_m;
  for (const bool leaves : {true, false}) {
    const OrganMesh a = soup_of(full.mesh, leaves), b = soup_of(simple.mesh, leaves);
    double worst = 0;
    for (const Vec3d& p : a.positions) worst = std::max(worst, distance_to(b, p));
    for (const Vec3d& p : b.positions) worst = std::max(worst, distance_to(a, p));
    EXPECT_GT(worst, 0.05 * d);
    // Corners of two polygons are on opposite sides of the circle.
    EXPECT_LT(worst, (leaves ? 1.01 : 1.5) * d) << leaves;
  }
}

TEST(PlantLevelOfDetail, TubesStayClosed) {
  PlantSpecies species = test::stem_species();
  ShootType& type = species.shoot_types[0];
  type.max_nodes = test::constant(450), type.internode_length_segments = 3;
  type.internode_pitch = test::normal(3, 1), type.leaf.reset(), type.petioles_per_node = 0;
  const PlantStructure plant = test::grown(species, 1000);
  const Drawn full = draw(plant, species, shapes(0)), simple = draw(plant, species, shapes(3e-4));
  EXPECT_LT(simple.parts.rings.size(), full.parts.rings.size());
  std::map<std::array<float, 3>, std::uint32_t> index;
  test::TriangleList triangles;
  for (std::size_t t = 0; t < simple.mesh.organ_codes.size(); ++t) {
    std::array<std::uint32_t, 3> corners{};
    for (std::size_t k = 0; k < 3; ++k) {
      const float* v = &simple.mesh.mesh.vertices[9 * t + 3 * k];
      corners[k] =
          index.try_emplace({v[0], v[1], v[2]}, static_cast<std::uint32_t>(index.size())).first->second;
    }
    triangles.push_back(corners);
  }
  const test::EdgeCounts edges = test::edge_counts(triangles);
  EXPECT_EQ(edges.open, 0U);
  EXPECT_EQ(edges.repeated, 0U);
}

TEST(PlantLevelOfDetail, ABudgetDoublesTheDistance) {
  const PlantSpecies species = tree();
  const PlantStructure plant = test::grown(species, 560);
  PlantShapes of = shapes(5e-4);
  const std::size_t fine = draw(plant, species, of).mesh.organ_codes.size();
  of.triangle_budget = fine;
  EXPECT_EQ(draw(plant, species, of).mesh.organ_codes.size(), fine);
  of.triangle_budget = fine - 1;
  const std::size_t twice = draw(plant, species, of).mesh.organ_codes.size();
  of.triangle_budget = 1;
  const std::size_t most = draw(plant, species, of).mesh.organ_codes.size();
  EXPECT_LT(twice, fine);
  EXPECT_LT(most, twice);
  EXPECT_EQ(most, draw(plant, species, shapes(2e-3)).mesh.organ_codes.size());
}

}  // namespace
