#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "binding/cloud_edit_values.h"
#include "binding/coded.h"
#include "binding/column_handle.h"
#include "binding/families.h"
#include "binding/job.h"
#include "binding/js_values.h"
#include "binding/plant_shapes.h"
#include "binding/plant_values.h"
#include "io/plant_document.h"
#include "ops/plant/canopy.h"
#include "ops/plant/growth.h"
#include "ops/plant/level_of_detail.h"
#include "ops/plant/plant_cost.h"
#include "ops/plant/shape_checks.h"

namespace pc::binding {

namespace {

Napi::Value plant_to_js(Napi::Env env, PlantStructure&& plant) {
  return plant_handle(env, std::make_shared<const PlantStructure>(std::move(plant)));
}

// openPlantSpecies(growth, shapes): NativeJob<NativeSpecies>
Napi::Value open_species_job(const Napi::CallbackInfo& info) {
  const PlantSpecies growth = plant_species_of(strict_object(info[0], "growth"));
  const PlantShapes shapes = plant_shapes_of(strict_object(info[1], "shapes"));
  return start_job<SpeciesPtr>(
      info.Env(), job_options(info[2]),
      [=](OpContext&) -> SpeciesPtr {
        check_species(growth);
        OpenSpecies species{growth, plant_prototypes(shapes, 1)};
        check_named_shapes(growth, species.prototypes);
        if (shapes.deviation_ratio > 0) add_coarser_organs(shapes, species.prototypes);
        return std::make_shared<const OpenSpecies>(std::move(species));
      },
      [](Napi::Env env, SpeciesPtr&& species) -> Napi::Value {
        return species_handle(env, std::move(species));
      });
}

// plantCost(species, ageDays): PlantCost
Napi::Value plant_cost_of(const Napi::CallbackInfo& info) {
  const PlantCost cost = plant_cost(species_of(info[0])->growth, strict_number(info[1], "ageDays"));
  auto out = Napi::Object::New(info.Env());
  out.Set("phytomer_count", static_cast<double>(cost.phytomers));
  out.Set("organ_count", static_cast<double>(cost.organs));
  out.Set("structure_bytes", static_cast<double>(cost.bytes));
  return out;
}

// growPlant(species, { age_days, seed, base, leaf_inclination }): NativeJob<NativePlant>
Napi::Value grow_plant_job(const Napi::CallbackInfo& info) {
  const SpeciesPtr species = species_of(info[0]);
  const auto js = strict_object(info[1], "params");
  const GrowthParams params{number_field(js, "age_days"), seed_field(js, "seed"), 0, vec3_field(js, "base"),
                            inclination_field(js, "leaf_inclination")};
  return start_job<PlantStructure>(
      info.Env(), job_options(info[2]),
      [=](OpContext& ctx) { return grow_plant(species->growth, params, ctx); }, plant_to_js);
}

// advancePlant(plant, species, days): NativeJob<NativePlant>
Napi::Value advance_plant_job(const Napi::CallbackInfo& info) {
  const PlantPtr plant = plant_of(info[0]);
  const SpeciesPtr species = species_of(info[1]);
  const double days = strict_number(info[2], "days");
  return start_job<PlantStructure>(
      info.Env(), job_options(info[3]),
      [=](OpContext& ctx) { return advance_plant(*plant, species->growth, days, ctx); }, plant_to_js);
}

// { age_days, seed, leaf_inclination, center, spacing, count, germination_rate }
CanopyParams canopy_params(const Napi::Object& js) {
  const auto count = strict_array(js.Get("count"), "count");
  return {number_field(js, "age_days"),
          seed_field(js, "seed"),
          inclination_field(js, "leaf_inclination"),
          vec3_field(js, "center"),
          number_array<2>(js.Get("spacing"), "spacing"),
          {strict_whole<std::uint32_t>(count.Get(0U), "count"),
           strict_whole<std::uint32_t>(count.Get(1U), "count")},
          number_field(js, "germination_rate")};
}

/// What the function `grow` of a canopy keeps until it is collected: not the plants, which the handle owns.
struct OpenCanopy {
  CanopyParams params;
  std::vector<CanopyPlace> places;
  std::weak_ptr<const PlacedPlants> placed;
};

/// Grows the plants first .. first + count; the structure of plant 0 is the result.
Napi::Value grow_part(const Napi::CallbackInfo& info, const std::shared_ptr<const OpenCanopy>& canopy) {
  const auto first = strict_whole<std::size_t>(info[0], "first"),
             count = strict_whole<std::size_t>(info[1], "count");
  require(first <= canopy->places.size() && count <= canopy->places.size() - first, "no such plants");
  const PlacedPtr placed = canopy->placed.lock();
  require(placed != nullptr, "the canopy was already released");
  JobOptions options = job_options(info[2]);
  options.threads = 1;  // parts run side by side; a team for each plant would take longer than the plant
  return start_job<PlantPtr>(
      info.Env(), options,
      [=](OpContext& ctx) -> PlantPtr {
        const auto& species = *placed->species;
        std::optional<PlantStructure> plant;
        grow_places(species.growth, species.prototypes, canopy->params,
                    {canopy->places.data() + first, count}, {placed->plants.data() + first, count},
                    first == 0 ? &plant : nullptr, ctx);
        return plant ? std::make_shared<const PlantStructure>(std::move(*plant)) : nullptr;
      },
      [](Napi::Env env, PlantPtr&& plant) -> Napi::Value {
        return plant ? Napi::Value(plant_handle(env, std::move(plant))) : env.Null();
      });
}

// openCanopy(species, params): { plant_count, placed, grow(first, count): NativeJob<NativePlant | null> }
Napi::Value open_canopy(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const SpeciesPtr species = species_of(info[0]);
  auto canopy = std::make_shared<OpenCanopy>();
  canopy->params = canopy_params(strict_object(info[1], "params"));
  canopy->places = canopy_places(canopy->params);
  const std::size_t count = canopy->places.size();
  auto placed = std::make_shared<const PlacedPlants>(PlacedPlants{species, std::vector<PlantParts>(count)});
  canopy->placed = placed;
  auto out = Napi::Object::New(env);
  out.Set("plant_count", static_cast<double>(count));
  out.Set("placed", placed_handle(env, std::move(placed)));
  out.Set("grow", Napi::Function::New(env, [canopy](const Napi::CallbackInfo& call) -> Napi::Value {
            return with_code(call.Env(), [&] { return grow_part(call, canopy); });
          }));
  return out;
}

// plantSummary(plant): PlantSummary
Napi::Value plant_summary(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const PlantPtr plant = plant_of(info[0]);
  std::size_t phytomers = 0, leaves = 0;
  for (const auto& shoot : plant->shoots) {
    phytomers += shoot.phytomers.size();
    for (const auto& phytomer : shoot.phytomers)
      for (const auto& petiole : phytomer.petioles) leaves += petiole.leaves.size();
  }
  auto out = Napi::Object::New(env);
  out.Set("age_days", plant->plant_age);
  out.Set("base", to_js(env, plant->base_position));
  out.Set("growth", env.Null());
  if (plant->growth) {
    auto growth = Napi::Object::New(env);
    growth.Set("species_id", plant->growth->species_id);
    growth.Set("seed", static_cast<double>(static_cast<std::int64_t>(plant->growth->seed)));
    out.Set("growth", growth);
  }
  out.Set("leaf_inclination", env.Null());
  if (plant->leaf_inclination) {
    auto law = Napi::Object::New(env);
    law.Set("beta_mu", plant->leaf_inclination->beta_mu);
    law.Set("beta_nu", plant->leaf_inclination->beta_nu);
    out.Set("leaf_inclination", law);
  }
  out.Set("shoot_count", static_cast<double>(plant->shoots.size()));
  out.Set("phytomer_count", static_cast<double>(phytomers));
  out.Set("leaf_count", static_cast<double>(leaves));
  return out;
}

// plantDocument(plant, word_bytes): NativeJob<NativeColumn>
Napi::Value plant_document_job(const Napi::CallbackInfo& info) {
  const PlantPtr plant = plant_of(info[0]);
  const auto word_bytes = strict_whole<std::size_t>(info[1], "word_bytes");
  return start_job<AnyColumn>(
      info.Env(), job_options(info[2]),
      [=](OpContext& ctx) { return AnyColumn(io::plant_document_column(*plant, word_bytes, ctx)); },
      column_to_js);
}

// readPlantDocument(text: NativeColumn): NativeJob<NativePlant>
Napi::Value read_plant_document_job(const Napi::CallbackInfo& info) {
  const auto text = typed_column(info[0], DType::kU8, "text");
  return start_job<PlantStructure>(
      info.Env(), job_options(info[1]),
      [=](OpContext& ctx) {
        const auto bytes = text->as<std::uint8_t>();
        BulkVector<char> copy(bytes.size);
        std::copy(bytes.begin(), bytes.end(), copy.begin());
        return io::read_plant_document(std::move(copy), ctx);
      },
      plant_to_js);
}

}  // namespace

void register_plants(Napi::Env env, Napi::Object exports) {
  add<open_species_job>(env, exports, "openPlantSpecies");
  add<plant_cost_of>(env, exports, "plantCost");
  add<grow_plant_job>(env, exports, "growPlant");
  add<advance_plant_job>(env, exports, "advancePlant");
  add<open_canopy>(env, exports, "openCanopy");
  add<plant_summary>(env, exports, "plantSummary");
  add<plant_document_job>(env, exports, "plantDocument");
  add<read_plant_document_job>(env, exports, "readPlantDocument");
}

}  // namespace pc::binding
