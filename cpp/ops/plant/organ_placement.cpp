#include "ops/plant/organ_placement.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/error.h"
#include "core/random.h"
#include "ops/plant/leaf_inclination.h"

namespace pc {
namespace {

constexpr double kRadPerDeg = std::numbers::pi / 180;
/// Share of the internode's radius at which stalks start, so that they leave no gap.
constexpr double kStalkOffset = 0.8;
constexpr std::size_t kTubeRings = 512;
/// A sheath is this much wider than the internode inside.
constexpr double kSheathGap = 1.15;

/// Goes on by a length; a step that would end below the ground (z = 0) runs up to it.
AxisFrame stepped(AxisFrame frame, double length_m) {
  const double rise = -frame.point.z;
  const double flat = std::hypot(frame.tangent.x, frame.tangent.y);
  if (length_m > 0 && frame.tangent.z * length_m < rise) {
    Vec3d axis = flat > 1e-12 ? Vec3d{-frame.tangent.y / flat, frame.tangent.x / flat, 0} : frame.normal;
    if (flat <= 1e-12) axis = cross(frame.tangent, frame.normal);
    const double turn = std::acos(std::clamp(rise / length_m, -1.0, 1.0)) - std::atan2(flat, frame.tangent.z);
    frame.tangent = rotated(frame.tangent, axis, turn);
    frame.normal = rotated(frame.normal, axis, turn);
  }
  frame.point = frame.point + frame.tangent * length_m;
  frame.point.z = std::max(frame.point.z, 0.0);
  return frame;
}

/// Farthest that an organ may be from the base: float32 still tells 1 cm apart there.
constexpr double kFarthest_m = 1e5;

/// Numbers of a document can be anything: this refuses what they lead to.
void check_place(const Vec3d& p, std::size_t shoot) {
  if (std::abs(p.x) <= kFarthest_m && std::abs(p.y) <= kFarthest_m && std::abs(p.z) <= kFarthest_m) return;
  throw Error(ErrorCode::kInvalidArgument,
              "shoot " + std::to_string(shoot) + ": an organ's number is not finite or too large (100 km)");
}

/// A slanting tube is higher than its axis.
void raise_height(Span<const TubeRing> rings, std::uint32_t sides, ShootParts& parts) {
  const auto polygon = polygon_corners(sides);
  std::vector<Vec3d> corners(sides);
  for (const TubeRing& ring : rings) {
    if (!(ring_top(ring, sides) > parts.height_m)) continue;
    ring_corners(ring, polygon, corners.data());
    for (const Vec3d& corner : corners) parts.height_m = std::max(parts.height_m, corner.z);
  }
}

void add_stalk(const StalkPath& path, double radius, double tip_radius, OrganCode organ, std::uint32_t sides,
               std::uint32_t shoot, ShootParts& parts) {
  std::vector<TubePoint>& line = parts.line;
  line.clear();
  const auto n = static_cast<double>(path.frames.size() - 1);
  for (std::size_t i = 0; i < path.frames.size(); ++i) {
    const double f = n > 0 ? static_cast<double>(i) / n : 0;
    check_place(path.frames[i].point, shoot);
    line.push_back({path.frames[i].point, radius + f * (tip_radius - radius)});
    check_place({line.back().radius, 0, 0}, shoot);
    parts.height_m = std::max(parts.height_m, path.frames[i].point.z);
  }
  const std::size_t first = parts.rings.piece_ends.size();
  add_tube({line.data(), line.size()}, path.frames[0].normal, parts.rings);
  add_pieces(first, organ, sides, shoot, parts);
}

/// x forward, z to the upper side.
using OrganFrame = std::array<Vec3d, 4>;

OrganFrame organ_frame(const AxisFrame& frame) {
  return {frame.tangent, cross(frame.normal, frame.tangent), frame.normal, frame.point};
}

/// Turns to the left, down and about the forward axis, in this order.
void turn_organ(OrganFrame& f, double yaw_deg, double pitch_deg, double roll_deg) {
  const auto turn = [&](const Vec3d axis, double angle_deg) {
    for (int k = 0; k < 3; ++k) f[k] = rotated(f[k], axis, angle_deg * kRadPerDeg);
  };
  if (yaw_deg != 0) turn(f[2], yaw_deg);
  if (pitch_deg != 0) turn(f[1], pitch_deg);
  if (roll_deg != 0) turn(f[0], roll_deg);
}

double lowest_z(const OrganMesh& mesh, const OrganFrame& frame, double size) {
  double least = 0;
  for (const Vec3d& p : mesh.positions)
    least = std::min(least, frame[0].z * p.x + frame[1].z * p.y + frame[2].z * p.z);
  return frame[3].z + size * least;
}

/// Raises an organ about its base until no corner is below the ground; what a rotation cannot raise is lifted.
void raise_organ(const OrganMesh& mesh, double size, OrganFrame& frame) {
  constexpr double kStep_deg = 3, kTouching_m = 1e-6;
  double lowest = lowest_z(mesh, frame, size);
  while (lowest < -kTouching_m) {
    const double flat = std::hypot(frame[0].x, frame[0].y);
    const Vec3d axis = flat > 1e-6 ? Vec3d{frame[0].y / flat, -frame[0].x / flat, 0} : frame[1];
    OrganFrame higher = frame;
    for (int k = 0; k < 3; ++k) higher[k] = rotated(frame[k], axis, kStep_deg * kRadPerDeg);
    const double z = lowest_z(mesh, higher, size);
    if (!(z > lowest)) break;
    frame = higher;
    lowest = z;
  }
  frame[3].z -= std::min(0.0, lowest);
}

void place_organ(const PlacementInput& input, std::uint32_t prototype, OrganFrame frame, double size,
                 std::size_t shoot, ShootParts& parts) {
  for (int k = 0; k < 3; ++k) frame[k] = frame[k] * size;
  for (const Vec3d& v : frame) check_place(v, shoot);
  parts.instances.push_back({prototype, static_cast<std::uint32_t>(shoot), frame});
  const OrganPrototype& organ = input.prototypes.organs[prototype];
  if (frame[3].z + organ.reach * size > parts.height_m)
    for (const Vec3d& p : organ.mesh.positions)
      parts.height_m =
          std::max(parts.height_m, frame[3].z + frame[0].z * p.x + frame[1].z * p.y + frame[2].z * p.z);
  if (organ.organ == OrganCode::kLeaf) parts.leaf_area_m2 += organ.area * size * size;
}

template <class Shape>
const Shape& named(const std::vector<Shape>& shapes, const std::string& name, const char* kind) {
  for (const Shape& shape : shapes)
    if (shape.name == name) return shape;
  throw Error(ErrorCode::kInvalidArgument, std::string("the species has no ") + kind + " shape " + name);
}

/// Twisted about its direction until the normal faces the sky; unchanged where the direction is all but vertical.
AxisFrame turned_up(AxisFrame frame) {
  constexpr double kLeastSine = 0.02;
  const Vec3d up = Vec3d{0, 0, 1} - frame.tangent * frame.tangent.z;
  const double sine = std::sqrt(dot(up, up));
  if (sine > kLeastSine) frame.normal = up * (1 / sine);
  return frame;
}

/// Which of the variants of a leaf: by its place in the plant, so that growth does not change it.
std::uint32_t variant_of(std::size_t shoot, std::size_t phytomer, std::size_t petiole, std::size_t leaf,
                         std::uint32_t variants) {
  const std::uint64_t place = (static_cast<std::uint64_t>(phytomer) << 20) ^ (petiole << 10) ^ leaf;
  return static_cast<std::uint32_t>(random_u64(shoot, place) % variants);
}

void place_leaf(const PlacementInput& input, const PlantPetiole& petiole, const PlantPrototypes::Leaf& shape,
                const AxisFrame& base, std::size_t index, std::uint32_t variant, std::size_t shoot,
                ShootParts& parts) {
  input.ctx.checkpoint();
  const PlantLeaf& leaf = petiole.leaves[index];
  const double size =
      leaf.leaf_scale * leaflet_factor(petiole.leaflet_scale, index) * petiole.current_leaf_scale_factor;
  check_place({size, 0, 0}, shoot);
  if (size < kLeastOrgan_m) return;
  const double side = index == 0 ? 0 : index % 2 == 1 ? 1 : -1;
  const double mirror = side < 0 ? -1 : 1;
  OrganFrame frame = organ_frame(base);
  turn_organ(frame, side * shape.leaflet_angle_deg + mirror * leaf.leaf_yaw, leaf.leaf_pitch,
             mirror * leaf.leaf_roll);
  if (side != 0 && shape.petiolule_length > 0) {
    const AxisFrame start{frame[3], frame[0], frame[2]};
    const StalkPath path{{start, stepped(start, shape.petiolule_length * size)},
                         shape.petiolule_length * size};
    const double radius = shape.petiolule_radius * size;
    add_stalk(path, radius, radius, OrganCode::kPetiolule, scaled_sides(kPetioluleSides, input.detail),
              static_cast<std::uint32_t>(shoot), parts);
    frame[3] = path.frames[1].point;
  }
  const std::uint32_t prototype = shape.first + variant;
  const OrganPrototype& organ = input.prototypes.organs[prototype];
  if (input.plant.leaf_inclination) {
    const double target = steered_inclination_deg(*input.plant.leaf_inclination, leaf.inclination_u);
    const Vec3d n = organ.normal;
    const auto normal = [&] { return frame[0] * n.x + frame[1] * n.y + frame[2] * n.z; };
    steer_blade(frame, normal(), target);
    if (frame[3].z < organ.reach * size) {
      if (lowest_z(organ.mesh, frame, size) < 0) steer_blade(frame, normal(), -target);
      frame[3].z -= std::min(0.0, lowest_z(organ.mesh, frame, size));
    }
  } else if (frame[3].z < organ.reach * size) {
    raise_organ(organ.mesh, size, frame);
  }
  place_organ(input, prototype, frame, size, shoot, parts);
}

/// The shoot's own axis above a node, as far as the sheath reaches, then straight on.
StalkPath sheath_path(const PlacementInput& input, std::size_t shoot, std::size_t phytomer, double length_m,
                      double azimuth_deg) {
  AxisFrame frame = node_frame(input, shoot, phytomer);
  frame.normal = across_axis(frame, azimuth_deg + 180);
  StalkPath path{{frame}, length_m};
  const std::size_t node = input.axes.node(shoot, phytomer).last_frame;
  const std::size_t end = std::min(input.axes.first_frame[shoot + 1], node + kMostSheathSegments);
  double left = length_m;
  for (std::size_t i = node + 1; i < end && left > 0; ++i) {
    const Vec3d step = input.axes.frames[i].point - input.plant.base_position - frame.point;
    const double length = std::sqrt(dot(step, step));
    if (!(length > 0)) continue;
    const Vec3d tangent = step * (1 / length);
    const Vec3d half = frame.tangent + tangent;  // the normal turns with the axis
    if (dot(half, half) > 1e-9) {
      const Vec3d plane = half * (1 / std::sqrt(dot(half, half)));
      const Vec3d turned = frame.normal - plane * (2 * dot(frame.normal, plane));
      const Vec3d flat = turned - tangent * dot(turned, tangent);
      if (dot(flat, flat) > 1e-9) frame.normal = flat * (1 / std::sqrt(dot(flat, flat)));
    }
    frame.tangent = tangent;
    frame.point = frame.point + tangent * std::min(length, left);
    left -= length;
    path.frames.push_back(frame);
  }
  if (left > 0) path.frames.push_back(stepped(frame, left));
  return path;
}

}  // namespace

std::uint32_t scaled_sides(double sides, double detail) {
  return static_cast<std::uint32_t>(std::clamp(std::lround(sides * detail), 3L, 64L));
}

std::uint32_t shoot_sides(double radius_m, double detail) {
  return scaled_sides(radius_m >= 0.02 ? 16 : radius_m >= 0.004 ? 12 : radius_m >= 0.0015 ? 8 : 6, detail);
}

void add_pieces(std::size_t first_piece, OrganCode organ, std::uint32_t sides, std::uint32_t shoot,
                ShootParts& parts) {
  const auto& ends = parts.rings.piece_ends;
  const std::size_t first_ring = first_piece == 0 ? 0 : ends[first_piece - 1];
  raise_height({parts.rings.rings.data() + first_ring, parts.rings.rings.size() - first_ring}, sides, parts);
  for (std::size_t piece = first_piece; piece < ends.size(); ++piece) {
    const std::size_t begin = piece == 0 ? 0 : ends[piece - 1];
    for (std::size_t first = begin; first + 1 < ends[piece]; first += kTubeRings - 1) {
      const std::size_t last = std::min(first + kTubeRings, ends[piece]);
      parts.tubes.push_back({first, last - first, sides, shoot, organ, first == begin, last == ends[piece]});
    }
  }
}

AxisFrame StalkPath::at(double distance_m) const {
  if (frames.size() < 2 || !(length_m > 0)) return frames.back();
  double left = std::clamp(distance_m, 0.0, length_m);
  for (std::size_t i = 1; i < frames.size(); ++i) {
    const double step = std::sqrt(squared_distance(frames[i].point, frames[i - 1].point));
    if (left <= step || i + 1 == frames.size()) {
      AxisFrame frame = frames[i];
      frame.point = frames[i].point - frames[i].tangent * std::max(0.0, step - left);
      return frame;
    }
    left -= step;
  }
  return frames.back();
}

StalkPath stalk_path(const AxisFrame& node, const StalkParams& params) {
  AxisFrame frame = node;
  frame.point = node.point + across_axis(node, params.azimuth_deg) * params.offset_m;
  frame.point.z = std::max(frame.point.z, 0.0);
  frame.normal = across_axis(node, params.azimuth_deg + 180);
  frame = pitched(frame, 180, params.pitch_deg);
  StalkPath path{{}, params.length_m};
  path.frames.reserve(params.segments + std::size_t{1});
  path.frames.push_back(frame);
  const double step = params.length_m / params.segments;
  for (std::uint32_t i = 0; i < params.segments; ++i) {
    frame = stepped(bent(frame, params.curvature_deg_per_m, step), step);
    path.frames.push_back(frame);
  }
  return path;
}

AxisFrame node_frame(const PlacementInput& input, std::size_t shoot, std::size_t phytomer) {
  AxisFrame frame = input.axes.frames[input.axes.node(shoot, phytomer).last_frame];
  frame.point = frame.point - input.plant.base_position;
  return frame;
}

void place_petiole(const PlacementInput& input, std::size_t shoot, std::size_t phytomer, std::size_t index,
                   ShootParts& parts) {
  const PlantShoot& of = input.plant.shoots[shoot];
  const Phytomer& node = of.phytomers[phytomer];
  const PlantPetiole& petiole = node.petioles[index];
  input.ctx.checkpoint();
  if (petiole.leaves.empty() || !(petiole.current_leaf_scale_factor > 0)) return;
  const ShootType& type = input.species.shoot_types[shoot_type_index(input.species, of.shoot_type_label)];
  const LeafParams* params = leaf_at(type, phytomer);
  if (params == nullptr)
    throw Error(ErrorCode::kInvalidArgument, "shoots of type " + of.shoot_type_label + " have no leaves");
  const auto& shape = named(input.prototypes.leaves, params->leaf_shape, "leaf");
  const double azimuth = input.axes.node(shoot, phytomer).azimuth_deg +
                         360.0 * static_cast<double>(index) / static_cast<double>(node.petioles.size());
  const double factor = petiole.current_leaf_scale_factor, length = petiole.petiole_length * factor;
  double radius = petiole.petiole_radius * factor;
  StalkPath path;
  if (shape.is_sheathed) {
    path = sheath_path(input, shoot, phytomer, length, azimuth);
    const std::size_t inside = std::min(phytomer + 1, of.phytomers.size() - 1);
    radius = std::max(radius, kSheathGap * of.phytomers[inside].internode.internode_radius);
  } else {
    require(petiole.petiole_length_segments > 0 && petiole.petiole_length_segments <= kMostPetioleSegments,
            "petiole_length_segments must be from 1 to 1024");
    path = stalk_path(node_frame(input, shoot, phytomer),
                      {kStalkOffset * node.internode.internode_radius, azimuth, petiole.petiole_pitch,
                       petiole.petiole_curvature, length, petiole.petiole_length_segments});
  }
  add_stalk(path, radius, radius * (1 - petiole.petiole_taper), OrganCode::kPetiole,
            scaled_sides(std::min(petiole.petiole_radial_subdivisions, 64U), input.detail),
            static_cast<std::uint32_t>(shoot), parts);
  for (std::size_t leaf = 0; leaf < petiole.leaves.size(); ++leaf) {
    const double from_tip = static_cast<double>((leaf + 1) / 2) * petiole.leaflet_offset * length;
    const std::uint32_t variant = variant_of(shoot, phytomer, index, leaf, shape.variants);
    const AxisFrame at = path.at(length - from_tip);
    place_leaf(input, petiole, shape, shape.turns_up ? turned_up(at) : at, leaf, variant, shoot, parts);
  }
}

void place_buds(const PlacementInput& input, std::size_t shoot, std::size_t phytomer, std::size_t index,
                ShootParts& parts) {
  const PlantShoot& of = input.plant.shoots[shoot];
  const Phytomer& node = of.phytomers[phytomer];
  for (const FloralBud& bud : node.petioles[index].floral_buds) {
    const bool is_fruit = bud.bud_state == FloralBudState::kFruiting;
    const bool is_closed = bud.bud_state == FloralBudState::kFlowerClosed;
    if (bud.flowers.empty() || !(is_fruit || is_closed || bud.bud_state == FloralBudState::kFlowerOpen))
      continue;
    const ShootType& type = input.species.shoot_types[shoot_type_index(input.species, of.shoot_type_label)];
    const auto& params = bud.is_terminal ? type.terminal : type.axillary;
    if (!params)
      throw Error(ErrorCode::kInvalidArgument,
                  "shoots of type " + of.shoot_type_label + " have no such buds");
    const std::string& name = is_fruit ? params->fruit_shape : params->flower_shape;
    const PlantPeduncle& peduncle = bud.peduncle;
    const double azimuth = input.axes.node(shoot, phytomer).azimuth_deg + peduncle.roll +
                           360.0 * static_cast<double>(index) / static_cast<double>(node.petioles.size());
    const StalkPath path = stalk_path(
        node_frame(input, shoot, phytomer),
        {bud.is_terminal ? 0 : kStalkOffset * node.internode.internode_radius, azimuth, peduncle.pitch,
         peduncle.curvature, peduncle.length, peduncle.curvature != 0 ? kPeduncleSegments : 1});
    if (peduncle.length > 0)
      add_stalk(path, peduncle.radius, peduncle.radius, OrganCode::kPeduncle,
                scaled_sides(kPeduncleSides, input.detail), static_cast<std::uint32_t>(shoot), parts);
    if (name.empty()) continue;
    const auto& shape = is_fruit ? named(input.prototypes.fruits, name, "fruit")
                                 : named(input.prototypes.flowers, name, "flower");
    for (std::size_t i = 0; i < bud.flowers.size(); ++i) {
      input.ctx.checkpoint();
      const PlantFlower& flower = bud.flowers[i];
      const double size =
          is_fruit ? flower.fruit_scale * bud.current_fruit_scale_factor : flower.flower_base_scale;
      check_place({size, 0, 0}, shoot);
      if (size < kLeastOrgan_m) continue;
      const AxisFrame at =
          path.at(peduncle.length * (1 - std::min(1.0, static_cast<double>(i) * bud.flower_offset)));
      OrganFrame frame = organ_frame(pitched(at, flower.flower_azimuth, flower.flower_pitch));
      turn_organ(frame, flower.flower_yaw, 0, flower.flower_roll);
      const std::uint32_t prototype = is_closed ? shape.closed : shape.open;
      if (frame[3].z < input.prototypes.organs[prototype].reach * size)
        raise_organ(input.prototypes.organs[prototype].mesh, size, frame);
      place_organ(input, prototype, frame, size, shoot, parts);
    }
  }
}

}  // namespace pc
