#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "ops/trees/stem_views.h"

namespace pc {

/// How far a scan lies from where it should, as time goes by: moved and turned, level, between knots linearly.
class StemDrift {
 public:
  struct Knot {
    double time_s;
    Vec2d offset;  ///< of the middle, metres
    double turn;   ///< about the middle, radians
  };
  StemDrift(const Vec2d& middle, std::map<double, std::vector<Knot>> scans)
      : middle_(middle), scans_(std::move(scans)) {}
  /// Offset of a point; 0 for a scan that shows no stem, and without a stamp.
  Vec2d at(const ViewStamp& stamp, const Vec2d& point) const;
  const Vec2d& middle() const { return middle_; }
  /// The knots of each scan, ascending times.
  const std::map<double, std::vector<Knot>>& scans() const { return scans_; }

 private:
  Vec2d middle_;
  std::map<double, std::vector<Knot>> scans_;  // ascending times
};

struct DriftFit {
  StemDrift drift;
  double spread_m;  ///< root mean square of the offsets of the views along one axis
  double rest_m;    ///< of what is left of them, 1.48 times the median
  double noise_m;   ///< of the places, median
};

/// Offsets of fewer stems mean little.
constexpr std::size_t kFewestDriftStems = 3;
/// An even choice of so many takes part.
constexpr std::size_t kMostDriftStems = 3000;
/// Each has values of its own, and all are solved for together.
constexpr std::size_t kMostDriftScans = 100;

/// Drift of the scans of a plot by the places of its stems in views: each place is that of its stem, plus the offset there of its
/// scan at that time, plus an error; the radius of the stem is the same for all its views. Offsets of one scan, and its turns times
/// the distance of the stems from their middle, have a covariance that falls exponentially with time, whose spread and time
/// are those of the places; the weighted mean of the offsets is 0.
///
/// stems    places of the same stem in a common frame, level, metres
/// Returns nothing for fewer than kFewestDriftStems stems with two places, and for more than kMostDriftScans scans.
/// Order    The same for any order of the stems, to rounding.
/// Cost     O(pairs of places of a stem), and O(k^3) for k <= 900 values of knots. Cancel within 250 ms.
/// Source   Own. Variogram by medians of differences: Cressie & Hawkins 1980, Mathematical Geology 12: 115. Tukey's weights:
///          Huber 1981, Robust statistics, 7.8.
std::optional<DriftFit> fit_drift(const std::vector<std::vector<ViewPlace>>& stems, OpContext& ctx);

}  // namespace pc
