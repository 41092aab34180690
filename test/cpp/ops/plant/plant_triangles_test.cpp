#include "ops/plant/plant_triangles.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "core/error.h"
#include "io/record_support.h"
#include "support/plant_shapes.h"
#include "support/plants.h"

namespace {

using namespace pc;
using record_test::with_context;

/// Two trees of other ages with tubes, textured blades and berries.
struct Stand {
  PlantPrototypes prototypes;
  std::vector<PlantParts> plants;
};

PlantShapes shapes() {
  PlantShapes out;
  LeafShape leaf;
  leaf.name = "blade", leaf.texture = "green.png", leaf.variants = 3;
  leaf.blade.width_ratio = 0.5;
  BodyShape berry;
  berry.profile = {{0, 0}, {0.5, 0.5}, {1, 0}};
  out.leaves = {leaf};
  out.fruits = {{"fruit", {{}, {berry}}}};
  return out;
}

Stand stand() {
  return with_context(2, [&](OpContext& ctx) {
    Stand out;
    out.prototypes = plant_prototypes(shapes(), 1);
    const PlantSpecies species = test::tree_species();
    for (const double age : {200.0, 560.0}) {
      PlantStructure plant = test::grown(species, age);
      plant.base_position = {5e6 + age, 1, 2};
      out.plants.push_back(plant_parts(plant, species, out.prototypes, {1}, ctx));
    }
    return out;
  });
}

PlantMesh expanded(const Stand& of, int threads) {
  return with_context(threads, [&](OpContext& ctx) {
    return expand_plants({of.plants.data(), of.plants.size()}, of.prototypes, {5e6, 0, 0}, ctx);
  });
}

template <class T>
std::vector<std::byte> bytes_of(const Column<T>& column) {
  std::vector<std::byte> out(column.bytes());
  if (!out.empty()) std::memcpy(out.data(), column.view().data, out.size());
  return out;
}

std::vector<std::byte> read_in_blocks(const PlantTriangles& triangles, PlantField field, std::size_t block) {
  std::vector<std::byte> out, part(block);
  for (;;) {
    const std::size_t size = triangles.read(field, out.size(), block, part.data());
    if (size == 0) return out;
    out.insert(out.end(), part.begin(), part.begin() + static_cast<std::ptrdiff_t>(size));
  }
}

TEST(PlantTriangles, BlocksOfAnySizeAreTheStoredMesh) {
  const Stand of = stand();
  const PlantTriangles triangles({of.plants.data(), of.plants.size()}, of.prototypes, {5e6, 0, 0});
  const PlantMesh mesh = expanded(of, 2);
  ASSERT_GT(triangles.size(), 2000U);
  EXPECT_TRUE(triangles.is_textured());
  EXPECT_EQ(mesh.triangle_plant[0], 0U);
  EXPECT_EQ(mesh.triangle_plant[triangles.size() - 1], 1U);
  const std::vector<std::pair<PlantField, std::vector<std::byte>>> stored = {
      {PlantField::kVertices, bytes_of(mesh.mesh.vertices)},
      {PlantField::kNormals, bytes_of(mesh.mesh.normals)},
      {PlantField::kColors, bytes_of(mesh.mesh.colors)},
      {PlantField::kUvs, bytes_of(mesh.mesh.uvs)},
      {PlantField::kIndices, bytes_of(mesh.mesh.indices)},
      {PlantField::kMaterials, bytes_of(mesh.mesh.triangle_material)},
      {PlantField::kOrganCodes, bytes_of(mesh.organ_codes)},
      {PlantField::kPlants, bytes_of(mesh.triangle_plant)}};
  ASSERT_EQ(stored.size(), kPlantFields);
  for (const auto& [field, expected] : stored)
    for (const std::size_t block : {61U, 36U, 1000U, 65536U})
      EXPECT_TRUE(read_in_blocks(triangles, field, block) == expected)
          << "field " << static_cast<int>(field) << " in blocks of " << block;
}

TEST(PlantTriangles, BytesOfAnyTriangleAreThoseOfTheStoredMesh) {
  const Stand of = stand();
  const PlantTriangles triangles({of.plants.data(), of.plants.size()}, of.prototypes, {5e6, 0, 0});
  const std::vector<std::byte> stored = bytes_of(expanded(of, 2).mesh.vertices);
  std::byte part[5];
  for (std::size_t at = 0; at + 5 <= stored.size(); at += at < 1000 ? 1 : 997) {
    ASSERT_EQ(triangles.read(PlantField::kVertices, at, 5, part), 5U);
    ASSERT_EQ(std::memcmp(part, stored.data() + at, 5), 0) << at;
  }
}

TEST(PlantTriangles, ReadsNothingBeyondTheEnd) {
  const Stand of = stand();
  const PlantTriangles triangles({of.plants.data(), of.plants.size()}, of.prototypes, {5e6, 0, 0});
  std::byte out[8]{};
  const std::uint64_t total = 12 * triangles.size();
  EXPECT_EQ(triangles.read(PlantField::kIndices, total, 8, out), 0U);
  EXPECT_EQ(triangles.read(PlantField::kIndices, std::numeric_limits<std::uint64_t>::max(), 8, out), 0U);
  EXPECT_EQ(triangles.read(PlantField::kIndices, total - 3, 8, out), 3U);
}

TEST(PlantTriangles, NoPlantsNoTriangles) {
  const PlantPrototypes prototypes = plant_prototypes(shapes(), 1);
  const PlantTriangles triangles({}, prototypes, {0, 0, 0});
  EXPECT_EQ(triangles.size(), 0U);
  EXPECT_FALSE(triangles.is_textured());
  std::byte out[8]{};
  EXPECT_EQ(triangles.read(PlantField::kVertices, 0, 8, out), 0U);
  EXPECT_THROW(PlantTriangles({}, prototypes, {NAN, 0, 0}), Error);
}

}  // namespace
