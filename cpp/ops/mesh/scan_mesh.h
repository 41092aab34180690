#pragma once
#include <cstdint>
#include <vector>

#include "core/column.h"
#include "core/op_context.h"
#include "core/span.h"
#include "ops/mesh/edge_split.h"

namespace pc {

/// The candidate triangles of one scan.
struct ScanTriangles {
  Span<const Vec3d> points;            ///< (n) metres, one frame for all scans
  Span<const std::uint32_t> indices;   ///< (T, 3) rows of the points
  Vec3d origin;                        ///< scanner
  bool is_multi_return;                ///< the separation filter applies
};

struct ScanMeshParams {
  double lmax_m;            ///< longest edge that is kept, > 0
  double max_aspect_ratio;  ///< largest longest / shortest edge that is kept, >= 1
};

/// Candidate triangles by the first reason to drop them, in this order.
struct TriangleDrops {
  std::uint64_t candidates, kept;
  std::uint64_t lmax, aspect;
  std::uint64_t degenerate;  ///< without area, or two corners at one place
  std::uint64_t separation;  ///< from a foreground to its background (multi-return scans)
};

struct ScanMesh {
  Column<Vec3d> vertices;          ///< (V) metres; the first point at each place that a triangle has
  Column<std::uint32_t> indices;   ///< (K, 3) vertices of the triangles kept, by scan, then in the order of the candidates
  Column<std::uint32_t> scan_ids;  ///< (K) scan of each
  TriangleDrops drops;
  EdgeSplit split;  ///< of the longest edges of all candidates; its parts are the scans
};

/// Edge length over its angle from the scanner may be this many times the 25th percentile of all candidates.
inline constexpr double kMostSeparation = 8.5;
/// Points in one cell of this size are one vertex, metres.
inline constexpr double kVertexCell_m = 1e-5;

/// Filters the candidate triangles of scans and joins the rest to one mesh.
///
/// Order    A function of the input alone, for any thread count.
/// Cost     Streaming passes over triangles and points; scan_mesh_bytes.
/// Cancel   Within 50 ms.
/// Errors   kInvalidArgument: parameters out of range, an index beyond the points, 2^32 - 1 points or more in total.
/// Source   contract core-endpoints 7 (limits, order of the reasons, cell of a vertex: coordinates rounded to 1e-5 m);
///          separation filter: contract lad 5.1. It asks for the largest of a triangle's edge lengths, each over (angle
///          between its ends seen from the scanner + 1e-6 rad), and takes the percentile over the candidates of all
///          multi-return scans that pass the limit of length: entry T / 4 of the sorted list.
ScanMesh scan_mesh(const std::vector<ScanTriangles>& scans, const ScanMeshParams& params, OpContext& ctx);

/// Memory that scan_mesh needs besides its input, bytes.
constexpr std::uint64_t scan_mesh_bytes(std::uint64_t points, std::uint64_t triangles) {
  return 44 * points + 42 * triangles;
}

}  // namespace pc
