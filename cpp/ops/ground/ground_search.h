#pragma once
#include "ops/ground/cell_level.h"

namespace pc {

/// Finds the ground among the lowest points of cells, from coarse cells to fine ones.
///
/// The lowest points of cells of 16 m or more start as ground. Level by level the size is halved: the ground so far
/// makes the surface that the lowest points of the smaller cells are judged by (ground_surface.h), those
/// that were ground before among them. On the finest level pieces and faces that steps part from the ground
/// join it (ground_pieces.h).
///
/// level    cells with their points; what is ground in it is forgotten
/// Order    Independent of threads. Cost O(cells); 12 bytes a cell. Cancel within 250 ms.
/// Source   Levels and growing thresholds: Chen et al. 2013 (ISPRS J. 82, 1-9), Hu et al. 2014 (ISPRS J. 92,
///          98-111), with planes in the place of thin plate splines and the roughness of the ground around in
///          the place of bending energy. Ground beyond a break: Axelsson 2000 mirrors points, here planes of
///          one side. Pieces by their edges: Sithole & Vosselman 2005 (profiles of segments).
void find_ground(CellLevel& level, OpContext& ctx);

}  // namespace pc
