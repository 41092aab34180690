#pragma once
#include <cstdint>
#include <vector>

#include "core/qsm.h"
#include "ops/qsm/radius_errors.h"
#include "ops/qsm/radius_evidence.h"

namespace pc {

/// A law of taper: radius = twig (1 + growth length / scale)^power.
struct TaperLaw {
  double scale_m, power;
  double spread;          ///< standard deviation of ln(measured / law) over trusted cylinders
  std::uint32_t trusted;  ///< cylinders that determined it; 0: none, the law is a general one
};

/// A branch is much thinner than a stem that carries the same length: each has its own law.
struct TaperLaws {
  TaperLaw stem, branches;
  double cluster_share;  ///< of the length, in pieces wider than a twig whose points lie on no cylinder
  double noise_m;        ///< surface_noise
  double sharp_share;    ///< sharp_share of the fitted cylinders
  RadiusErrors errors;   ///< of the estimated radii, the levels of the laws among what is shared
};

/// Share of clusters from which they are leaves, and not branches that few points were measured on.
constexpr double kMostClusters = 0.5;

/// Estimates radii from the tree's law of taper and the measured radii, each weighted by its standard error (radius model
/// "tapered"). Writes radius and radius_se of the cylinders.
///
/// Law        Radii follow the growth length that a piece carries; twig radius where it is 0. Stem and branches each have the
///            power and scale that fit their trusted cylinders (well seen, thick against the scatter of their points) best:
///            least absolute deviations of logarithms over a fixed lattice, plus the square of the distance to a general
///            law (scale 0.3 m, power 0.5), which few cylinders do not outweigh. Fewer than five that tell: the general law. Its spread
///            is that of all that determined it, less their errors.
///            Clusters of leaves (kMostClusters) follow the general law, whatever is fitted to their points.
/// Evidence   measured_radii; the square of a thin radius, negative ones too, counts for the law and the estimate.
/// Estimate   The deviation from the law by taper_posterior; branches of the stem start from their own law.
/// Errors     Those of the posterior, and of the level of each law: the deviation of the general law, unless measured radii
///            tell more (median of them, hence pi / 2 times the variance of a mean).
/// Bounds     Non-increasing along each shoot, no branch thicker than what carries it, nothing thinner than the twig. Where
///            more cross-section leaves a piece than it has, what is little known of that shrinks towards equality.
/// Cost       O(n) per pass, and O(4000) per point of the lattice.
/// Source     Own. Taper from the twig up: Morales & MacFarlane 2024 (idea). Cross-sections: Leonardo's rule.
TaperLaws apply_taper_law(std::vector<QsmCylinder>& cylinders, const std::vector<QsmShoot>& shoots,
                          const TaperEvidence& evidence);

}  // namespace pc
