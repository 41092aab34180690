#pragma once
#include <cstddef>
#include <cstdint>

#include "spatial/bvh.h"
#include "spatial/bvh_view.h"
#include "spatial/instance_view.h"

namespace pc {

/// Searches of many points or rays. There are implementations with equal results for plain C++, AVX2 and
/// AVX-512; the last two trace rays that run side by side in packets. Every result
/// depends on its own query alone; a query that resembles the one before it is faster.
struct BvhQueries {
  /// The closest triangle of each of `count` points `points[i] + shift`, relative to the tree's origin. `guess` is the slot
  /// of a triangle near the first point, or bvh::kNone; it changes the time alone.
  void (*closest)(const BvhView& tree, const Vec3d* points, std::size_t count, const Vec3d& shift,
                  std::uint32_t guess, ClosestTriangle* found);
  /// The first hit of each ray.
  void (*first_hits)(const BvhView& tree, const Ray* rays, std::size_t count, RayHit* hits);
  /// Whether each ray hits anything.
  void (*any_hits)(const BvhView& tree, const Ray* rays, std::size_t count, std::uint8_t* hits);
  /// The same among instances; points in the frame of the world.
  void (*closest_instances)(const InstancedBvhView& scene, const Vec3d* points, std::size_t count,
                            ClosestInstance* found);
  void (*first_instance_hits)(const InstancedBvhView& scene, const Ray* rays, std::size_t count,
                              InstanceHit* hits);
  void (*any_instance_hits)(const InstancedBvhView& scene, const Ray* rays, std::size_t count,
                            std::uint8_t* hits);
};

const BvhQueries& portable_bvh_queries();
/// nullptr if the processor has no AVX2.
const BvhQueries* avx2_bvh_queries();
/// nullptr if the processor has no AVX-512 (F, DQ, BW and VL).
const BvhQueries* avx512_bvh_queries();
const BvhQueries& fastest_bvh_queries();

}  // namespace pc
