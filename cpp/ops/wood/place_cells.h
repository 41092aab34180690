#pragma once
#include <cstdint>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// Places by the cells of a lattice through the origin.
struct PlaceCells {
  BulkVector<Vec3d> place;            ///< (c) means, by ascending x, y, z of the cells
  BulkVector<std::uint32_t> cell_of;  ///< (m)

  std::size_t size() const { return place.size(); }
};

/// Cells are enlarged where a place is 2^31 cells or more from the origin.
///
/// places   (m) finite, in an order that does not depend on that of the points: sums follow it
/// Cost     O(m log m) time, 16 bytes a place while it runs.
PlaceCells place_cells(Span<const Vec3d> places, double edge_m, OpContext& ctx);

}  // namespace pc
