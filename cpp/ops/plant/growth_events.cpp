#include "ops/plant/growth_events.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pc {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

bool season_is_full(const ShootDraws& draws, const PlantShoot& shoot, const Season& season) {
  const auto& most = draws.type->max_nodes_per_season;
  if (!most || shoot.phytomers.size() < *most) return false;
  return shoot.phytomers[shoot.phytomers.size() - *most].internode.birth_day >= season.start;
}

/// `day`, or if it lies outside the season of `birth_day` the start of the next one; not before age 0.
double in_season(const Phenology& phenology, double birth_day, double day) {
  const Season season = season_at(phenology, birth_day);
  const double at = std::max({day, season.start, 0.0});
  return at < season.end ? at : next_season_start(phenology, birth_day);
}

}  // namespace

double next_node_day(const Phenology& phenology, const ShootDraws& draws, const PlantShoot& shoot) {
  if (shoot.phytomers.empty() || shoot.phytomers.size() >= draws.max_nodes) return kNever;
  const double last = shoot.phytomers.back().internode.birth_day;
  if (season_is_full(draws, shoot, season_at(phenology, last))) return next_season_start(phenology, last);
  return in_season(phenology, last, last + draws.phyllochron_days);
}

double bud_break_day(const Phenology& phenology, const ShootDraws& draws, const PlantPetiole& petiole,
                     std::uint32_t node, std::uint32_t index) {
  const ShootType& type = *draws.type;
  if (type.growth_requires_dormancy) return next_season_start(phenology, petiole.birth_day);
  const double delay = draws.random.draw(type.vegetative_bud_break_time, Draw::kBudBreakTime, node, index);
  return in_season(phenology, petiole.birth_day, petiole.birth_day + delay);
}

double bud_break_probability(const ShootType& type, std::uint32_t node, std::uint32_t nodes) {
  const double least = type.vegetative_bud_break_probability_min;
  const double most = type.vegetative_bud_break_probability_max;
  const double decay = type.vegetative_bud_break_probability_decay_rate;
  if (decay > 0) return std::max(least, most - decay * (nodes - 1.0 - node));
  if (decay < 0 && type.growth_requires_dormancy) return std::max(least, most + decay * node);
  return least;
}

double insertion_angle(const ShootDraws& lateral, std::uint32_t nodes_below_tip) {
  const double tip = lateral.random.draw(lateral.type->insertion_angle_tip, Draw::kInsertionAngle);
  const double decay = lateral.random.draw(lateral.type->insertion_angle_decay_rate, Draw::kInsertionDecay);
  return std::max(tip, std::min(90.0, tip + decay * nodes_below_tip));
}

}  // namespace pc
