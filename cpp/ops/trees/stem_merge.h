#pragma once
#include <cstdint>
#include <vector>

#include "core/op_context.h"
#include "ops/trees/stem_detection.h"

namespace pc {

/// Sorts stems by their inliers, most first, and removes those that stand closer to a stronger one than
/// max(0.30 m, the sum of their radii). Part of detect_stems. Returns how many it removed.
///
/// Source   Contract classification section 6. Cost O(n log n).
std::uint64_t merge_stems(std::vector<DetectedStem>& stems, const OpContext& ctx);

}  // namespace pc
