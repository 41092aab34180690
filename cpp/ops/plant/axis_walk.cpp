#include "ops/plant/axis_walk.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "core/error.h"

namespace pc {

namespace {

constexpr double kRadPerDeg = std::numbers::pi / 180;
constexpr std::size_t kShootsPerCheck = 64;
const Vec3d kUp{0, 0, 1};

double norm(const Vec3d& v) { return std::sqrt(dot(v, v)); }
Vec3d unit(const Vec3d& v) { return v * (1 / norm(v)); }

/// Rotates the directions of a frame so that its tangent becomes cos(angle) tangent + sin(angle) across; `across` is a
/// unit vector perpendicular to the tangent.
AxisFrame tilted(const AxisFrame& frame, const Vec3d& across, double angle_rad) {
  const double c = std::cos(angle_rad), s = std::sin(angle_rad), along = dot(frame.normal, across);
  const Vec3d tangent = unit(frame.tangent * c + across * s);
  // The part of the normal along `across` turns with the tangent, the rest is the axis of the rotation.
  Vec3d normal = frame.normal - across * along + (across * c - frame.tangent * s) * along;
  normal = normal - tangent * dot(normal, tangent);  // removes the rounding of many steps
  return {frame.point, tangent, unit(normal)};
}

/// The horizontal part of the tangent as a unit vector; of the normal on a vertical axis.
Vec3d heading(const AxisFrame& frame) {
  constexpr double kVertical = 1e-12;
  const Vec3d flat{frame.tangent.x, frame.tangent.y, 0};
  return unit(norm(flat) > kVertical ? flat : Vec3d{frame.normal.x, frame.normal.y, 0});
}

/// `frame` rotated in its vertical plane to an angle from the vertical.
AxisFrame at_zenith_angle(const AxisFrame& frame, double from_rad, double to_rad) {
  const Vec3d flat = heading(frame);
  // Perpendicular to the tangent, toward growing angles.
  const Vec3d across = unit(flat * std::cos(from_rad) - kUp * std::sin(from_rad));
  return tilted(frame, across - frame.tangent * dot(across, frame.tangent), to_rad - from_rad);
}

double zenith_angle(const AxisFrame& frame) {
  return std::atan2(std::hypot(frame.tangent.x, frame.tangent.y), frame.tangent.z);
}

/// One step along the axis, raised to the ground if it would end below.
AxisFrame stepped(AxisFrame frame, double length_m, double ground_z) {
  const double rise = ground_z - frame.point.z;  // least z step that stays above
  if (length_m > 0 && frame.tangent.z * length_m < rise)
    frame = at_zenith_angle(frame, zenith_angle(frame), std::acos(std::clamp(rise / length_m, -1.0, 1.0)));
  frame.point = frame.point + frame.tangent * length_m;
  frame.point.z = std::max(frame.point.z, ground_z);
  return frame;
}

[[noreturn]] void refuse(std::size_t shoot, const std::string& problem) {
  throw Error(ErrorCode::kInvalidArgument, "shoot " + std::to_string(shoot) + ": " + problem);
}

AxisFrame shoot_start(const PlantStructure& plant, std::size_t index, const PlantAxes& axes) {
  const PlantShoot& shoot = plant.shoots[index];
  AxisFrame frame{plant.base_position, kUp, {1, 0, 0}};
  double azimuth = shoot.base_rotation.yaw;
  if (shoot.parent_shoot_id >= 0) {
    const auto parent = static_cast<std::size_t>(shoot.parent_shoot_id);
    if (parent >= index) refuse(index, "its parent must come before it");
    const auto& phytomers = plant.shoots[parent].phytomers;
    const auto at = static_cast<std::size_t>(shoot.parent_node_index);
    if (shoot.parent_node_index < 0 || at >= phytomers.size()) refuse(index, "its parent has no such node");
    const AxisNode& node = axes.node(parent, at);
    frame = axes.frames[node.last_frame];
    const auto petioles = phytomers[at].petioles.size();
    if (shoot.parent_petiole_index >= 0) {
      if (static_cast<std::size_t>(shoot.parent_petiole_index) >= petioles)
        refuse(index, "its parent node has no such petiole");
      azimuth += node.azimuth_deg + 360.0 * shoot.parent_petiole_index / static_cast<double>(petioles);
    }
  }
  frame.normal = across_axis(frame, azimuth);
  return pitched(frame, 0, shoot.base_rotation.pitch);
}

void check_internode(const PlantInternode& internode, std::size_t shoot) {
  const std::size_t segments = internode.internode_length_segments;
  if (segments == 0) refuse(shoot, "internode_length_segments must be larger than 0");
  if (internode.curvature_perturbations.size() != segments || internode.yaw_perturbations.size() != segments)
    refuse(shoot, "the perturbations of an internode must have one number per segment");
  bool finite = std::isfinite(internode.internode_pitch) &&
                std::isfinite(internode.internode_phyllotactic_angle) &&
                std::isfinite(internode.internode_length) && internode.internode_length >= 0;
  for (std::size_t i = 0; i < segments; ++i)
    finite = finite && std::isfinite(internode.curvature_perturbations[i]) &&
             std::isfinite(internode.yaw_perturbations[i]);
  if (!finite) refuse(shoot, "the numbers of an internode must be finite, its length >= 0");
}

void walk_internode(const PlantInternode& internode, std::size_t shoot, AxisFrame frame, double ground_z,
                    std::vector<AxisFrame>& frames) {
  const std::size_t segments = internode.internode_length_segments;
  check_internode(internode, shoot);
  const double step = internode.internode_length / static_cast<double>(segments);
  for (std::size_t i = 0; i < segments; ++i) {
    frame = bent(frame, internode.curvature_perturbations[i], step);
    const double yaw = internode.yaw_perturbations[i];
    if (yaw != 0) frame = tilted(frame, cross(frame.normal, frame.tangent), yaw * kRadPerDeg);
    frame = stepped(frame, step, ground_z);
    frames.push_back(frame);
  }
  if (!is_finite(frame.point) || !is_finite(frame.normal))
    refuse(shoot, "a number is not finite or too large");
}

void walk_shoot(const PlantStructure& plant, std::size_t index, PlantAxes& axes) {
  const PlantShoot& shoot = plant.shoots[index];
  const AxisFrame start = shoot_start(plant, index, axes);
  axes.frames.push_back(start);
  AxisFrame frame = start;
  double azimuth = shoot.base_rotation.roll;
  for (std::size_t i = 0; i < shoot.phytomers.size(); ++i) {
    const PlantInternode& internode = shoot.phytomers[i].internode;
    frame = pitched(frame, i == 0 ? 0 : azimuth + 180, internode.internode_pitch);
    const std::size_t first = axes.frames.size() - 1;
    walk_internode(internode, index, frame, plant.base_position.z, axes.frames);
    if (i == 0) {
      AxisFrame& base = axes.frames[first];
      base = {base.point, axes.frames[first + 1].tangent, axes.frames[first + 1].normal};
    }
    frame = axes.frames.back();
    azimuth = std::remainder(azimuth + internode.internode_phyllotactic_angle, 360.0);
    axes.nodes.push_back({first, axes.frames.size() - 1, azimuth});
  }
}

}  // namespace

Vec3d across_axis(const AxisFrame& frame, double azimuth_deg) {
  const double angle = azimuth_deg * kRadPerDeg;
  return frame.normal * std::cos(angle) + cross(frame.tangent, frame.normal) * std::sin(angle);
}

AxisFrame pitched(const AxisFrame& frame, double azimuth_deg, double pitch_deg) {
  if (pitch_deg == 0) return frame;
  return tilted(frame, across_axis(frame, azimuth_deg), pitch_deg * kRadPerDeg);
}

AxisFrame bent(const AxisFrame& frame, double curvature_deg_per_m, double length_m) {
  const double turn = curvature_deg_per_m * kRadPerDeg * length_m / 2;
  if (turn == 0) return frame;
  const double from = zenith_angle(frame), half = std::tan(from / 2);
  if (!(half > 0)) return frame;
  const double to = 2 * std::atan2(1, std::max(0.0, 1 / half + turn));  // arccot in (0, pi / 2]
  return at_zenith_angle(frame, from, to);
}

PlantAxes walk_axes(const PlantStructure& plant, OpContext& ctx) {
  require(is_finite(plant.base_position), "base_position must be finite");
  PlantAxes axes;
  for (std::size_t i = 0; i < plant.shoots.size(); ++i) {
    if (i % kShootsPerCheck == 0) ctx.checkpoint();
    axes.first_node.push_back(axes.nodes.size());
    axes.first_frame.push_back(axes.frames.size());
    walk_shoot(plant, i, axes);
  }
  axes.first_node.push_back(axes.nodes.size());
  axes.first_frame.push_back(axes.frames.size());
  return axes;
}

double axis_height(const PlantStructure& plant, const PlantAxes& axes) {
  double height = 0;
  for (const AxisFrame& frame : axes.frames) height = std::max(height, frame.point.z - plant.base_position.z);
  return height;
}

}  // namespace pc
