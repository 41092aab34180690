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
  kIdw       ///< mean of the 12 nearest of these cells, weights 1 / squared distance
};

/// Which cells outside the convex hull of the cells with points get the value of the nearest of these.
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
  bool at_centers;  ///< apply slope correction (slope_correction.h)
};

struct TerrainRasterResult {
  Column<double> z;               ///< (cells) metres at the cell centres; NaN = void
  std::uint64_t populated_count;  ///< cells that hold a point
  std::uint64_t void_count;       ///< NaN cells of z
  bool on_a_line;  ///< cells with points lie on one line: no hull; all cells get values, by kTin
                   ///< those of the nearest cell
};

/// Peak memory of a run, in addition to the points and the result.
std::uint64_t terrain_raster_bytes(std::uint64_t point_count, std::uint64_t cells);

/// A surface on a grid. Cells with points get their percentile (cell_percentile.h); the other cells of the convex hull
/// of these are interpolated from them. With `at_centers`, values are corrected for the places of their points.
///
/// points     (n) metres, frame of params.frame
/// footprint  (cells) non-zero = the scan has a return there, or empty = nowhere
/// Order      Does not depend on threads or the order of the points. For points on one circle any Delaunay
///            triangulation is valid; the result is a function of the cells alone.
/// Cost       O(n + cells log cells) time: passes over the points and the cells; kTin triangulates the cells beside
///            gaps, kNearest and kIdw search for every cell without points.
/// Cancel     Within 250 ms.
/// Errors     kInvalidArgument: frame, percentile or footprint out of range.
/// Source     Contract terrain section 1.4; the deviation `at_centers`: docs/adr/0016; Delaunay 1934. Only cells with
///            an empty neighbour are triangulated: the Voronoi region of any other cell is its square, so none of its
///            triangles contains an empty cell.
TerrainRasterResult terrain_raster(HitPoints points, const TerrainRasterParams& params,
                                   Span<const std::uint8_t> footprint, OpContext& ctx);

}  // namespace pc
