#pragma once
#include <cstdint>
#include <vector>

#include "core/column.h"
#include "core/hit_points.h"
#include "core/op_context.h"
#include "core/span.h"

namespace pc {

constexpr std::size_t kMaxBallRadii = 16;

struct BallPivotingParams {
  std::vector<double>
      radii_m;  ///< of the balls, metres, ascending, > 0; at most kMaxBallRadii. Empty = automatic
  std::uint32_t tile_points;  ///< automatic radii: points that a tile of an uneven cloud holds, >= 1000
  bool sides_are_known;       ///< the normals point to where each point was seen from
};

struct BallPivotingResult {
  Column<std::uint32_t>
      indices;  ///< (3 T) rows of the points; counter-clockwise seen from the side of the normals
  std::vector<double> radii_m;  ///< balls of the whole cloud; empty if it was cut into tiles with their own
  std::uint32_t tile_count;     ///< 1 = not cut
  std::uint64_t
      ignored_count;  ///< points that are not finite, have no normal, or lie at the place of an earlier row
  std::uint64_t filled_hole_count;      ///< automatic radii: holes closed after the balls have rolled
  std::uint64_t filled_triangle_count;  ///< triangles that close them: the last of `indices`
};

/// Ball pivoting: a ball that rolls over the points connects three whenever it rests on them and holds no other.
///
/// points   (n) metres, any one Cartesian frame
/// normals  (n) on the side where the ball rolls; (0, 0, 0) or not finite = the point is ignored
/// Radii    Automatic: median distance to the nearest other point x 1, 2, 4. On surfaces whose 90th percentile of gaps
///          (surface_gaps.h) is above 3.2 of these medians, as in scans with rows far apart, this gap x 1.4, 2.8 instead. If
///          the 90th percentile of the distance is at least 1.8 medians, a cloud of 200 points or more is cut into square
///          tiles of about tile_points in x and y (round(sqrt(round(n / tile_points))) per side) that overlap by 8 medians,
///          6 gaps or 5 % of their width, at most by that, each with its own radii; triangles stay with the tile that holds their centroid.
/// Holes    Automatic radii: holes of at most 48 edges that a ball of twice the largest radius would span are closed
///          (hole_filling.h). Among random points of a surface, 18 of 100,000 triangles are wider than the largest ball. Given
///          radii leave every hole that is larger than their balls.
/// Sides    Where they are known, a point whose normal faces away from the centre of a ball does not stop it: balls that are
///          larger than a thin wall roll over both of its faces.
/// Mesh     No edge has more than two triangles, and those run along it in opposite directions. Vertices are the points.
/// Order    Bit-identical for any thread count.
/// Cost     O(n m) time, m = points within two radii around open edges; 350 n bytes. Tiles run in parallel.
/// Cancel   Within 250 ms; no partial result.
/// Errors   kInvalidArgument: radii that are not finite, positive and ascending, or below 1e-12 of the extent; normals of
///          another length; tile_points below 1000.
/// Source   Bernardini et al. 1999, "The ball-pivoting algorithm for surface reconstruction". Seeds are tried on pairs of
///          the 10 nearest unused points alone; points at the same place count once. Tiles: contract, core endpoints
///          section 6.
BallPivotingResult ball_pivoting(HitPoints points, Span<const Vec3d> normals,
                                 const BallPivotingParams& params, OpContext& ctx);

/// Peak of memory needed besides the inputs, bytes.
std::uint64_t ball_pivoting_bytes(std::uint64_t points);

}  // namespace pc
