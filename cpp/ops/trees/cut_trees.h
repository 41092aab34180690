#pragma once
#include <cstdint>
#include <vector>

#include "core/column.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// A tree that ends where the cloud was cut.
struct CutTree {
  std::uint64_t id;
  double width_m;  ///< length of the cut along which it ends, seen from above
  bool top;        ///< it ends at a level cut above
};

/// The trees that the border of a cloud cuts, as when a plot is cut out of a forest: what lies beyond is missing from them.
/// A crown thins out towards its ends, a cut one does not.
///
/// positions  (n) metres, z up; rows with a coordinate that is not finite, and rows that `skip` marks (non-zero), count nowhere
/// trees      (n) scalar; rounded; ids are above 0 and below 2^53; nullptr = all points are tree 1
/// Border     The hull of all points seen from above, in straight pieces or as one circle, and the level plane through the
///            highest point of a tree. Holes and corners that point inwards are not seen.
/// Cut        Points lie in layers along the border, each two point spacings deep, the first at the border, and in cells of four
///            layers along it and upwards. A part of the border is cut where the first layer has points in 16 cells in
///            4 columns, and in .6 (of a circle .8) to 3 times as many as the mean of the next three (more are a wall), and where these cells lie in
///            no line, as those of a branch do. Columns whose first layer has twice the points of the next three in the mean, and
///            their neighbours, hold a stem that touches the border and do not count. A tree is cut where its own points have half
///            as many cells there. Of a level cut, all cells are the tree's own.
/// Result     Ascending ids. Nothing of points on a line, of fewer than 64 near the border, or so far apart that the layers
///            reach over a quarter of the cloud.
/// Order      The same for any thread count and order of the rows.
/// Cost       Some passes over the rows; at most 2 million points near the border are kept, 130 bytes each; where more lie at
///            the border itself, nothing is known.
/// Cancel     Within 250 ms.
/// Errors     kInvalidArgument for lengths that differ.
/// Source     ours. On 62 reference trees alone none is cut that is whole; of those that lost a tenth of their points 97 % are
///            seen (docs/accuracy.md).
std::vector<CutTree> cut_trees(Span<const Vec3d> positions, Span<const std::uint8_t> skip,
                               const AnyColumn* trees, OpContext& ctx);

/// Memory of it beside its columns, bytes.
double cut_trees_bytes(std::uint64_t rows);

}  // namespace pc
