#pragma once
#include <cstdint>
#include <vector>

#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

struct SegmentSimilarityParams {
  double rel_height_length_ratio;      ///< >= 0
  double vertical_weight;              ///< >= 0
  std::uint32_t neighbors;             ///< groups that each is compared with, itself among them
  double score_candidate_thresh;       ///< 0 .. 1
  double init_stem_rel_length_thresh;  ///< >= 0
};

/// Merges groups of segments that hang above their neighbours with the groups that they resemble most.
///
/// node     (n) local positions in Morton order
/// segment  (n) 0 .. count - 1, each used
/// group    (count) 0 .. of each segment, each number used
/// Hanging  A group whose lowest point is higher above the lowest one of its neighbours (in plan, by mean position) than
///          rel_height_length_ratio times its own vertical length. All others are trees.
/// Score    exp(-(1 - o)^2 - vertical_weight (1 - v)^2 - (min(d3, d2) / sigma)^2) of a hanging group and each of the
///          nearest trees: o the area that the convex hulls in plan share, by the smaller hull; v the height that both
///          have in common by the height that they cover; d3 the least distance of their segments' centroids, d2 the
///          distance in plan of the centroids' means; sigma the mean distance of a group to the nearest other one in plan.
///          Of the trees with more than score_candidate_thresh of the best score, the one of least d3 takes the group.
/// Rounds   First only hanging groups longer than init_stem_rel_length_thresh times the median length of their
///          neighbours, if there are any; then all; again with the merged groups until none was merged.
/// Returns  (count) tree of each segment, numbered by their lowest segment.
/// Order    A function of the input. Cancel within 250 ms.
/// Source   Xi & Hopkinson 2022, section 2.2.3. Deviations: areas are exact, not counted in cells of 0.1 m; means in place
///          of means without the outermost 0.1 %; rounds end when nothing merges, not when two of them would merge
///          equally many groups.
std::vector<std::uint32_t> merge_similar(Span<const Vec3d> node, Span<const std::uint32_t> segment,
                                         std::vector<std::uint32_t> group,
                                         const SegmentSimilarityParams& params, OpContext& ctx);

}  // namespace pc
