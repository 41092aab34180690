#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "core/memory.h"
#include "core/op_context.h"
#include "ops/registration/icp_level.h"

namespace pc {

/// Shape of the surface about a point, the same for any rigid motion and for either sign of the normals.
struct LocalFeature {
  static constexpr std::size_t kBins = 11, kSize = 3 * kBins;
  std::array<float, kSize> value;  ///< length 1; all 0 = the point has no normal or no neighbours
};

/// Describes the neighbourhood of each point.
///
/// level    points, tree and normals; n = its points
/// radius_m > 0
/// Order    Bit-identical for any thread count.
/// Cost     O(n k) time, k = neighbours within the radius; 264 n bytes.
/// Cancel   Within 250 ms.
/// Source   Fast point feature histograms (Rusu, Blodow & Beetz 2009, eq. 4), with these deviations. The normals have no
///          side, so the angles are taken modulo their signs: |u.d|, |v.n| and the angle between the normals, signed by
///          (n_p.d)(n_q.d)(n_p.n_q), which tells a bend from a step. A value is shared by the two bins next to it. The
///          result is the root of the histogram, so that Euclidean distance is Hellinger's.
BulkVector<LocalFeature> local_features(const IcpLevel& level, double radius_m, OpContext& ctx);

/// A pair of points, one of each side, whose features are nearest to each other in both directions.
struct FeatureMatch {
  std::uint32_t moving, fixed;  ///< slots
  float squared;                ///< distance of the features
};

/// The reciprocal matches, in the order of the moving points. Equally near features: the lower slot.
///
/// Cost     O(n m).
/// Cancel   Within 250 ms.
BulkVector<FeatureMatch> reciprocal_matches(Span<const LocalFeature> moving, Span<const LocalFeature> fixed,
                                            OpContext& ctx);

}  // namespace pc
