#pragma once
#include "core/column.h"
#include "core/op_context.h"
#include "spatial/raster.h"

namespace pc {

struct TerrainLayers {
  Column<float> hillshade;  ///< (cells) 0..1, sun at azimuth 315, altitude 45 degrees
  Column<float> slope;      ///< (cells) degrees from horizontal
  Column<float>
      aspect;  ///< (cells) degrees, bearing of the downslope direction: 0 north, 90 east; NaN on level ground
};

/// Layers derived from the gradient of a raster: central differences, one-sided beside a void or the edge, 0 between
/// two.
///
/// z        (cells) metres; NaN = void, and NaN in every layer
/// Order    Does not depend on threads. Cost O(cells). Cancel within 50 ms.
/// Errors   kInvalidArgument: frame out of range, wrong number of cells.
/// Source   Burrough & McDonnell 1998, "Principles of geographical information systems", hillshade, slope, aspect;
///          contract terrain section 1.4 (aspect atan2(-dz/dx, -dz/dy)).
TerrainLayers terrain_layers(const RasterFrame& frame, Span<const double> z, OpContext& ctx);

}  // namespace pc
