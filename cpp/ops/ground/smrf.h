#pragma once
#include <cstdint>

#include "core/column.h"
#include "core/hit_points.h"
#include "core/op_context.h"
#include "ops/ground/ground_class.h"
#include "ops/ground/ground_frame.h"
#include "ops/ground/surface_grid.h"

namespace pc {

/// Most cells of a surface grid, as for a cloth.
constexpr std::uint64_t kMaxSurfaceCells = 25'000'000;

struct SmrfParams {
  double cell_size;            ///< metres, > 0
  double slope;                ///< steepest ground, metres per metre, >= 0
  double window_radius;        ///< metres, >= cell_size: objects up to twice as wide are removed
  double elevation_threshold;  ///< metres, > 0: a point nearer than this to the provisional surface is ground
  double elevation_scale;      ///< metres per slope added to the threshold, >= 0
  double net_spacing;          ///< metres between the lines of a net that cuts large objects; 0 = no net
};

struct SmrfResult {
  Column<std::uint8_t> ground_class;  ///< (n) GroundClass per point, input order
  std::uint64_t ground_count;
  std::uint64_t plant_count;
  std::uint64_t low_outlier_count;
  std::uint64_t cell_count;
  std::uint64_t object_cell_count;
};

/// Simple morphological filter: the lowest surface is opened with growing disks. Cells that an opening lowers by more
/// than the slope explains are marked as objects, the surface is interpolated over them, and points near it are ground.
///
/// points   (n) metres, any one Cartesian frame with z up. Rows that are not finite are plants and otherwise ignored.
/// frame    of the cloud that the points are a part of (ground_frame.h), or null
/// Order    Labels follow the input; the result does not depend on threads or the order of the points
///          (bit-identical).
/// Cost     O(n + cells (window_radius / cell_size)^2): an opening by a disk of r cells takes O(cells r) time, and there is
///          one for each r; 30 bytes per cell.
/// Cancel   Within 250 ms for all allowed parameters; no partial result.
/// Errors   kInvalidArgument: parameters out of range, fewer than 10 finite points, more than kMaxSurfaceCells
///          cells, a window of more than 200 cells.
/// Source   Pingel, Clarke & McBride 2013, ISPRS J. 77, 21-30. Deviations: heights are relative to the plane that the
///          ground follows as a whole (ground_trend.h); strays are found by the number of returns near them
///          (low_outliers.h) in addition to the inverted pass of section 2.1.
SmrfResult smrf(HitPoints points, const SmrfParams& params, OpContext& ctx,
                const GroundFrame* frame = nullptr);

/// The surface that smrf() measures points against, for filters that build on it.
struct ProvisionalSurface {
  SurfaceGrid ground;              ///< interpolated over objects and empty cells
  BulkVector<std::uint8_t> known;  ///< (cells) 1 = the cell's lowest point is part of the surface
  std::uint64_t object_cell_count;
};
ProvisionalSurface provisional_surface(SurfaceGrid lowest, const SmrfParams& params, OpContext& ctx);

}  // namespace pc
