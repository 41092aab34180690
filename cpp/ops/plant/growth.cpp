#include "ops/plant/growth.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "core/error.h"
#include "ops/plant/growth_events.h"
#include "ops/plant/phytomer.h"
#include "ops/plant/plant_sizes.h"

namespace pc {

namespace {

constexpr std::uint64_t kEventsPerCheck = 256;
constexpr std::size_t kShootsPerCheck = 64;

void check_structure(const PlantStructure& plant) {
  for (std::size_t i = 0; i < plant.shoots.size(); ++i) {
    const PlantShoot& shoot = plant.shoots[i];
    const std::int32_t parent = shoot.parent_shoot_id;
    if (parent < 0) continue;
    if (static_cast<std::size_t>(parent) >= i || shoot.parent_node_index < 0 ||
        static_cast<std::size_t>(shoot.parent_node_index) >=
            plant.shoots[static_cast<std::size_t>(parent)].phytomers.size())
      throw Error(ErrorCode::kInvalidArgument,
                  "shoot " + std::to_string(i) + " needs a node of an earlier shoot as its parent");
  }
}

/// Removes the foreign elements of organs that are gone.
void drop_orphans(PlantStructure& plant) {
  std::erase_if(plant.foreign, [&](const ForeignXml& foreign) {
    if (foreign.parent < PlantElement::kLeaf) return false;
    const PlantPetiole& petiole =
        plant.shoots[foreign.shoot].phytomers[foreign.phytomer].petioles[foreign.petiole];
    if (foreign.parent == PlantElement::kLeaf) return foreign.item >= petiole.leaves.size();
    const FloralBud& bud = petiole.floral_buds[foreign.item];
    return foreign.parent == PlantElement::kFlower && foreign.flower >= bud.flowers.size();
  });
}

/// A plant while it grows.
class Growth {
 public:
  Growth(PlantStructure& plant, const PlantSpecies& species, OpContext& ctx)
      : plant_(plant), species_(species), phenology_(species.phenology), state_(*plant.growth), ctx_(ctx) {
    for (std::uint32_t i = 0; i < plant.shoots.size(); ++i) adopt(i);
  }

  void add_start_shoots() {
    for (const StartShoot& start : species_.start) add_start_shoot(start);
  }

  void run(double until) {
    ctx_.begin_phase("Growing plants", static_cast<std::uint64_t>(std::ceil(until - plant_.plant_age)));
    const double from = plant_.plant_age;
    const double dormancy = next_dormancy(phenology_, from);
    if (dormancy <= until) queue_.push({dormancy, GrowthEvent::Kind::kDormancy, 0, 0, 0});
    std::uint64_t events = 0, days = 0;
    while (!queue_.empty() && queue_.top().day <= until) {
      const GrowthEvent event = queue_.top();
      queue_.pop();
      handle(event);
      if (++events % kEventsPerCheck == 0) ctx_.checkpoint();
      const auto passed = static_cast<std::uint64_t>(std::max(0.0, event.day - from));
      if (passed > days) ctx_.advance(passed - std::exchange(days, passed));
    }
    plant_.plant_age = until;
    update_sizes(plant_, species_, draws_, ctx_);
    drop_orphans(plant_);
  }

 private:
  /// Queues what a shoot that is already there will do.
  void adopt(std::uint32_t index) {
    const PlantShoot& shoot = plant_.shoots[index];
    draws_.push_back(shoot_draws(species_, state_, index, shoot.shoot_type_label));
    heading_.push_back(0);
    for (std::uint32_t node = 0; node < shoot.phytomers.size(); ++node) settle(index, node);
    queue_node(index);
  }
  /// Counts a phytomer and queues its buds.
  void settle(std::uint32_t index, std::uint32_t node) {
    const Phytomer& phytomer = plant_.shoots[index].phytomers[node];
    for (const double yaw : phytomer.internode.yaw_perturbations) heading_[index] += yaw;
    for (std::uint32_t i = 0; i < phytomer.petioles.size(); ++i) {
      const PlantPetiole& petiole = phytomer.petioles[i];
      organs_ += 1 + petiole.leaves.size();
      for (const FloralBud& bud : petiole.floral_buds) organs_ += 1 + bud.flowers.size();
      if (petiole.vegetative_bud == VegetativeBudState::kDormant)
        push(bud_break_day(phenology_, draws_[index], petiole.birth_day, node, i),
             GrowthEvent::Kind::kBudBreak, index, node, i);
    }
    if (++phytomers_ > kMostPhytomers || organs_ > kMostOrgans)
      refuse_size(species_, phytomer.internode.birth_day);
  }
  void push(double day, GrowthEvent::Kind kind, std::uint32_t shoot, std::uint32_t node,
            std::uint32_t petiole) {
    if (day < kNever) queue_.push({day, kind, shoot, node, petiole});
  }
  void queue_node(std::uint32_t index) {
    const PlantShoot& shoot = plant_.shoots[index];
    const std::size_t nodes = shoot.phytomers.size();
    const auto birth_day = [&](std::size_t node) { return shoot.phytomers[node].internode.birth_day; };
    push(next_node_day(phenology_, draws_[index], nodes, birth_day), GrowthEvent::Kind::kNode, index,
         static_cast<std::uint32_t>(nodes), 0);
  }

  void handle(const GrowthEvent& event) {
    switch (event.kind) {
      case GrowthEvent::Kind::kDormancy:
        record_carried_area(plant_, species_, draws_, event.day, ctx_);
        push(next_dormancy(phenology_, event.day), event.kind, 0, 0, 0);
        break;
      case GrowthEvent::Kind::kBudBreak:
        break_bud(event);
        break;
      case GrowthEvent::Kind::kNode:
        add_node(event.shoot, event.day, 0, true);
        queue_node(event.shoot);
        break;
    }
  }

  void add_node(std::uint32_t index, double birth_day, double pitch_deg, bool has_leaves) {
    PlantShoot& shoot = plant_.shoots[index];
    const auto node = static_cast<std::uint32_t>(shoot.phytomers.size());
    shoot.phytomers.push_back(
        make_phytomer(draws_[index], {node, birth_day, pitch_deg, heading_[index], has_leaves}, state_));
    settle(index, node);
  }

  void break_bud(const GrowthEvent& event) {
    const PlantShoot& parent = plant_.shoots[event.shoot];
    const auto nodes = static_cast<std::uint32_t>(parent.phytomers.size());
    const ShootDraws& draws = draws_[event.shoot];
    const double chance = draws.random.unit(Draw::kBudBreak, event.node, event.petiole);
    const bool breaks = chance < bud_break_probability(*draws.type, event.node, nodes);
    plant_.shoots[event.shoot].phytomers[event.node].petioles[event.petiole].vegetative_bud =
        breaks ? VegetativeBudState::kBroken : VegetativeBudState::kDead;
    if (!breaks) return;
    const double pick = draws.random.unit(Draw::kLateralType, event.node, event.petiole);
    PlantShoot lateral;
    lateral.shoot_type_label = lateral_type(*draws.type, pick);
    lateral.parent_shoot_id = static_cast<std::int32_t>(event.shoot);
    lateral.parent_node_index = static_cast<std::int32_t>(event.node);
    lateral.parent_petiole_index = static_cast<std::int32_t>(event.petiole);
    lateral.birth_day = event.day;
    const std::uint32_t index = begin_shoot(std::move(lateral));
    const ShootDraws& own = draws_[index];
    BaseRotation& rotation = plant_.shoots[index].base_rotation;
    rotation.yaw = own.random.draw(own.type->base_yaw, Draw::kBaseYaw);
    rotation.roll = own.random.draw(own.type->base_roll, Draw::kBaseRoll);
    add_node(index, event.day, insertion_angle(own, nodes - 1 - event.node), true);
    queue_node(index);
  }
  static const std::string& lateral_type(const ShootType& type, double pick) {
    for (const LateralType& lateral : type.laterals) {
      if (pick < lateral.probability) return lateral.shoot_type;
      pick -= lateral.probability;
    }
    return type.laterals.back().shoot_type;
  }
  std::uint32_t begin_shoot(PlantShoot&& shoot) {
    const auto index = static_cast<std::uint32_t>(plant_.shoots.size());
    draws_.push_back(shoot_draws(species_, state_, index, shoot.shoot_type_label));
    heading_.push_back(0);
    plant_.shoots.push_back(std::move(shoot));
    return index;
  }

  void add_start_shoot(const StartShoot& start) {
    PlantShoot shoot;
    shoot.shoot_type_label = start.shoot_type;
    shoot.parent_shoot_id = start.parent;
    shoot.parent_petiole_index = -1;
    if (start.parent >= 0) {
      const auto last =
          static_cast<std::int32_t>(plant_.shoots[static_cast<std::size_t>(start.parent)].phytomers.size()) -
          1;
      shoot.parent_node_index = std::min(start.parent_node.value_or(last), last);
    }
    const std::uint32_t index = begin_shoot(std::move(shoot));
    const ShootDraws& draws = draws_[index];
    const RandomStream& random = draws.random;
    PlantShoot& added = plant_.shoots[index];
    added.base_rotation = {random.draw(start.pitch, Draw::kStartPitch),
                           random.draw(start.yaw, Draw::kStartYaw),
                           random.draw(start.roll, Draw::kStartRoll)};
    const std::uint32_t nodes = std::min(random.count(start.nodes, 1, Draw::kStartNodes), draws.max_nodes);
    // Full-grown: even the last node has had time for its whole length, with a margin for rounding.
    const double last_birth = start.full_grown ? -1.001 / draws.elongation_rate_per_day : 0;
    added.birth_day = last_birth - (nodes - 1) * draws.phyllochron_days;
    for (std::uint32_t i = 0; i < nodes; ++i) {
      const double birth_day = last_birth - (nodes - 1 - i) * draws.phyllochron_days;
      add_node(index, birth_day, 0, !start.full_grown || start.bears_leaves);
    }
    queue_node(index);
  }

  PlantStructure& plant_;
  const PlantSpecies& species_;
  const Phenology& phenology_;
  GrowthState& state_;
  OpContext& ctx_;
  std::vector<ShootDraws> draws_;
  std::vector<double> heading_;  ///< per shoot, degrees
  GrowthQueue queue_;
  std::uint64_t phytomers_ = 0, organs_ = 0;
};

/// A copy that sees a cancel: copying 500,000 phytomers takes 350 ms.
PlantStructure copy_of(const PlantStructure& plant, OpContext& ctx) {
  PlantStructure out;
  out.plant_id = plant.plant_id;
  out.base_position = plant.base_position;
  out.plant_age = plant.plant_age;
  out.leaf_inclination = plant.leaf_inclination;
  out.growth = plant.growth;
  out.foreign = plant.foreign;
  out.shoots.reserve(plant.shoots.size());
  for (const PlantShoot& shoot : plant.shoots) {
    if (out.shoots.size() % kShootsPerCheck == 0) ctx.checkpoint();
    out.shoots.push_back(shoot);
  }
  return out;
}

void check_days(double days, const char* name) {
  if (std::isfinite(days) && days >= 0) return;
  throw Error(ErrorCode::kInvalidArgument,
              std::string(name) + " " + std::to_string(days) + " must be a finite number of days >= 0");
}

}  // namespace

PlantStructure grow_plant(const PlantSpecies& species, const GrowthParams& params, OpContext& ctx) {
  check_days(params.age_days, "age");
  require(is_finite(params.base_position), "the position of a plant must be finite");
  check_species(species);
  PlantStructure plant;
  plant.base_position = params.base_position;
  plant.leaf_inclination = params.leaf_inclination;
  plant.growth = GrowthState{species.id, params.seed, params.plant_index, 0};
  Growth growth(plant, species, ctx);
  growth.add_start_shoots();
  growth.run(std::min(params.age_days, species.max_age_days));
  return plant;
}

PlantStructure advance_plant(const PlantStructure& plant, const PlantSpecies& species, double days,
                             OpContext& ctx) {
  check_days(days, "dt");
  check_days(plant.plant_age, "age");
  check_species(species);
  if (!plant.growth)
    throw Error(ErrorCode::kInvalidArgument,
                "the document says nothing about the plant's growth, so it can be drawn but not grown");
  if (plant.growth->species_id != species.id)
    throw Error(ErrorCode::kInvalidArgument, "a plant of species " + plant.growth->species_id.substr(0, 80) +
                                                 " cannot grow on as " + species.id);
  if (plant.plant_age > species.max_age_days)
    throw Error(ErrorCode::kInvalidArgument, "the plant is older than the " +
                                                 std::to_string(species.max_age_days) + " days that " +
                                                 species.id + " can reach");
  check_structure(plant);
  PlantStructure out = copy_of(plant, ctx);
  Growth growth(out, species, ctx);
  growth.run(std::min(plant.plant_age + days, species.max_age_days));
  return out;
}

}  // namespace pc
