#pragma once
#include <cstdint>
#include <vector>

#include "core/op_context.h"
#include "core/span.h"
#include "ops/trees/cut_pursuit_split.h"

namespace pc {

/// The cut edges between two segments, first < second.
struct SegmentBorder {
  std::uint32_t first, second;
  double weight;
};

/// Joins neighbouring segments while that lowers the energy: pairs of the largest gain first, among equals those of the
/// lowest numbers. The gain of a pair is its border less the rise n_a n_b / (n_a + n_b) |m_a - m_b|^2.
///
/// sums     (segments) of each segment
/// borders  each pair once
/// Returns  (segments) the lowest segment that each was joined with; itself if with none.
/// Cost     O(b log b) for b borders, plus the neighbours of both segments per join, in memory too: the square of its
///          neighbours where one segment takes in all of them, 14 s for 4000.
/// Source   Landrieu & Obozinski 2017, section 3.3 ("merging step").
std::vector<std::uint32_t> join_segments(std::vector<ValueSum> sums,
                                         const std::vector<SegmentBorder>& borders, OpContext& ctx);

}  // namespace pc
