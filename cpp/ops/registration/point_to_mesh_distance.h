#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/column.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"
#include "spatial/bvh.h"

namespace pc {

struct PointToMeshParams {
  Vec3d shift;                       ///< added to the points: from their frame to the mesh's, metres
  std::uint64_t stride;              ///< every so many-th of the kept points is measured; >= 1
  bool with_sides;                   ///< also tell inside from outside
  std::vector<double> bands_m = {};  ///< further thresholds of bands, metres, finite, in any order
};

/// Bins of equal width from 0 to the largest distance; that distance counts in the last bin.
struct DistanceHistogram {
  static constexpr std::size_t kBins = 64;
  double bin_width_m;
  std::array<std::uint64_t, kBins> counts;
};

/// Of unsigned distances, metres; percentiles are interpolated linearly between the two nearest ranks.
struct DistanceStatistics {
  double mean, rmse;
  double std_deviation;  ///< of the population
  double min, max;
  double median, percentile_90, percentile_95, percentile_99;
  std::array<double, 3> band_thresholds_m;      ///< 0.1, 0.5 and 1 % of the diagonal of the points' box
  std::array<double, 3> points_within_percent;  ///< share of the distances that are at most the threshold
  std::vector<double> asked_percent;            ///< the same for each of bands_m
  DistanceHistogram histogram;
};

/// Of distances that are negative inside the mesh.
struct SidedStatistics {
  bool defined;                   ///< the mesh is closed and every triangle has a normal
  double mean, std_deviation;     ///< 0 if not defined
  std::uint64_t open_edge_count;  ///< edges that do not belong to two triangles
  std::uint64_t flat_count;       ///< triangles without a normal
};

struct PointToMeshResult {
  Column<float> distances;         ///< (n) metres; NaN = not measured; negative = inside, if that is defined
  std::uint64_t point_count;       ///< points measured
  std::uint64_t unmeasured_count;  ///< rows to keep that are not finite or beyond 1e15 m
  std::optional<DistanceStatistics> spread;  ///< nothing if no point was measured
  std::optional<SidedStatistics> sides;      ///< with_sides
  double mesh_diagonal_m;                    ///< of the box of the triangles
  std::vector<std::string> warnings;         ///< why the CPU computed what the GPU was asked for
};

/// Distance of points to the closest place of a mesh: on a face, an edge or a vertex.
///
/// positions  (n) metres; read in blocks, never copied
/// skip       (n) non-zero = leave out, or empty = keep all
/// mesh       at least one triangle, metres
/// Order      The same bits for any thread count and device. Distances are exact to 1e-9 m (for coordinates up to 1e7 m)
///            before they are narrowed to float32. Mean, rmse and deviation come from the exact ones, percentiles, bands and
///            histogram from the narrowed ones.
/// Cost       point_to_mesh_distance_bytes(); O(log T) time per point near the mesh.
/// Cancel     Within 250 ms.
/// Errors     kInvalidArgument: a mesh without triangles, the errors of Bvh, a skip of another length, stride 0,
///            a band that is not finite.
/// Source     contract terrain section 3.1; sides: spatial/pseudo_normals.h. Mean and deviation are merged from blocks:
///            Chan, Golub & LeVeque 1979.
PointToMeshResult point_to_mesh_distance(Span<const Vec3d> positions, Span<const std::uint8_t> skip,
                                         const TriangleMesh& mesh, const PointToMeshParams& params,
                                         OpContext& ctx);

/// Peak of memory needed besides the inputs, bytes.
std::uint64_t point_to_mesh_distance_bytes(std::uint64_t points, std::uint64_t vertices,
                                           std::uint64_t triangles, bool with_sides);

}  // namespace pc
