#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/column.h"
#include "core/op_context.h"
#include "core/parallel.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// Calls visit(row, tree, worker) for every point of a tree, on all threads: rows with an id of 1 to 2^53 - 1 (rounded) and a finite
/// position that `skip` does not mark.
template <class Visit>
void for_each_tree_row(Span<const Vec3d> positions, Span<const std::uint8_t> skip, const AnyColumn& trees,
                       OpContext& ctx, const Visit& visit) {
  constexpr double kMostId = 9007199254740991;
  constexpr std::size_t kGrain = std::size_t{1} << 15;
  visit_scalar(trees, [&](auto ids) {
    parallel_for_worker(ctx, positions.size, kGrain, [&](std::size_t begin, std::size_t end, int worker) {
      for (std::size_t i = begin; i < end; ++i) {
        const double id = std::rint(static_cast<double>(ids[i]));
        if (!(id >= 1 && id <= kMostId) || (!skip.empty() && skip[i] != 0) || !is_finite(positions[i]))
          continue;
        visit(i, static_cast<std::uint64_t>(id), static_cast<std::size_t>(worker));
      }
    });
  });
}

}  // namespace pc
