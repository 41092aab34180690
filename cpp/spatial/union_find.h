#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/memory.h"

namespace pc {

/// Disjoint sets of the numbers 0 .. size - 1. A set is named after its lowest member, so names do not depend on the
/// order of the joins.
///
/// size     at most 2^32
/// Order    Not thread-safe: root_of shortens paths.
/// Cost     4 bytes per number; O(log size) per call in the worst case, close to O(1) amortised.
/// Source   Path halving: Tarjan & van Leeuwen 1984, "Worst-case analysis of set union algorithms".
class UnionFind {
 public:
  explicit UnionFind(std::size_t size) : parent_(size) {
    for (std::size_t i = 0; i < size; ++i) parent_[i] = static_cast<std::uint32_t>(i);
  }

  std::size_t size() const { return parent_.size(); }

  /// The lowest member of the set that contains `member`.
  std::uint32_t root_of(std::size_t member) {
    auto at = static_cast<std::uint32_t>(member);
    while (parent_[at] != at) at = parent_[at] = parent_[parent_[at]];
    return at;
  }

  /// Joins the sets that contain `a` and `b`; false if they were the same set already.
  bool join(std::size_t a, std::size_t b) {
    const std::uint32_t first = root_of(a), second = root_of(b);
    parent_[std::max(first, second)] = std::min(first, second);
    return first != second;
  }

 private:
  BulkVector<std::uint32_t> parent_;
};

}  // namespace pc
