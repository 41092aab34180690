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
  /// Stems stay that are closer than 0.3 m to a stronger one without touching it (merge_stems).
  bool keep_beside = false;
};

/// Why a cluster of points of the layer, or a part of it, is no stem.
enum class StemRejection : std::uint8_t {
  kFewPoints,     ///< fewer than 20 points
  kTooWide,       ///< wider than max_diameter_m, and no part of it is a stem
  kNotUpright,    ///< points in fewer than 3 of 4 sub-layers
  kNoCircle,      ///< no circle of a radius in the limits
  kHighResidual,  ///< the points near the circle scatter too much for a stem
  kFewInliers,  ///< fewer than 15 points, or less than 30 % of the part, near the circle, or on few patches of it
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
  FittedCircle circle;  ///< across the axis; its center is on the axis: 0, 0
  bool
      has_two_columns;  ///< seen in two columns alone (circle_evidence.h): the circle is one of many through them
};

struct StemDetectionResult {
  std::vector<DetectedStem> stems;       ///< most inliers first
  double lowest_height, highest_height;  ///< of all points; NaN without a height
  std::uint64_t layer_points;            ///< points with a height in the band
  std::uint64_t cluster_count;           ///< of cells of 5 cm with points of the layer, seen from above
  std::array<std::uint64_t, kStemRejections> rejected;  ///< by StemRejection
  std::uint64_t beside = 0;                             ///< of kMerged, stems that touch no stronger one
};

/// Peak memory of detect_stems in addition to its arguments.
std::uint64_t stem_detection_bytes(std::uint64_t point_count);

/// Finds the stems that cross a layer of heights above the ground.
///
/// points   (n) hits that are not ground, metres, z up. Rows that are not finite are left out.
/// heights  (n) above the ground, metres; NaN = not in the layer
/// Method   Points of the layer form clusters of cells of 5 cm that touch. In each cluster, parts with upright surfaces,
///          parts that have points at most heights, and the cluster itself are searched for the upright cylinder with the
///          most points near it. Its points are taken away, and the search goes on, so that forks and stems in shrubs are
///          found one after another. A cylinder is a stem if the circle across its axis passes: few residuals, 15 points
///          and 30 % of those in its disc, 2.5 times as many per area as in and around it, points in 3 of 4 sub-layers,
///          halves that lie on one axis, an arc of 54 degrees, points that lie in the middle of their ring instead of all
///          over it and in most patches of it instead of in tufts (ADR 69), and nothing inside. Where max_diameter_m is above 3, upright parts wider than 1 m are searched again for trunks of
///          0.6 to 4 m of radius, with points within 3 % of it and an arc of 180 degrees. The figures are those that part stems from leaves in simulated stands.
/// Order    The same stems for any thread count and order of the points.
/// Cost     O(n) time and stem_detection_bytes; 10 M points of a plot: below 10 CPU seconds. Cancel within 250 ms.
/// Errors   kInvalidArgument for lengths that differ, a band or a diameter that is not finite and ascending.
/// Source   Contract classification section 6, with three deviations: wide clusters are searched by parts, the halves are
///          compared across the fitted axis instead of the vertical, and the share of 30 % is that of the disc.
StemDetectionResult detect_stems(HitPoints points, Span<const float> heights,
                                 const StemDetectionParams& params, OpContext& ctx);

}  // namespace pc
