#pragma once
#include <cstdint>
#include <vector>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/qsm.h"
#include "core/span.h"

namespace pc {

/// Gives every point within reach to the cylinder with the nearest sample of its axis (one each 0.03 m), and fits each
/// cylinder to its points (contract skeleton-qsm section 4.3). A cylinder that cannot be fitted keeps its geometry;
/// its mad and radius_se are NaN.
struct FitCylindersParams {
  double reach_m;       ///< of a point from the axis
  double max_radius_m;  ///< of a fit
  /// The first cylinder of a shoot has no points near the surface of what carries it: their radii are those of the points.
  bool leaves_carrier_out;
};

/// What the fits tell beyond the cylinders.
struct FittedSurface {
  std::vector<double> arc_cov;  ///< 0..1 per cylinder: longest arc that its points cover
  std::vector<double> noise_m;  ///< robust standard deviation of the residuals; NaN unless fitted
  std::vector<double>
      before_m;  ///< how far points near the surface reach out beyond the start, along the axis
  std::vector<double> beyond_m;            ///< and beyond the end
  std::vector<std::uint32_t> point_count;  ///< that each was fitted to
  /// Rows of its points: those of cylinder i are point[first[i]] to point[first[i + 1] - 1], in the order of the points.
  std::vector<std::uint64_t> first;
  BulkVector<std::uint32_t> point;
};

/// points     (n) by position, in the frame of the cylinders
/// Order      A function of points and cylinders.
/// Cost       O(n log n); 8 bytes per point, 4 of them in the result.
FittedSurface fit_cylinders(std::vector<QsmCylinder>& cylinders, Span<const Vec3d> points,
                            const FitCylindersParams& params, OpContext& ctx);

/// Moves the base of the first cylinder of each shoot to the nearest point of its parent's axis.
void reconnect_shoots(std::vector<QsmCylinder>& cylinders);

/// Median distance of the points of each cylinder from its axis; NaN without points.
std::vector<double> axis_widths(const std::vector<QsmCylinder>& cylinders, Span<const Vec3d> points,
                                double reach_m, OpContext& ctx);

/// Joins consecutive cylinders of one segment until they are as long as the larger of `least_m` and `per_width` of their
/// widths, so that each has enough points in a shape that determines a radius; the first of a shoot by the width of what
/// carries it more, as so much of it is inside. Its radius becomes the mean width, outside of the carrier.
std::vector<QsmCylinder> join_short(const std::vector<QsmCylinder>& cylinders,
                                    const std::vector<double>& width, double least_m, double per_width);

/// Lengthens the cylinders at the base of the tree and at its tips to the last of their points, by at most `most_m`: the
/// nodes of a skeleton are middles of their points.
void reach_ends(std::vector<QsmCylinder>& cylinders, const FittedSurface& surface, double most_m);

/// Makes the axis of every shoot one line: ends that follow each other meet in the middle.
void connect_axes(std::vector<QsmCylinder>& cylinders);

}  // namespace pc
