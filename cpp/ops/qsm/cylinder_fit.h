#pragma once
#include <cstdint>

#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// Where a cylinder is looked for.
struct CylinderSeed {
  Vec3d start, end;            ///< piece of the axis, base to tip
  double radius_m;             ///< provisional, > 0
  double max_radius_m = 0.50;  ///< of the fit
};

/// How a fit ended.
enum class CylinderFitState : std::uint8_t {
  kFitted,
  kFewPoints,  ///< fewer than 6
  kSingular,   ///< the points do not determine a cylinder
  kDiverged,   ///< an end moved by more than twice the length and 0.10 m, or the axis turned over
  kRunaway,    ///< far thicker than the seed, and not seen from enough sides
};

struct FittedCylinder {
  CylinderFitState state;
  Vec3d start, end;  ///< of the seed unless fitted
  double radius_m;   ///< of the seed unless fitted
  double
      surf_cov;  ///< 0..1, share of the cells of the lateral surface that hold points; of the cylinder returned
  double angular_cov;         ///< 0..1, share of 36 sectors that hold points
  double arc_cov;             ///< 0..1, of the longest run of them
  double mad_m;               ///< mean |distance| of all points to the surface; NaN unless fitted
  double radius_se_m;         ///< standard error of the radius; NaN unless fitted
  double noise_m;             ///< robust standard deviation of the residuals; NaN unless fitted
  std::uint32_t band_points;  ///< points between the ends and within 0.8 to 1.2 radii of the axis
};

/// Fits a cylinder to points by robust least squares (contract skeleton-qsm section 4.3).
///
/// points   (n) metres. For the last digits near the origin: hand over local coordinates. Rows that are not finite are
///          left out.
/// Method   Seed axis: the first principal axis where it is 3 times as long (in variance) as the second, else that of the
///          seed. Gauss-Newton on position, tilt and radius with Huber weights (1.345 s, s = 1.4826 MAD). Radius within
///          1 mm and max_radius_m. The ends are those of the seed, projected.
/// Axis      Within 45 degrees of the seed's: a short piece of a thick stem that is seen from one side is wider than long, so
///          that its first principal axis, or the cylinder of least squares, may lie across it.
/// Radius's standard error: of the weighted normal equations with the residuals' scale, points counted once per cell of
///          3 cm of the surface they share (neighbouring points err together), and the bias noise^2 / (2 r) that noise
///          gives a thin cylinder.
/// Order    A function of the points and their order (hand over an order of position); never of threads.
/// Cost     O(n) per round, at most 50 rounds.
/// Source   Liang et al. 2012 (Gauss-Newton on five parameters); Huber 1964.
FittedCylinder fit_cylinder(Span<const Vec3d> points, const CylinderSeed& seed);

}  // namespace pc
