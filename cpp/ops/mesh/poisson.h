#pragma once
#include <cstdint>

#include "core/hit_points.h"
#include "core/op_context.h"
#include "core/span.h"
#include "ops/mesh/mesh_lists.h"

namespace pc {

constexpr std::uint32_t kMaxPoissonDepth = 12;

struct PoissonParams {
  std::uint32_t
      depth;  ///< deepest level of the octree, 1 .. kMaxPoissonDepth; its cells are the cube / 2^depth wide
  double scale;  ///< side of the cube over the longest side of the points' box, 1 .. 10
  double
      samples_per_node;  ///< samples that a cell holds at the level at which normals are spread, 0.1 .. 100
  double point_weight;   ///< weight of the points against the normals, 0 .. 1000
  bool trim;             ///< drop vertices that no point supports
  std::uint64_t memory_bytes;  ///< what the octree and its solution may take
};

struct PoissonResult {
  MeshColumns mesh;  ///< normals of the triangles point to where the normals of the points point to
  std::uint64_t ignored_count;  ///< points that are not finite or have no normal
  std::uint64_t trimmed_count;  ///< vertices dropped because no point supports them
  std::uint64_t speck_count;    ///< vertices of components dropped as too small to be told from noise
  std::uint32_t depth;  ///< deepest level in use; cells are divided only where the points are dense enough
};

/// Screened Poisson reconstruction: the surface whose inside best matches the normals and runs through the points.
///
/// points   (n) metres, any one Cartesian frame
/// normals  (n) pointing outward; any length but 0. A point with a normal of length 0 or not finite is ignored.
/// Support  With `trim`, the surface ends about one spacing beyond its samples: a place farther from its nearest sample
///          than twice the distance to that sample's 10th neighbour has no support, and what lies in the empty ball around
///          it goes (poisson_border.h). So gaps between evenly spread points stay closed, and what the method adds beyond
///          the border of an open surface goes, with the shards that this cuts off. Then components whose box has a
///          diagonal of less than twice that distance, at the sample where it is largest, are dropped as specks.
/// Mesh     Without trim: no edge of more than two triangles, none with triangles of opposite winding, and boundary edges
///          only at the cube. Vertices in no triangle are left out.
/// Order    Bit-identical for any thread count.
/// Cost     O(n log n + n depth) time; poisson_octree.h: level_bytes, checked against memory_bytes before it is taken.
/// Cancel   Within 250 ms; no partial result.
/// Errors   kInvalidArgument: a parameter out of range, normals of another length, fewer than 4 places of points with
///          normals, an extent below 1e-150 or above 1e150. kOutOfMemory: memory_bytes is too small; names depth and bytes.
///          kUnsupported: 2^32 points, 330 million cells or 2^31 vertices of the surface, and more.
/// Source   Kazhdan & Hoppe 2013, "Screened Poisson surface reconstruction"; poisson_solver.h and poisson_surface.h. The
///          density of the samples comes from the distance to the 10th neighbour instead of a grid; cells are divided to the
///          level at which they hold samples_per_node, at creases once more, not always to `depth`.
PoissonResult poisson(HitPoints points, Span<const Vec3d> normals, const PoissonParams& params,
                      OpContext& ctx);

/// Bytes needed besides the inputs before the octree is known: sorting points and searching neighbours.
std::uint64_t poisson_bytes(std::uint64_t points);

}  // namespace pc
