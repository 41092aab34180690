#include "ops/plant/plant_summary.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "ops/plant/axis_walk.h"

namespace pc {

namespace {

double blade_area(const PlantPetiole& petiole, const LeafParams& params) {
  double squares = 0;
  for (std::size_t i = 0; i < petiole.leaves.size(); ++i) {
    const double length = petiole.leaves[i].leaf_scale * leaflet_factor(petiole.leaflet_scale, i) *
                          petiole.current_leaf_scale_factor;
    squares += length * length;
  }
  return params.area_coefficient * squares;
}

void add_petiole(const PlantPetiole& petiole, const LeafParams* params, PlantSummary& out) {
  out.leaf_count += !petiole.leaves.empty();
  out.blade_count += petiole.leaves.size();
  if (params != nullptr) out.leaf_area_m2 += blade_area(petiole, *params);
  for (const FloralBud& bud : petiole.floral_buds) {
    ++out.bud_counts[static_cast<std::size_t>(bud.bud_state)];
    if (bud.bud_state == FloralBudState::kFruiting) {
      out.fruit_count += bud.flowers.size();
    } else {
      out.flower_count += bud.flowers.size();
    }
  }
}

/// Sums over all shoots that become means.
struct AngleSums {
  double cosine = 0, sine = 0, insertion_deg = 0;
  std::uint64_t nodes = 0, laterals = 0;
};

void add_shoot(const PlantShoot& shoot, const ShootType* type, PlantSummary& out, AngleSums& angles) {
  out.phytomer_count += shoot.phytomers.size();
  for (std::size_t node = 0; node < shoot.phytomers.size(); ++node) {
    const PlantInternode& internode = shoot.phytomers[node].internode;
    out.axis_length_m += internode.internode_length;
    out.wood_volume_m3 += std::numbers::pi * internode.internode_radius * internode.internode_radius *
                          internode.internode_length;
    for (const PlantPetiole& petiole : shoot.phytomers[node].petioles)
      add_petiole(petiole, type == nullptr ? nullptr : leaf_at(*type, node), out);
    if (node == 0) continue;
    const double step = internode.internode_phyllotactic_angle * std::numbers::pi / 180;
    angles.cosine += std::cos(step);
    angles.sine += std::sin(step);
    ++angles.nodes;
  }
  if (shoot.parent_shoot_id < 0 || shoot.parent_petiole_index < 0 || shoot.phytomers.empty()) return;
  angles.insertion_deg += shoot.phytomers[0].internode.internode_pitch;
  ++angles.laterals;
}

void measure_axes(const PlantStructure& plant, const PlantAxes& axes, PlantSummary& out) {
  Box3d box;
  for (const AxisFrame& frame : axes.frames) box.add(frame.point);
  out.axis_height_m = axis_height(plant, axes);
  if (!box.empty()) out.axis_width_m = (box.max.x - box.min.x + box.max.y - box.min.y) / 2;
}

}  // namespace

PlantSummary plant_summary(const PlantStructure& plant, const PlantSpecies* species, OpContext& ctx) {
  PlantSummary out{};
  out.age_days = plant.plant_age;
  measure_axes(plant, walk_axes(plant, ctx), out);
  out.shoot_count = plant.shoots.size();
  std::vector<std::uint32_t> order;
  AngleSums angles;
  for (const PlantShoot& shoot : plant.shoots) {
    const std::int32_t parent = shoot.parent_shoot_id;
    order.push_back(parent < 0 ? 0 : order[static_cast<std::size_t>(parent)] + 1);
    out.max_branch_order = std::max(out.max_branch_order, order.back());
    add_shoot(shoot,
              species == nullptr ? nullptr
                                 : &species->shoot_types[shoot_type_index(*species, shoot.shoot_type_label)],
              out, angles);
    if (order.size() == 1) {
      out.main_axis_m = out.axis_length_m;
      if (!shoot.phytomers.empty()) out.base_diameter_m = 2 * shoot.phytomers[0].internode.internode_radius;
    }
  }
  const double none = std::numeric_limits<double>::quiet_NaN();
  const double turn = std::atan2(angles.sine, angles.cosine) * 180 / std::numbers::pi;
  out.mean_phyllotactic_angle_deg = angles.nodes == 0 ? none : turn < 0 ? turn + 360 : turn;
  out.mean_insertion_angle_deg =
      angles.laterals == 0 ? none : angles.insertion_deg / static_cast<double>(angles.laterals);
  return out;
}

}  // namespace pc
