#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "core/op_context.h"
#include "core/span.h"

namespace pc {

/// Where the longest edges of triangles fall into two classes: those on one surface, and those from one surface to another.
struct EdgeSplit {
  std::optional<double> lmax_m;  ///< suggested longest edge, metres; empty below 16 positive edges
  double separability;           ///< 0..1: variance between the classes / variance of all, of log edges; 0 if empty
  std::optional<double> median_ratio;  ///< median of the upper class / median of the lower one; empty if one has no edge
  /// Some part with 64 edges or more has a median / 5th percentile above 10: scans from several positions in one?
  bool mixed;
};

/// Splits the longest edges of candidate triangles by Otsu's threshold.
///
/// edges    (T) metres, >= 0; edges that are 0 or not finite are ignored
/// firsts   first edge of each part (scan), ascending from 0; its last entry is T
/// Order    A function of the edges alone, for any thread count.
/// Cost     Six streaming passes; T / 2 bytes of scratch per percentile. Cancel within 50 ms.
/// Source   Otsu 1979, IEEE Transactions SMC 9, 62-66, eq. 14 on 256 bins of log length. Edges below 1 % of the median are
///          left out unless fewer than 16 remain: near-coincident returns would be the strongest mode. The limit is no
///          less than the shortest edge, so that some triangle remains.
EdgeSplit split_edges(Span<const double> edges, const std::vector<std::size_t>& firsts, OpContext& ctx);

}  // namespace pc
