#pragma once
#include <cstdint>
#include <vector>

#include "core/column.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// How much of a tree lies on flat surfaces, as of walls, roofs and vehicles that a segmentation took for trees, and whether it is a wire.
struct TreeFlatness {
  std::uint64_t id;
  double share;       ///< 0..1
  double line_share;  ///< 0..1, of its points on level lines
  bool wire;          ///< most of it is level lines, and it is longer than high: of a power line
};

/// Share from which a tree is called flat. Of 3,900 trees of forests two have it, and the others .08 in the 99th percentile
/// (docs/accuracy.md).
constexpr double kFlatTree = 0.3;
/// Share of points on level lines from which a tree may be a wire.
constexpr double kWireTree = 0.6;

/// The flat share of every tree that has 10 points.
///
/// positions  (n) metres; rows with a coordinate that is not finite, and rows that `skip` marks (non-zero), count nowhere
/// trees      (n) scalar; rounded; ids are above 0 and below 2^53
/// Flat       A point is, where the points of all trees within r of it lie within 0.06 r (root mean square) of their plane and
///            reach over it in two directions (0.25 r root mean square along the shorter one, and not in two lines, as two stems are): r = 0.5 m, or the distance of the
///            20th nearest point up to 3 m, and at least 10 points. So walls are flat with noise of up to 3 cm, roofs from
///            the air with more; leaves and twigs are not, nor is a stem of less than 1 m radius, as its surface departs from a
///            plane by r^2 / (8 radius). Upright surfaces that turn about the vertical with a radius of up to 5 m, by five standard
///            errors, are trunks of giants and not flat.
/// Line       A point is on one, where at least 6 points lie within that r, as many times closer to their line as 0.15 of their spread along it
///            (root mean squares), and the line rises by less than 30 degrees.
/// Wire       A tree is, where kWireTree of its points are on lines, and its extent in z is at most half of that across, which is at
///            least 2 m (of its sample): conductors, fence wires, hoses; not bundles of conductors. Twigs of leafless trees are lines, too, but
///            hang on a stem.
/// Sample     200 points of each tree, 60 of each 0.25 m around them, 4 million of the cloud, chosen by their position.
/// Result     Ascending ids.
/// Order      The same for any thread count and order of the rows.
/// Cost       O(n); at most 4 million points are kept, 120 bytes each; 1 s of CPU per 1,000 trees of a dense plot.
/// Cancel     Within 250 ms.
/// Errors     kInvalidArgument for lengths that differ.
/// Source     Ours; the covariance of a neighbourhood: Demantke et al., ISPRS Archives XXXVIII-5/W12, 2011.
std::vector<TreeFlatness> tree_flatness(Span<const Vec3d> positions, Span<const std::uint8_t> skip,
                                        const AnyColumn& trees, OpContext& ctx);

/// Memory of it beside its columns, bytes.
double tree_flatness_bytes(std::uint64_t rows);

}  // namespace pc
