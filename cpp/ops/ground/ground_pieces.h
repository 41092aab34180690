#pragma once
#include <cstdint>

#include "ops/ground/cell_level.h"
#include "ops/ground/ground_constants.h"

namespace pc {

/// Marks whole pieces as ground that only a step separates from it. A piece is a set of cells that are not ground and
/// whose points follow one another within the tolerance. An object stands above its surroundings on all or most sides;
/// a terrace, the rim of a quarry or a mound has ground at its height or above it on some sides. A piece becomes
/// ground if its points lie more than the tolerance above the adjacent ground in at most 70 % of the pairs across its
/// edge.
///
/// Neighbours are the next cells with a point in eight directions, at most 3 cells away.
///
/// Returns how many cells became ground.
/// Order   Does not depend on threads. Cost O(cells that are not ground), 16 bytes per cell. Cancel within 50 ms.
std::uint64_t join_level_pieces(CellLevel& level, const GroundConstants& constants, OpContext& ctx);

/// Marks cells as ground that lie on the face of a step. Such a cell lies between ground on opposite sides, at most 2
/// cells away, with a slope of at least 45 degrees from one to the other, and at most a tolerance plus a quarter of the
/// difference above the line between them. On less steep ground a point that the surface rejected is a plant rather
/// than a face. Returns how many cells became ground.
/// Order   Does not depend on threads.
std::uint64_t join_faces(CellLevel& level, const GroundConstants& constants, OpContext& ctx);

}  // namespace pc
