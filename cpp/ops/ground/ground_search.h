#pragma once
#include "ops/ground/cell_level.h"
#include "ops/ground/ground_constants.h"

namespace pc {

/// Finds the ground among the lowest points of cells, from coarse cells to fine ones.
///
/// The lowest points of cells of 16 m or more start as ground. Each level halves the cell size: the ground found so far
/// defines the surface that the lowest points of the smaller cells are judged by (ground_surface.h), including points
/// that were ground before. On the finest level, pieces and faces that only steps separate from the ground are added
/// (ground_pieces.h).
///
/// level    cells with their points; ground marks on input are ignored
/// Order    Does not depend on threads. Cost O(cells); 12 bytes per cell. Cancel within 250 ms.
/// Source   Levels and growing thresholds: Chen et al. 2013 (ISPRS J. 82, 1-9), Hu et al. 2014 (ISPRS J. 92, 98-111),
///          with planes instead of thin plate splines and the roughness of the surrounding ground instead of bending
///          energy. Ground beyond a break: Axelsson 2000 mirrors points, here planes through the ground of one side.
///          Pieces by their edges: Sithole & Vosselman 2005 (profiles of segments).
void find_ground(CellLevel& level, const GroundConstants& constants, OpContext& ctx);

}  // namespace pc
