#pragma once
#include <cstdint>

#include "core/column.h"
#include "core/hit_points.h"
#include "core/op_context.h"
#include "spatial/raster.h"

namespace pc {

enum class RasterMethod : std::uint8_t {
  kTin,      ///< linear in the Delaunay triangles of the cells that hold a point
  kNearest,  ///< value of the nearest cell that holds a point
  kIdw       ///< mean of the 12 nearest of them, weights 1 / squared distance
};

/// Which cells outside the convex hull of the cells that hold a point get the value of the nearest of these.
enum class RasterGaps : std::uint8_t {
  kLeave,      ///< none
  kFootprint,  ///< those of the footprint
  kFill        ///< all
};

struct TerrainRasterParams {
  RasterFrame frame;
  double percentile;  ///< 0 .. 100, of the z in a cell
  RasterMethod method;
  RasterGaps gaps;
  bool at_centers;  ///< values are taken from the points' places to the cell centres (slope_correction.h)
};

struct TerrainRasterResult {
  Column<double> z;               ///< (cells) metres at the cell centres; NaN = void
  std::uint64_t populated_count;  ///< cells that hold a point
  std::uint64_t void_count;       ///< NaN cells of z
  bool on_a_line;  ///< their centres lie on one line: no hull, no triangles; all cells got values, tin ones
                   ///< those of the nearest cell
};

/// Bytes of a run above the points' own and the result, at its peak.
std::uint64_t terrain_raster_bytes(std::uint64_t point_count, std::uint64_t cells);

/// A surface on a grid: each cell that holds points has their percentile (cell_percentile.h) at its centre, the others
/// are interpolated from these inside their convex hull; `at_centers` then corrects the cells for where their points
/// lie.
///
/// points     (n) metres, frame of params.frame
/// footprint  (cells) non-zero = the scan has a return there, or empty = nowhere
/// Order      Does not depend on threads or the order of the points. Of points on one circle any Delaunay triangles are
///            right; which come out depends on the cells alone.
/// Cost       Passes over the points and the cells; tin triangulates the cells beside gaps, nearest and idw search for
///            every cell without points.
/// Cancel     Within 250 ms.
/// Errors     kInvalidArgument: frame, percentile or footprint out of range.
/// Source     Contract terrain section 1.4, the deviation `at_centers`: docs/adr/0016; Delaunay 1934. Only cells with
///            an empty cell beside them are triangulated: the Voronoi region of the others is their square, so that no
///            triangle of theirs holds an empty cell.
TerrainRasterResult terrain_raster(HitPoints points, const TerrainRasterParams& params,
                                   Span<const std::uint8_t> footprint, OpContext& ctx);

}  // namespace pc
