#pragma once
#include <cstdint>
#include <vector>

#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

struct SegmentGroupParams {
  double reg_strength;      ///< >= 0
  std::uint32_t neighbors;  ///< of a node and of a segment
  double voxel_m;           ///< nodes of one segment are reduced to this distance
  double max_gap_m;         ///< segments at least this far apart are not joined
};

/// Groups segments that lie above each other: cut pursuit of the horizontal positions.
///
/// node     (n) local positions in Morton order
/// segment  (n) 0 .. count - 1, each used
/// Returns  (count) group of each segment, numbered by their lowest segment
/// Graph    Nodes, one per voxel and segment, are linked to their nearest neighbours where the other one's segment is among
///          those whose centroids are nearest and is nearer than max_gap_m. Edges weigh
///          10 reg_strength / ((gap + 0.01) / 0.01), gap in metres between the segments' nodes.
/// Source   Xi & Hopkinson 2022, section 2.2.2, with the weights of the authors' programs since 2023. Segments stay whole:
///          the cut is sought over segments, each as heavy as its nodes and with the sum of their edges, which is the
///          published energy for nodes that share their segment's value. (The programs cut the nodes and give a segment
///          to the group of most of them: the same trees on the reference clouds for 40 times the work.)
std::vector<std::uint32_t> group_segments(Span<const Vec3d> node, Span<const std::uint32_t> segment,
                                          std::uint32_t count, const SegmentGroupParams& params,
                                          OpContext& ctx);

}  // namespace pc
