#pragma once
#include <cstdint>
#include <vector>

#include "core/column.h"
#include "core/op_context.h"
#include "core/span.h"
#include "spatial/raster.h"

namespace pc {

/// A cell that a crown grows from.
struct CrownMarker {
  std::uint32_t cell;
  std::uint32_t label;  ///< > 0; several markers may have one label
};

/// Height that a crown loses per metre of distance from its marker: contract classification section 4.2.
constexpr double kCompactness = 0.03;

/// Crowns: marker-controlled watershed of the inverted heights.
///
/// From the highest marker downwards, a cell beside a crown joins it; cells are taken in the order of
/// height - kCompactness * distance to the marker, equal ones in the order in which they were reached. Cells are
/// connected across their eight neighbours. Cells below `least` and voids get 0.
///
/// heights  (frame.cells()) metres; NaN = void
/// markers  in cells of the canopy (height >= least), each in another cell
/// Order    Does not depend on threads.
/// Cost     O(c log c) for c cells of canopy; 4 bytes per cell, and 24 per cell of the front. Cancel within 50 ms.
/// Errors   kInvalidArgument for a marker that is not in the canopy.
/// Source   Meyer 1991 with the compactness of Neubert & Protzel 2014, "Compact watershed and preemptive SLIC", as
///          scikit-image's segmentation.watershed.
Column<std::uint32_t> crown_watershed(const RasterFrame& frame, Span<const double> heights, double least,
                                      const std::vector<CrownMarker>& markers, OpContext& ctx);

}  // namespace pc
