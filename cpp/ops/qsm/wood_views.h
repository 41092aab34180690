#pragma once
#include <cstdint>
#include <vector>

#include "core/op_context.h"
#include "ops/trees/stem_views.h"

namespace pc {

/// What was measured together of the points of a tree.
struct WoodViews {
  std::vector<std::uint32_t> view;  ///< (n) below count, or kNoView
  std::size_t count;
};

/// Finds the views of a tree: pieces of at most kLongestVisit of one scan (ViewSplit), the kMostSwayViews with the most points.
/// Points of another piece belong to the nearest view of their scan.
///
/// stamps   (n) of its points; those that are not known belong to no view
/// Cost     O(n log n). Cancel within 250 ms.
WoodViews wood_views(const std::vector<ViewStamp>& stamps, const OpContext& ctx);

}  // namespace pc
