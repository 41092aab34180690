#pragma once
#include <algorithm>
#include <cstddef>
#include <optional>

#include "ops/trees/stem_cylinder.h"
#include "ops/trees/stem_detection.h"
#include "ops/trees/stem_layer.h"

namespace pc {

inline constexpr double kStemInlierDistance = 0.02, kStemLeastRadius = 0.02, kStemMostRadius = 1.5;

/// The stems that are looked for at once.
struct StemSizes {
  double least_radius_m, most_radius_m;
  double least_arc;    ///< share of the circle that is seen
  double inlier_part;  ///< of CircleFitParams

  double distance_of(double radius) const { return std::max(kStemInlierDistance, inlier_part * radius); }
};
/// 54 degrees: a shorter arc fits circles of any size.
inline constexpr StemSizes kPlainStems{kStemLeastRadius, kStemMostRadius, 0.15, 0};
/// Trunks of old trees are lobed: 3 % of the radius. Root plates and heaps are round over less than half of a circle.
inline constexpr StemSizes kThickStems{0.6, 4, 0.5, 0.03};

inline constexpr std::size_t kStemSublayers = 4, kStemSublayersNeeded = 3;

/// Index of the quarter of the layer that a height lies in.
inline std::size_t stem_sublayer(double height, const StemDetectionParams& params) {
  const double part = (height - params.band_min_m) / (params.band_max_m - params.band_min_m);
  return std::min(kStemSublayers - 1, static_cast<std::size_t>(std::max(0.0, part) * kStemSublayers));
}

/// The best cylinder among some points, and whether it is a stem. Part of detect_stems.
struct StemAttempt {
  std::optional<StemCylinder> cylinder;
  std::optional<DetectedStem> stem;  ///< from the layer's origin
  StemRejection rejection;           ///< without a stem: why
};

/// points   of a part of the layer; the stem is measured and judged on all points of the layer around it
/// Cost     O(points and points around the stem) time; fits take at most 20,000 of them. Cancel within 100 ms.
StemAttempt attempt_stem(const StemLayer& layer, Span<const LayerPoint> points, const StemSizes& sizes,
                         const StemDetectionParams& params, const OpContext& ctx);

}  // namespace pc
