#include "ops/plant/geometry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/error.h"
#include "io/record_support.h"
#include "ops/plant/axis_walk.h"
#include "support/cancel.h"
#include "support/plant_shapes.h"
#include "support/plants.h"

namespace {

using namespace pc;
using record_test::with_context;

PlantShapes shapes() {
  PlantShapes out;
  LeafShape leaf;
  leaf.name = "blade";
  leaf.blade.width_ratio = 0.5, leaf.blade.fold_deg = 10, leaf.blade.bend_deg = 20;
  leaf.texture = "green.png", leaf.variants = 3;
  leaf.petiolule_length = 0.1;
  out.leaves = {leaf};
  WhorlShape petals;
  BodyShape berry;
  berry.profile = {{0, 0}, {0.15, 0.35}, {0.5, 0.5}, {0.85, 0.35}, {1, 0}};
  out.flowers = {{"flower", {{petals}, {}}}};
  out.fruits = {{"fruit", {{}, {berry}}}};
  return out;
}

PlantSpecies tree() {
  PlantSpecies species = test::tree_species();
  for (ShootType& type : species.shoot_types)
    if (type.axillary) type.axillary->flower_shape = "flower", type.axillary->fruit_shape = "fruit";
  return species;
}

struct Drawn {
  PlantPrototypes prototypes;
  PlantParts parts;
  PlantMesh mesh;
};

Drawn draw(const PlantStructure& plant, const PlantSpecies& species, const PlantShapes& of = shapes(),
           int threads = 2) {
  return with_context(threads, [&](OpContext& ctx) {
    Drawn out;
    out.prototypes = plant_prototypes(of, 1);
    out.parts = plant_parts(plant, species, out.prototypes, {1}, ctx);
    out.mesh = expand_plants({&out.parts, 1}, out.prototypes, plant.base_position, ctx);
    return out;
  });
}

Vec3d corner(const PlantMesh& mesh, std::size_t triangle, std::size_t k) {
  const std::size_t v = 9 * triangle + 3 * k;
  return {mesh.mesh.vertices[v], mesh.mesh.vertices[v + 1], mesh.mesh.vertices[v + 2]};
}
Vec3d area_vector(const PlantMesh& mesh, std::size_t t) {
  return triangle_area_vector(corner(mesh, t, 0), corner(mesh, t, 1), corner(mesh, t, 2));
}
double area_of(const PlantMesh& mesh, OrganCode organ) {
  double sum = 0;
  for (std::size_t t = 0; t < mesh.organ_codes.size(); ++t)
    if (mesh.organ_codes[t] == static_cast<std::uint8_t>(organ)) {
      const Vec3d v = area_vector(mesh, t);
      sum += std::sqrt(dot(v, v));
    }
  return sum;
}
/// Divergence theorem over the triangles of one organ.
double volume_of(const PlantMesh& mesh, OrganCode organ) {
  double sum = 0;
  for (std::size_t t = 0; t < mesh.organ_codes.size(); ++t)
    if (mesh.organ_codes[t] == static_cast<std::uint8_t>(organ))
      sum += dot(corner(mesh, t, 0), area_vector(mesh, t));
  return sum / 3;
}

double structure_wood_volume(const PlantStructure& plant) {
  double sum = 0;
  for (const PlantShoot& shoot : plant.shoots)
    for (const Phytomer& p : shoot.phytomers)
      sum +=
          M_PI * p.internode.internode_radius * p.internode.internode_radius * p.internode.internode_length;
  return sum;
}

double structure_leaf_area(const PlantStructure& plant, double coefficient) {
  double sum = 0;
  for (const PlantShoot& shoot : plant.shoots)
    for (const Phytomer& p : shoot.phytomers)
      for (const PlantPetiole& petiole : p.petioles)
        for (std::size_t i = 0; i < petiole.leaves.size(); ++i) {
          const double length = petiole.leaves[i].leaf_scale * leaflet_factor(petiole.leaflet_scale, i) *
                                petiole.current_leaf_scale_factor;
          sum += coefficient * length * length;
        }
  return sum;
}

TEST(PlantGeometry, AreaAndVolumeAreThoseOfTheStructure) {
  const PlantSpecies species = tree();
  for (const double age : {200.0, 560.0}) {
    const PlantStructure plant = test::grown(species, age);
    const Drawn drawn = draw(plant, species);
    const double leaf = area_of(drawn.mesh, OrganCode::kLeaf);
    EXPECT_GT(leaf, 0.05);
    EXPECT_NEAR(leaf, structure_leaf_area(plant, drawn.prototypes.leaves[0].area), 1e-3 * leaf);
    EXPECT_NEAR(leaf, drawn.parts.leaf_area_m2, 1e-4 * leaf);
    const double wood = volume_of(drawn.mesh, OrganCode::kShoot);
    EXPECT_NEAR(wood, structure_wood_volume(plant), 0.01 * wood) << age;
    EXPECT_NEAR(wood, drawn.parts.wood_volume_m3, 0.002 * wood) << age;
  }
}

TEST(PlantGeometry, ColumnsFitTogether) {
  const PlantSpecies species = tree();
  const Drawn drawn = draw(test::grown(species, 500), species);
  const PackedMesh& mesh = drawn.mesh.mesh;
  const std::size_t n = drawn.mesh.organ_codes.size();
  ASSERT_GT(n, 10000U);
  EXPECT_EQ(n, plant_triangle_count(drawn.parts, drawn.prototypes));
  EXPECT_EQ(mesh.vertices.size(), 9 * n);
  EXPECT_EQ(mesh.colors.size(), 9 * n);
  EXPECT_EQ(mesh.uvs.size(), 6 * n);
  EXPECT_EQ(plant_mesh_bytes(n, true), mesh.vertices.bytes() + mesh.indices.bytes() + mesh.normals.bytes() +
                                           mesh.colors.bytes() + mesh.uvs.bytes() +
                                           mesh.triangle_material.bytes() + drawn.mesh.organ_codes.bytes() +
                                           drawn.mesh.triangle_plant.bytes());
  std::set<int> codes;
  for (std::size_t t = 0; t < n; ++t) {
    codes.insert(drawn.mesh.organ_codes[t]);
    const bool is_leaf = drawn.mesh.organ_codes[t] == 1;
    ASSERT_EQ(mesh.triangle_material[t], is_leaf ? 0 : kNoIndex);
    const Vec3d v = area_vector(drawn.mesh, t);
    const double area = std::sqrt(dot(v, v));
    ASSERT_GT(area, 0) << t;
    for (std::size_t k = 0; k < 3; ++k) {
      const std::size_t i = 3 * (3 * t + k);
      ASSERT_EQ(mesh.indices[3 * t + k], 3 * t + k);
      ASSERT_NEAR(mesh.normals[i] * v.x + mesh.normals[i + 1] * v.y + mesh.normals[i + 2] * v.z, area,
                  1e-2 * area);
      for (std::size_t c = 0; c < 2; ++c) {
        const float uv = mesh.uvs[2 * (3 * t + k) + c];
        ASSERT_TRUE(is_leaf ? uv >= 0 && uv <= 1 : uv == 0);
      }
      ASSERT_GE(corner(drawn.mesh, t, k).z, -0.03);
    }
  }
  EXPECT_EQ(codes, (std::set<int>{1, 2, 3, 4, 5}));
  EXPECT_NEAR(drawn.parts.height_m, mesh.bounds.max.z, 1e-6);  // a leaf is the highest
  EXPECT_GT(area_of(draw(test::grown(species, 460), species).mesh, OrganCode::kUnknown), 0);  // flowers
}

TEST(PlantGeometry, HeightIsThatOfTheMesh) {
  const PlantSpecies species = tree();
  for (const double age : {2.0, 60.0, 300.0, 460.0, 500.0}) {  // bare and in leaf
    const Drawn drawn = draw(test::grown(species, age), species);
    EXPECT_NEAR(drawn.parts.height_m, drawn.mesh.mesh.bounds.max.z, 1e-6) << age;
  }
  PlantSpecies bare = test::stem_species();
  ShootType& stem = bare.shoot_types[0];
  stem.leaf.reset(), stem.petioles_per_node = 0;
  stem.internode_radius_initial = test::constant(0.01), stem.internode_pitch = test::constant(25);
  const Drawn leaning = draw(test::grown(bare, 60), bare);
  EXPECT_NEAR(leaning.parts.height_m, leaning.mesh.mesh.bounds.max.z, 1e-6);
}

template <class T>
bool equal(const Column<T>& a, const Column<T>& b) {
  return a.size() == b.size() && std::equal(a.view().begin(), a.view().end(), b.view().begin());
}

TEST(PlantGeometry, IsTheSameForAnyThreadCountAndBase) {
  const PlantSpecies species = tree();
  PlantStructure plant = test::grown(species, 500);
  const Drawn one = draw(plant, species, shapes(), 1), three = draw(plant, species, shapes(), 3);
  EXPECT_TRUE(equal(one.mesh.mesh.vertices, three.mesh.mesh.vertices));
  EXPECT_TRUE(equal(one.mesh.mesh.uvs, three.mesh.mesh.uvs));
  EXPECT_TRUE(equal(one.mesh.mesh.colors, three.mesh.mesh.colors));
  EXPECT_TRUE(equal(one.mesh.organ_codes, three.mesh.organ_codes));
  plant.base_position = {1e7, -1e7, 4000};
  const Drawn far = draw(plant, species);
  ASSERT_EQ(far.mesh.mesh.vertices.size(), one.mesh.mesh.vertices.size());
  double worst = 0;
  for (std::size_t i = 0; i < far.mesh.mesh.vertices.size(); ++i)
    worst =
        std::max(worst, std::abs(static_cast<double>(far.mesh.mesh.vertices[i]) - one.mesh.mesh.vertices[i]));
  EXPECT_LT(worst, 2e-6);  // places of the axes are doubles at 1e7 m
}

/// Tubes of many rings are written in parts, which must fit together.
TEST(PlantGeometry, LongShootsAreOneClosedTube) {
  PlantSpecies species = test::stem_species();
  ShootType& type = species.shoot_types[0];
  type.max_nodes = test::constant(450), type.internode_length_segments = 3;
  type.internode_pitch = test::normal(3, 1), type.leaf.reset(), type.petioles_per_node = 0;
  const Drawn drawn = draw(test::grown(species, 1000), species);
  EXPECT_EQ(drawn.parts.tubes.size(), 3U);
  std::map<std::array<double, 3>, std::uint32_t> index;
  test::TriangleList triangles;
  for (std::size_t t = 0; t < drawn.mesh.organ_codes.size(); ++t) {
    std::array<std::uint32_t, 3> corners{};
    for (std::size_t k = 0; k < 3; ++k) {
      const Vec3d p = corner(drawn.mesh, t, k);
      corners[k] = index.try_emplace({p.x, p.y, p.z}, static_cast<std::uint32_t>(index.size())).first->second;
    }
    triangles.push_back(corners);
  }
  const test::EdgeCounts edges = test::edge_counts(triangles);
  EXPECT_EQ(edges.open, 0U);
  EXPECT_EQ(edges.repeated, 0U);
}

double mean_inclination(const Drawn& drawn) {
  double sum = 0, area = 0;
  for (std::size_t t = 0; t < drawn.mesh.organ_codes.size(); ++t) {
    if (drawn.mesh.organ_codes[t] != 1) continue;
    const Vec3d v = area_vector(drawn.mesh, t);
    const double a = std::sqrt(dot(v, v));
    sum += a * std::acos(std::min(1.0, std::abs(v.z) / a)) * 180 / M_PI, area += a;
  }
  return sum / area;
}

TEST(PlantGeometry, SteeredLeavesFollowTheLaw) {
  const PlantSpecies species = tree();
  PlantStructure plant = test::grown(species, 560);
  PlantShapes flat = shapes();
  flat.leaves[0].blade.fold_deg = flat.leaves[0].blade.bend_deg = 0;
  for (const auto& [mu, nu] : {std::pair{1.0, 3.0}, {3.0, 2.0}}) {
    plant.leaf_inclination = LeafInclination{mu, nu};
    EXPECT_NEAR(mean_inclination(draw(plant, species, flat)), 90 * nu / (mu + nu), 1.5) << mu;
    EXPECT_NEAR(mean_inclination(draw(plant, species)), 90 * nu / (mu + nu), 5) << mu;
  }
}

/// A prostrate plant: every organ stays above the ground.
TEST(PlantGeometry, NothingGoesBelowTheGround) {
  PlantSpecies species = test::stem_species();
  species.shoot_types[0].leaf->petiole_pitch = test::constant(120);
  species.shoot_types[0].leaf->petiole_curvature = test::constant(-800);
  species.shoot_types[0].leaf->petiole_length_segments = 5;
  species.shoot_types[0].leaf->leaf_pitch = test::uniform(0, 90);
  species.start[0].pitch = test::constant(100);
  PlantStructure plant = test::grown(species, 60);
  plant.base_position = {10, 20, 30};
  for (const bool is_steered : {false, true}) {
    if (is_steered) plant.leaf_inclination = LeafInclination{1, 1};
    const Drawn drawn = draw(plant, species);
    for (std::size_t t = 0; t < drawn.mesh.organ_codes.size(); ++t)
      for (std::size_t k = 0; k < 3; ++k) {
        // Tubes lie on the ground with their axis.
        const double least = drawn.mesh.organ_codes[t] == 1 ? -1e-6 : -0.006;
        ASSERT_GE(corner(drawn.mesh, t, k).z, least) << t;
      }
  }
}

TEST(PlantGeometry, CompoundLeavesHaveTheirLeafletsOnBothSides) {
  PlantSpecies species = test::stem_species();
  LeafParams& leaf = *species.shoot_types[0].leaf;
  leaf.leaflets = 5, leaf.leaflet_scale = test::constant(0.8), leaf.leaflet_offset = test::constant(0.3);
  species.shoot_types[0].max_nodes = test::constant(1);
  const Drawn drawn = draw(test::grown(species, 100), species);
  ASSERT_EQ(drawn.parts.instances.size(), 5U);
  const auto& parts = drawn.parts.instances;
  const auto length = [&](std::size_t i) { return std::sqrt(dot(parts[i].frame[0], parts[i].frame[0])); };
  EXPECT_NEAR(length(0), 0.1, 1e-12);
  EXPECT_NEAR(length(1), 0.08, 1e-12);
  EXPECT_NEAR(length(4), 0.064, 1e-12);
  // Left and right leaflets mirror each other in the plane of the petiole and its upper side.
  const Vec3d side = parts[0].frame[1] * (1 / length(0));
  for (const std::size_t left : {1U, 3U}) {
    const double across = dot(parts[left].frame[0], side);
    EXPECT_NEAR(across, length(left) * std::sin(M_PI / 3), 1e-9);
    EXPECT_NEAR(dot(parts[left + 1].frame[0], side), -across, 1e-9);
    EXPECT_NEAR(dot(parts[left].frame[3] - parts[left + 1].frame[3], side), 2 * 0.1 * across, 1e-9);
  }
}

/// On a level shoot with leaves to both sides, whose phyllotaxis would put every blade on its edge.
TEST(PlantGeometry, BladesTurnToTheSky) {
  PlantSpecies species = test::stem_species();
  species.shoot_types[0].phyllotactic_angle = test::constant(180);
  species.start[0].pitch = test::constant(90);
  species.start[0].roll = test::constant(90);
  const PlantStructure plant = test::grown(species, 60);
  PlantShapes level = shapes();
  level.leaves[0].blade.fold_deg = level.leaves[0].blade.bend_deg = 0;  // nothing to raise from the ground
  for (const bool turns_up : {false, true}) {
    level.leaves[0].turns_up = turns_up;
    for (const OrganInstance& leaf : draw(plant, species, level).parts.instances)
      EXPECT_NEAR(leaf.frame[2].z / 0.1, turns_up ? 1 : 0, 1e-3);
  }
}

TEST(PlantGeometry, SheathsFollowTheShoot) {
  PlantSpecies species = test::stem_species();
  species.shoot_types[0].leaf->petiole_length = test::constant(0.05);
  species.shoot_types[0].leaf->leaf_pitch = test::constant(30);
  species.shoot_types[0].internode_pitch = test::constant(8);
  PlantShapes sheathed = shapes();
  sheathed.leaves[0].is_sheathed = true;
  const PlantStructure plant = test::grown(species, 100);
  const Drawn drawn = draw(plant, species, sheathed);
  const PlantAxes axes = with_context(1, [&](OpContext& ctx) { return walk_axes(plant, ctx); });
  ASSERT_EQ(drawn.parts.instances.size(), 10U);
  for (std::size_t k = 0; k < 7; ++k) {  // 5 cm above their nodes: on the axis
    const Vec3d base = drawn.parts.instances[k].frame[3];
    double nearest = 1;
    for (std::size_t i = 1; i < axes.frames.size(); ++i) {
      const Vec3d a = axes.frames[i - 1].point, step = axes.frames[i].point - a;
      const double t = std::clamp(dot(base - a, step) / dot(step, step), 0.0, 1.0);
      nearest = std::min(nearest, squared_distance(base, a + step * t));
    }
    EXPECT_LT(std::sqrt(nearest), 1e-9) << k;
  }
}

TEST(PlantGeometry, HostileStructuresEndInAnErrorOrASoundMesh) {
  const PlantSpecies species = tree();
  const PlantStructure good = test::grown(species, 300);
  const auto each = [&](const auto& edit) {
    PlantStructure plant = good;
    for (PlantShoot& shoot : plant.shoots)
      for (Phytomer& phytomer : shoot.phytomers) edit(phytomer);
    const Drawn drawn = draw(plant, species);
    for (std::size_t t = 0; t < drawn.mesh.organ_codes.size(); ++t)
      for (std::size_t k = 0; k < 3; ++k) ASSERT_TRUE(is_finite(corner(drawn.mesh, t, k)));
    EXPECT_GE(volume_of(drawn.mesh, OrganCode::kShoot), -1e-12);
  };
  each([](Phytomer& p) { p.internode.internode_length = 0; });
  each([](Phytomer& p) { p.internode.internode_radius = 1e-9; });
  each([](Phytomer& p) { p.internode.internode_radius = 0.5; });
  each([](Phytomer& p) { p.internode.internode_pitch = 180; });
  each([](Phytomer& p) { p.internode.internode_pitch = 120; });
  each([](Phytomer& p) {
    for (PlantPetiole& petiole : p.petioles) petiole.petiole_length = 0, petiole.petiole_radius = 0;
  });
  each([](Phytomer& p) {
    for (PlantPetiole& petiole : p.petioles) petiole.petiole_curvature = -1e6, petiole.petiole_taper = 1;
  });
  PlantStructure odd = good;
  odd.shoots.back().shoot_type_label = "unknown";
  EXPECT_THROW(draw(odd, species), Error);
  PlantShapes none = shapes();
  none.leaves[0].name = "other";
  EXPECT_THROW(draw(good, species, none), Error);
  PlantStructure infinite = good;
  for (PlantShoot& shoot : infinite.shoots)
    for (Phytomer& p : shoot.phytomers)
      for (PlantPetiole& petiole : p.petioles) petiole.petiole_length = NAN;
  EXPECT_THROW(draw(infinite, species), Error);
}

TEST(PlantGeometry, CostIsABoundThatIsNotFarOff) {
  const PlantSpecies species = tree();
  for (const double age : {100.0, 200.0, 460.0, 560.0}) {
    const PlantStructure plant = test::grown(species, age);
    const Drawn drawn = draw(plant, species);
    const PlantGeometryCost cost = with_context(
        1, [&](OpContext& ctx) { return plant_geometry_cost(plant, drawn.prototypes, {1}, ctx); });
    const std::uint64_t triangles = drawn.mesh.organ_codes.size();
    EXPECT_GE(cost.triangles, triangles);
    EXPECT_LT(cost.triangles, 8 * triangles);
    const std::uint64_t bytes = drawn.parts.rings.size() * sizeof(TubeRing) +
                                drawn.parts.tubes.size() * sizeof(PlantTube) +
                                drawn.parts.instances.size() * sizeof(OrganInstance);
    EXPECT_GE(cost.parts_bytes, 2 * bytes);
    EXPECT_LT(cost.parts_bytes, 12 * bytes);
  }
}

TEST(PlantGeometry, CancelsWhilePacking) {
  const PlantSpecies species = tree();
  const Drawn drawn = draw(test::grown(species, 700), species);
  const std::vector<PlantParts> many(20, drawn.parts);
  test::expect_cancel_in_phase("Packing geometry", [&](OpContext& ctx) {
    expand_plants({many.data(), many.size()}, drawn.prototypes, {0, 0, 0}, ctx);
  });
}

}  // namespace
