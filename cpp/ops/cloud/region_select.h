#pragma once
#include <array>
#include <cstdint>
#include <variant>
#include <vector>

#include "core/column.h"
#include "core/op_context.h"

namespace pc {

/// A frozen camera. Matrices are column-major: element (row, column) is at [4 * column + row].
struct ScreenView {
  std::array<double, 16> projection;
  std::array<double, 16> view;
  double width_px, height_px;
};

/// A position on the canvas, in pixels from its upper left corner.
struct Pixel {
  double x, y;
};

/// A box that includes its six faces; in the frame of the positions.
struct BoxRegion {
  Vec3d min, max;
};
/// Interior of a closed polygon of at least three points, by the even-odd rule.
struct PolygonRegion {
  std::vector<Pixel> points;
  ScreenView screen;
};
/// Union of squares: |x - center.x| <= half_size and |y - center.y| <= half_size, in pixels.
struct SquaresRegion {
  std::vector<Pixel> centers;
  std::vector<double> half_sizes;
  ScreenView screen;
};

struct Region {
  std::variant<BoxRegion, PolygonRegion, SquaresRegion> shape;
  bool invert;  ///< inverts this region's mask, including NaN and points behind the camera
};

struct ScalarFilter {
  const AnyColumn* column;     ///< (n) scalar
  double min, max;             ///< inclusive; used when `values` is empty
  std::vector<double> values;  ///< keep rint(v) in values
};

struct RowSelection {
  Span<const Vec3d> positions;  ///< (n)
  std::vector<Region> regions;
  std::vector<ScalarFilter> filters;
};

/// Selects the rows that lie in every region and pass every filter, in one pass over the cloud.
///
/// selection  (n) rows; without regions and filters every row is selected. Screen regions ignore depth. Rows with NaN
///          coordinates or clip.w <= 0 are in no region; NaN passes no filter. 64-bit integers compare exactly.
/// Order    (n) 1 = selected, input order; does not depend on threads.
/// Cost     O(n) time: one streaming pass over positions and filter columns, n bytes for the result. A polygon or a
///          union of squares usually costs about as much as a box: points are looked up in a grid of at most 256 x 256
///          cells over the shape. A point in a cell that a border crosses is compared with the edges in that row of
///          cells, or the squares of the cell: O(n m) at worst, for m edges that all cross most rows (a comb), or for m
///          squares in one cell.
/// Cancel   Within 50 ms.
/// Errors   kInvalidArgument: a filter column of another length or of triples, NaN in a box or range, a polygon of
///          fewer than three points, different numbers of half sizes and centers, half sizes that are not positive,
///          values that are not finite in a screen region, an empty canvas.
/// Source   contract sessions sections 0.3 and 0.4: clip = P V [x y z 1], px = (clip.x / clip.w + 1) / 2 width,
///          py = (1 - (clip.y / clip.w + 1) / 2) height; even-odd crossing test (Shimrat 1962, "Algorithm 112", in
///          the half-open form of Franklin's PNPOLY). P V is multiplied out once, in float64.
Column<std::uint8_t> region_select(const RowSelection& selection, OpContext& ctx);

}  // namespace pc
