#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/float_bits.h"
#include "core/host_device.h"
#include "core/vec3.h"
#include "spatial/bvh_boxes.h"
#include "spatial/bvh_view.h"
#include "spatial/ray_triangle.h"
#include "spatial/triangle_distance.h"

/// The searches of a Bvh: one body for the CPU and CUDA. `Lanes` tests the eight boxes of a node at once; all
/// implementations give the same bits. A source file that is compiled for wider instructions sets PC_LANES_TARGET and
/// uses Lanes of its own, so that it shares no function with the others.
#if !defined(PC_LANES_TARGET)
#define PC_LANES_TARGET
#endif

namespace pc::bvh {

/// Squared distances of boxes in single precision are at most this share above the true ones (six roundings).
constexpr double kSquaredSlack = 1e-6;
/// What makes a farthest distance in single precision an upper bound that box distances can be compared with.
constexpr float kReachSlack = 1 + 3e-6F;
/// Added to limits: numbers below it have fewer digits.
constexpr float kLeastNormal = 1.2e-38F;
/// The same for both ends of a ray's interval in a box (four roundings each).
constexpr float kSlabNear = 1 - 5e-7F, kSlabFar = 1 + 5e-7F;

/// An interval of single precision around a point.
struct PointInterval {
  float low[3], high[3];

  PC_HD explicit PointInterval(const Vec3d& p)
      : low{rounded_down(p.x), rounded_down(p.y), rounded_down(p.z)},
        high{rounded_up(p.x), rounded_up(p.y), rounded_up(p.z)} {}
};

/// A ray in single precision, for boxes.
struct BoxRay {
  PointInterval origin;
  float inverse[3];  ///< of the direction; infinite for 0
  float t_min;
};

/// Plain C++, for every processor and CUDA.
struct PlainLanes {
  /// Writes the squared distances of the point to the boxes; returns the mask of those <= limit, after lowering the limit
  /// to the farthest place of the box for which that is nearest: a triangle in there is closer.
  PC_HD static unsigned distances(const Node& node, const PointInterval& p, float& limit, float* squared) {
    float reach[kWidth];
    for (std::size_t lane = 0; lane < kWidth; ++lane) squared[lane] = reach[lane] = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      for (std::size_t lane = 0; lane < kWidth; ++lane) {
        const float below = node.min[axis][lane] - p.high[axis], above = p.low[axis] - node.max[axis][lane];
        const float out = below > above ? below : above;
        const float gap = out > 0 ? out : 0;
        squared[lane] += gap * gap;
        const float far = below < above ? below : above;  // the farther side, with a minus
        reach[lane] += far * far;
      }
    }
    for (std::size_t lane = 0; lane < kWidth; ++lane) {
      const float farthest = reach[lane] * kReachSlack + kLeastNormal;
      limit = farthest < limit ? farthest : limit;
    }
    unsigned mask = 0;
    for (std::size_t lane = 0; lane < kWidth; ++lane) mask |= (squared[lane] <= limit ? 1U : 0U) << lane;
    return mask;
  }

  /// Writes where the ray enters the boxes; returns the mask of the boxes that it meets up to `limit`.
  PC_HD static unsigned slabs(const Node& node, const BoxRay& ray, float limit, float* enter) {
    float leave[kWidth];
    for (std::size_t lane = 0; lane < kWidth; ++lane) {
      enter[lane] = ray.t_min;
      leave[lane] = limit;
    }
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const bool forward = ray.inverse[axis] >= 0;
      const float inverse = ray.inverse[axis];
      for (std::size_t lane = 0; lane < kWidth; ++lane) {
        const float low = (node.min[axis][lane] - ray.origin.high[axis]) * inverse,
                    high = (node.max[axis][lane] - ray.origin.low[axis]) * inverse;
        const float in = forward ? low : high, out = forward ? high : low;
        enter[lane] = in > enter[lane] ? in : enter[lane];  // 0 * inf is no number and decides nothing
        leave[lane] = out < leave[lane] ? out : leave[lane];
      }
    }
    unsigned mask = 0;
    for (std::size_t lane = 0; lane < kWidth; ++lane)
      mask |= (enter[lane] * kSlabNear <= leave[lane] * kSlabFar ? 1U : 0U) << lane;
    return mask;
  }
};

/// A child that waits in a search: the bits of its bound (>= 0) above its number, so that keys sort by bound.
using Waiting = std::uint64_t;

PC_HD inline Waiting waiting(float bound, std::uint32_t child) {
  return static_cast<std::uint64_t>(bits_of(bound)) << 32 | child;
}
PC_HD inline float bound_of(Waiting child) { return float_of(static_cast<std::uint32_t>(child >> 32)); }

PC_HD inline unsigned lowest_lane(unsigned mask) {
#if defined(__CUDA_ARCH__)
  return static_cast<unsigned>(__ffs(static_cast<int>(mask)) - 1);
#else
  return static_cast<unsigned>(std::countr_zero(mask));
#endif
}

/// Starts to load a child that is searched soon.
PC_HD inline void fetch_early(const BvhView& tree, std::uint32_t child) {
#if !defined(__CUDA_ARCH__) && (defined(__GNUC__) || defined(__clang__))
  constexpr std::size_t kLine = 64;
  const bool leaf = (child & kTriangle) != 0;
  const void* from = leaf ? static_cast<const void*>(tree.triangles + (child & ~kTriangle))
                          : static_cast<const void*>(tree.nodes + child);
  const char* line = static_cast<const char*>(from);
  __builtin_prefetch(line);
  __builtin_prefetch(line + kLine);
  if (leaf) return;
  __builtin_prefetch(line + 2 * kLine);
  __builtin_prefetch(line + 3 * kLine);
#else
  static_cast<void>(tree);
  static_cast<void>(child);
#endif
}

/// The children of the mask, nearest last.
PC_HD inline std::size_t push_sorted(const Node& node, unsigned mask, const float* bound, Waiting* stack,
                                     std::size_t size) {
  const std::size_t first = size;
  for (; mask != 0; mask &= mask - 1) {
    const unsigned lane = lowest_lane(mask);
    const Waiting child = waiting(bound[lane], node.child[lane]);
    std::size_t at = size++;
    for (; at > first && stack[at - 1] < child; --at) stack[at] = stack[at - 1];
    stack[at] = child;
  }
  return size;
}

/// Single precision, not below the squared distance with all slack that box distances need.
PC_HD inline float distance_limit(double squared) {
  constexpr double kLargest = 3e38;
  return squared >= kLargest ? 3.2e38F : rounded_up(squared * (1 + kSquaredSlack)) + kLeastNormal;
}

PC_HD inline void consider(const BvhView& tree, std::uint32_t slot, const Vec3d& p, ClosestTriangle& best) {
  const Triangle& triangle = tree.triangles[slot];
  const double squared = closest_on_triangle(triangle.a, triangle.b, triangle.c, p).squared;
  if (squared < best.squared || (squared == best.squared && triangle.index < best.triangle))
    best = {squared, triangle.index, slot};
}

/// Searches a tree, nearest boxes first. `Search` tests boxes and visits what they hold:
///   bool beyond(float bound) const             a box that begins there holds nothing of interest any more
///   unsigned boxes(const Node&, float* bound)  mask of the boxes of interest, and where each begins
///   bool visit(child, float bound)             a triangle, or kNone; true = the search is over
///   kFetchesEarly                              children are loaded before they are searched
/// Returns the search with what it found.
template <class Search>
PC_HD PC_LANES_TARGET Search searched(const BvhView& tree, Search search) {
  Waiting stack[kStack];
  float bound[kWidth];
  std::size_t size = 0;
  stack[size++] = waiting(0, 0);
  while (size > 0) {
    const Waiting next = stack[--size];
    if (search.beyond(bound_of(next))) continue;
    const auto child = static_cast<std::uint32_t>(next);
    if ((child & kTriangle) != 0) {
      if (search.visit(child, bound_of(next))) break;
      continue;
    }
    const Node& node = tree.nodes[child];
    const unsigned mask = search.boxes(node, bound);
    if constexpr (Search::kFetchesEarly)
      for (unsigned lanes = mask; lanes != 0; lanes &= lanes - 1)
        fetch_early(tree, node.child[lowest_lane(lanes)]);
    size = push_sorted(node, mask, bound, stack, size);
  }
  return search;
}

/// Boxes around a point.
template <class Lanes>
struct BoxesNear {
  static constexpr bool kFetchesEarly = false;
  const PointInterval& interval;
  float limit;  ///< of squared distances

  PC_HD PC_LANES_TARGET bool beyond(float bound) const { return bound > limit; }
  PC_HD PC_LANES_TARGET unsigned boxes(const Node& node, float* bound) {
    return Lanes::distances(node, interval, limit, bound);
  }
  PC_HD PC_LANES_TARGET void lower(float closer) { limit = closer < limit ? closer : limit; }
};

template <class Lanes>
struct TriangleNear : BoxesNear<Lanes> {
  const BvhView& tree;
  const Vec3d& p;
  ClosestTriangle best;

  PC_HD PC_LANES_TARGET TriangleNear(const BvhView& of, const Vec3d& at, const PointInterval& around,
                                     const ClosestTriangle& known)
      : BoxesNear<Lanes>{around, distance_limit(known.squared)}, tree(of), p(at), best(known) {}
  PC_HD PC_LANES_TARGET bool visit(std::uint32_t child, float) {
    consider(tree, child & ~kTriangle, p, best);
    this->lower(distance_limit(best.squared));
    return false;
  }
};

/// The closest triangle to p (relative to the tree's origin). `guess` is the slot of a triangle that may be close, or
/// kNone; it changes the time alone.
template <class Lanes>
PC_HD PC_LANES_TARGET ClosestTriangle closest_triangle(const BvhView& tree, const Vec3d& p,
                                                       std::uint32_t guess) {
  ClosestTriangle best{HUGE_VAL, kNone, kNone};
  if (tree.node_count == 0) return best;
  if (guess != kNone) consider(tree, guess, p, best);
  const PointInterval interval(p);
  return searched(tree, TriangleNear<Lanes>(tree, p, interval, best)).best;
}

/// The ray's box form; o is its origin relative to the tree's.
PC_HD inline BoxRay box_ray(const Vec3d& o, const Vec3d& direction, double t_min) {
  const auto inverse = [](double d) { return static_cast<float>(1 / d); };
  return {PointInterval(o),
          {inverse(direction.x), inverse(direction.y), inverse(direction.z)},
          rounded_down(t_min)};
}

/// Boxes that a ray meets.
template <class Lanes>
struct BoxesAlong {
  const BoxRay& ray;
  float limit;  ///< of t

  PC_HD PC_LANES_TARGET bool beyond(float bound) const { return bound * kSlabNear > limit; }
  PC_HD PC_LANES_TARGET unsigned boxes(const Node& node, float* bound) {
    return Lanes::slabs(node, ray, limit, bound);
  }
};

/// A triangle of the tree as it is.
struct Unmoved {
  PC_HD const Triangle& place(const Triangle& triangle) const { return triangle; }
};

/// Hits of the triangles of a tree that lie where `placed` puts them.
template <class Lanes, bool kAny, class Placed>
struct TriangleAlong : BoxesAlong<Lanes> {
  static constexpr bool kFetchesEarly = true;
  const BvhView& tree;
  const Placed& placed;
  const ShearedRay& sheared;
  double t_min;
  RayHit best;

  PC_HD PC_LANES_TARGET TriangleAlong(const BvhView& of, const Placed& moved, const ShearedRay& along,
                                      const BoxRay& boxed, double from, double to)
      : BoxesAlong<Lanes>{boxed, rounded_up(to)},
        tree(of),
        placed(moved),
        sheared(along),
        t_min(from),
        best{to, 0, 0, kNone} {}
  PC_HD PC_LANES_TARGET bool visit(std::uint32_t child, float bound) {
    if (child == kNone) return false;  // numbers beyond single precision met an empty lane
    const double entered = static_cast<double>(bound * kSlabNear);
    sheared.meet(placed.place(tree.triangles[child & ~kTriangle]), entered > t_min ? entered : t_min, best);
    this->limit = rounded_up(best.t);
    return kAny && best.triangle != kNone;
  }
};

/// The closest hit of a ray, or with kAny any hit.
template <class Lanes, bool kAny>
PC_HD PC_LANES_TARGET RayHit trace(const BvhView& tree, const Ray& ray) {
  if (tree.node_count == 0) return {ray.t_max, 0, 0, kNone};
  const Vec3d o = ray.origin - tree.origin;
  const ShearedRay sheared(o, ray.direction);
  const BoxRay boxes = box_ray(o, sheared.direction, ray.t_min);
  const Unmoved unmoved;
  return searched(tree,
                  TriangleAlong<Lanes, kAny, Unmoved>(tree, unmoved, sheared, boxes, ray.t_min, ray.t_max))
      .best;
}

}  // namespace pc::bvh
