#include "ops/plant/plant_cost.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "core/error.h"
#include "core/plant_structure.h"
#include "ops/plant/growth_events.h"
#include "ops/plant/plant_sizes.h"

namespace pc {

namespace {

constexpr double kSafety = 3, kBytesPerBlock = 16;  // of the heap, per vector
constexpr double kLeastShoots = 1e-6;
constexpr std::size_t kMostCohorts = 20'000;

double mean(const Distribution& d) {
  switch (d.kind) {
    case Distribution::Kind::kConstant:
    case Distribution::Kind::kNormal:
      break;
    case Distribution::Kind::kUniform:
      return (d.a + d.b) / 2;
    case Distribution::Kind::kWeibull:
      return d.b * std::tgamma(1 + 1 / d.a);
  }
  return d.a;
}

struct Expected {
  double phytomers = 0, organs = 0, bytes = 0;

  void add(const Expected& other, double count) {
    phytomers += other.phytomers * count;
    organs += other.organs * count;
    bytes += other.bytes * count;
  }
};

double buds_of(const InflorescenceParams& params) { return mean(params.buds); }
double bytes_of(const InflorescenceParams& params) {
  const double flowers = std::max(1.0, mean(params.flowers)) * params.flower_bud_break_probability;
  return buds_of(params) * (sizeof(FloralBud) + sizeof(PlantFlower) * flowers + kBytesPerBlock);
}
double organs_of(const InflorescenceParams& params) {
  return buds_of(params) * (1 + std::max(1.0, mean(params.flowers)) * params.flower_bud_break_probability);
}

Expected node_of(const ShootType& type, std::size_t node, bool is_last) {
  const double petioles = petioles_at(type, node);
  const LeafParams* leaf = leaf_at(type, node);
  const double blades = leaf == nullptr ? 0 : leaf->leaflets;
  Expected out{1, petioles * (1 + blades),
               sizeof(Phytomer) + 2 * (8 * type.internode_length_segments + kBytesPerBlock) + kBytesPerBlock +
                   petioles * (sizeof(PlantPetiole) + sizeof(PlantLeaf) * blades + 2 * kBytesPerBlock)};
  if (type.axillary && node >= type.axillary->first_node &&
      node <= type.axillary->last_node.value_or(0xffffffffU)) {
    out.organs += petioles * organs_of(*type.axillary);
    out.bytes += petioles * bytes_of(*type.axillary);
  }
  if (is_last && type.terminal) {
    out.organs += organs_of(*type.terminal);
    out.bytes += bytes_of(*type.terminal);
  }
  return out;
}

/// Expected numbers of shoots by the day of their birth and their type, worked off in the order of the days.
class Cohorts {
 public:
  Cohorts(const PlantSpecies& species, double age_days)
      : species_(species), age_(std::min(age_days, species.max_age_days)) {
    for (std::size_t i = 0; i < species.shoot_types.size(); ++i) {
      const ShootType& type = species.shoot_types[i];
      ShootDraws draws = shoot_draws(species, GrowthState{}, static_cast<std::uint32_t>(i), type.label);
      draws.max_nodes = static_cast<std::uint32_t>(std::max(1.0, std::ceil(mean(type.max_nodes))));
      draws.phyllochron_days = mean(type.phyllochron_min);
      draws_.push_back(std::move(draws));
    }
  }

  Expected run() {
    for (const StartShoot& start : species_.start) add_start(start);
    for (std::size_t done = 0; !births_.empty() && done < kMostCohorts; ++done) {
      const auto [key, count] = *births_.begin();
      births_.erase(births_.begin());
      if (total_.phytomers > kMostPhytomers) break;
      grow(key.second, {key.first}, count);
    }
    if (!births_.empty()) total_.phytomers = kMostPhytomers;  // too many to follow
    return total_;
  }

 private:
  void add_start(const StartShoot& start) {
    const std::size_t type = shoot_type_index(species_, start.shoot_type);
    const ShootDraws& draws = draws_[type];
    const double last = start.full_grown ? -1.001 / draws.elongation_rate_per_day : 0;
    const auto nodes = std::min(draws.max_nodes, static_cast<std::uint32_t>(std::ceil(mean(start.nodes))));
    std::vector<double> days;
    for (std::uint32_t i = 0; i < std::max(1U, nodes); ++i)
      days.push_back(last - (std::max(1U, nodes) - 1 - i) * draws.phyllochron_days);
    grow(type, std::move(days), 1);
  }

  /// Adds `count` shoots of a type whose first nodes emerge on `days`, and the births of their laterals.
  void grow(std::size_t type_index, std::vector<double> days, double count) {
    const ShootDraws& draws = draws_[type_index];
    const ShootType& type = *draws.type;
    for (;;) {
      const double next =
          next_node_day(species_.phenology, draws, days.size(), [&](std::size_t node) { return days[node]; });
      if (!(next <= age_)) break;
      days.push_back(next);
    }
    total_.bytes += count * (sizeof(PlantShoot) + kBytesPerBlock);
    for (std::size_t node = 0; node < days.size(); ++node) {
      total_.add(node_of(type, node, node + 1 == draws.max_nodes), count);
      if (type.bears_vegetative_buds) add_laterals(draws, days, node, count);
    }
  }

  void add_laterals(const ShootDraws& draws, const std::vector<double>& days, std::size_t node,
                    double count) {
    const ShootType& type = *draws.type;
    const auto at = static_cast<std::uint32_t>(node);
    if (at < type.vegetative_buds_first_node || at > type.vegetative_buds_last_node.value_or(0xffffffffU))
      return;
    const double day = bud_break_day(species_.phenology, draws, days[node], at, 0);
    if (!(day <= age_)) return;
    // At equal times buds come before nodes.
    const auto before = std::lower_bound(days.begin(), days.end(), day) - days.begin();
    const auto nodes = std::max(at + 1, static_cast<std::uint32_t>(before));
    const double chance = bud_break_probability(type, at, nodes);
    for (const LateralType& lateral : type.laterals) {
      const double born = count * chance * lateral.probability * petioles_at(type, node);
      // Whole days, so that shoots of one day are one cohort.
      if (born > kLeastShoots)
        births_[{std::floor(day), shoot_type_index(species_, lateral.shoot_type)}] += born;
    }
  }

  const PlantSpecies& species_;
  double age_;
  std::vector<ShootDraws> draws_;
  std::map<std::pair<double, std::size_t>, double> births_;
  Expected total_;
};

}  // namespace

PlantCost plant_cost(const PlantSpecies& species, double age_days) {
  require(std::isfinite(age_days) && age_days >= 0, "age must be a finite number of days >= 0");
  check_species(species);
  const Expected expected = Cohorts(species, age_days).run();
  const double phytomers = std::min<double>(kMostPhytomers, std::ceil(kSafety * expected.phytomers));
  const double organs = std::min<double>(kMostOrgans, std::ceil(kSafety * expected.organs));
  // Vectors keep room for half as many elements again.
  const double share = phytomers / std::max(1.0, expected.phytomers);
  return {static_cast<std::uint64_t>(phytomers), static_cast<std::uint64_t>(organs),
          static_cast<std::uint64_t>(1.5 * expected.bytes * share)};
}

}  // namespace pc
