#include "ops/plant/species.h"

#include <cmath>
#include <initializer_list>
#include <string>
#include <utility>

#include "core/error.h"

namespace pc {

namespace {

/// Far above every plant, far below what overflows.
constexpr double kMostDays = 40'000, kMostLength_m = 100, kMostAngle_deg = 36'000, kMostCurvature = 1e5;
constexpr double kMostCount = 10'000;
constexpr std::size_t kMostShootTypes = 64, kMostStartShoots = 256, kMostSegments = 64;

[[noreturn]] void refuse(const std::string& where, const std::string& rule) {
  throw Error(ErrorCode::kInvalidArgument, where + " " + rule);
}

void check_number(const std::string& where, double value, double least, double most) {
  if (!(value >= least && value <= most))
    refuse(where, "must be between " + std::to_string(least) + " and " + std::to_string(most));
}

/// Every draw lies in [least, most].
void check(const std::string& where, const Distribution& d, double least, double most) {
  constexpr double kLongestTail = 36.8;  // -log(1 - u) for the largest u below 1
  if (!std::isfinite(d.a) || !std::isfinite(d.b)) refuse(where, "must be finite");
  double low = d.a, high = d.a;
  if (d.kind == Distribution::Kind::kUniform) high = d.b;
  if (d.kind == Distribution::Kind::kNormal) {
    low = d.a - kNormalTail * d.b;
    high = d.a + kNormalTail * d.b;
  }
  if (d.kind == Distribution::Kind::kWeibull) {
    check_number(where + " (Weibull shape)", d.a, 0.5, 1000);
    low = 0;
    high = d.b * std::pow(kLongestTail, 1 / d.a);
  }
  if (high < low) refuse(where, "has bounds in the wrong order");
  check_number(where, low, least, most);
  check_number(where, high, least, most);
}

void check_profile(const std::string& where, const std::vector<ProfilePoint>& profile) {
  for (std::size_t i = 0; i < profile.size(); ++i) {
    check_number(where + " position", profile[i].position, i == 0 ? 0 : profile[i - 1].position, 1);
    check_number(where + " factor", profile[i].factor, 0, 100);
  }
}

void check_leaf(const std::string& where, const LeafParams& leaf) {
  if (leaf.leaflets < 1 || leaf.leaflets > 101) refuse(where + ".leaflets", "must be between 1 and 101");
  check_number(where + ".area_coefficient", leaf.area_coefficient, 0, 10);
  check(where + ".leaf_scale", leaf.leaf_scale, 0, kMostLength_m);
  check(where + ".leaflet_scale", leaf.leaflet_scale, 0, 10);
  check(where + ".leaflet_offset", leaf.leaflet_offset, 0, 1);
  check(where + ".petiole_length", leaf.petiole_length, 0, kMostLength_m);
  check(where + ".petiole_radius", leaf.petiole_radius, 0, 1);
  check(where + ".petiole_taper", leaf.petiole_taper, 0, 1);
  check(where + ".petiole_curvature", leaf.petiole_curvature, -kMostCurvature, kMostCurvature);
  for (const auto& [name, d] : {std::pair{".leaf_pitch", &leaf.leaf_pitch},
                                {".leaf_yaw", &leaf.leaf_yaw},
                                {".leaf_roll", &leaf.leaf_roll},
                                {".petiole_pitch", &leaf.petiole_pitch}})
    check(where + name, *d, -kMostAngle_deg, kMostAngle_deg);
  for (const std::uint32_t parts : {leaf.petiole_length_segments, leaf.petiole_radial_subdivisions})
    if (parts < 1 || parts > kMostSegments) refuse(where, "must have 1 to 64 petiole segments and sides");
}

void check_inflorescence(const std::string& where, const InflorescenceParams& flower) {
  check(where + ".buds", flower.buds, 0, 100);
  check(where + ".flowers", flower.flowers, 0, 1000);
  check_number(where + ".flower_bud_break_probability", flower.flower_bud_break_probability, 0, 1);
  check_number(where + ".fruit_set_probability", flower.fruit_set_probability, 0, 1);
  for (const Distribution* d : {&flower.flower_pitch, &flower.flower_yaw, &flower.flower_roll,
                                &flower.flower_azimuth, &flower.peduncle_pitch, &flower.peduncle_roll})
    check(where + " angle", *d, -kMostAngle_deg, kMostAngle_deg);
  for (const Distribution* d :
       {&flower.flower_base_scale, &flower.fruit_scale, &flower.peduncle_length, &flower.peduncle_radius})
    check(where + " length", *d, 0, kMostLength_m);
  check(where + ".flower_offset", flower.flower_offset, 0, 1);
  check(where + ".peduncle_curvature", flower.peduncle_curvature, -kMostCurvature, kMostCurvature);
}

void check_axis(const std::string& where, const ShootType& type) {
  check(where + ".max_nodes", type.max_nodes, 1, kMostCount);
  check(where + ".phyllochron_min", type.phyllochron_min, 0.01, kMostDays);
  check(where + ".elongation_rate_max", type.elongation_rate_max, 1e-4, 1e3);
  check(where + ".internode_length_max", type.internode_length_max, 0, kMostLength_m);
  check(where + ".internode_length_min", type.internode_length_min, 0, kMostLength_m);
  check(where + ".internode_length_decay_rate", type.internode_length_decay_rate, 0, kMostLength_m);
  check(where + ".internode_radius_initial", type.internode_radius_initial, 0, 10);
  check_number(where + ".girth_area_factor", type.girth_area_factor, 0, 1e4);
  for (const Distribution* d : {&type.internode_pitch, &type.phyllotactic_angle, &type.insertion_angle_tip,
                                &type.insertion_angle_decay_rate, &type.base_yaw, &type.base_roll})
    check(where + " angle", *d, -kMostAngle_deg, kMostAngle_deg);
  check(where + ".gravitropic_curvature", type.gravitropic_curvature, -kMostCurvature, kMostCurvature);
  check(where + ".tortuosity", type.tortuosity, 0, 1e4);
  if (type.internode_length_segments < 1 || type.internode_length_segments > kMostSegments)
    refuse(where + ".internode_length_segments", "must be between 1 and 64");
}

void check_branching(const std::string& where, const PlantSpecies& species, const ShootType& type) {
  const double least = type.vegetative_bud_break_probability_min;
  check_number(where + ".vegetative_bud_break_probability_max", type.vegetative_bud_break_probability_max, 0,
               1);
  check_number(where + ".vegetative_bud_break_probability_min", least, 0,
               type.vegetative_bud_break_probability_max);
  check_number(where + ".vegetative_bud_break_probability_decay_rate",
               type.vegetative_bud_break_probability_decay_rate, -1, 1);
  check(where + ".vegetative_bud_break_time", type.vegetative_bud_break_time, 0, kMostDays);
  double sum = 0;
  for (const LateralType& lateral : type.laterals) {
    shoot_type_index(species, lateral.shoot_type);
    check_number(where + ".laterals.probability", lateral.probability, 0, 1);
    sum += lateral.probability;
  }
  if (type.bears_vegetative_buds != !type.laterals.empty())
    refuse(where + ".laterals", "must be given for shoots with vegetative buds, and only for these");
  if (!type.laterals.empty() && std::abs(sum - 1) > 1e-9)
    refuse(where + ".laterals", "must have probabilities with the sum 1");
}

void check_organs(const std::string& where, const ShootType& type) {
  if (type.petioles_per_node > 32) refuse(where + ".petioles_per_node", "must be at most 32");
  if (type.leaf) check_leaf(where + ".leaf", *type.leaf);
  if (type.first_nodes) {
    if (type.first_nodes->petioles_per_node > 32)
      refuse(where + ".first_nodes.petioles_per_node", "must be at most 32");
    check_leaf(where + ".first_nodes.leaf", type.first_nodes->leaf);
  }
  if (type.axillary) check_inflorescence(where + ".axillary", *type.axillary);
  if (type.terminal) check_inflorescence(where + ".terminal", *type.terminal);
  if ((type.axillary || type.terminal || type.leaf || type.bears_vegetative_buds) &&
      type.petioles_per_node == 0)
    refuse(where + ".petioles_per_node", "must be at least 1 for shoots with leaves or buds");
  check_profile(where + ".internode_length_profile", type.internode_length_profile);
  check_profile(where + ".leaf_scale_profile", type.leaf_scale_profile);
}

void check_phenology(const PlantSpecies& species) {
  const Phenology& p = species.phenology;
  check_number("max_age_days", species.max_age_days, 0, kMostDays);
  check_number("phenology.dormancy_break_day", p.dormancy_break_day, 0, kMostDays);
  for (const auto* days :
       {&p.flower_initiation_days, &p.flower_opening_days, &p.fruit_set_days, &p.flower_lifespan_days})
    if (*days) check_number("phenology", **days, 0, kMostDays);
  for (const auto* days : {&p.fruit_maturity_days, &p.season_days, &p.leaf_lifespan_days})
    if (*days) check_number("phenology", **days, 1, kMostDays);
}

void check_start(const PlantSpecies& species) {
  if (species.start.empty() || species.start.size() > kMostStartShoots)
    refuse("start", "must have 1 to 256 shoots");
  for (std::size_t i = 0; i < species.start.size(); ++i) {
    const StartShoot& shoot = species.start[i];
    const std::string where = "start[" + std::to_string(i) + "]";
    shoot_type_index(species, shoot.shoot_type);
    if (shoot.parent < -1 || shoot.parent >= static_cast<std::int32_t>(i))
      refuse(where + ".parent", "must be -1 or an earlier shoot");
    if (shoot.parent_node && (shoot.parent < 0 || *shoot.parent_node < 0))
      refuse(where + ".parent_node", "must be a node of the parent");
    check(where + ".nodes", shoot.nodes, 1, kMostCount);
    for (const Distribution* d : {&shoot.pitch, &shoot.yaw, &shoot.roll})
      check(where + " angle", *d, -kMostAngle_deg, kMostAngle_deg);
  }
}

}  // namespace

std::size_t shoot_type_index(const PlantSpecies& species, std::string_view label) {
  for (std::size_t i = 0; i < species.shoot_types.size(); ++i)
    if (species.shoot_types[i].label == label) return i;
  throw Error(ErrorCode::kInvalidArgument,
              "species " + species.id + " has no shoot type " + std::string(label.substr(0, 80)));
}

double leaflet_factor(double leaflet_scale, std::size_t leaf) {
  double factor = 1;
  for (std::size_t pair = 0; pair < (leaf + 1) / 2; ++pair) factor *= leaflet_scale;
  return factor;
}

void check_species(const PlantSpecies& species) {
  check_phenology(species);
  if (species.shoot_types.empty() || species.shoot_types.size() > kMostShootTypes)
    refuse("shoot_types", "must have 1 to 64 types");
  for (const ShootType& type : species.shoot_types) {
    const std::string where = "shoot_types." + type.label;
    check_axis(where, type);
    check_branching(where, species, type);
    check_organs(where, type);
  }
  check_start(species);
}

}  // namespace pc
