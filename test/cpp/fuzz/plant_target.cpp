#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/platform.h"
#include "fuzz/fuzz_target.h"
#include "io/plant_document.h"
#include "ops/plant/axis_walk.h"
#include "ops/plant/instances.h"
#include "ops/plant/level_of_detail.h"
#include "support/plants.h"

namespace pc::fuzz {

namespace {

std::vector<std::vector<std::uint8_t>> plant_seeds() {
  std::vector<std::vector<std::uint8_t>> seeds;
  const auto add = [&](const PlantStructure& plant) {
    JobControl control;
    OpContext ctx(control);
    const auto text = io::write_plant_document(plant, ctx);
    seeds.emplace_back(text.begin(), text.end());
  };
  add(test::grown(test::stem_species(), 5));
  PlantStructure plant = test::grown(test::tree_species(), 97);
  plant.leaf_inclination = LeafInclination{1, 3};
  plant.foreign.push_back({PlantElement::kShoot, 1, 0, 0, 0, 0, "<note a='1'><b/></note>"});
  add(plant);
  return seeds;
}

PlantPrototypes blades() {
  PlantShapes shapes;
  LeafShape leaf;
  leaf.name = "blade", leaf.petiolule_length = 0.1;
  shapes.leaves = {leaf};
  shapes.deviation_ratio = 0.003;
  PlantPrototypes prototypes = plant_prototypes(shapes, 1);
  add_coarser_organs(shapes, prototypes);
  return prototypes;
}

/// Whatever a document says, a plant that can be placed has finite triangles and matrices.
void draw(const PlantStructure& plant, const PlantSpecies& species, OpContext& ctx) {
  static const PlantPrototypes prototypes = blades();
  constexpr std::uint64_t kMostTriangles = 200'000;
  if (plant_geometry_cost(plant, prototypes, {1}, ctx).triangles > kMostTriangles) return;
  const PlantParts parts = plant_parts(plant, species, prototypes, {1}, ctx);
  const PlantMesh mesh = expand_plants({&parts, 1}, prototypes, plant.base_position, ctx);
  const PlantInstances instances = instance_plants({&parts, 1}, prototypes, plant.base_position, ctx);
  bool is_finite = true;
  for (const float value : mesh.mesh.vertices.view()) is_finite = is_finite && std::isfinite(value);
  for (const float value : instances.instance_matrix.view()) is_finite = is_finite && std::isfinite(value);
  for (const OrganPrototype& section : instances.sections)
    is_finite = is_finite && std::isfinite(section.area) && section.area > 0;
  if (!is_finite) throw Error(ErrorCode::kInternal, "a plant with numbers that are not finite");
}

/// Reads the text, and checks what every plant promises: it can be drawn, is written to text that gives it again, and
/// grows on or says why not.
void read_plant_file(const std::string& path, OpContext& ctx) {
  const auto file = platform::File::open_read(path);
  BulkVector<char> text(static_cast<std::size_t>(file.size()));
  if (text.size() != 0) file.read_at(0, text.data(), text.size());
  const PlantStructure plant = io::read_plant_document(std::move(text), ctx);
  if (!(io::read_plant_document(io::write_plant_document(plant, ctx), ctx) == plant))
    throw Error(ErrorCode::kInternal, "a written plant reads back differently");
  walk_axes(plant, ctx);
  for (const PlantSpecies& species : {test::stem_species(), test::tree_species()}) {
    try {
      draw(plant, species, ctx);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kInvalidArgument) throw;
    }
    try {
      walk_axes(advance_plant(plant, species, 30, ctx), ctx);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kInvalidArgument) throw;
    }
  }
}

}  // namespace

FuzzTarget plant_target() { return {"plant", plant_seeds, read_plant_file}; }

}  // namespace pc::fuzz
