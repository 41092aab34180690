#pragma once
#include <cstdint>

#include "core/column.h"
#include "core/hit_points.h"
#include "core/op_context.h"
#include "core/span.h"

namespace pc {

/// Which of the two directions of a normal is taken.
enum class NormalOrientation : std::uint8_t {
  kFromCentroid,   ///< away from the mean of the points
  kConsistent,     ///< as the neighbours, along a minimum spanning tree; then each component outward
  kTowardOrigins,  ///< toward where the beam came from
  kAgreeing,       ///< kFromCentroid, or kConsistent where far fewer neighbours then face apart
};

/// Most neighbours of a point, itself included.
constexpr std::uint32_t kMaxNormalNeighbors = 1000;

struct NormalsParams {
  double radius_m;       ///< neighbours are at most this far away, metres, > 0; infinity = no limit
  std::uint32_t max_nn;  ///< the nearest so many of them, the point itself counted; 3 .. kMaxNormalNeighbors
  NormalOrientation orientation;
  std::uint32_t
      graph_neighbors;  ///< kConsistent, kAgreeing: neighbours that a point is linked with, 1 .. 100
};

struct NormalsResult {
  Column<Vec3d> normals;  ///< (n) unit vectors; (0, 0, 0) = not estimated
  std::uint64_t
      unestimated_count;  ///< rows that are not finite, with fewer than 3 neighbours (the point itself counted),
                          ///< or with neighbours on one line
  std::uint64_t component_count;  ///< parts that kConsistent oriented on their own; 0 if another rule decided
};

/// Normal of each point: the direction in which its neighbours scatter least.
///
/// points   (n) metres, any one Cartesian frame; n == 0 gives an empty column. A point at the place of another counts as
///          its neighbour.
/// origins  kTowardOrigins: (n) or (1) places of the scanner; otherwise empty. A normal at right angles to the beam, or
///          with an origin that is not finite, keeps its largest component positive. Neighbours that were seen from the
///          other side of the surface do not count: the two faces of a thin wall are two surfaces.
/// Outward  kConsistent: let m be the mean over a component of n . (p - c), c its centroid, divided by the root of the mean
///          of |p - c|^2. For a closed surface m = 3 volume / (area rms) > 0 if the normals point out. |m| >= 0.1 decides;
///          below (terrain, sheets), the highest point, of several the first row, gets a normal that does not point down.
/// Agreeing Of the pairs of a point and each of its 4 nearest, those whose normals are more than 90 degrees apart count;
///          consistent ones are taken if they have at most a twentieth of them. A surface that turns its inside to the
///          centroid somewhere (torus, terrain) has a seam there, a level wall with noise has them everywhere.
/// Order    Bit-identical for any thread count. Among equally distant neighbours lower rows come first.
/// Cost     O(n log n + n max_nn) time, 64 n bytes; kConsistent adds 21 n graph_neighbors bytes, kAgreeing up to 24 n more.
/// Cancel   Within 250 ms; no partial result.
/// Errors   kInvalidArgument: a parameter out of range, origins of another length. kUnsupported: more than 2^32 - 1 links.
/// Source   Hoppe et al. 1992, "Surface reconstruction from unorganized points", sections 3.2 and 3.3 (cost of a link
///          1 - |n_i . n_j|); here the links are the graph_neighbors nearest, and every component gets its own root.
NormalsResult estimate_normals(HitPoints points, const NormalsParams& params, Span<const Vec3d> origins,
                               OpContext& ctx);

/// Peak of memory needed besides the inputs, bytes.
std::uint64_t normals_bytes(std::uint64_t points, const NormalsParams& params);

}  // namespace pc
