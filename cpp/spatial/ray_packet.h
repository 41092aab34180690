#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "spatial/bvh_traversal.h"

/// Rays that run side by side, searched together (ray_packet_search.h). What a ray hits is what it hits alone, to the bit.
namespace pc::bvh {

/// The inverse of a direction's component is at most this many times that of the largest one. A smaller component counts
/// as this one in the tests of boxes, from an origin widened by kTilt of the way to the farthest corner: four times
/// what the ray deviates on that way.
constexpr double kSteepest = 0x1p22, kTilt = 0x1p-20;
/// Slack of the boxes' tests: twice that of a ray alone.
constexpr double kPacketNear = 1 - 1e-6, kPacketFar = 1 + 1e-6;
/// Rays that start farther from the tree's origin, or are longer or shorter, are searched alone.
constexpr double kPacketReach = 1e15, kPacketLength = 1e6;
/// In smaller trees the steps of single precision vanish, by which boxes are widened: rays are searched alone.
constexpr double kLeastTreeReach = 1e-30;
/// Rays of a packet differ from the first by less: in slope, and in origin by this part of the way to the farthest corner.
constexpr double kPacketSlope = 0.25, kPacketSpread = 0x1p-5;
/// Fewer rays are searched alone.
constexpr std::size_t kLeastPacket = 4;

/// Up to kRays rays of one octant and one largest axis of direction.
template <std::size_t kRays>
struct RayPacket {
  // As in BoxRay: the test of a triangle's box, the same as that of a ray alone.
  alignas(64) float low[3][kRays], high[3][kRays], inverse[3][kRays], t_min[kRays];
  // A faster test: a ray enters a box at plane * inverse - offset, not after it enters it alone; likewise it leaves.
  alignas(64) float near_inverse[3][kRays], near_offset[3][kRays];
  alignas(64) float far_inverse[3][kRays], far_offset[3][kRays];
  alignas(64) float earliest[kRays];  ///< not above t_min
  alignas(64) float limit[kRays];     ///< not below best_t; -1 = the ray needs no more
  // As in ShearedRay; the origin's components in the order of the axes x, y, z.
  alignas(64) double origin[3][kRays];
  alignas(64) double shear_x[kRays], shear_y[kRays], shear_z[kRays];
  alignas(64) double least_t[kRays];
  // The best hits, as in RayHit.
  alignas(64) double best_t[kRays], best_u[kRays], best_v[kRays], best_triangle[kRays];
  // Of all rays.
  float low_of[3], high_of[3], least_inverse[3], most_inverse[3], earliest_of, limit_of;
  bool backward[3];
  std::size_t entry_at[3],
      exit_at[3];  ///< where a node holds the sides that rays enter and leave boxes by, in numbers
  int x, y, z;

  RayHit hit(std::size_t i) const {
    return {best_t[i], best_u[i], best_v[i], static_cast<std::uint32_t>(best_triangle[i])};
  }
};

/// How far from the tree's origin its boxes reach, along any axis.
inline double reach_of(const BvhView& tree) {
  float reach = 0;
  if (tree.node_count == 0) return 0;
  const Node& root = tree.nodes[0];
  for (std::size_t axis = 0; axis < 3; ++axis) {
    for (std::size_t lane = 0; lane < kWidth; ++lane) {
      if (root.child[lane] == kNone) continue;
      if (-root.min[axis][lane] > reach) reach = -root.min[axis][lane];
      if (root.max[axis][lane] > reach) reach = root.max[axis][lane];
    }
  }
  return static_cast<double>(reach);
}

/// As bvh_boxes.h, for lanes.
template <class Lanes>
PC_LANES_TARGET typename Lanes::Halves rounded_down(const typename Lanes::Doubles& values) {
  const typename Lanes::Halves f = values.single();
  return f - abs(f) * Lanes::Halves::all(0x1p-23F);
}
template <class Lanes>
PC_LANES_TARGET typename Lanes::Halves rounded_up(const typename Lanes::Doubles& values) {
  const typename Lanes::Halves f = values.single();
  return f + abs(f) * Lanes::Halves::all(0x1p-23F);
}

/// A ray's limit, for its best hit so far.
template <class Lanes>
PC_LANES_TARGET typename Lanes::Halves limit_for(const typename Lanes::Doubles& best_t) {
  return rounded_up<Lanes>(best_t) * Lanes::Halves::all(static_cast<float>(kPacketFar));
}

/// What rays of a packet share.
struct PacketKind {
  Vec3d origin;     ///< of the first ray, relative to the tree's origin
  double slope[3];  ///< its direction over the size of the largest component, by axis
  int x, y, z;      ///< as in ShearedRay; z = -1: the ray has to be searched alone
  bool backward[3];

  PacketKind(const Ray& ray, const Vec3d& center) : origin(ray.origin - center) {
    const Vec3d& d = ray.direction;
    const double sx = std::abs(d.x), sy = std::abs(d.y), sz = std::abs(d.z);
    z = sx > sy && sx > sz ? 0 : (sy > sx && sy > sz ? 1 : (sz > sx && sz > sy ? 2 : -1));
    x = z == 2 ? 0 : z + 1;
    y = x == 2 ? 0 : x + 1;
    const double largest = z == 0 ? sx : (z == 1 ? sy : sz);
    for (int axis = 0; axis < 3; ++axis) {
      slope[axis] = ShearedRay::component(d, axis) / largest;
      backward[axis] = slope[axis] * kSteepest < -1;
    }
    const double far = std::abs(origin.x) + std::abs(origin.y) + std::abs(origin.z);
    if (!(far <= kPacketReach)) z = -1;
  }

  /// A quick look at whether another ray may belong to the packet.
  bool resembles(const Ray& ray) const {
    const Vec3d& d = ray.direction;
    const double largest = std::abs(ShearedRay::component(d, z));
    return std::abs(d.x - slope[0] * largest) <= kPacketSlope * largest &&
           std::abs(d.y - slope[1] * largest) <= kPacketSlope * largest &&
           std::abs(d.z - slope[2] * largest) <= kPacketSlope * largest;
  }
};

/// The rays of a packet, field by field; origins relative to the tree's.
template <std::size_t kRays>
struct RayColumns {
  alignas(64) double origin[3][kRays], direction[3][kRays], t_min[kRays], t_max[kRays];
};

/// Which rays are of the kind: bit i is ray i. The axis of the largest component is the only one, so that ShearedRay chooses
/// it too.
template <class Lanes>
PC_LANES_TARGET std::uint64_t rays_of_kind(const RayColumns<Lanes::kRays>& rays, const PacketKind& kind,
                                           double spread) {
  using D = typename Lanes::Doubles;
  const double* dx = rays.direction[kind.x];
  const double* dy = rays.direction[kind.y];
  const double* dz = rays.direction[kind.z];
  const D slope_x = D::all(kind.slope[kind.x]), slope_y = D::all(kind.slope[kind.y]),
          half = D::all(kPacketSlope), steepest = D::all(kSteepest), zero = D::all(0);
  const D flip_x = D::all(kind.backward[kind.x] ? -1 : 1), flip_y = D::all(kind.backward[kind.y] ? -1 : 1),
          flip_z = D::all(kind.backward[kind.z] ? -1 : 1);
  std::uint64_t mask = 0;
  for (std::size_t i = 0; i < Lanes::kRays; i += D::kSize) {
    const D x = D::load(dx + i), y = D::load(dy + i), z = D::load(dz + i), largest = z * flip_z;
    const D low = D::load(rays.t_min + i);
    typename D::Mask fits = (abs(x) < largest) & (abs(y) < largest) & (D::all(1 / kPacketLength) <= largest) &
                            (largest <= D::all(kPacketLength));
    fits = fits & (abs(x - slope_x * largest) <= half * largest) &
           (abs(y - slope_y * largest) <= half * largest);
    // Backward by more than 1 / kSteepest, or not backward by more than that.
    const D turned_x = x * flip_x * steepest, turned_y = y * flip_y * steepest;
    fits = fits & (kind.backward[kind.x] ? largest < turned_x : zero - largest <= turned_x) &
           (kind.backward[kind.y] ? largest < turned_y : zero - largest <= turned_y);
    const D off = abs(D::load(rays.origin[0] + i) - D::all(kind.origin.x)) +
                  abs(D::load(rays.origin[1] + i) - D::all(kind.origin.y)) +
                  abs(D::load(rays.origin[2] + i) - D::all(kind.origin.z));
    fits = fits & (off <= D::all(spread)) & (zero <= low) & (low <= D::all(kPacketReach)) &
           (low <= D::load(rays.t_max + i));
    mask |= fits.bits() << i;
  }
  return mask;
}

/// The boxes' tests along one axis, after shear_z.
template <class Lanes>
PC_LANES_TARGET void set_axis(RayPacket<Lanes::kRays>& packet, const RayColumns<Lanes::kRays>& rays,
                              std::size_t axis, double reach) {
  using D = typename Lanes::Doubles;
  using H = typename Lanes::Halves;
  constexpr std::size_t kRays = Lanes::kRays;
  const double* largest = rays.direction[packet.z];
  const bool backward = packet.backward[axis];
  alignas(64) float low[kRays], high[kRays];
  for (std::size_t i = 0; i < kRays; i += D::kSize) {
    const D from = D::load(rays.origin[axis] + i), most = abs(D::load(largest + i));
    D along = D::load(rays.direction[axis] + i);
    along = select(abs(along) < most * D::all(kNegligible), D::all(0), along);
    const D plain = D::all(1) / along;
    const auto tilted = abs(along) * D::all(kSteepest) <= most;
    D inverse = plain;
    H below = rounded_down<Lanes>(from), above = rounded_up<Lanes>(from);
    below.store(packet.low[axis] + i);
    above.store(packet.high[axis] + i);
    if (tilted.bits() != 0) {
      inverse = select(tilted, D::all(kSteepest) * abs(D::load(packet.shear_z + i)), plain);
      const D wider = select(tilted, D::all(kTilt) * (D::all(reach) + abs(from)), D::all(0));
      below = rounded_down<Lanes>(from - wider);
      above = rounded_up<Lanes>(from + wider);
    }
    plain.single().store(packet.inverse[axis] + i);
    below.store(low + i);
    above.store(high + i);
    const H near = (inverse * D::all(kPacketNear)).single(), far = (inverse * D::all(kPacketFar)).single();
    near.store(packet.near_inverse[axis] + i);
    far.store(packet.far_inverse[axis] + i);
    rounded_up<Lanes>((backward ? below : above).wide() * near.wide()).store(packet.near_offset[axis] + i);
    rounded_down<Lanes>((backward ? above : below).wide() * far.wide()).store(packet.far_offset[axis] + i);
  }
  packet.low_of[axis] = Lanes::least(low);
  packet.high_of[axis] = Lanes::most(high);
  packet.least_inverse[axis] = Lanes::least(packet.near_inverse[axis]);
  packet.most_inverse[axis] = Lanes::most(packet.near_inverse[axis]);
}

/// Makes the packet of rays of one kind. `size` of them are searched; the others are there to fill the lanes.
template <class Lanes>
PC_LANES_TARGET void set_rays(RayPacket<Lanes::kRays>& packet, const RayColumns<Lanes::kRays>& rays,
                              const PacketKind& kind, std::size_t size, double reach) {
  using D = typename Lanes::Doubles;
  using H = typename Lanes::Halves;
  packet.x = kind.x;
  packet.y = kind.y;
  packet.z = kind.z;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::size_t min = axis * kWidth, max = (3 + axis) * kWidth;
    packet.backward[axis] = kind.backward[axis];
    packet.entry_at[axis] = kind.backward[axis] ? max : min;
    packet.exit_at[axis] = kind.backward[axis] ? min : max;
  }
  for (std::size_t i = 0; i < Lanes::kRays; i += D::kSize) {
    const D dx = D::load(rays.direction[kind.x] + i), dy = D::load(rays.direction[kind.y] + i),
            dz = D::load(rays.direction[kind.z] + i);
    const D negligible = abs(dz * D::all(kNegligible)), inverse = D::all(1) / dz, zero = D::all(0);
    (select(abs(dx) < negligible, zero, dx) * inverse).store(packet.shear_x + i);
    (select(abs(dy) < negligible, zero, dy) * inverse).store(packet.shear_y + i);
    inverse.store(packet.shear_z + i);
    D::load(rays.origin[kind.x] + i).store(packet.origin[0] + i);
    D::load(rays.origin[kind.y] + i).store(packet.origin[1] + i);
    D::load(rays.origin[kind.z] + i).store(packet.origin[2] + i);
    const D first = D::load(rays.t_min + i), last = D::load(rays.t_max + i);
    first.store(packet.least_t + i);
    last.store(packet.best_t + i);
    zero.store(packet.best_u + i);
    zero.store(packet.best_v + i);
    D::all(kNone).store(packet.best_triangle + i);
    const H low = rounded_down<Lanes>(first);
    low.store(packet.t_min + i);
    (low * H::all(static_cast<float>(kPacketNear))).store(packet.earliest + i);
    limit_for<Lanes>(last).store(packet.limit + i);
  }
  for (std::size_t i = size; i < Lanes::kRays; ++i) packet.best_t[i] = packet.limit[i] = -1;
  packet.earliest_of = Lanes::least(packet.earliest);
  packet.limit_of = Lanes::most(packet.limit);
  for (std::size_t axis = 0; axis < 3; ++axis) set_axis<Lanes>(packet, rays, axis, reach);
}

}  // namespace pc::bvh
