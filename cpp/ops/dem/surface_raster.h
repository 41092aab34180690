#pragma once
#include "ops/dem/terrain_raster.h"

namespace pc {

/// The percentile that represents the top of a cell, the highest of up to 20 points: contract terrain section 1.1.
constexpr double kSurfacePercentile = 95;

/// Raster of the top of the scanned objects: terrain_raster of the 95th percentile, void outside the hull of the cells
/// that hold a point. Same contract.
TerrainRasterResult surface_raster(HitPoints points, const RasterFrame& frame, RasterMethod method,
                                   OpContext& ctx);

struct CanopyHeightResult {
  Column<double> height;     ///< (cells) metres, >= 0; NaN if either surface is void
  Column<double> draped_z;   ///< (cells) terrain + height
  std::uint64_t void_count;  ///< NaN cells
};

/// Canopy height model: height of a surface above the terrain, with pits filled (pit_fill.h).
///
/// terrain, surface  (cells) metres, on the same frame; NaN = void
/// Order    Does not depend on threads. Cost O(cells). Cancel within 50 ms.
/// Errors   kInvalidArgument: sizes that differ from that of the frame.
/// Source   Contract terrain section 1.4, CHM.
CanopyHeightResult canopy_height(const RasterFrame& frame, Span<const double> terrain,
                                 Span<const double> surface, OpContext& ctx);

}  // namespace pc
