#pragma once
#include <algorithm>
#include <atomic>
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

/// The same for threads that join at once. The sets are the same whatever the order of the joins.
///
/// Order    Thread-safe. Two members that root_of names alike are in one set; others may be joined at the same moment.
/// Source   Anderson & Woll 1991, "Wait-free parallel algorithms for the union-find problem": a root is linked by an exchange
///          that fails if it is no root any more, and always below a lower number.
class SharedUnionFind {
 public:
  explicit SharedUnionFind(std::size_t size) : parent_(size) {
    for (std::size_t i = 0; i < size; ++i) parent_[i] = static_cast<std::uint32_t>(i);
  }

  /// The lowest member of the set that contains `member`, unless it is being joined.
  std::uint32_t root_of(std::size_t member) {
    auto at = static_cast<std::uint32_t>(member);
    for (;;) {
      std::uint32_t above = parent_of(at).load(std::memory_order_relaxed);
      if (above == at) return at;
      const std::uint32_t next = parent_of(above).load(std::memory_order_relaxed);
      // Numbers only fall towards the root: a lost exchange leaves a path that is as right.
      parent_of(at).compare_exchange_weak(above, next, std::memory_order_relaxed);
      at = next;
    }
  }

  /// Joins the sets that contain `a` and `b`.
  void join(std::size_t a, std::size_t b) {
    for (;;) {
      const std::uint32_t first = root_of(a), second = root_of(b);
      if (first == second) return;
      std::uint32_t higher = std::max(first, second);
      const std::uint32_t lower = std::min(first, second);
      if (parent_of(higher).compare_exchange_strong(higher, lower, std::memory_order_relaxed)) return;
    }
  }

 private:
  std::atomic_ref<std::uint32_t> parent_of(std::size_t member) {
    return std::atomic_ref<std::uint32_t>(parent_[member]);
  }

  BulkVector<std::uint32_t> parent_;
};

}  // namespace pc
