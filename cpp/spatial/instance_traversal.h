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
  RayHit found{best.t, 0, 0, kNone};
  Waiting stack[kStack];
  float enter[kWidth];
  std::size_t size = 0;
  float limit = rounded_up(found.t);
  stack[size++] = waiting(0, 0);
  while (size > 0) {
    const Waiting next = stack[--size];
    if (bound_of(next) * kSlabNear > limit) continue;
    const auto child = static_cast<std::uint32_t>(next);
    if (child == kNone) continue;  // numbers beyond single precision met an empty lane
    if ((child & kTriangle) != 0) {
      const double entered = static_cast<double>(bound_of(next) * kSlabNear);
      sheared.meet(placed.place(tree.triangles[child & ~kTriangle]), entered > t_min ? entered : t_min,
                   found);
      if (kAny && found.triangle != kNone) break;
      limit = rounded_up(found.t);
      continue;
    }
    const Node& node = tree.nodes[child];
    const unsigned mask = Lanes::slabs(node, boxes, limit, enter);
    for (unsigned lanes = mask; lanes != 0; lanes &= lanes - 1)
      fetch_early(tree, node.child[lowest_lane(lanes)]);
    size = push_sorted(node, mask, enter, stack, size);
  }
  if (found.triangle != kNone && (found.t < best.t || instance < best.instance))
    best = {found.t, found.u, found.v, instance, found.triangle};
}

/// The closest hit of a ray, or with kAny any hit.
template <class Lanes, bool kAny>
PC_HD PC_LANES_TARGET InstanceHit trace_instances(const InstancedBvhView& view, const Ray& ray) {
  InstanceHit best{ray.t_max, 0, 0, kNone, kNone};
  if (view.count == 0) return best;
  const Vec3d o = ray.origin - view.origin();
  const ShearedRay sheared(o, ray.direction);
  const BoxRay boxes = box_ray(o, sheared.direction, ray.t_min);
  Waiting stack[kStack];
  float enter[kWidth];
  std::size_t size = 0;
  float limit = rounded_up(best.t);
  stack[size++] = waiting(0, 0);
  while (size > 0) {
    const Waiting next = stack[--size];
    if (bound_of(next) * kSlabNear > limit) continue;
    const auto child = static_cast<std::uint32_t>(next);
    if (child == kNone) continue;
    if ((child & kTriangle) != 0) {
      const double entered = static_cast<double>(bound_of(next) * kSlabNear);
      trace_instance<Lanes, kAny>(view, view.top.triangles[child & ~kTriangle].index, sheared,
                                  entered > ray.t_min ? entered : ray.t_min, best);
      if (kAny && best.instance != kNone) return best;
      limit = rounded_up(best.t);
      continue;
    }
    const Node& node = view.top.nodes[child];
    const unsigned mask = Lanes::slabs(node, boxes, limit, enter);
    size = push_sorted(node, mask, enter, stack, size);
  }
  return best;
}

/// Improves `best` by the triangles of one instance; p is relative to the view's origin.
template <class Lanes>
PC_HD PC_LANES_TARGET void closest_in_instance(const InstancedBvhView& view, std::uint32_t instance,
                                               const Vec3d& p, float world_limit, ClosestInstance& best) {
  /// A place within a distance of the prototype is, in place, within this times as far in a similar instance.
  constexpr float kSimilarSlack = 1 + 8e-6F;
  const instances::Placed& placed = view.placed[instance];
  const BvhView& tree = view.prototypes[placed.prototype];
  Vec3d local;
  const PointInterval interval = local_interval(placed, p, local);
  const auto limit_of = [&](double squared) { return distance_limit(squared / placed.least_squared); };
  Waiting stack[kStack];
  float squared[kWidth];
  std::size_t size = 0;
  float limit = limit_of(static_cast<double>(world_limit));
  stack[size++] = waiting(0, 0);
  while (size > 0) {
    const Waiting next = stack[--size];
    if (bound_of(next) > limit) continue;
    const auto child = static_cast<std::uint32_t>(next);
    if ((child & kTriangle) != 0) {
      const Triangle triangle = placed.place(tree.triangles[child & ~kTriangle]);
      const double found = closest_on_triangle(triangle.a, triangle.b, triangle.c, p).squared;
      const bool lower =
          instance < best.instance || (instance == best.instance && triangle.index < best.triangle);
      if (!(found < best.squared || (found == best.squared && lower))) continue;
      best = {found, instance, triangle.index};
      const float closer = limit_of(found);
      limit = closer < limit ? closer : limit;
      continue;
    }
    const Node& node = tree.nodes[child];
    float reached = limit;
    Lanes::distances(node, interval, reached, squared);
    if (placed.similar && reached * kSimilarSlack < limit) limit = reached * kSimilarSlack;
    unsigned mask = 0;
    for (std::size_t lane = 0; lane < kWidth; ++lane) mask |= (squared[lane] <= limit ? 1U : 0U) << lane;
    size = push_sorted(node, mask, squared, stack, size);
  }
}

/// The closest triangle to p, relative to the view's origin.
template <class Lanes>
PC_HD PC_LANES_TARGET ClosestInstance closest_instance(const InstancedBvhView& view, const Vec3d& p) {
  ClosestInstance best{HUGE_VAL, kNone, kNone};
  if (view.count == 0) return best;
  const PointInterval interval(p);
  Waiting stack[kStack];
  float squared[kWidth];
  std::size_t size = 0;
  float limit = distance_limit(best.squared);
  stack[size++] = waiting(0, 0);
  while (size > 0) {
    const Waiting next = stack[--size];
    if (bound_of(next) > limit) continue;
    const auto child = static_cast<std::uint32_t>(next);
    if ((child & kTriangle) != 0) {
      closest_in_instance<Lanes>(view, view.top.triangles[child & ~kTriangle].index, p, limit, best);
      const float closest = distance_limit(best.squared);
      limit = closest < limit ? closest : limit;
      continue;
    }
    const Node& node = view.top.nodes[child];
    const unsigned mask = Lanes::distances(node, interval, limit, squared);
    size = push_sorted(node, mask, squared, stack, size);
  }
  return best;
}

}  // namespace pc::bvh
