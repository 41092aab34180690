#include "ops/plant/phytomer.h"

#include <algorithm>
#include <cmath>

namespace pc {

namespace {

constexpr std::uint64_t kLeafletsPerPetiole = 128;  // numbers of the draws of one petiole

/// Value at `position` of a function given by points in ascending order; constant outside them; 1 without points.
double profile_at(const std::vector<ProfilePoint>& points, double position) {
  if (points.empty()) return 1;
  if (position <= points.front().position) return points.front().factor;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const ProfilePoint &a = points[i - 1], &b = points[i];
    if (position > b.position) continue;
    return a.factor + (b.factor - a.factor) * (position - a.position) / (b.position - a.position);
  }
  return points.back().factor;
}

/// 0 at the first node of a shoot, 1 at the last one it can have.
double position_on(const ShootDraws& shoot, std::uint32_t node) {
  return node / std::max(1.0, shoot.max_nodes - 1.0);
}

/// Tortuosity: the heading follows dh = -0.5 h dL + T xi sqrt(dL) along the full-grown axis, stepped exactly (an
/// Ornstein-Uhlenbeck process); the perturbations are its changes. The noise of the curvature is as large.
void draw_heading(const ShootDraws& shoot, const PhytomerPlace& place, PlantInternode& internode) {
  const std::uint32_t segments = internode.internode_length_segments;
  const double length = internode.internode_length_max / segments;
  const double keep = std::exp(-length / 2), noise = shoot.tortuosity_deg * std::sqrt(1 - keep * keep);
  double heading = place.heading_deg;
  internode.yaw_perturbations.reserve(segments);
  internode.curvature_perturbations.reserve(segments);
  for (std::uint32_t i = 0; i < segments; ++i) {
    double curvature = shoot.curvature_deg_per_m, yaw = 0;
    if (noise > 0) {
      const double next = heading * keep + noise * shoot.random.normal(Draw::kYawNoise, place.node, i);
      yaw = next - heading;
      heading += yaw;
      curvature += noise / length * shoot.random.normal(Draw::kCurvatureNoise, place.node, i);
    }
    internode.yaw_perturbations.push_back(yaw);
    internode.curvature_perturbations.push_back(curvature);
  }
}

PlantInternode make_internode(const ShootDraws& shoot, const PhytomerPlace& place) {
  const ShootType& type = *shoot.type;
  PlantInternode out;
  out.internode_length_max =
      std::max(shoot.internode_length_min_m,
               shoot.internode_length_max_m - shoot.internode_length_decay_m * place.node) *
      profile_at(type.internode_length_profile, position_on(shoot, place.node));
  out.internode_pitch = place.node == 0
                            ? place.pitch_deg
                            : shoot.random.draw(type.internode_pitch, Draw::kInternodePitch, place.node);
  out.internode_phyllotactic_angle =
      shoot.random.draw(type.phyllotactic_angle, Draw::kPhyllotaxis, place.node);
  out.internode_length_segments = type.internode_length_segments;
  out.birth_day = place.birth_day;
  out.radius_initial = shoot.internode_radius_m;
  out.girth_area_factor = type.girth_area_factor;
  return out;
}

void add_leaves(const ShootDraws& shoot, const LeafParams& params, const PhytomerPlace& place,
                std::uint64_t petiole, PlantPetiole& out, GrowthState& growth) {
  const std::uint64_t first = petiole * kLeafletsPerPetiole;
  const auto draw = [&](const Distribution& d, Draw purpose, std::uint64_t leaf = 0) {
    return shoot.random.draw(d, purpose, place.node, first + leaf);
  };
  const double factor = profile_at(shoot.type->leaf_scale_profile, position_on(shoot, place.node));
  out.petiole_length = draw(params.petiole_length, Draw::kPetioleLength) * factor;
  out.petiole_radius = draw(params.petiole_radius, Draw::kPetioleRadius);
  out.petiole_pitch = draw(params.petiole_pitch, Draw::kPetiolePitch);
  out.petiole_curvature = draw(params.petiole_curvature, Draw::kPetioleCurvature);
  out.petiole_taper = draw(params.petiole_taper, Draw::kPetioleTaper);
  out.petiole_length_segments = params.petiole_length_segments;
  out.petiole_radial_subdivisions = params.petiole_radial_subdivisions;
  out.leaflet_scale = draw(params.leaflet_scale, Draw::kLeafletScale);
  out.leaflet_offset = draw(params.leaflet_offset, Draw::kLeafletOffset);
  if (!place.has_leaves) return;
  const double scale = draw(params.leaf_scale, Draw::kLeafScale) * factor;
  out.leaves.reserve(params.leaflets);
  for (std::uint64_t i = 0; i < params.leaflets; ++i)
    out.leaves.push_back(
        {scale, draw(params.leaf_pitch, Draw::kLeafPitch, i), draw(params.leaf_yaw, Draw::kLeafYaw, i),
         draw(params.leaf_roll, Draw::kLeafRoll, i), stratified_unit(growth, growth.leaves_emerged++)});
}

void add_buds(const ShootDraws& shoot, const InflorescenceParams& params, const PhytomerPlace& place,
              std::uint32_t petiole, bool terminal, PlantPetiole& out) {
  const auto count = shoot.random.count(params.buds, 0, terminal ? Draw::kTerminalBudCount : Draw::kBudCount,
                                        place.node, petiole);
  for (std::uint32_t i = 0; i < count; ++i) {
    FloralBud bud;
    bud.parent_index = petiole;
    bud.bud_index = static_cast<std::uint32_t>(out.floral_buds.size());
    bud.is_terminal = terminal;
    bud.birth_day = place.birth_day;
    const RandomStream random = shoot.random.of_bud(place.node, bud);
    bud.breaks = random.unit(Draw::kFloralBreak) < params.flower_bud_break_probability;
    bud.sets_fruit = random.unit(Draw::kFruitSet) < params.fruit_set_probability;
    out.floral_buds.push_back(std::move(bud));
  }
}

bool bears_axillary_buds(const ShootType& type, std::uint32_t node) {
  return type.axillary && node >= type.axillary->first_node &&
         node <= type.axillary->last_node.value_or(0xffffffffU);
}

bool bears_vegetative_buds(const ShootType& type, std::uint32_t node) {
  return type.bears_vegetative_buds && node >= type.vegetative_buds_first_node &&
         node <= type.vegetative_buds_last_node.value_or(0xffffffffU);
}

double radical_inverse(std::uint64_t bits) {
  double value = 0;
  for (double digit = 0.5; bits != 0; bits >>= 1, digit /= 2)
    if (bits & 1) value += digit;
  return value;
}

PlantFlower make_flower(const RandomStream& random, const InflorescenceParams& params, std::uint64_t i,
                        double azimuth_deg) {
  return {random.draw(params.flower_pitch, Draw::kFlowerPitch, i),
          random.draw(params.flower_yaw, Draw::kFlowerYaw, i),
          random.draw(params.flower_roll, Draw::kFlowerRoll, i),
          azimuth_deg,
          random.draw(params.flower_base_scale, Draw::kFlowerScale, i),
          random.draw(params.fruit_scale, Draw::kFruitScale, i)};
}

}  // namespace

double stratified_unit(const GrowthState& growth, std::uint64_t ordinal) {
  const double at = radical_inverse(ordinal) + RandomStream(growth, -1).unit(Draw::kInclinationShift);
  return at < 1 ? at : at - 1;
}

Phytomer make_phytomer(const ShootDraws& shoot, const PhytomerPlace& place, GrowthState& growth) {
  const ShootType& type = *shoot.type;
  Phytomer out;
  out.internode = make_internode(shoot, place);
  draw_heading(shoot, place, out.internode);
  out.petioles.resize(petioles_at(type, place.node));
  for (std::uint32_t i = 0; i < out.petioles.size(); ++i) {
    PlantPetiole& petiole = out.petioles[i];
    petiole.birth_day = place.birth_day;
    if (const LeafParams* leaf = leaf_at(type, place.node))
      add_leaves(shoot, *leaf, place, i, petiole, growth);
    if (bears_vegetative_buds(type, place.node)) petiole.vegetative_bud = VegetativeBudState::kDormant;
    if (bears_axillary_buds(type, place.node)) add_buds(shoot, *type.axillary, place, i, false, petiole);
  }
  if (type.terminal && place.node + 1 == shoot.max_nodes && !out.petioles.empty())
    add_buds(shoot, *type.terminal, place, 0, true, out.petioles[0]);
  return out;
}

void furnish_bud(const ShootDraws& shoot, std::uint32_t node, FloralBud& bud) {
  using enum FloralBudState;
  const bool shown =
      bud.bud_state == kFlowerClosed || bud.bud_state == kFlowerOpen || bud.bud_state == kFruiting;
  if (!shown) {
    bud.peduncle = {};
    bud.flower_offset = 0;
    bud.flowers = {};
    return;
  }
  const auto& params = bud.is_terminal ? shoot.type->terminal : shoot.type->axillary;
  if (!bud.flowers.empty() || !params) return;
  const RandomStream random = shoot.random.of_bud(node, bud);
  bud.peduncle = {random.draw(params->peduncle_length, Draw::kPeduncleLength),
                  random.draw(params->peduncle_radius, Draw::kPeduncleRadius),
                  random.draw(params->peduncle_pitch, Draw::kPedunclePitch),
                  random.draw(params->peduncle_curvature, Draw::kPeduncleCurvature),
                  random.draw(params->peduncle_roll, Draw::kPeduncleRoll)};
  bud.flower_offset = random.draw(params->flower_offset, Draw::kFlowerOffset);
  const std::uint32_t count = random.count(params->flowers, 1, Draw::kFlowerCount);
  double azimuth = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    bud.flowers.push_back(make_flower(random, *params, i, azimuth));
    azimuth = std::fmod(azimuth + random.draw(params->flower_azimuth, Draw::kFlowerAzimuth, i), 360.0);
  }
}

}  // namespace pc
