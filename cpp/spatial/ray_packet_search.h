#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "spatial/ray_packet.h"

/// The search of a RayPacket: a node is tested once for all rays by intervals, its children by a conservative test of every
/// ray, triangles by the test of ShearedRay.
///
/// Source  Interval tests for packets: Boulos, Wald & Shirley, Geometric and arithmetic culling methods for entire ray
///         packets, 2006. Masks of the rays that meet a child, lone rays searched by themselves: Benthin, Wald, Woop,
///         Ernst & Mark, Combining single and packet-ray tracing for arbitrary ray distributions on the Intel MIC
///         architecture, 2012.
namespace pc::bvh {

/// Where rays enter and leave a box of a node: its sides by axis, in the order of the rays' direction.
struct Sides {
  const float *entry[3], *exit[3];

  template <std::size_t kRays>
  Sides(const RayPacket<kRays>& packet, const Node& node) {
    static_assert(offsetof(Node, min) == 0 && offsetof(Node, max) == 3 * kWidth * sizeof(float));
    const auto* sides = reinterpret_cast<const float*>(&node);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      entry[axis] = sides + packet.entry_at[axis];
      exit[axis] = sides + packet.exit_at[axis];
    }
  }
};

/// The children of a node that any ray may meet, and a bound not above where any ray enters them.
template <class Lanes>
PC_LANES_TARGET unsigned intervals(const RayPacket<Lanes::kRays>& packet, const Sides& sides, float* bound) {
  using F = typename Lanes::Boxes;
  F near = F::all(packet.earliest_of), far = F::all(packet.limit_of);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const bool backward = packet.backward[axis];
    const F low = F::all(packet.low_of[axis]), high = F::all(packet.high_of[axis]);
    const F to = F::load(sides.entry[axis]) - (backward ? low : high),
            past = F::load(sides.exit[axis]) - (backward ? high : low);
    const F least = F::all(packet.least_inverse[axis]), most = F::all(packet.most_inverse[axis]);
    near = F::greater(F::lesser(to * least, to * most), near);
    far = F::lesser(F::greater(past * least, past * most), far);
  }
  near = near * F::all(1 - 1e-6F);
  near.store(bound);
  return static_cast<unsigned>((near <= far * F::all(1 + 4e-6F)).bits());
}

/// The rays that may meet the box of a child.
template <class Lanes>
PC_LANES_TARGET std::uint64_t meeting(const RayPacket<Lanes::kRays>& packet, const Sides& sides,
                                      unsigned lane) {
  using F = typename Lanes::Floats;
  std::uint64_t mask = 0;
  for (std::size_t i = 0; i < Lanes::kRays; i += F::kSize) {
    F near = F::load(packet.earliest + i), far = F::load(packet.limit + i);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const F entry = F::all(sides.entry[axis][lane]), exit = F::all(sides.exit[axis][lane]);
      near = F::greater(
          product_less(entry, F::load(packet.near_inverse[axis] + i), F::load(packet.near_offset[axis] + i)),
          near);
      far = F::lesser(
          product_less(exit, F::load(packet.far_inverse[axis] + i), F::load(packet.far_offset[axis] + i)),
          far);
    }
    mask |= (near <= far).bits() << i;
  }
  return mask;
}

/// The rays whose limit is not below a bound.
template <class Lanes>
PC_LANES_TARGET std::uint64_t reaching(const RayPacket<Lanes::kRays>& packet, float bound) {
  using F = typename Lanes::Floats;
  std::uint64_t mask = 0;
  for (std::size_t i = 0; i < Lanes::kRays; i += F::kSize)
    mask |= (F::all(bound) <= F::load(packet.limit + i)).bits() << i;
  return mask;
}

/// A triangle's box, as in the tree.
struct TriangleBox {
  float min[3], max[3];

  explicit TriangleBox(const Triangle& triangle) {
    const double *a = &triangle.a.x, *b = &triangle.b.x, *c = &triangle.c.x;
    double least[3], most[3];
    for (int axis = 0; axis < 3; ++axis) {
      const double ab = a[axis] < b[axis] ? a[axis] : b[axis], ba = a[axis] < b[axis] ? b[axis] : a[axis];
      least[axis] = c[axis] < ab ? c[axis] : ab;
      most[axis] = c[axis] > ba ? c[axis] : ba;
    }
    for (int axis = 0; axis < 3; ++axis) {
      min[axis] = rounded_down(least[axis]);
      max[axis] = rounded_up(most[axis]);
    }
  }
};

/// The rays i, i + 1, ... that meet a triangle's box no later than at t: the test of PlainLanes::slabs, to the bit.
template <class Lanes>
PC_LANES_TARGET std::uint64_t in_box(const RayPacket<Lanes::kRays>& packet, const TriangleBox& box,
                                     std::size_t i, const typename Lanes::Doubles& t) {
  using H = typename Lanes::Halves;
  H near = H::load(packet.t_min + i), far = H::all(HUGE_VALF);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const H inverse = H::load(packet.inverse[axis] + i);
    const H low = (H::all(box.min[axis]) - H::load(packet.high[axis] + i)) * inverse,
            high = (H::all(box.max[axis]) - H::load(packet.low[axis] + i)) * inverse;
    const auto forward = H::all(0) <= inverse;
    near = H::greater(select(forward, low, high), near);
    far = H::lesser(select(forward, high, low), far);
  }
  const H entered = near * H::all(kSlabNear);
  return (entered <= far * H::all(kSlabFar)).bits() & (entered.wide() <= t).bits();
}

/// Improves hits of `rays` on one triangle, as ShearedRay::meet; returns the rays with a better one.
template <class Lanes>
PC_LANES_TARGET std::uint64_t meet(RayPacket<Lanes::kRays>& packet, const Triangle& triangle,
                                   std::uint64_t rays) {
  using D = typename Lanes::Doubles;
  constexpr std::uint64_t kGroup = (std::uint64_t{1} << D::kSize) - 1;
  const double *a = &triangle.a.x, *b = &triangle.b.x, *c = &triangle.c.x;
  const int x = packet.x, y = packet.y, z = packet.z;
  const D zero = D::all(0);
  std::uint64_t better = 0;
  for (std::size_t i = 0; i < Lanes::kRays; i += D::kSize) {
    if ((rays >> i & kGroup) == 0) continue;
    const D ox = D::load(packet.origin[0] + i), oy = D::load(packet.origin[1] + i),
            oz = D::load(packet.origin[2] + i);
    const D shear_x = D::load(packet.shear_x + i), shear_y = D::load(packet.shear_y + i);
    const D az = D::all(a[z]) - oz, bz = D::all(b[z]) - oz, cz = D::all(c[z]) - oz;
    const D ax = D::all(a[x]) - ox - shear_x * az, ay = D::all(a[y]) - oy - shear_y * az;
    const D bx = D::all(b[x]) - ox - shear_x * bz, by = D::all(b[y]) - oy - shear_y * bz;
    const D cx = D::all(c[x]) - ox - shear_x * cz, cy = D::all(c[y]) - oy - shear_y * cz;
    const D u = cx * by - cy * bx, v = ax * cy - ay * cx, w = bx * ay - by * ax;
    const auto out = (D::lesser(D::lesser(u, v), w) < zero) & (zero < D::greater(D::greater(u, v), w));
    const std::uint64_t passed = rays >> i & kGroup & ~out.bits();
    if (passed == 0) continue;
    const D sum = u + v + w;
    const D t =
        (u * az + v * bz + w * cz) * D::load(packet.shear_z + i) / sum;  // NaN or infinite if the sum is 0
    const auto between = (D::load(packet.least_t + i) <= t) & (t <= D::load(packet.best_t + i));
    std::uint64_t met = passed & between.bits() & ~(sum == zero).bits();
    if (met == 0) continue;
    met &= in_box<Lanes>(packet, TriangleBox(triangle), i, t);
    const D best_t = D::load(packet.best_t + i), best_triangle = D::load(packet.best_triangle + i);
    const D index = D::all(triangle.index);
    met &= ~((t == best_t) & (best_triangle <= index)).bits();
    if (met == 0) continue;
    const auto closer = D::Mask::of(met);
    const D closest = select(closer, t, best_t);
    closest.store(packet.best_t + i);
    limit_for<Lanes>(closest).store(packet.limit + i);
    select(closer, v / sum, D::load(packet.best_u + i)).store(packet.best_u + i);
    select(closer, w / sum, D::load(packet.best_v + i)).store(packet.best_v + i);
    select(closer, index, best_triangle).store(packet.best_triangle + i);
    better |= met << i;
  }
  return better;
}

template <class Lanes, bool kAny>
class PacketSearch {
 public:
  using Packet = RayPacket<Lanes::kRays>;

  PC_LANES_TARGET PacketSearch(const BvhView& tree, Packet& packet, RayHit* hits)
      : tree_(tree), packet_(packet), hits_(hits) {}

  PC_LANES_TARGET void run(std::uint64_t all, std::size_t count) {
    search(all);
    if constexpr (!kAny)
      for (std::size_t i = 0; i < count; ++i) hits_[i] = packet_.hit(i);
  }

 private:
  /// Children that wait, and the rays that may meet each. Numbers are moved one by one: a load of two that were just stored
  /// one after the other would wait for both.
  struct WaitingRays {
    Waiting child[kStack];
    std::uint64_t rays[kStack];
    std::size_t size = 0;
  };

  PC_LANES_TARGET void search(std::uint64_t rays) {
    WaitingRays stack;
    Waiting next = waiting(0, 0);
    for (;;) {
      const auto child = static_cast<std::uint32_t>(next);
      if ((child & kTriangle) != 0) {
        meet_triangle(child & ~kTriangle, rays);
      } else if (enter(tree_.nodes[child], next, rays, stack)) {
        continue;
      }
      do {
        if (stack.size == 0) return;
        next = stack.child[--stack.size];
        rays = stack.rays[stack.size] & reaching<Lanes>(packet_, bound_of(next));
      } while (rays == 0);
    }
  }

  /// The nearest child of a node becomes `next`, the others wait, nearest last. False if no ray meets any.
  PC_LANES_TARGET bool enter(const Node& node, Waiting& next, std::uint64_t& next_rays, WaitingRays& stack) {
    const Sides sides(packet_, node);
    alignas(32) float bound[kWidth];
    const std::uint64_t rays = next_rays;
    bool any = false;
    const std::size_t first = stack.size;
    for (unsigned lanes = intervals<Lanes>(packet_, sides, bound); lanes != 0; lanes &= lanes - 1) {
      const unsigned lane = lowest_lane(lanes);
      fetch_early(tree_, node.child[lane]);
      std::uint64_t met = rays & meeting<Lanes>(packet_, sides, lane);
      if (met == 0) continue;
      Waiting below = waiting(bound[lane], node.child[lane]);
      if (any) {
        if (below < next) {
          std::swap(below, next);
          std::swap(met, next_rays);
        }
        std::size_t at = stack.size++;
        for (; at > first && stack.child[at - 1] < below; --at) {
          stack.child[at] = stack.child[at - 1];
          stack.rays[at] = stack.rays[at - 1];
        }
        stack.child[at] = below;
        stack.rays[at] = met;
      } else {
        next = below;
        next_rays = met;
        any = true;
      }
    }
    return any;
  }

  PC_LANES_TARGET void meet_triangle(std::uint32_t slot, std::uint64_t rays) {
    std::uint64_t better = meet<Lanes>(packet_, tree_.triangles[slot], rays);
    if (better == 0) return;
    if (kAny) {
      for (; better != 0; better &= better - 1) finish(static_cast<std::size_t>(std::countr_zero(better)));
    }
    packet_.limit_of = Lanes::most(packet_.limit);
  }

  /// A ray that needs no more.
  void finish(std::size_t i) {
    hits_[i] = packet_.hit(i);
    packet_.limit[i] = packet_.best_t[i] = -1;
  }

  const BvhView& tree_;
  Packet& packet_;
  RayHit* hits_;
};

/// Traces rays in packets where they run side by side, else alone.
template <class Lanes, bool kAny>
PC_LANES_TARGET void trace_in_packets(const BvhView& tree, const Ray* rays, std::size_t count, RayHit* hits) {
  constexpr std::size_t kRays = Lanes::kRays;
  if (count < kLeastPacket || tree.node_count == 0) {
    for (std::size_t i = 0; i < count; ++i) hits[i] = trace<Lanes, kAny>(tree, rays[i]);
    return;
  }
  const double reach = reach_of(tree);
  const double spread = reach >= kLeastTreeReach ? kPacketSpread * reach : -1;  // below 0 no ray fits
  RayColumns<kRays> columns;
  RayPacket<kRays> packet;
  for (std::size_t i = 0; i < count;) {
    const PacketKind kind(rays[i], tree.origin);
    const std::size_t left = count - i < kRays ? count - i : kRays;
    std::size_t size = 0;
    if (kind.z >= 0 && left >= kLeastPacket && kind.resembles(rays[i + 1]) &&
        kind.resembles(rays[i + kLeastPacket - 1])) {
      Lanes::read(rays + i, left, tree.origin, columns);
      size = static_cast<std::size_t>(std::countr_one(rays_of_kind<Lanes>(columns, kind, spread)));
      size = size < left ? size : left;
      if (size < left && size >= kLeastPacket) Lanes::read(rays + i, size, tree.origin, columns);
    }
    if (size < kLeastPacket) {
      hits[i] = trace<Lanes, kAny>(tree, rays[i]);
      ++i;
      continue;
    }
    set_rays<Lanes>(packet, columns, kind, size, reach);
    if constexpr (kAny)
      for (std::size_t k = i; k < i + size; ++k) hits[k] = {rays[k].t_max, 0, 0, kNone};
    const std::uint64_t all = size == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << size) - 1;
    PacketSearch<Lanes, kAny>(tree, packet, hits + i).run(all, size);
    i += size;
  }
}

}  // namespace pc::bvh
