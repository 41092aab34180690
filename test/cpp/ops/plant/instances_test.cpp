#include "ops/plant/instances.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>
#include <vector>

#include "core/error.h"
#include "io/record_support.h"
#include "ops/plant/canopy.h"
#include "ops/plant/tube_sections.h"
#include "support/cancel.h"
#include "support/plant_shapes.h"
#include "support/plants.h"

namespace {

using namespace pc;
using record_test::with_context;

PlantShapes shapes() {
  PlantShapes out;
  LeafShape leaf;
  leaf.name = "blade", leaf.variants = 3, leaf.petiolule_length = 0.1;
  out.leaves = {leaf};
  WhorlShape petals;
  BodyShape berry;
  berry.profile = {{0, 0}, {0.15, 0.35}, {0.5, 0.5}, {0.85, 0.35}, {1, 0}};
  out.flowers = {{"flower", {{petals}, {}}}};
  out.fruits = {{"fruit", {{}, {berry}}}};
  out.bark_radius_m = 0.002;
  return out;
}

PlantSpecies tree() {
  PlantSpecies species = test::tree_species();
  for (ShootType& type : species.shoot_types) {
    if (type.axillary) type.axillary->flower_shape = "flower", type.axillary->fruit_shape = "fruit";
    if (type.leaf)
      type.leaf->petiole_length_segments = 4, type.leaf->petiole_curvature = test::uniform(-900, 900);
  }
  return species;
}

struct Placed {
  PlantPrototypes prototypes;
  std::vector<PlantParts> plants;
};

Placed placed(const std::vector<PlantStructure>& plants, const PlantSpecies& species) {
  return with_context(2, [&](OpContext& ctx) {
    Placed out{plant_prototypes(shapes(), 1), {}};
    for (const PlantStructure& plant : plants)
      out.plants.push_back(plant_parts(plant, species, out.prototypes, {1}, ctx));
    return out;
  });
}
PlantInstances instances_of(const Placed& of, const Vec3d& origin = {0, 0, 0}, int threads = 2) {
  return with_context(threads, [&](OpContext& ctx) {
    return instance_plants({of.plants.data(), of.plants.size()}, of.prototypes, origin, ctx);
  });
}

struct Triangle {
  std::array<Vec3d, 3> corners;
  OrganCode organ;
  UnitRgb color;
};

/// What a client makes of the arrays.
std::vector<Triangle> expanded(const PlantInstances& instances, const PlantPrototypes& prototypes) {
  std::vector<Triangle> out;
  const std::size_t organs = prototypes.organs.size();
  for (std::size_t i = 0; i < instances.instance_prototype.size(); ++i) {
    const std::size_t number = instances.instance_prototype[i];
    const OrganPrototype& shape =
        number < organs ? prototypes.organs[number] : instances.sections.at(number - organs);
    const float* m = &instances.instance_matrix[12 * i];
    for (std::size_t t = 0; t < shape.mesh.triangles.size(); ++t) {
      Triangle triangle{{}, shape.organ, shape.mesh.colors[t]};
      for (std::size_t k = 0; k < 3; ++k) {
        const Vec3d& p = shape.mesh.positions[shape.mesh.triangles[t][k]];
        const auto row = [&](int r) {
          return m[4 * r] * p.x + m[4 * r + 1] * p.y + m[4 * r + 2] * p.z + m[4 * r + 3];
        };
        triangle.corners[k] = {row(0), row(1), row(2)};
      }
      out.push_back(triangle);
    }
  }
  return out;
}

std::vector<Triangle> mesh_of(const Placed& of) {
  const PlantMesh mesh = with_context(2, [&](OpContext& ctx) {
    return expand_plants({of.plants.data(), of.plants.size()}, of.prototypes, {0, 0, 0}, ctx);
  });
  std::vector<Triangle> out;
  for (std::size_t t = 0; t < mesh.organ_codes.size(); ++t) {
    Triangle triangle{{}, static_cast<OrganCode>(mesh.organ_codes[t]), {}};
    for (std::size_t k = 0; k < 3; ++k) {
      const float* v = &mesh.mesh.vertices[9 * t + 3 * k];
      triangle.corners[k] = {v[0], v[1], v[2]};
      triangle.color[k] = mesh.mesh.colors[9 * t + k];
    }
    out.push_back(triangle);
  }
  return out;
}

struct Sums {
  std::size_t triangles = 0;
  double area = 0, volume = 0;
};
std::map<OrganCode, Sums> sums_of(const std::vector<Triangle>& triangles) {
  std::map<OrganCode, Sums> sums;
  for (const Triangle& t : triangles) {
    const Vec3d v = triangle_area_vector(t.corners[0], t.corners[1], t.corners[2]);
    Sums& sum = sums[t.organ];
    sum.triangles += 1, sum.area += std::sqrt(dot(v, v)), sum.volume += dot(t.corners[0], v) / 3;
  }
  return sums;
}

TEST(PlantInstances, PlacedPrototypesAreTheMesh) {
  const PlantSpecies species = tree();
  const Placed of = placed({test::grown(species, 560)}, species);
  const auto found = expanded(instances_of(of), of.prototypes), mesh = mesh_of(of);
  ASSERT_EQ(found.size(), mesh.size());
  auto expected = sums_of(mesh);
  EXPECT_EQ(expected.size(), 5U);
  for (const auto& [organ, sum] : sums_of(found)) {
    const Sums& exact = expected[organ];
    EXPECT_EQ(sum.triangles, exact.triangles);
    const bool is_tube =
        organ == OrganCode::kShoot || organ == OrganCode::kPetiole || organ == OrganCode::kPeduncle;
    EXPECT_NEAR(sum.area, exact.area, (is_tube ? 0.005 : 1e-5) * exact.area) << static_cast<int>(organ);
    if (is_tube) {
      EXPECT_NEAR(sum.volume, exact.volume, 0.005 * exact.volume) << static_cast<int>(organ);
    }
  }
}

/// The triangles of tubes come in the same order, up to the corner at which a ring begins: the nearest corners are compared.
TEST(PlantInstances, CornersOfTubesAreNearThoseOfTheMesh) {
  const PlantSpecies species = tree();
  const Placed of = placed({test::grown(species, 560)}, species);
  const auto found = expanded(instances_of(of), of.prototypes), mesh = mesh_of(of);
  std::size_t next = 0;
  double worst = 0;
  for (const PlantTube& tube : of.plants[0].tubes) {
    const std::size_t count =
        2 * tube.sides * (tube.ring_count - 1) + (tube.has_start + tube.has_end) * (tube.sides - 2);
    double radius = 0;
    for (std::size_t i = 0; i < tube.ring_count; ++i)
      radius = std::max(radius, of.plants[0].rings[tube.first_ring + i].radius);
    for (std::size_t t = next; t < next + count; ++t) {
      ASSERT_EQ(found[t].organ, mesh[t].organ);
      ASSERT_EQ(found[t].color, mesh[t].color);
      const std::size_t near = 2 * tube.sides;  // those of one segment
      for (const Vec3d& p : found[t].corners) {
        double nearest = 1;
        for (std::size_t o = std::max(next + near, t) - near; o < std::min(next + count, t + near + 1); ++o)
          for (const Vec3d& q : mesh[o].corners) nearest = std::min(nearest, squared_distance(p, q));
        worst = std::max(worst, std::sqrt(nearest) / radius);
      }
    }
    next += count;
  }
  EXPECT_GT(next, 5000U);
  EXPECT_LT(worst, 0.07);
  EXPECT_GT(worst, 0.005);  // rounded at all
}

/// Corners within a micrometre are one.
std::uint32_t welded(std::map<std::tuple<long, long, long>, std::uint32_t>& index, const Vec3d& p) {
  const auto cell = [](double x) { return std::lround(x * 1e6); };
  for (long x = -1; x <= 1; ++x)
    for (long y = -1; y <= 1; ++y)
      for (long z = -1; z <= 1; ++z) {
        const auto near = index.find({cell(p.x) + x, cell(p.y) + y, cell(p.z) + z});
        if (near != index.end()) return near->second;
      }
  const auto number = static_cast<std::uint32_t>(index.size());
  return index.try_emplace({cell(p.x), cell(p.y), cell(p.z)}, number).first->second;
}

TEST(PlantInstances, TubesHaveNoCracks) {
  PlantSpecies species = test::stem_species();
  ShootType& type = species.shoot_types[0];
  type.max_nodes = test::constant(450), type.internode_length_segments = 3;
  type.internode_pitch = test::normal(4, 2), type.leaf.reset(), type.petioles_per_node = 0;
  type.tortuosity = test::constant(15);
  const Placed of = placed({test::grown(species, 1000)}, species);
  ASSERT_EQ(of.plants[0].tubes.size(), 3U);  // parts of one tube
  const PlantInstances instances = instances_of(of);
  std::map<std::tuple<long, long, long>, std::uint32_t> index;
  test::TriangleList triangles;
  for (const Triangle& t : expanded(instances, of.prototypes))
    triangles.push_back(
        {welded(index, t.corners[0]), welded(index, t.corners[1]), welded(index, t.corners[2])});
  const test::EdgeCounts edges = test::edge_counts(triangles);
  EXPECT_EQ(edges.open, 0U);
  EXPECT_EQ(edges.repeated, 0U);
  EXPECT_LT(instances.sections.size(), instances.instance_prototype.size() / 2);
}

TEST(PlantInstances, PlantsShareTheirShapes) {
  const PlantSpecies species = tree();
  std::vector<PlantStructure> plants;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) plants.push_back(test::grown(species, 460, seed));
  const Placed one = placed({plants[0]}, species), many = placed(plants, species);
  const PlantInstances single = instances_of(one), all = instances_of(many);
  EXPECT_LT(all.sections.size(), 6 * single.sections.size());
  for (std::size_t i = 0; i < single.instance_prototype.size(); ++i) {
    ASSERT_EQ(all.instance_prototype[i], single.instance_prototype[i]);
    ASSERT_EQ(all.instance_plant[i], 0U);
  }
  EXPECT_EQ(all.instance_plant[all.instance_plant.size() - 1], 11U);
}

template <class T>
bool equal(const Column<T>& a, const Column<T>& b) {
  return a.size() == b.size() && std::equal(a.view().begin(), a.view().end(), b.view().begin());
}

TEST(PlantInstances, AreTheSameForAnyThreadCountAndOrigin) {
  const PlantSpecies species = tree();
  PlantStructure plant = test::grown(species, 460);
  const Placed of = placed({plant, test::grown(species, 460, 2)}, species);
  const PlantInstances one = instances_of(of, {0, 0, 0}, 1), three = instances_of(of, {0, 0, 0}, 3);
  EXPECT_TRUE(equal(one.instance_matrix, three.instance_matrix));
  EXPECT_TRUE(equal(one.instance_prototype, three.instance_prototype));
  ASSERT_EQ(one.sections.size(), three.sections.size());
  plant.base_position = {1e7, -1e7, 4000};
  const Placed at = placed({plant}, species);
  // Roundings of slopes and polygons may fall to the other side; the tubes are the same.
  const Placed here = placed({test::grown(species, 460)}, species);
  const auto near = sums_of(expanded(instances_of(here), here.prototypes));
  const PlantInstances far = instances_of(at, plant.base_position);
  for (const auto& [organ, sum] : sums_of(expanded(far, at.prototypes))) {
    EXPECT_EQ(sum.triangles, near.at(organ).triangles);
    EXPECT_NEAR(sum.area, near.at(organ).area, 1e-3 * sum.area);
  }
}

TEST(PlantInstances, OddTubesAreSound) {
  const PlantSpecies species = tree();
  const PlantStructure good = test::grown(species, 300);
  const auto each = [&](const auto& edit) {
    PlantStructure plant = good;
    for (PlantShoot& shoot : plant.shoots)
      for (Phytomer& phytomer : shoot.phytomers) edit(phytomer);
    const Placed of = placed({plant}, species);
    const auto found = expanded(instances_of(of), of.prototypes);
    ASSERT_EQ(found.size(), mesh_of(of).size());
    for (const Triangle& t : found)
      for (const Vec3d& p : t.corners) ASSERT_TRUE(is_finite(p));
  };
  each([](Phytomer& p) { p.internode.internode_length = 0; });
  each([](Phytomer& p) { p.internode.internode_radius = 0.5; });
  each([](Phytomer& p) { p.internode.internode_radius = 1e-5; });
  each([](Phytomer& p) { p.internode.internode_pitch = 99; });
  each([](Phytomer& p) { p.internode.internode_length = 500; });
  each([](Phytomer& p) {
    for (PlantPetiole& petiole : p.petioles) petiole.petiole_curvature = -1e6, petiole.petiole_taper = 1;
  });
}

TEST(PlantInstances, NoPlantsAreNoInstances) {
  const Placed none{plant_prototypes(shapes(), 1), {}};
  EXPECT_EQ(instances_of(none).instance_prototype.size(), 0U);
  const Placed bare{plant_prototypes(shapes(), 1), {PlantParts{}}};
  EXPECT_EQ(instances_of(bare).instance_matrix.size(), 0U);
  EXPECT_THROW(instances_of(bare, {NAN, 0, 0}), Error);
}

TEST(PlantInstances, CancelsWhilePacking) {
  const PlantSpecies species = tree();
  const Placed one = placed({test::grown(species, 700)}, species);
  const Placed many{one.prototypes, std::vector<PlantParts>(30, one.plants[0])};
  test::expect_cancel_in_phase("Packing geometry", [&](OpContext& ctx) {
    instance_plants({many.plants.data(), many.plants.size()}, many.prototypes, {0, 0, 0}, ctx);
  });
}

}  // namespace
