#pragma once
#include <cstddef>
#include <cstdint>

#include "spatial/bvh_traversal.h"

namespace pc::bvh {

/// Searches for the closest triangles of several points, taken in turns: each makes one step, starts to load what its next
/// step needs, and waits while the others make theirs. Each point gets the triangle that closest_triangle finds, to the bit.
///
/// Source  Asynchronous memory access chaining: Kocberber, Falsafi & Grot, PVLDB 9(4), 2015.
template <class Lanes>
class PointSearches {
 public:
  PC_LANES_TARGET PointSearches(const BvhView& tree, const Vec3d* points, const Vec3d& shift)
      : tree_(tree), points_(points), shift_(shift) {}

  PC_LANES_TARGET void run(std::size_t count, std::uint32_t guess, ClosestTriangle* found) {
    if (tree_.node_count == 0) {
      for (std::size_t i = 0; i < count; ++i) found[i] = {HUGE_VAL, kNone, kNone};
      return;
    }
    std::size_t begun = 0, active = 0;
    while (active < kTogether && begun < count) start(searches_[active++], begun++, guess);
    while (active > 0) {
      for (std::size_t k = 0; k < active;) {
        Search& search = searches_[k];
        step(search);
        if (fetch_next(search)) {
          ++k;
          continue;
        }
        found[search.row] = search.best;
        if (begun < count) {
          start(search, begun++, search.best.slot);
          ++k;
        } else {
          search = searches_[--active];
        }
      }
    }
  }

 private:
  /// Enough to hide the time of a load (4 to 16 are equally fast).
  static constexpr std::size_t kTogether = 8;

  struct Search {
    Waiting stack[kStack];
    std::size_t size, row;
    Vec3d p{};
    PointInterval interval{p};
    float limit;  ///< of squared distances
    ClosestTriangle best;
  };

  PC_LANES_TARGET void start(Search& search, std::size_t row, std::uint32_t guess) {
    search.row = row;
    search.p = points_[row] + shift_;
    search.interval = PointInterval(search.p);
    search.best = {HUGE_VAL, kNone, kNone};
    if (guess != kNone) consider(tree_, guess, search.p, search.best);
    search.limit = distance_limit(search.best.squared);
    search.stack[0] = waiting(0, 0);
    search.size = 1;
  }

  /// Searches the nearest child that waits.
  PC_LANES_TARGET void step(Search& search) {
    const auto child = static_cast<std::uint32_t>(search.stack[--search.size]);
    if ((child & kTriangle) != 0) {
      consider(tree_, child & ~kTriangle, search.p, search.best);
      const float closer = distance_limit(search.best.squared);
      search.limit = closer < search.limit ? closer : search.limit;
      return;
    }
    float bound[kWidth];
    const Node& node = tree_.nodes[child];
    const unsigned mask = Lanes::distances(node, search.interval, search.limit, bound);
    search.size = push_sorted(node, mask, bound, search.stack, search.size);
  }

  /// Starts to load the next child to search; false if there is none.
  PC_LANES_TARGET bool fetch_next(Search& search) {
    while (search.size > 0 && bound_of(search.stack[search.size - 1]) > search.limit) --search.size;
    if (search.size == 0) return false;
    fetch_early(tree_, static_cast<std::uint32_t>(search.stack[search.size - 1]));
    return true;
  }

  const BvhView& tree_;
  const Vec3d* points_;
  const Vec3d shift_;
  Search searches_[kTogether];
};

}  // namespace pc::bvh
