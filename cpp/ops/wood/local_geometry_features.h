#pragma once
#include <cstdint>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// Largest k of local_geometry_features, and most neighbours that it lists.
constexpr std::uint32_t kMostLocalNeighbors = 300;

struct LocalGeometryParams {
  std::uint32_t k_min, k_max,
      k_step;            ///< sizes of neighbourhoods, the point itself counted; 3 <= k_min <= k_max
  std::uint32_t listed;  ///< neighbours of a point in the result, 0 .. kMostLocalNeighbors
  bool means;            ///< also the means over all sizes
};

struct LocalGeometryFeatures {
  BulkVector<float> verticality;  ///< (n) 1 - |z of the normal|: 0 = level, 1 = upright surface
  BulkVector<float> linearity;    ///< (n) (l1 - l2) / l1 of the variances l1 >= l2 >= l3
  BulkVector<float> planarity;    ///< (n) (l2 - l3) / l1
  BulkVector<float> sphericity;   ///< (n) l3 / l1
  BulkVector<std::uint16_t>
      k;  ///< (n) neighbourhood used; 0 = all of it is one place, sphericity 1, the others 0
  BulkVector<std::uint32_t>
      neighbors;  ///< (n, listed) nearest first, without the point itself; filled up with itself
  std::uint32_t listed;
  /// (n) with `means`, else empty: over all sizes of neighbourhoods
  BulkVector<float> mean_flatness;     ///< -ln(sphericity + 0.001): 0 (ball) .. 6.9 (line, plane)
  BulkVector<float> mean_verticality;  ///< as verticality
  BulkVector<float> mean_linearity;    ///< as linearity

  Span<const std::uint32_t> of(std::size_t i) const { return neighbors.view().subspan(i * listed, listed); }
};

/// Shape of the neighbourhood of each point at the size, of k_min, k_min + k_step .. k_max nearest points, where the
/// entropy of its normalised variances is greatest.
///
/// points   (n) metres, finite
/// Order    A function of the points for any thread count. Of equally distant points lower rows come first: hand over
///          points in an order of position. Of equal entropies the smallest size counts. A cloud with fewer points than
///          k_min has one size: all of them.
/// Cost     O(n k_max) time; local_geometry_bytes of memory.
/// Cancel   Within 250 ms.
/// Errors   kInvalidArgument: sizes out of range, more than 2^32 - 2 points.
/// Source   Entropy of the variances: Weinmann et al. 2015, ISPRS J. 105: 286 (who take its least value, where the
///          shape is clearest; here the greatest one); features: Demantke et al. 2011.
LocalGeometryFeatures local_geometry_features(Span<const Vec3d> points, const LocalGeometryParams& params,
                                              OpContext& ctx);

/// Peak memory besides the arguments, result included.
std::uint64_t local_geometry_bytes(std::uint64_t points, const LocalGeometryParams& params);

}  // namespace pc
