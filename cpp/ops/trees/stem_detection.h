#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/hit_points.h"
#include "core/op_context.h"
#include "core/span.h"
#include "ops/trees/circle_fit.h"

namespace pc {

struct StemDetectionParams {
  double band_min_m, band_max_m;  ///< heights above the ground of the layer that is searched, ends included
  double max_diameter_m;          ///< of a stem; wider clusters of points are only stems in part
  std::uint64_t seed;
};

/// Why a cluster of points of the layer, or a part of it, is no stem.
enum class StemRejection : std::uint8_t {
  kFewPoints,     ///< fewer than 20 points
  kTooWide,       ///< wider than max_diameter_m, and no part of it stands like a stem
  kNotUpright,    ///< points in fewer than 3 of 4 sub-layers
  kNoCircle,      ///< no circle of a radius in the limits
  kHighResidual,  ///< the points near the circle scatter too much for a stem
  kFewInliers,    ///< fewer than 15 points, or less than 30 % of the part, near the circle
  kHalvesDiffer,  ///< lower and upper half have circles that do not lie on one axis
  kMerged,        ///< a stem with more inliers stands in the same place
};
inline constexpr std::size_t kStemRejections = 8;
const char* to_string(StemRejection reason);

/// A stem in the layer.
struct DetectedStem {
  Vec3d position;       ///< on the axis, 1.3 m above the ground; frame of the points
  Vec3d axis;           ///< unit, upwards
  double ground_z;      ///< under the stem, from the heights of its points
  FittedCircle circle;  ///< across the axis; the center is relative to the axis
};

struct StemDetectionResult {
  std::vector<DetectedStem> stems;  ///< most inliers first
  std::uint64_t layer_points;       ///< points with a height in the band
  std::uint64_t cluster_count;
  std::array<std::uint64_t, kStemRejections> rejected;  ///< by StemRejection
};

/// Finds the stems that cross a layer of heights above the ground.
///
/// points   (n) hits that are not ground, metres, z up. Rows that are not finite are left out.
/// heights  (n) above the ground, metres; NaN = not in the layer
/// Order    The same stems for any thread count.
/// Errors   kInvalidArgument for lengths that differ, a band or a diameter that is not finite and ascending.
StemDetectionResult detect_stems(HitPoints points, Span<const float> heights,
                                 const StemDetectionParams& params, OpContext& ctx);

}  // namespace pc
