#pragma once
#include <cstdint>
#include <vector>

#include "core/hit_points.h"
#include "core/memory.h"
#include "core/op_context.h"
#include "core/vec3.h"
#include "ops/skeleton/point_graph.h"

namespace pc {

/// Node of a point that the search did not reach or whose block was too small, and parent of the root.
constexpr std::uint32_t kNoSkeletonNode = 0xffffffff;

struct SkeletonNode {
  Vec3d position;        ///< centroid of its points, after smoothing; frame of the points
  std::uint32_t parent;  ///< node nearer to the root, listed earlier; kNoSkeletonNode for node 0, the root
  std::uint32_t level;   ///< bin of the distance along the tree
  std::uint64_t count;   ///< points
};

struct GeodesicSkeleton {
  std::vector<SkeletonNode> nodes;          ///< a parent before its children; node 0 is the root; one tree
  BulkVector<std::uint32_t> node_of_point;  ///< (n) input order
  BulkVector<float> distance_m;             ///< (n) along the graph from the base, metres; NaN = not reached
  double spacing_m;  ///< median distance to the nearest point at another place; NaN if there is none
  std::uint64_t finite_count;
  std::uint64_t reached_count;  ///< points connected with the base, over gaps too
  std::uint64_t bridge_count;   ///< gaps that were bridged
};

/// Pieces of one cross-section of a thick stem that are farther apart than 8 d.
enum class RingArcs : std::uint8_t {
  kApart,   ///< a node each (contract skeleton-qsm section 4.1)
  kJoined,  ///< one node (ring_arcs.h)
};

/// What is done beyond contract skeleton-qsm section 4.1, for clouds whose points lie at random or unevenly.
struct SkeletonExtras {
  RingArcs arcs;
  bool joins_sparse_surfaces;  ///< sparse_surfaces.h
};

/// Peak memory of geodesic_skeleton in addition to its arguments, result included.
std::uint64_t geodesic_skeleton_bytes(std::uint64_t point_count);

/// Skeleton of one plant by level sets of the distance along its points (contract skeleton-qsm section 4.1).
///
/// points   (n) hits, metres, z up. Rows that are not finite are left out. Empty or one place: no nodes. Without extras.
/// Method   d = median spacing. Points nearer than 4 d are joined; parts that are up to 15 d apart are joined to the
///          largest part by the shortest links. Distances run from the points within 0.05 m of the lowest one of that
///          part. Connected points of a bin of 6 d, at least 3, are a node; nodes of a bin nearer than 8 d are one. The
///          parent is the nearest adjacent node of a lower bin, else the nearest one within 3 bins, else the first on the
///          shortest path to the base (the contract's root in its place would be joined through the air). Ends of one node are dropped, the rest is smoothed.
///          Points closer than d share a vertex of the graph, which stands for all of them.
/// Order    The same for any thread count and order of the points.
/// Cost     O(n log n) time and geodesic_skeleton_bytes; 10 M points: about 30 CPU seconds. Cancel within 250 ms.
/// Errors   kInvalidArgument beyond 2^32 - 2 points.
/// Source   Verroust & Lazarus 2000, "Extracting skeletal curves from 3D scattered data"; Dijkstra 1959.
GeodesicSkeleton geodesic_skeleton(HitPoints points, OpContext& ctx);
/// The same for a graph of `rows` points that the caller goes on using.
GeodesicSkeleton geodesic_skeleton(const PointGraph& graph, std::size_t rows, const SkeletonExtras& extras,
                                   OpContext& ctx);

}  // namespace pc
