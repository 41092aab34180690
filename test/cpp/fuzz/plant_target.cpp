#include <cstring>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/platform.h"
#include "fuzz/fuzz_target.h"
#include "io/plant_document.h"
#include "ops/plant/axis_walk.h"
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
      walk_axes(advance_plant(plant, species, 30, ctx), ctx);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kInvalidArgument) throw;
    }
  }
}

}  // namespace

FuzzTarget plant_target() { return {"plant", plant_seeds, read_plant_file}; }

}  // namespace pc::fuzz
