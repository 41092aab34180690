#pragma once
#include <cstddef>
#include <cstdint>

#include "spatial/bvh_traversal.h"
#include "spatial/instance_view.h"

/// The searches of an InstancedBvh: one body for the CPU and CUDA. Boxes are tested in the frame of the prototype, with what
/// the way there rounds away added to the query; triangles are tested in place. A hit lies in the boxes of its triangle and
/// of its instance, so that it does not depend on the trees' shape.
namespace pc::bvh {

PC_HD inline double largest_of(const Vec3d& v) {
  const double x = v.x < 0 ? -v.x : v.x, y = v.y < 0 ? -v.y : v.y, z = v.z < 0 ? -v.z : v.z;
  return x > y ? (x > z ? x : z) : (y > z ? y : z);
}

/// A place `p` in the frame of the prototype: the interval that holds it, and where the segments from it to the instance
/// lie after rounding.
PC_HD inline PointInterval local_interval(const instances::Placed& placed, const Vec3d& p, Vec3d& local) {
  local = instances::Placed::times(placed.inverse, p - placed.shift);
  const double error = placed.error * (largest_of(p) + largest_of(placed.shift) + placed.size);
  PointInterval interval(local);
  const Vec3d low = local - Vec3d{error, error, error}, high = local + Vec3d{error, error, error};
  interval.low[0] = rounded_down(low.x);
  interval.low[1] = rounded_down(low.y);
  interval.low[2] = rounded_down(low.z);
  interval.high[0] = rounded_up(high.x);
  interval.high[1] = rounded_up(high.y);
  interval.high[2] = rounded_up(high.z);
  return interval;
}

/// Improves `best` by the hits of one instance at t_min or later; o is the origin in the frame of the view.
template <class Lanes, bool kAny>
PC_HD PC_LANES_TARGET void trace_instance(const InstancedBvhView& view, std::uint32_t instance,
                                          const ShearedRay& sheared, double t_min, InstanceHit& best) {
  const instances::Placed& placed = view.placed[instance];
  const BvhView& tree = view.prototypes[placed.prototype];
  Vec3d local;
  const PointInterval interval = local_interval(placed, sheared.origin, local);
  BoxRay boxes = box_ray(local, instances::Placed::times(placed.inverse, sheared.direction), t_min);
  boxes.origin = interval;
  using Search = TriangleAlong<Lanes, kAny, instances::Placed>;
  const RayHit found = searched(tree, Search(tree, placed, sheared, boxes, t_min, best.t)).best;
  if (found.triangle != kNone && (found.t < best.t || instance < best.instance))
    best = {found.t, found.u, found.v, instance, found.triangle};
}

template <class Lanes, bool kAny>
struct InstanceAlong : BoxesAlong<Lanes> {
  static constexpr bool kFetchesEarly = false;
  const InstancedBvhView& view;
  const ShearedRay& sheared;
  double t_min;
  InstanceHit best;

  PC_HD PC_LANES_TARGET InstanceAlong(const InstancedBvhView& of, const ShearedRay& along,
                                      const BoxRay& boxed, double from, double to)
      : BoxesAlong<Lanes>{boxed, rounded_up(to)},
        view(of),
        sheared(along),
        t_min(from),
        best{to, 0, 0, kNone, kNone} {}
  PC_HD PC_LANES_TARGET bool visit(std::uint32_t child, float bound) {
    if (child == kNone) return false;  // numbers beyond single precision met an empty lane
    const double entered = static_cast<double>(bound * kSlabNear);
    trace_instance<Lanes, kAny>(view, view.top.triangles[child & ~kTriangle].index, sheared,
                                entered > t_min ? entered : t_min, best);
    this->limit = rounded_up(best.t);
    return kAny && best.instance != kNone;
  }
};

/// The closest hit of a ray, or with kAny any hit.
template <class Lanes, bool kAny>
PC_HD PC_LANES_TARGET InstanceHit trace_instances(const InstancedBvhView& view, const Ray& ray) {
  if (view.count == 0) return {ray.t_max, 0, 0, kNone, kNone};
  const Vec3d o = ray.origin - view.origin();
  const ShearedRay sheared(o, ray.direction);
  const BoxRay boxes = box_ray(o, sheared.direction, ray.t_min);
  return searched(view.top, InstanceAlong<Lanes, kAny>(view, sheared, boxes, ray.t_min, ray.t_max)).best;
}

/// Triangles of one instance near p, which is relative to the view's origin. Limits and bounds are lengths of the prototype.
template <class Lanes>
struct PlacedTriangleNear : BoxesNear<Lanes> {
  const instances::Placed& placed;
  const BvhView& tree;
  const Vec3d& p;
  std::uint32_t instance;
  ClosestInstance best;

  PC_HD PC_LANES_TARGET PlacedTriangleNear(const instances::Placed& moved, const BvhView& of, const Vec3d& at,
                                           const PointInterval& around, std::uint32_t number,
                                           float world_limit, const ClosestInstance& known)
      : BoxesNear<Lanes>{around, limit_of(moved, static_cast<double>(world_limit))},
        placed(moved),
        tree(of),
        p(at),
        instance(number),
        best(known) {}
  PC_HD PC_LANES_TARGET static float limit_of(const instances::Placed& moved, double squared) {
    return distance_limit(squared / moved.least_squared);
  }
  PC_HD PC_LANES_TARGET unsigned boxes(const Node& node, float* bound) {
    /// A place within a distance of the prototype is, in place, within this times as far in a similar instance.
    constexpr float kSimilarSlack = 1 + 8e-6F;
    float reached = this->limit;
    Lanes::distances(node, this->interval, reached, bound);
    if (placed.similar) this->lower(reached * kSimilarSlack);
    unsigned mask = 0;
    for (std::size_t lane = 0; lane < kWidth; ++lane) mask |= (bound[lane] <= this->limit ? 1U : 0U) << lane;
    return mask;
  }
  PC_HD PC_LANES_TARGET bool visit(std::uint32_t child, float) {
    const Triangle triangle = placed.place(tree.triangles[child & ~kTriangle]);
    const double found = closest_on_triangle(triangle.a, triangle.b, triangle.c, p).squared;
    const bool lower_number =
        instance < best.instance || (instance == best.instance && triangle.index < best.triangle);
    if (!(found < best.squared || (found == best.squared && lower_number))) return false;
    best = {found, instance, triangle.index};
    this->lower(limit_of(placed, found));
    return false;
  }
};

template <class Lanes>
struct InstanceNear : BoxesNear<Lanes> {
  const InstancedBvhView& view;
  const Vec3d& p;
  ClosestInstance best;

  PC_HD PC_LANES_TARGET InstanceNear(const InstancedBvhView& of, const Vec3d& at, const PointInterval& around)
      : BoxesNear<Lanes>{around, distance_limit(HUGE_VAL)}, view(of), p(at), best{HUGE_VAL, kNone, kNone} {}
  PC_HD PC_LANES_TARGET bool visit(std::uint32_t child, float) {
    const std::uint32_t instance = view.top.triangles[child & ~kTriangle].index;
    const instances::Placed& placed = view.placed[instance];
    const BvhView& tree = view.prototypes[placed.prototype];
    Vec3d local;
    const PointInterval interval = local_interval(placed, p, local);
    best = searched(tree, PlacedTriangleNear<Lanes>(placed, tree, p, interval, instance, this->limit, best))
               .best;
    this->lower(distance_limit(best.squared));
    return false;
  }
};

/// The closest triangle to p, relative to the view's origin.
template <class Lanes>
PC_HD PC_LANES_TARGET ClosestInstance closest_instance(const InstancedBvhView& view, const Vec3d& p) {
  if (view.count == 0) return {HUGE_VAL, kNone, kNone};
  const PointInterval interval(p);
  return searched(view.top, InstanceNear<Lanes>(view, p, interval)).best;
}

}  // namespace pc::bvh
