#pragma once
#include <algorithm>
#include <cstdint>

#include "core/op_context.h"
#include "ops/lad/scanner_view.h"

namespace pc {

/// Of a scan with more beams, patches of directions with about so many are looked through.
constexpr std::uint64_t kMostLookedThrough = 4'000'000;

struct LostHits {
  std::uint64_t looked_at = 0;  ///< beams
  std::uint64_t between = 0;    ///< of these, those amid hits of one surface
  std::uint64_t lost = 0;       ///< of those, misses
};

/// Whether hits were taken out of a scan whose misses are known, as by thinning or by a filter: then misses lie amid hits of
/// one surface, which a whole scan has hardly anywhere.
///
/// Of at most about 50,000 beams, taken by their direction, the 20 next hits are looked at: a beam lies amid hits of a surface
/// if two of these are on opposite sides (beyond 154 degrees), and all in one plane: the least squares of 1 / range, which is
/// linear across the direction there, leave 0.2 % of it.
///
/// scan     static; is_leaf is not used, deleted hits are hits
/// Order    The same for any number of threads.
/// Cost     That of a KdTree of the beams, 20 ms, and one pass. Cancel within 50 ms.
/// Errors   kInvalidArgument: an origin or shift that is not finite, columns of different lengths.
/// Source   Own.
LostHits lost_hits(const ViewedScan& scan, OpContext& ctx);

/// Memory that lost_hits and lost_hits_moving need besides its input, bytes.
constexpr std::uint64_t lost_hits_bytes(std::uint64_t rows) {
  return rows + (32 + 24 + 4 + 40) * std::min(rows, kMostLookedThrough) + (16U << 20);
}

}  // namespace pc
