#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "core/column.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// Where a scan lies in two layers of ground.
struct LayersOfScan {
  double scan;
  std::uint64_t points;        ///< in either layer
  std::uint64_t lower, upper;  ///< places where more of its points are in that layer than in the other
};

/// The layer that a scan lies in at four fifths of its places: 1 = the upper, -1 = the lower, 0 = neither, or fewer than 100 points. Points
/// are not compared: next to its tripod a scan has so many that a lower layer hardly shows there.
int scan_side(const LayersOfScan& scan);

/// The ground, seen once more at another height.
struct GroundLayers {
  double z_m;              ///< of the upper layer above the lower one: median over the places that show both
  double spread_m;         ///< 1.48 times the median distance from it
  double share;            ///< of the places: how many more show something there than just above and below
  std::uint64_t n_places;  ///< cells that were looked at
  std::uint64_t n_both;    ///< of them with both layers
  double cell_m;           ///< their side
  std::vector<LayersOfScan> scans;  ///< ascending; empty without a column of scans
};

/// Of a cloud of more scans none are told apart.
constexpr std::size_t kMostLayerScans = 4096;

/// Looks for a second layer of ground at a constant height above the first, as scans leave that were put together at wrong heights.
///
/// In cells of 0.25 to 2 m the slope of the lowest points is taken out, and the share of the cells is counted that show something at each
/// height above their lowest layer. A layer is a height at which 10 % more of the cells do than eight bins above and below, half
/// of those that do, and eight standard errors. It is ground if
/// - at least half as many parts of a cell hold points of both layers as of two that do not know of each other, and their middles
///   lie less than 0.75 standard deviations apart: kerbs, beds, pots and planks lie beside the ground, not above it;
/// - it is as thin as the ground, by 5 % of its height, and has as few points just above and below, by a fifth: crops and herbs do not. What finer cells tell to lie on the ground is none in wider ones;
/// - from 0.3 m on it repeats the relief of the ground: the heights of both above a plane correlate by 0.5. Tables, ceilings, nets and water do
///   not; over a floor without relief no layer is told.
/// Layers up to 100 m are found, from 9 bins on: 4.5 cm where cells of 0.25 m hold six points, else 9, 18 or 45 cm.
/// Not found: layers side by side, without a common place; more than one tell of the strongest. Taken for ground: leaves of one height,
/// within 3 mm of it, or within a fifth where only cells of 2 m hold six points.
///
/// positions  (n) metres, z up; rows with a coordinate that is not finite, and rows that `skip` marks (non-zero), count nowhere
/// scans      (n) scalar, or null; rows whose value is not finite are of no scan
/// Cost       square_sample; then its points. Up to 250 MB.
/// Order      The same for any thread count and order of the rows.
/// Cancel     Within 100 ms.
/// Errors     kInvalidArgument for columns of different lengths.
/// Source     Own.
std::optional<GroundLayers> ground_layers(Span<const Vec3d> positions, Span<const std::uint8_t> skip,
                                          const AnyColumn* scans, OpContext& ctx);

}  // namespace pc
