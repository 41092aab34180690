#pragma once
#include <cstdint>
#include <limits>
#include <vector>

#include "core/qsm.h"
#include "core/span.h"
#include "ops/qsm/stem_stretches.h"
#include "ops/qsm/taper_posterior.h"

namespace pc {

constexpr double kLeastWoodRadius = 0.001;  // metres

/// What was measured on each cylinder, parents before children, cyl_id = index.
struct TaperEvidence {
  const std::vector<double>& arc_cov;             ///< 0..1, longest arc that points cover
  const std::vector<double>& noise_m;             ///< of the residuals; NaN unless fitted
  const std::vector<std::uint32_t>& point_count;  ///< that each was fitted to
  double twig_radius_m;
  Span<const StretchRadius> stretches{};  ///< per cylinder, of stems; or empty
};

/// A measured radius as evidence: logarithm and its variance; infinite where there is none.
struct MeasuredRadius {
  double log_radius = 0;
  double variance = std::numeric_limits<double>::infinity();
  double length_m = 0;
  bool trusted = false;
  /// Of a cylinder of about the scatter of its points: the square of the radius, which noise may make negative, its standard
  /// deviation at radius 0 and what that grows by with the square; 0 for others.
  double square = 0, square_noise = 0, square_slope = 0;
  bool is_thin() const { return square_noise > 0; }
  double square_variance(double of) const { return square_noise * square_noise + square_slope * of; }
};

/// Scatter of points about the surfaces of stem and branches thinner than 30 cm that are thick against it, metres: the median by
/// length; 0 where fewer than five show it. Bark is a part of it.
double surface_noise(const std::vector<QsmCylinder>& cylinders, const TaperEvidence& evidence);

/// Share of the volume of all fitted cylinders that is thick against the scatter of its points (0.3 of the radius at the most); 1 without
/// one. Where it is small, surface_noise is that of the few that happen to scatter little.
double sharp_share(const std::vector<QsmCylinder>& cylinders, const TaperEvidence& evidence);

/// What the fitted radii are worth. `noise_m`: surface_noise.
///
/// Fitted    Counts by its standard error, the scatter of its points against it, the longest arc and the surface seen: on a
///           short arc lie two twigs beside each other, too. Scatter as of surfaces, seen all around, is no bundle's, nor is
///           any on a stem of 5 cm and more that is seen all around: buttresses and bark leave its mean radius what it is.
/// Thin      Of a cylinder about as thin as the scatter of its points the mean square of their distances from the axis is that
///           of the radius and of the noise, which surfaces of thicker branches show; bundles scatter more and are left out.
/// Stretch   A stem seen from one side has the radius of the stretch around each cylinder (stem_stretches). Cylinders that share
///           one count with a part of its weight each.
/// Too thick No wood is thicker than what carries it. A fitted radius a fifth above that of a trusted surface that is seen
///           all around, anywhere between the cylinder and the base, is of something else, as of several twigs side by side.
/// Source    Own.
std::vector<MeasuredRadius> measured_radii(const std::vector<QsmCylinder>& cylinders,
                                           const TaperEvidence& evidence, double noise_m);

/// What a cylinder for which the law says exp(law_log) is told by its points.
Belief belief_of(const MeasuredRadius& measured, double law_log);

}  // namespace pc
