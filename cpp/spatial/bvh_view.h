#pragma once
#include <cstddef>
#include <cstdint>

#include "core/host_device.h"
#include "core/vec3.h"

namespace pc {

namespace bvh {

constexpr std::size_t kWidth = 8;                            // children of a node
constexpr std::uint32_t kTriangle = std::uint32_t{1} << 31;  // flag of a child that is a triangle
constexpr std::uint32_t kNone = ~std::uint32_t{0};           // no child; no triangle
/// Levels that the build permits; a search holds at most kWidth - 1 children of each level.
constexpr int kMaxDepth = 72;
constexpr std::size_t kStack = kMaxDepth * (kWidth - 1) + kWidth;
/// Coordinates are at most this far from 0, metres: squared distances then fit in single precision.
constexpr double kMaxCoordinate = 1e15;

/// Boxes of up to eight children, relative to the tree's origin, rounded outwards. Unused lanes hold an empty box.
struct alignas(64) Node {
  float min[3][kWidth];
  float max[3][kWidth];
  std::uint32_t child[kWidth];  ///< a node, or kTriangle | slot of a triangle, or kNone
  std::uint32_t unused[kWidth];
};

/// Corners relative to the tree's origin.
struct Triangle {
  Vec3d a, b, c;
  std::uint32_t index;  ///< in the mesh
  std::uint32_t unused;
};

}  // namespace bvh

/// What a search needs of a Bvh, on host and device. Refers to the Bvh's memory.
struct BvhView {
  const bvh::Node* nodes;          ///< [0] is the root
  const bvh::Triangle* triangles;  ///< in the order of the tree
  std::size_t node_count;          ///< 0 = the mesh has no triangles
  Vec3d origin;
};

struct ClosestTriangle {
  double squared;          ///< squared distance, square metres; infinite without triangles
  std::uint32_t triangle;  ///< of the mesh; the lowest index if several are equally close; bvh::kNone = none
  std::uint32_t slot;      ///< of the triangle in BvhView::triangles
};

/// A ray from `origin` (metres, frame of the mesh) along `direction` (any length > 0), for t in [t_min, t_max], t_min >= 0,
/// in units of the direction's length. Components of the direction below 1e-30 of the largest count as 0.
struct Ray {
  Vec3d origin, direction;
  double t_min, t_max;
};

struct RayHit {
  double t;     ///< in units of the direction's length
  double u, v;  ///< weights of the triangle's second and third corner
  std::uint32_t
      triangle;  ///< of the mesh; the lowest index if several are hit at the same t; bvh::kNone = miss
};

}  // namespace pc
