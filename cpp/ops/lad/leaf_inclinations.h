#pragma once
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "core/op_context.h"

namespace pc {

/// Classes of leaf inclinations, 0 .. 90 degrees.
constexpr std::size_t kInclinationClasses = 18;
using ByInclination = std::array<double, kInclinationClasses>;

/// Sum of the values, each times its share.
double weighed(const ByInclination& shares, const ByInclination& values);

/// Leaf area that beams of one angle to the vertical saw, as long as they met it at a cosine above a limit.
struct InclinationView {
  double zenith;        ///< radians, 0 .. pi/2
  double least_cosine;  ///< 0 .. 1
  ByInclination area;   ///< seen, m2
};

/// What beams of a view see of the leaves of each class, azimuths uniform.
struct ViewOfClasses {
  ByInclination detected;    ///< share of the azimuths at which the beams meet the leaf above the limit
  ByInclination projection;  ///< |normal . beam|, mean over all azimuths
  ByInclination squared;     ///< mean of its square
  ByInclination cosine;      ///< mean |normal . beam| of the detected azimuths; 0 if there is none
};

/// Shares of the classes in leaves that were seen in part.
struct SeenInclinations {
  ByInclination shares{};    ///< their sum is 1
  ByInclination detected{};  ///< share of the leaves of each class that tell their inclination
  double area = 0;           ///< of all leaves that the beams got to, m2; 0 if none was seen

  /// Variance of weighed(shares, values) as a part of its square, for leaves of 1 m2 each that are drawn and seen by chance; in
  /// proportion to the area of a leaf. `weight` is that of the shares that a class takes from elsewhere, as in fit_inclinations and
  /// inclinations_of_part. 0 if none was seen.
  double scatter(const ByInclination& values, double weight) const;
};

/// Distribution of leaf inclinations over leaf area.
class LeafInclinations {
 public:
  const ByInclination& shares() const { return seen_.shares; }
  const SeenInclinations& seen() const { return seen_; }
  /// Whether any view detects so much of the leaves that what it saw tells of them; if none does, the shares mean nothing.
  bool is_known() const { return seen_.area > 0; }
  const std::vector<ViewOfClasses>& views() const { return views_; }
  /// G for beams at each zenith (radians). Cost: 180 evaluations each.
  std::vector<double> projections(const std::vector<double>& zeniths, OpContext& ctx) const;
  /// Mean cos^2 of the inclination.
  double mean_squared_cosine() const;
  /// Share of the leaf area in classes of which the views detect less than kHardlySeen of the azimuths.
  double hardly_seen() const { return hardly_seen_; }
  /// By how much weighed(shares, values) changes, as a part of it, if all that the Beta distribution adds to the classes is gone.
  double supposed(const ByInclination& values) const;

  friend LeafInclinations fit_inclinations(const std::vector<InclinationView>& views, OpContext& ctx);

 private:
  SeenInclinations seen_;
  std::vector<double> within_;  // of the area of its class, per fine step
  std::vector<ViewOfClasses> views_;
  double hardly_seen_ = 0;
};

constexpr double kHardlySeen = 0.05;

/// Distribution of the inclinations from what views saw of it. Each view detects a known share of the azimuths of a leaf (none of a
/// flat leaf, if its beams are level), and saw an unknown leaf area; the distribution is that of all leaves.
///
/// 1. The Beta distribution of the greatest likelihood, given that each area was detected, both shapes at least 1 (no pole at 0 or
///    90 degrees).
/// 2. Shares of the classes by the EM algorithm from the same likelihood, with that Beta distribution as if it were kBetaWeight of the
///    area more: classes that are seen have the share that is seen, the others that of the Beta distribution.
///
/// views    their number matters little; areas of 0 are allowed. Without any area the classes are those of spherical leaves.
/// Cost     O(views); 40 ms for 100. Cancel within 50 ms.
/// Errors   kInvalidArgument for a zenith or limit out of range, an area not finite or below 0.
/// Source   Truncated likelihood: Cohen 1991 (Truncated and Censored Samples). EM: Dempster, Laird & Rubin 1977 (J. R. Stat. Soc. B
///          39). Beta distribution of leaf inclinations: Goel & Strebel 1984 (Agronomy Journal 76). Use of both for the triangles of
///          scans: own.
LeafInclinations fit_inclinations(const std::vector<InclinationView>& views, OpContext& ctx);

constexpr double kBetaWeight = 0.01;

/// Shares of the classes in a part of the leaves, of which its views saw `area` (by class) and `of_view` (by view of `all`); what it
/// hardly sees has the shares of `all`, as if they were `weight` of its area more.
SeenInclinations inclinations_of_part(const LeafInclinations& all, const ByInclination& area,
                                      const std::vector<std::pair<std::size_t, double>>& of_view,
                                      double weight);

}  // namespace pc
