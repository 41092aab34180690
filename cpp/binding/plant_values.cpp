#include "binding/plant_values.h"

#include <string>
#include <utility>

#include "binding/js_values.h"

namespace pc::binding {

namespace {

constexpr napi_type_tag kSpeciesTag{0x3c1e5d0b7f2a4986ULL, 0x9d04b1e6c85f7a23ULL};
constexpr napi_type_tag kPlantTag{0x71a8c2f4e6093bd5ULL, 0xa5e2d79046cb831fULL};
constexpr napi_type_tag kPlacedTag{0xe40f9b6d3a7c1528ULL, 0xc3925ae07d1f48b6ULL};

// number | { uniform: [a, b] } | { normal: [mean, sd] } | { weibull: [shape, scale] }
Distribution distribution(const Napi::Value& value, const char* name) {
  using Kind = Distribution::Kind;
  if (value.IsNumber()) return {Kind::kConstant, strict_number(value, name), 0};
  const auto js = strict_object(value, name);
  for (const auto& [key, kind] :
       {std::pair{"uniform", Kind::kUniform}, {"normal", Kind::kNormal}, {"weibull", Kind::kWeibull}}) {
    if (!js.Has(key)) continue;
    const auto numbers = number_array<2>(js.Get(key), name);
    return {kind, numbers[0], numbers[1]};
  }
  refuse(name, "a number or a distribution");
}
Distribution varies(const Napi::Object& js, const char* name) { return distribution(js.Get(name), name); }

std::optional<double> days(const Napi::Object& js, const char* name) {
  const Napi::Value value = js.Get(name);
  return is_nothing(value) ? std::nullopt : std::optional(strict_number(value, name));
}
std::optional<std::uint32_t> optional_whole(const Napi::Object& js, const char* name) {
  const Napi::Value value = js.Get(name);
  return is_nothing(value) ? std::nullopt : std::optional(strict_whole<std::uint32_t>(value, name));
}

Phenology phenology_of(const Napi::Object& js) {
  Phenology out;
  out.dormancy_break_day = number_field(js, "dormancy_break_day");
  out.flower_initiation_days = days(js, "flower_initiation_days");
  out.flower_opening_days = days(js, "flower_opening_days");
  out.fruit_set_days = days(js, "fruit_set_days");
  out.fruit_maturity_days = days(js, "fruit_maturity_days");
  out.season_days = days(js, "season_days");
  out.flower_lifespan_days = days(js, "flower_lifespan_days");
  out.leaf_lifespan_days = days(js, "leaf_lifespan_days");
  out.evergreen = bool_field(js, "evergreen");
  return out;
}

LeafParams leaf_of(const Napi::Object& js) {
  LeafParams out;
  out.leaf_shape = string_field(js, "leaf_shape");
  out.leaflets = whole_field<std::uint32_t>(js, "leaflets");
  out.area_coefficient = number_field(js, "area_coefficient");
  out.leaf_scale = varies(js, "leaf_scale");
  out.leaf_pitch = varies(js, "leaf_pitch");
  out.leaf_yaw = varies(js, "leaf_yaw");
  out.leaf_roll = varies(js, "leaf_roll");
  out.leaflet_scale = varies(js, "leaflet_scale");
  out.leaflet_offset = varies(js, "leaflet_offset");
  out.petiole_length = varies(js, "petiole_length");
  out.petiole_radius = varies(js, "petiole_radius");
  out.petiole_pitch = varies(js, "petiole_pitch");
  out.petiole_curvature = varies(js, "petiole_curvature");
  out.petiole_taper = varies(js, "petiole_taper");
  out.petiole_length_segments = whole_field<std::uint32_t>(js, "petiole_length_segments");
  out.petiole_radial_subdivisions = whole_field<std::uint32_t>(js, "petiole_radial_subdivisions");
  return out;
}

InflorescenceParams inflorescence_of(const Napi::Object& js) {
  InflorescenceParams out;
  out.flower_shape = string_field(js, "flower_shape");
  out.fruit_shape = string_field(js, "fruit_shape");
  out.buds = varies(js, "buds");
  out.first_node = whole_field<std::uint32_t>(js, "first_node");
  out.last_node = optional_whole(js, "last_node");
  out.flower_bud_break_probability = number_field(js, "flower_bud_break_probability");
  out.fruit_set_probability = number_field(js, "fruit_set_probability");
  out.flowers = varies(js, "flowers");
  out.flower_pitch = varies(js, "flower_pitch");
  out.flower_yaw = varies(js, "flower_yaw");
  out.flower_roll = varies(js, "flower_roll");
  out.flower_azimuth = varies(js, "flower_azimuth");
  out.flower_base_scale = varies(js, "flower_base_scale");
  out.fruit_scale = varies(js, "fruit_scale");
  out.flower_offset = varies(js, "flower_offset");
  out.peduncle_length = varies(js, "peduncle_length");
  out.peduncle_radius = varies(js, "peduncle_radius");
  out.peduncle_pitch = varies(js, "peduncle_pitch");
  out.peduncle_curvature = varies(js, "peduncle_curvature");
  out.peduncle_roll = varies(js, "peduncle_roll");
  return out;
}

template <class T, class Read>
std::optional<T> optional_part(const Napi::Object& js, const char* name, Read&& read) {
  const Napi::Value value = js.Get(name);
  return is_nothing(value) ? std::nullopt : std::optional<T>(read(strict_object(value, name)));
}

FirstNodes first_nodes_of(const Napi::Object& js) {
  return {whole_field<std::uint32_t>(js, "count"), whole_field<std::uint32_t>(js, "petioles_per_node"),
          leaf_of(object_field(js, "leaf"))};
}

std::vector<ProfilePoint> profile_of(const Napi::Object& js, const char* name) {
  std::vector<ProfilePoint> out;
  const Napi::Array profile = array_field(js, name);
  for (std::uint32_t i = 0; i < profile.Length(); ++i) {
    const auto point = number_array<2>(profile.Get(i), name);
    out.push_back({point[0], point[1]});
  }
  return out;
}

void read_organs(const Napi::Object& js, ShootType& out) {
  out.petioles_per_node = whole_field<std::uint32_t>(js, "petioles_per_node");
  out.leaf = optional_part<LeafParams>(js, "leaf", leaf_of);
  out.first_nodes = optional_part<FirstNodes>(js, "first_nodes", first_nodes_of);
  out.axillary = optional_part<InflorescenceParams>(js, "axillary", inflorescence_of);
  out.terminal = optional_part<InflorescenceParams>(js, "terminal", inflorescence_of);
  out.leaf_scale_profile = profile_of(js, "leaf_scale_profile");
  const Napi::Array laterals = array_field(js, "laterals");
  for (std::uint32_t i = 0; i < laterals.Length(); ++i) {
    const auto lateral = strict_object(laterals.Get(i), "laterals");
    out.laterals.push_back({string_field(lateral, "shoot_type"), number_field(lateral, "probability")});
  }
}

ShootType shoot_type_of(const std::string& label, const Napi::Object& js) {
  ShootType out;
  out.label = label;
  out.max_nodes = varies(js, "max_nodes");
  out.max_nodes_per_season = optional_whole(js, "max_nodes_per_season");
  out.phyllochron_min = varies(js, "phyllochron_min");
  out.elongation_rate_max = varies(js, "elongation_rate_max");
  out.internode_length_max = varies(js, "internode_length_max");
  out.internode_length_min = varies(js, "internode_length_min");
  out.internode_length_decay_rate = varies(js, "internode_length_decay_rate");
  out.internode_length_profile = profile_of(js, "internode_length_profile");
  out.internode_radius_initial = varies(js, "internode_radius_initial");
  out.girth_area_factor = number_field(js, "girth_area_factor");
  out.internode_pitch = varies(js, "internode_pitch");
  out.phyllotactic_angle = varies(js, "phyllotactic_angle");
  out.internode_length_segments = whole_field<std::uint32_t>(js, "internode_length_segments");
  out.gravitropic_curvature = varies(js, "gravitropic_curvature");
  out.tortuosity = varies(js, "tortuosity");
  out.insertion_angle_tip = varies(js, "insertion_angle_tip");
  out.insertion_angle_decay_rate = varies(js, "insertion_angle_decay_rate");
  out.base_yaw = varies(js, "base_yaw");
  out.base_roll = varies(js, "base_roll");
  out.bears_vegetative_buds = bool_field(js, "bears_vegetative_buds");
  out.vegetative_buds_first_node = whole_field<std::uint32_t>(js, "vegetative_buds_first_node");
  out.vegetative_buds_last_node = optional_whole(js, "vegetative_buds_last_node");
  out.vegetative_bud_break_probability_min = number_field(js, "vegetative_bud_break_probability_min");
  out.vegetative_bud_break_probability_max = number_field(js, "vegetative_bud_break_probability_max");
  out.vegetative_bud_break_probability_decay_rate =
      number_field(js, "vegetative_bud_break_probability_decay_rate");
  out.vegetative_bud_break_time = varies(js, "vegetative_bud_break_time");
  out.growth_requires_dormancy = bool_field(js, "growth_requires_dormancy");
  out.flowers_require_dormancy = bool_field(js, "flowers_require_dormancy");
  read_organs(js, out);
  return out;
}

StartShoot start_shoot_of(const Napi::Object& js) {
  StartShoot out;
  out.shoot_type = string_field(js, "shoot_type");
  out.parent = whole_field<std::int32_t>(js, "parent");
  if (const Napi::Value node = js.Get("parent_node"); !is_nothing(node))
    out.parent_node = strict_whole<std::int32_t>(node, "parent_node");
  out.nodes = varies(js, "nodes");
  out.full_grown = bool_field(js, "full_grown");
  out.bears_leaves = bool_field(js, "bears_leaves");
  out.pitch = varies(js, "pitch");
  out.yaw = varies(js, "yaw");
  out.roll = varies(js, "roll");
  return out;
}

}  // namespace

Napi::Object species_handle(Napi::Env env, SpeciesPtr species) {
  return OpaqueHandle<OpenSpecies>::wrap(env, std::move(species), kSpeciesTag);
}
SpeciesPtr species_of(const Napi::Value& value) {
  return OpaqueHandle<OpenSpecies>::get(value, kSpeciesTag, "a native species");
}
Napi::Object plant_handle(Napi::Env env, PlantPtr plant) {
  return OpaqueHandle<PlantStructure>::wrap(env, std::move(plant), kPlantTag);
}
PlantPtr plant_of(const Napi::Value& value) {
  return OpaqueHandle<PlantStructure>::get(value, kPlantTag, "a native plant");
}
Napi::Object placed_handle(Napi::Env env, PlacedPtr plants) {
  return OpaqueHandle<PlacedPlants>::wrap(env, std::move(plants), kPlacedTag);
}
PlacedPtr placed_of(const Napi::Value& value) {
  return OpaqueHandle<PlacedPlants>::get(value, kPlacedTag, "placed plants");
}

PlantSpecies plant_species_of(const Napi::Object& js) {
  PlantSpecies out;
  out.id = string_field(js, "id");
  out.woody = bool_field(js, "woody");
  out.max_age_days = number_field(js, "max_age_days");
  out.phenology = phenology_of(object_field(js, "phenology"));
  const auto types = object_field(js, "shoot_types");
  const Napi::Array labels = types.GetPropertyNames();
  for (std::uint32_t i = 0; i < labels.Length(); ++i) {
    const std::string label = strict_string(labels.Get(i), "shoot_types");
    out.shoot_types.push_back(shoot_type_of(label, strict_object(types.Get(label), label.c_str())));
  }
  const Napi::Array start = array_field(js, "start");
  for (std::uint32_t i = 0; i < start.Length(); ++i)
    out.start.push_back(start_shoot_of(strict_object(start.Get(i), "start")));
  return out;
}

std::optional<LeafInclination> inclination_field(const Napi::Object& js, const char* name) {
  return optional_part<LeafInclination>(js, name, [](const Napi::Object& of) {
    return LeafInclination{number_field(of, "beta_mu"), number_field(of, "beta_nu")};
  });
}

std::uint64_t seed_field(const Napi::Object& js, const char* name) {
  return static_cast<std::uint64_t>(strict_whole<std::int64_t>(js.Get(name), name));
}

}  // namespace pc::binding
