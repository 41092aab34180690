#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <tuple>
#include <vector>

#include "core/plant_structure.h"
#include "ops/plant/phenology.h"
#include "ops/plant/shoot_draws.h"

namespace pc {

/// What changes a plant at one instant. At equal times in this order: dormancy, buds, nodes; then by shoot and node.
struct GrowthEvent {
  enum class Kind : std::uint8_t { kDormancy, kBudBreak, kNode };
  double day;
  Kind kind;
  std::uint32_t shoot, node, petiole;

  friend bool operator>(const GrowthEvent& a, const GrowthEvent& b) {
    return std::tie(a.day, a.kind, a.shoot, a.node, a.petiole) >
           std::tie(b.day, b.kind, b.shoot, b.node, b.petiole);
  }
};

inline constexpr double kNever = std::numeric_limits<double>::infinity();

/// `day`, or if it lies outside the season of `birth_day` the start of the next one; not before age 0.
double in_season(const Phenology& phenology, double birth_day, double day);

using GrowthQueue = std::priority_queue<GrowthEvent, std::vector<GrowthEvent>, std::greater<>>;

/// The day on which the next node of a shoot emerges; infinity = never. `birth_day(node)` is that of an earlier one.
template <class BirthDay>
double next_node_day(const Phenology& phenology, const ShootDraws& draws, std::size_t nodes,
                     BirthDay&& birth_day) {
  if (nodes == 0 || nodes >= draws.max_nodes) return kNever;
  const double last = birth_day(nodes - 1);
  const auto& most = draws.type->max_nodes_per_season;
  const bool is_full = most && nodes >= *most && birth_day(nodes - *most) >= season_at(phenology, last).start;
  return is_full ? next_season_start(phenology, last)
                 : in_season(phenology, last, last + draws.phyllochron_days);
}
/// The day on which the vegetative bud of a petiole that emerged on `birth_day` breaks or dies; infinity = never.
double bud_break_day(const Phenology& phenology, const ShootDraws& draws, double birth_day,
                     std::uint32_t node, std::uint32_t petiole);
/// Probability that the bud at `node` of a shoot of `nodes` breaks.
double bud_break_probability(const ShootType& type, std::uint32_t node, std::uint32_t nodes);
/// Degrees between a lateral and its parent, whose tip is `nodes_below_tip` nodes further.
double insertion_angle(const ShootDraws& lateral, std::uint32_t nodes_below_tip);

}  // namespace pc
