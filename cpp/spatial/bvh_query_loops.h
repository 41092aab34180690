#pragma once
#include "spatial/bvh_queries.h"
#include "spatial/bvh_traversal.h"
#include "spatial/instance_traversal.h"
#include "spatial/point_searches.h"
#include "spatial/ray_packet_search.h"

/// The loops of BvhQueries for one kind of Lanes.
namespace pc::bvh {

template <class Lanes>
PC_LANES_TARGET void closest_loop(const BvhView& tree, const Vec3d* points, std::size_t count,
                                  const Vec3d& shift, std::uint32_t guess, ClosestTriangle* found) {
  PointSearches<Lanes>(tree, points, shift).run(count, guess, found);
}

/// The first hits, or with kAny any: in packets if the Lanes have some.
template <class Lanes, bool kAny>
PC_LANES_TARGET void trace_loop(const BvhView& tree, const Ray* rays, std::size_t count, RayHit* hits) {
  if constexpr (requires { Lanes::kRays; }) {
    trace_in_packets<Lanes, kAny>(tree, rays, count, hits);
  } else {
    for (std::size_t i = 0; i < count; ++i) hits[i] = trace<Lanes, kAny>(tree, rays[i]);
  }
}

template <class Lanes>
PC_LANES_TARGET void any_hit_loop(const BvhView& tree, const Ray* rays, std::size_t count,
                                  std::uint8_t* hits) {
  constexpr std::size_t kTogether = 64;
  RayHit found[kTogether];
  for (std::size_t i = 0; i < count; i += kTogether) {
    const std::size_t few = count - i < kTogether ? count - i : kTogether;
    trace_loop<Lanes, true>(tree, rays + i, few, found);
    for (std::size_t k = 0; k < few; ++k) hits[i + k] = found[k].triangle != kNone ? 1 : 0;
  }
}

template <class Lanes>
PC_LANES_TARGET void closest_instance_loop(const InstancedBvhView& scene, const Vec3d* points,
                                           std::size_t count, ClosestInstance* found) {
  for (std::size_t i = 0; i < count; ++i)
    found[i] = closest_instance<Lanes>(scene, points[i] - scene.origin());
}

template <class Lanes>
PC_LANES_TARGET void first_instance_hit_loop(const InstancedBvhView& scene, const Ray* rays,
                                             std::size_t count, InstanceHit* hits) {
  for (std::size_t i = 0; i < count; ++i) hits[i] = trace_instances<Lanes, false>(scene, rays[i]);
}

template <class Lanes>
PC_LANES_TARGET void any_instance_hit_loop(const InstancedBvhView& scene, const Ray* rays, std::size_t count,
                                           std::uint8_t* hits) {
  for (std::size_t i = 0; i < count; ++i)
    hits[i] = trace_instances<Lanes, true>(scene, rays[i]).instance != kNone ? 1 : 0;
}

template <class Lanes>
constexpr BvhQueries queries_of() {
  return {closest_loop<Lanes>,          trace_loop<Lanes, false>,       any_hit_loop<Lanes>,
          closest_instance_loop<Lanes>, first_instance_hit_loop<Lanes>, any_instance_hit_loop<Lanes>};
}

}  // namespace pc::bvh
