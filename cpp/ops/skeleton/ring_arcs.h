#pragma once
#include <cstdint>
#include <vector>

#include "core/op_context.h"
#include "core/span.h"
#include "ops/skeleton/geodesic_skeleton.h"
#include "spatial/union_find.h"

namespace pc {

/// Finds nodes of one bin that are arcs of one ring: the distance along the surface of a thick stem, or a gap in its points,
/// may cut its cross-section into pieces that are too far apart to be merged for being near.
///
/// nodes      by level, before they have parents
/// of_vertex  (m) node of each vertex, kNoSkeletonNode = none
/// vertices   (m) in the frame of the nodes
/// Method     Candidates are nodes of a bin nearer than 4 times the larger one's size (RMS distance of its vertices from
///            their centroid), at least a fifth of it in size, and at most 16 for a node. The vertices of a group of up to
///            six, else of pairs from the nearest on, are one ring if they lie in a plane, a circle through them misses half of them by less than an eighth of its radius, nine tenths of
///            them by less than 0.3 of it, and they cover two thirds of its circumference.
/// Returns    sets of nodes that are one
/// Order      A function of nodes and vertices.
/// Cost       O(m log m) time, 4 bytes a vertex.
UnionFind ring_arcs(const std::vector<SkeletonNode>& nodes, Span<const std::uint32_t> of_vertex,
                    Span<const Vec3d> vertices, OpContext& ctx);

}  // namespace pc
