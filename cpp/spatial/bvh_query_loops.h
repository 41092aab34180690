#pragma once
#include "spatial/bvh_queries.h"
#include "spatial/bvh_traversal.h"

/// The loops of BvhQueries for one kind of Lanes.
namespace pc::bvh {

template <class Lanes>
PC_LANES_TARGET void closest_loop(const BvhView& tree, const Vec3d* points, std::size_t count,
                                  const Vec3d& shift, std::uint32_t guess, ClosestTriangle* found) {
  for (std::size_t i = 0; i < count; ++i) {
    found[i] = closest_triangle<Lanes>(tree, points[i] + shift, guess);
    guess = found[i].slot;
  }
}

template <class Lanes>
PC_LANES_TARGET void first_hit_loop(const BvhView& tree, const Ray* rays, std::size_t count, RayHit* hits) {
  for (std::size_t i = 0; i < count; ++i) hits[i] = trace<Lanes, false>(tree, rays[i]);
}

template <class Lanes>
PC_LANES_TARGET void any_hit_loop(const BvhView& tree, const Ray* rays, std::size_t count,
                                  std::uint8_t* hits) {
  for (std::size_t i = 0; i < count; ++i)
    hits[i] = trace<Lanes, true>(tree, rays[i]).triangle != kNone ? 1 : 0;
}

template <class Lanes>
constexpr BvhQueries queries_of() {
  return {closest_loop<Lanes>, first_hit_loop<Lanes>, any_hit_loop<Lanes>};
}

}  // namespace pc::bvh
