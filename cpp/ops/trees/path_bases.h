#pragma once
#include <cstdint>
#include <vector>

#include "core/op_context.h"
#include "ops/trees/path_constants.h"
#include "ops/trees/path_nodes.h"
#include "ops/trees/path_search.h"

namespace pc {

/// Starts of plants without a stem: every node up to `top_m` is one of its own, named from `first_root` on in the order of
/// nodes, at the cost of a step of base_start_cost_m.
std::vector<PathStart> low_starts(const PathNodes& nodes, double top_m, std::uint32_t first_root,
                                  const PathConstants& constants, OpContext& ctx);

/// The plants without a stem: starts whose paths rise to half of least_height_m belong together if they stand within about
/// base_gap_m of each other (in cells of half its length: base_sets, with widest_base_m); a plant is what rises to
/// least_height_m, in a carpet to carpet_height_m. Lower starts in the cells of a plant are its, too.
///
/// Plants are numbered in the order of their lowest start.
struct Plants {
  std::vector<std::uint32_t> of_start;  ///< by place in `starts`; kNoRoot = none
  std::vector<std::uint8_t> in_carpet;  ///< by place in `starts`: 1 = of a carpet, too low for a plant
  std::uint32_t count;
  double carpet_m2;  ///< area of the cells of the latter
};
Plants plants_of(const PathNodes& nodes, const std::vector<PathStart>& starts, std::uint32_t first_root,
                 const Paths& paths, const PathConstants& constants, OpContext& ctx);

}  // namespace pc
