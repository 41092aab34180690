#pragma once
#include <cstdint>
#include <functional>
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

using GrowthQueue = std::priority_queue<GrowthEvent, std::vector<GrowthEvent>, std::greater<>>;

/// The day on which the next node of a shoot emerges; infinity = never.
double next_node_day(const Phenology& phenology, const ShootDraws& draws, const PlantShoot& shoot);
/// The day on which the vegetative bud of a petiole breaks or dies; infinity = never.
double bud_break_day(const Phenology& phenology, const ShootDraws& draws, const PlantPetiole& petiole,
                     std::uint32_t node, std::uint32_t index);
/// Probability that the bud at `node` of a shoot of `nodes` breaks.
double bud_break_probability(const ShootType& type, std::uint32_t node, std::uint32_t nodes);
/// Degrees between a lateral and its parent, whose tip is `nodes_below_tip` nodes further.
double insertion_angle(const ShootDraws& lateral, std::uint32_t nodes_below_tip);

}  // namespace pc
