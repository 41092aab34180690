#pragma once
#include <cstdint>

#include "ops/ground/cell_level.h"
#include "ops/ground/ground_surface.h"

namespace pc {

/// Makes whole pieces ground that only a step parts from it. A piece is a set of cells that are no ground and whose
/// points follow one another within the tolerance. An object stands above what is around it, on all or most
/// sides; a terrace, the rim of a quarry or a mound has ground at its height, or above it, on some. A piece
/// becomes ground when its points lie more than the tolerance above the ground beyond in at most 70 % of the
/// pairs across its edge.
///
/// Neighbours are the next cells with a point in eight directions, at most 3 cells away.
///
/// Returns how many cells became ground.
/// Order   Independent of threads. Cost O(cells that are no ground), 16 bytes a cell. Cancel within 50 ms.
std::uint64_t join_level_pieces(CellLevel& level, const Tolerance& tolerance, OpContext& ctx);

/// Makes cells ground that lie on the face of a step: between ground on opposite sides, at most 2 cells away, that is
/// 45 degrees or steeper from one to the other, and at most a tolerance and a quarter of the difference above the
/// line between them. On flatter ground a point that the surface refused is a plant rather than a face.
/// Returns how many cells became ground. Order   Independent of threads.
std::uint64_t join_faces(CellLevel& level, const Tolerance& tolerance, OpContext& ctx);

}  // namespace pc
