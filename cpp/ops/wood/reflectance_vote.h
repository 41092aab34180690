#pragma once
#include <cstdint>

#include "core/op_context.h"
#include "core/span.h"

namespace pc {

struct ReflectanceVote {
  double weight;           ///< used; 0 = none
  std::uint64_t promoted;  ///< leaf that became wood
};

/// Makes wood of leaf that reflects strongly, never the other way round.
///
/// Weight   w = weight_max times 2 A - 1, A the probability that wood reflects more than leaf by the labels given (area
///          under the curve, ties half); none if A <= 1/2.
/// Vote     Values strictly above the quantile 0.99 - 0.11 w of all known ones make wood.
/// reflectance  (n) NaN = unknown, no vote
/// labels       (n) kWood or kLeaf
/// Order    The same for any thread count and order of the rows.
/// Cost     O(n log n) time, 8 bytes per point.
ReflectanceVote reflectance_vote(Span<const float> reflectance, double weight_max, Span<std::uint8_t> labels,
                                 OpContext& ctx);

}  // namespace pc
