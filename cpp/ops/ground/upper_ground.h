#pragma once
#include <cstddef>

#include "core/vec3.h"
#include "ops/ground/ground_cells.h"
#include "ops/ground/ground_constants.h"

namespace pc {

/// Finds ground above the lowest point of its cell. If a face or the edge of a terrace runs through a cell, its lowest
/// point is at the foot, and the surface through the lowest points passes below the rest. Called for points of ground
/// cells that are not near that surface. Such a point is ground in two cases:
///
///     face     two opposite ground cells within 2 cells have a slope of 45 degrees or more from one to the other, and
///              the point is not higher than the upper one
///     edge     the point lies on a plane through the ground on one side within 2 cells that is less steep than 45
///              degrees and that this ground itself follows
///
/// Both use the threshold of the class; the plane test adds 0.25 of the plane's rise within a cell. A point is never
/// ground if it is higher than the ground within 2 cells plus the threshold.
///
/// Order    Does not depend on threads. Cost O(cells) to build, 4 bytes per cell; one comparison rejects most plants.
/// Source   Faces as in ground_pieces.h, planes of one side as in ground_surface.h, for points instead of cells.
class UpperGround {
 public:
  UpperGround(const Lattice& lattice, const GroundCells& cells, double threshold_m,
              const GroundConstants& constants, OpContext& ctx);

  /// `height` is that of the point above the plane of the lattice, metres; `cell` is the cell that it lies in.
  bool holds(const Vec3d& point, double height, std::size_t cell) const;

 private:
  Lattice lattice_;
  const GroundCells& cells_;
  double threshold_m_;
  GroundConstants constants_;
  BulkVector<float> highest_;  ///< (cells) of the ground within 2 cells; -inf = none
};

}  // namespace pc
