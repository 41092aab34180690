#pragma once
#include <optional>

#include "core/op_context.h"
#include "core/vec3.h"
#include "ops/ground/cell_level.h"
#include "ops/ground/ground_constants.h"
#include "spatial/lattice.h"

namespace pc {

/// Marks the lowest points of cells that are no evidence of ground by themselves (`scattered`), in clouds that are dense
/// enough to tell.
///
/// Bare ground is a layer of returns. Among plants that hide it, a cell's lowest point is the end of a distribution:
/// returns lie at all heights above it. Such a point may still be ground, but nothing but the ground around it can tell.
/// A cell holds a layer if most of the returns in its lowest metre lie near its lowest point (layer_share, layer_m). A
/// cell with few returns (layer_fewest, at most half of the typical number) has no layer. Where a typical cell has fewer
/// than layer_returns of them, as in airborne clouds, nothing is marked.
///
/// xyz      the points that the level was made of; level.points are the lowest of each cell of `lattice`
/// Order    Does not depend on threads or the order of the points.
/// Cost     One pass over the points; 12 bytes per cell.
/// Cancel   Within 50 ms.
/// Source   Own.
/// Returns in the lowest metre of a typical cell, or 0 if they are too few to tell. `given` replaces the measured
/// number, of a cloud that the points are a part of.
double mark_scattered(Span<const Vec3d> xyz, const Lattice& lattice, const GroundConstants& constants,
                      CellLevel& level, OpContext& ctx, std::optional<double> given = {});

}  // namespace pc
