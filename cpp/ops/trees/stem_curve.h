#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "core/op_context.h"
#include "ops/trees/circle_evidence.h"
#include "ops/trees/circle_fit.h"
#include "ops/trees/point_columns.h"
#include "ops/trees/tree_ground.h"

namespace pc {

/// Where a stem was seen.
struct StemStart {
  Vec2d place;
  double radius_m;
};

struct StemParams {
  CircleSearch search;
  double breast_height_m;       ///< along the stem, above the highest ground around it
  double slice_thickness_m;     ///< of every slice; that at breast height may become thicker
  std::vector<double> widened;  ///< thicknesses to try at breast height while the slice has few points
  double inlier_distance_m;
  double curve_step_m, curve_start_m;  ///< along the axis
  double min_radius_m, max_radius_m;
  std::size_t min_inliers;                     ///< fewer: few_points
  std::size_t min_slice_points;                ///< fewer: no circle
  double partial_arc_coverage;                 ///< below: partial_arc
  double seed_min_m, seed_max_m, seed_step_m;  ///< heights of the slices that find the stem
  double lean_fit_max_m;                       ///< height to which the axis is followed
  std::uint32_t max_failures;                  ///< in a row, after which a stem is not followed further
  double ellipticity_square;                   ///< see CircleFitParams
  std::uint64_t seed;
  double inlier_part = 0;  ///< see CircleFitParams
  std::optional<StemStart>
      start{};  ///< where the stem is; nothing: it is looked for from seed_min_m to seed_max_m
};

constexpr double kScatterRoom = 0.06;
/// Scatter of noise, or of scans that do not fit each other, above which the circle lies in a part of the points: it is as uncertain as
/// they scatter. Bark scatters less.
constexpr double kMostScatter = 0.012;

/// A circle across the stem.
struct StemSection {
  double axial_m;  ///< along the axis from the base
  Vec3d center;
  FittedCircle circle;
  /// Of the points within kScatterRoom of the circle, or 0.3 of its radius if that is more: 1.48 times the median distance from
  /// it, which is the standard deviation of noise in few leaves, metres; NaN without any.
  double scatter_m;
  double thickness_m;
  std::size_t point_count;  ///< in the slice's window
  /// Of the circle at breast height: of the stretch of stem that its radius is measured on, its chance the lesser of that of
  /// the stretch and of the slice.
  CircleEvidence evidence{};
  PointColumns columns{};  ///< of its slice, seen from above
  bool few_points, partial_arc, high_residual;
  bool
      covered;  ///< the circle is that of bark between leaves (stem_bark.h); what is said of points is of the bark's
  bool ok;  ///< of a curve: trusted, and used to follow the stem
};

struct Stem {
  bool found;  ///< a circle was found at some seed height; otherwise only ground and base are set
  TreeGround::Answer ground;       ///< under the base
  Vec3d base, axis;                ///< axis: unit, upwards; vertical without a stem
  double reference_z;              ///< highest ground around the base; NaN without a stem
  double seed_radius;              ///< NaN without a stem
  std::vector<StemSection> curve;  ///< ascending, sections with a circle
  std::optional<StemSection> breast_height;
};

/// Follows the stem of a tree upwards and measures its diameter.
///
/// points   (n) of the tree, metres; at least one
/// Method   Circles in horizontal slices give the axis (least squares through their centres); circles in slices across
///          the axis give the curve and the diameter at breast height, because a level cut of a leaning stem is an
///          ellipse.
/// Order    For one order of the points the same result every time.
/// Sections  A circle is fitted to at most 20,000 points of its slice, an even choice.
/// Cost     O(n log n) time, 40 bytes per point. Cancel within 100 ms.
Stem measure_stem(Span<const Vec3d> points, const TreeGround& ground, const StemParams& params,
                  OpContext& ctx);

/// That of a tree without one that is seen: upright under the highest point above the ground, or at the lowest points where
/// the ground is not known (ADR 45). Cost O(n).
Stem unseen_stem(Span<const Vec3d> points, const TreeGround& ground, const StemParams& params,
                 OpContext& ctx);

}  // namespace pc
