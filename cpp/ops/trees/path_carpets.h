#pragma once
#include <cstdint>
#include <vector>

#include "core/op_context.h"

namespace pc {

/// A square of a grid on the plane.
struct BaseCell {
  std::int64_t y, x;
  friend bool operator<(const BaseCell& a, const BaseCell& b) { return a.y != b.y ? a.y < b.y : a.x < b.x; }
  friend bool operator==(const BaseCell& a, const BaseCell& b) = default;
};

/// Where plants without a stem stand on the ground.
struct BaseSets {
  std::vector<std::uint32_t> owner;     ///< by cell: a cell of the same plant, which owns itself
  std::vector<std::uint8_t> in_carpet;  ///< by cell: 1 = its cells touch further than a plant is wide
};

/// The plant of each cell. Cells that touch, corners too, are one plant; where they reach further than `widest` cells along
/// an axis they are a carpet of many: there each cell belongs to the highest one around it, over and over, so that a plant is
/// what rises towards one summit.
///
/// cells    ascending, each once
/// top      greatest height above each
/// reach    cells to each side in which a higher one is looked for
/// Order    Of equal heights the lower cell counts.
/// Cost     O(cells log cells)
BaseSets base_sets(const std::vector<BaseCell>& cells, const std::vector<float>& top, std::int64_t widest,
                   std::int64_t reach, OpContext& ctx);

}  // namespace pc
