#pragma once
#include <cstdint>
#include <vector>

#include "core/hit_points.h"
#include "core/op_context.h"
#include "core/span.h"
#include "ops/trees/stem_detection.h"
#include "ops/trees/trunk_layer.h"

namespace pc {

/// The tree of each stem: the label that most of the points have which are within 0.1 m of its surface and, along its axis,
/// within 0.3 m of breast height, or in the layer of low trees; of as many points the lowest one, 0 if none has a label.
///
/// points   (n) metres, as for detect_stems
/// heights  (n) above the ground, metres; those from 0.8 to 1.8 m take part, or those of the layer of low trees
/// labels   (n) 0 = no tree
/// stems    of detect_stems in the layer
/// Order    Does not depend on threads or the order of the points.
/// Cost     O(n) time and 40 bytes per point of the layer.
std::vector<std::uint32_t> trees_of_stems(HitPoints points, Span<const float> heights,
                                          Span<const std::uint32_t> labels,
                                          const std::vector<DetectedStem>& stems, const TrunkLayer& layer,
                                          OpContext& ctx);

}  // namespace pc
