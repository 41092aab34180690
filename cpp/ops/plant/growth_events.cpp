#include "ops/plant/growth_events.h"

#include <algorithm>

namespace pc {

double in_season(const Phenology& phenology, double birth_day, double day) {
  const Season season = season_at(phenology, birth_day);
  const double at = std::max({day, season.start, 0.0});
  return at < season.end ? at : next_season_start(phenology, birth_day);
}

double bud_break_day(const Phenology& phenology, const ShootDraws& draws, double birth_day,
                     std::uint32_t node, std::uint32_t petiole) {
  const ShootType& type = *draws.type;
  if (type.growth_requires_dormancy) return next_season_start(phenology, birth_day);
  const double delay = draws.random.draw(type.vegetative_bud_break_time, Draw::kBudBreakTime, node, petiole);
  return in_season(phenology, birth_day, birth_day + delay);
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
