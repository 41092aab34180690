#pragma once
#include <cstddef>

#include "core/vec3.h"
#include "ops/ground/ground_cells.h"

namespace pc {

/// Ground above the lowest point of its cell. Where a face or the edge of a terrace runs through a cell, its lowest point
/// is the foot, and the surface through the lowest points passes below the rest. Asked for points of ground
/// cells that are not near that surface.
///
///     face     two opposite ground cells within 2 cells, 45 degrees or more from one to the other, and the point no
///              higher than the upper one
///     edge     a plane through the ground on one side within 2 cells, less steep than 45 degrees, that this ground
///              itself follows
///
/// Both with the threshold of the class; on the plane 0.25 of its rise within a cell on top. Never higher than the ground
/// within 2 cells and the threshold.
///
/// Order    Independent of threads. Cost O(cells) to make, 4 bytes a cell; most plants are told by one comparison.
/// Source   Faces as of ground_pieces.h, planes of one side as of ground_surface.h, of points in the place of cells.
class UpperGround {
 public:
  UpperGround(const Lattice& lattice, const GroundCells& cells, double threshold_m, OpContext& ctx);

  /// `height` of the point above the plane of the lattice, metres; `cell` is where it lies.
  bool holds(const Vec3d& point, double height, std::size_t cell) const;

 private:
  Lattice lattice_;
  const GroundCells& cells_;
  double threshold_m_;
  BulkVector<float> highest_;  ///< (cells) of the ground within 2 cells; -inf = none
};

}  // namespace pc
