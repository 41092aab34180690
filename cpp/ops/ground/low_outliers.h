#pragma once
#include <cstdint>

#include "core/memory.h"
#include "ops/ground/cloth_simulation_kernel.h"
#include "ops/ground/ground_constants.h"
#include "ops/ground/ground_extent.h"
#include "ops/ground/ground_frame.h"

namespace pc {

/// The floor of each cell, at or below which points are low outliers, and the trend of the ground.
struct LowOutliers {
  Lattice lattice;          ///< its plane is the trend of the ground: ground_trend.h
  BulkVector<float> floor;  ///< (lattice.cells()) points at or below it are low outliers; -inf = none
  std::uint64_t count;      ///< points at or below the floor of their cell
  double points_per_cell;   ///< mean over the cells that hold points
  double layer_m;           ///< thickness of the layer in which a height has company

  cloth_kernel::OutlierFloor view() const { return {lattice, count == 0 ? nullptr : floor.data()}; }
};

/// Finds the returns below the ground (multiple reflections, stray points), which would hold down a surface draped from
/// below.
///
/// The four lowest heights of every cell are examined; cells hold about 16 points. The lowest is an outlier if, among
/// the lowest heights of the 3 x 3 cells around it, fewer than 3 lie below it or at most a thin layer above it. Then
/// the next lowest is examined, until nothing changes. What may be noise, or ground that is hidden nearby, is taken back
/// (outlier_support.h). The layer is 0.15 cells thick and at least three times the typical spread of the four lowest
/// heights of a cell, within 0.03 to 0.5 m: what lies less than that below the ground is noise of the ground itself.
///
/// frame    of the cloud that the points are a part of, or null
/// Order    Does not depend on threads or the order of the points.
/// Cost     Six to nine passes over the points; 20 bytes per cell, at most 4 n + 1024 cells. 10M points: 0.4 CPU
///          seconds.
/// Cancel   Within 250 ms for any input; no partial result.
/// Source   Own. Zhang et al. 2016 section 3.1 require that outliers are removed before the cloth drops.
LowOutliers find_low_outliers(HitPoints points, const GroundExtent& extent,
                              const LowOutlierConstants& constants, OpContext& ctx,
                              const GroundFrame* frame = nullptr);

/// z of the lowest point that is no low outlier. Cost: one pass over the points.
double lowest_z(HitPoints points, const LowOutliers& outliers, OpContext& ctx);

}  // namespace pc
