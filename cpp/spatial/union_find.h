#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/memory.h"

namespace pc {

/// Disjoint sets of the numbers 0 .. size - 1. The lowest member names a set, so the names do not depend on the order
/// of the joins.
///
/// size     at most 2^32
/// Order    Sequential: root_of shortens paths, so two threads may not ask at once.
/// Cost     4 bytes a number; O(log size) a call at the worst, close to O(1) over many.
/// Source   Path halving: Tarjan & van Leeuwen 1984, "Worst-case analysis of set union algorithms".
class UnionFind {
 public:
  explicit UnionFind(std::size_t size) : parent_(size) {
    for (std::size_t i = 0; i < size; ++i) parent_[i] = static_cast<std::uint32_t>(i);
  }

  std::size_t size() const { return parent_.size(); }

  /// The lowest member of the set that holds `member`.
  std::uint32_t root_of(std::size_t member) {
    auto at = static_cast<std::uint32_t>(member);
    while (parent_[at] != at) at = parent_[at] = parent_[parent_[at]];
    return at;
  }

  /// Makes one set of the two that hold `a` and `b`; false when they were one already.
  bool join(std::size_t a, std::size_t b) {
    const std::uint32_t first = root_of(a), second = root_of(b);
    parent_[std::max(first, second)] = std::min(first, second);
    return first != second;
  }

 private:
  BulkVector<std::uint32_t> parent_;
};

}  // namespace pc
