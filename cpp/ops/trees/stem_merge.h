#pragma once
#include <cstdint>
#include <vector>

#include "core/op_context.h"
#include "ops/trees/stem_detection.h"

namespace pc {

/// What merge_stems removed.
struct MergedStems {
  std::uint64_t count;
  std::uint64_t beside;  ///< of them, those that touch no stronger one
};

/// Sorts stems by their inliers, most first, and removes those that stand closer to a stronger one than
/// max(0.30 m, the sum of their radii). Part of detect_stems.
///
/// keep_beside  those that touch no stronger one stay, as culms of bamboo: from the ground to breast height their axes are farther
///              apart than both radii. Of a fork the axes meet.
/// Source       Contract classification section 6. Cost O(n log n).
MergedStems merge_stems(std::vector<DetectedStem>& stems, bool keep_beside, const OpContext& ctx);

}  // namespace pc
