#pragma once
#include <cstdint>
#include <optional>

#include "core/column.h"
#include "core/op_context.h"

namespace pc {

struct VoidCellsResult {
  Column<double> heights;          ///< (n) metres, void = NaN
  std::uint64_t height_count = 0;  ///< cells with a height
};

/// A raster whose voids are NaN.
///
/// values   (n) metres; NaN is a void, and so is a value equal to `nodata`.
/// Order    That of `values`; the result does not depend on threads.
/// Cost     O(n) time, 8 n bytes. Cancel within 250 ms. No errors.
VoidCellsResult void_cells(Span<const double> values, std::optional<double> nodata, OpContext& ctx);

}  // namespace pc
