#include "ops/plant/plant_sizes.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "core/error.h"
#include "core/memory.h"
#include "ops/plant/phenology.h"
#include "ops/plant/phytomer.h"

namespace pc {

namespace {

constexpr std::size_t kShootsPerCheck = 64;
constexpr double kM2PerCm2 = 1e-4;

double grown_share(const ShootDraws& shoot, double birth_day, double day) {
  return std::clamp(shoot.elongation_rate_per_day * (day - birth_day), 0.0, 1.0);
}

/// One-sided area of the leaves of a petiole that hang on it, at a share of their full length.
double leaf_area(const ShootDraws& shoot, std::size_t node, const PlantPetiole& petiole, double share) {
  const LeafParams* params = leaf_at(*shoot.type, node);
  if (params == nullptr) return 0;
  double squares = 0, factor = 1;
  for (std::size_t i = 0; i < petiole.leaves.size(); ++i) {
    if (i % 2 == 1) factor *= petiole.leaflet_scale;  // leaves 1 and 2 are the first pair
    const double length = petiole.leaves[i].leaf_scale * factor;
    squares += length * length;
  }
  return params->area_coefficient * squares * share * share;
}

/// Leaf area that a petiole has borne from `since` to `day`, fallen leaves included.
double borne_area(const Phenology& phenology, const ShootDraws& shoot, std::size_t node,
                  const PlantPetiole& petiole, double since, double day) {
  const double fall = leaf_fall_day(phenology, petiole.birth_day);
  if (!(fall > since)) return 0;
  if (petiole.leaves.empty()) return petiole.fallen_area_m2;
  return leaf_area(shoot, node, petiole, grown_share(shoot, petiole.birth_day, std::min(day, fall)));
}

/// Leaf area carried by each internode, shoot after shoot.
BulkVector<double> carried_areas(const PlantStructure& plant, const PlantSpecies& species,
                                 const std::vector<ShootDraws>& draws, double since, double day,
                                 OpContext& ctx) {
  std::vector<std::size_t> first(plant.shoots.size() + 1);
  for (std::size_t i = 0; i < plant.shoots.size(); ++i)
    first[i + 1] = first[i] + plant.shoots[i].phytomers.size();
  BulkVector<double> area(first.back());
  // Children come after their parents, so that backwards every shoot is complete before it is added to its parent.
  for (std::size_t i = plant.shoots.size(); i-- > 0;) {
    if (i % kShootsPerCheck == 0) ctx.checkpoint();
    const PlantShoot& shoot = plant.shoots[i];
    double carried = 0;
    for (std::size_t node = shoot.phytomers.size(); node-- > 0;) {
      carried += area[first[i] + node];
      for (const PlantPetiole& petiole : shoot.phytomers[node].petioles)
        carried += borne_area(species.phenology, draws[i], node, petiole, since, day);
      area[first[i] + node] = carried;
    }
    if (shoot.parent_shoot_id >= 0)
      area[first[static_cast<std::size_t>(shoot.parent_shoot_id)] +
           static_cast<std::size_t>(shoot.parent_node_index)] += carried;
  }
  return area;
}

double radius_for(const PlantInternode& internode, double carried_m2) {
  const double section_m2 = internode.girth_area_factor * carried_m2 * kM2PerCm2;
  return std::max(internode.radius_initial, std::sqrt(section_m2 / std::numbers::pi));
}

/// Returns the number of buds and flowers.
std::uint64_t update_petiole(const Phenology& phenology, const ShootDraws& shoot, std::uint32_t node,
                             double day, PlantPetiole& petiole) {
  std::uint64_t organs = 0;
  const double fall = leaf_fall_day(phenology, petiole.birth_day);
  if (!petiole.leaves.empty()) {
    petiole.current_leaf_scale_factor = grown_share(shoot, petiole.birth_day, std::min(day, fall));
    if (day >= fall) {
      petiole.fallen_area_m2 = leaf_area(shoot, node, petiole, petiole.current_leaf_scale_factor);
      petiole.leaves = {};
    }
  }
  for (FloralBud& bud : petiole.floral_buds) {
    const FloralBudStage stage = floral_bud_stage(phenology, bud, shoot.type->flowers_require_dormancy, day);
    bud.bud_state = stage.state;
    bud.current_fruit_scale_factor = stage.fruit_scale_factor;
    furnish_bud(shoot, node, bud);
    organs += 1 + bud.flowers.size();
  }
  return organs;
}

}  // namespace

void refuse_size(const PlantSpecies& species, double day) {
  throw Error(ErrorCode::kInvalidArgument, species.id + " has more than " + std::to_string(kMostPhytomers) +
                                               " phytomers or " + std::to_string(kMostOrgans) +
                                               " organs after " + std::to_string(day) +
                                               " days; choose a lower age");
}

void update_sizes(PlantStructure& plant, const PlantSpecies& species, const std::vector<ShootDraws>& draws,
                  OpContext& ctx) {
  const double day = plant.plant_age;
  const auto carried = carried_areas(plant, species, draws, year_start(species.phenology, day), day, ctx);
  std::size_t at = 0;
  std::uint64_t organs = 0;
  for (std::size_t i = 0; i < plant.shoots.size(); ++i) {
    if (i % kShootsPerCheck == 0) ctx.checkpoint();
    for (std::uint32_t node = 0; node < plant.shoots[i].phytomers.size(); ++node) {
      Phytomer& phytomer = plant.shoots[i].phytomers[node];
      PlantInternode& internode = phytomer.internode;
      internode.internode_length =
          internode.internode_length_max * grown_share(draws[i], internode.birth_day, day);
      internode.internode_radius = radius_for(internode, std::max(internode.carried_area_m2, carried[at++]));
      for (PlantPetiole& petiole : phytomer.petioles)
        organs += update_petiole(species.phenology, draws[i], node, day, petiole);
    }
    if (organs > kMostOrgans) refuse_size(species, plant.plant_age);
  }
}

void record_carried_area(PlantStructure& plant, const PlantSpecies& species,
                         const std::vector<ShootDraws>& draws, double day, OpContext& ctx) {
  const double since = year_start(species.phenology, std::nextafter(day, -1.0));
  const auto carried = carried_areas(plant, species, draws, since, day, ctx);
  std::size_t at = 0;
  for (PlantShoot& shoot : plant.shoots)
    for (Phytomer& phytomer : shoot.phytomers) {
      double& largest = phytomer.internode.carried_area_m2;
      largest = std::max(largest, carried[at++]);
    }
}

}  // namespace pc
