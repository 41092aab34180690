#pragma once
#include <cstdint>
#include <string>

#include "ops/plant/growth.h"

namespace pc::test {

inline Distribution constant(double value) { return {Distribution::Kind::kConstant, value, 0}; }
inline Distribution uniform(double low, double high) { return {Distribution::Kind::kUniform, low, high}; }
inline Distribution normal(double mean, double deviation) {
  return {Distribution::Kind::kNormal, mean, deviation};
}

inline LeafParams simple_leaf() {
  LeafParams leaf;
  leaf.leaf_shape = "blade";
  leaf.area_coefficient = 0.5;
  leaf.leaf_scale = constant(0.1);
  leaf.leaflet_scale = constant(1);
  leaf.petiole_length = constant(0.04);
  leaf.petiole_radius = constant(0.001);
  leaf.petiole_pitch = constant(45);
  return leaf;
}

/// One unbranched type "stem": 10 nodes, one every 2 days, full-grown after 5 days.
inline ShootType stem_type() {
  ShootType type;
  type.label = "stem";
  type.max_nodes = constant(10);
  type.phyllochron_min = constant(2);
  type.elongation_rate_max = constant(0.2);
  type.internode_length_max = constant(0.02);
  type.internode_radius_initial = constant(0.001);
  type.girth_area_factor = 2;
  type.phyllotactic_angle = constant(137.5);
  type.leaf = simple_leaf();
  return type;
}

/// One shoot from one node at age 0, no seasons.
inline PlantSpecies stem_species() {
  PlantSpecies species;
  species.id = "stem";
  species.max_age_days = 1000;
  species.shoot_types = {stem_type()};
  StartShoot start;
  start.shoot_type = "stem";
  start.nodes = constant(1);
  species.start = {start};
  return species;
}

/// A small perennial tree: a trained trunk with two scaffolds, laterals that break after dormancy, flowers and fruits,
/// and every random parameter in use. Dormancy 90 days, season 275 days.
inline PlantSpecies tree_species() {
  PlantSpecies species = stem_species();
  species.id = "tree";
  species.woody = true;
  species.max_age_days = 1825;
  species.phenology.dormancy_break_day = 90;
  species.phenology.season_days = 275;
  species.phenology.flower_opening_days = 3;
  species.phenology.fruit_set_days = 7;
  species.phenology.fruit_maturity_days = 20;
  ShootType& trunk = species.shoot_types[0];
  trunk.label = "trunk";
  trunk.leaf.reset();
  trunk.petioles_per_node = 0;
  ShootType branch = stem_type();
  branch.label = "branch";
  branch.max_nodes = uniform(20, 40);
  branch.max_nodes_per_season = 12;
  branch.phyllochron_min = uniform(1, 2);
  branch.internode_length_max = normal(0.03, 0.003);
  branch.internode_length_decay_rate = constant(0.0002);
  branch.internode_length_segments = 3;
  branch.gravitropic_curvature = uniform(100, 200);
  branch.tortuosity = constant(5);
  branch.phyllotactic_angle = uniform(120, 160);
  branch.internode_pitch = normal(5, 1);
  branch.insertion_angle_tip = uniform(25, 35);
  branch.insertion_angle_decay_rate = constant(10);
  branch.base_yaw = uniform(-10, 10);
  branch.base_roll = uniform(0, 360);
  branch.girth_area_factor = 6;
  branch.bears_vegetative_buds = branch.growth_requires_dormancy = branch.flowers_require_dormancy = true;
  branch.vegetative_bud_break_probability_min = 0.1;
  branch.vegetative_bud_break_probability_decay_rate = 0.1;
  branch.laterals = {{"branch", 1}};
  InflorescenceParams flower;
  flower.buds = uniform(0, 2);
  flower.flower_bud_break_probability = 0.5;
  flower.fruit_set_probability = 0.5;
  flower.flowers = uniform(1, 3);
  flower.flower_base_scale = constant(0.02);
  flower.fruit_scale = uniform(0.03, 0.04);
  flower.peduncle_length = constant(0.01);
  flower.peduncle_radius = constant(0.001);
  flower.flower_azimuth = constant(120);
  branch.axillary = flower;
  species.shoot_types.push_back(branch);
  species.start[0].shoot_type = "trunk";
  species.start[0].nodes = constant(10);
  species.start[0].full_grown = true;
  for (const double yaw : {0.0, 180.0}) {
    StartShoot scaffold;
    scaffold.shoot_type = "branch";
    scaffold.parent = 0;
    scaffold.nodes = constant(8);
    scaffold.full_grown = true;
    scaffold.pitch = uniform(30, 40);
    scaffold.yaw = constant(yaw);
    species.start.push_back(scaffold);
  }
  return species;
}

/// Every axil of every node gives a shoot like the first one.
inline PlantSpecies endless_species() {
  PlantSpecies species = stem_species();
  ShootType& stem = species.shoot_types[0];
  stem.leaf.reset();
  stem.max_nodes = constant(10'000);
  stem.phyllochron_min = constant(0.05);
  stem.bears_vegetative_buds = true;
  stem.vegetative_bud_break_probability_min = 1;
  stem.laterals = {{"stem", 1}};
  return species;
}

inline GrowthParams growth_params(double age_days, std::uint64_t seed = 1) {
  return {age_days, seed, 0, {0, 0, 0}, {}};
}
inline PlantStructure grown(const PlantSpecies& species, double age_days, std::uint64_t seed = 1) {
  JobControl control;
  OpContext ctx(control);
  return grow_plant(species, growth_params(age_days, seed), ctx);
}
inline PlantStructure advanced(const PlantStructure& plant, const PlantSpecies& species, double days) {
  JobControl control;
  OpContext ctx(control);
  return advance_plant(plant, species, days, ctx);
}
inline std::size_t phytomer_count(const PlantStructure& plant) {
  std::size_t count = 0;
  for (const PlantShoot& shoot : plant.shoots) count += shoot.phytomers.size();
  return count;
}

}  // namespace pc::test
