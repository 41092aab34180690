#pragma once
#include <array>
#include <cmath>
#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/op_context.h"
#include "ops/trees/stem_curve.h"

namespace pc {

/// When and by what a point was measured. Points of one view were measured by one scan within moments of each other, so that they
/// fit; a scanner that is carried sees a stem again and again, and drifts meanwhile.
struct ViewStamp {
  double scan = 0;    ///< number of the scan
  double time_s = 0;  ///< seconds, from any start
  friend auto operator<=>(const ViewStamp&, const ViewStamp&) = default;
  bool is_known() const { return std::isfinite(scan) && std::abs(time_s) <= kMostTime; }
  /// The time, or 0 for one that is none: what a scan has without times is one view.
  static double time_of(double time_s) { return std::abs(time_s) <= kMostTime ? time_s : 0; }
  static constexpr double kMostTime = 1e12;  ///< 30,000 years: beyond them no clock is meant
};

constexpr std::uint32_t kNoView = ~std::uint32_t{0};
/// Time without a point of a stem after which it is seen anew, and the longest view, seconds.
constexpr double kVisitGap = 10, kLongestVisit = 15;
/// Of a stem at most this many views are looked at, those with the most points.
constexpr std::size_t kMostViews = 24;

/// Points of a view that take part, an even choice.
constexpr std::size_t kMostViewPoints = 2000;

/// The views of a stem.
class ViewSplit {
 public:
  /// stamps   of the points that show the views; those that are not known belong to none
  ViewSplit(std::vector<ViewStamp> stamps, const OpContext& ctx);
  std::size_t count() const { return views_.size(); }
  /// The view of a stamp; kNoView outside of all.
  std::uint32_t of(const ViewStamp& stamp) const;
  /// Middle of a view.
  ViewStamp at(std::size_t view) const;

 private:
  struct View {
    ViewStamp first, last;
    std::size_t points;
  };
  std::vector<View> views_;  // ascending
};

/// The points of a tree with the stamps of their views.
struct ViewedTree {
  Span<const Vec3d> points;
  Span<const ViewStamp> stamps;  ///< (n)
};

/// Where a view has a stem, level, in the frame of the points, metres.
///
/// With what it says of the centre and the radius together: an arc that is nearer may be part of a wider circle. For changes d of
/// (x, y, radius) from `center` and the radius of the stem's other views, minus the logarithm of their likelihood is
/// d^T precision d / 2 - slope^T d. Bark and ellipses (a variation of the radius by 2.5 %) are part of the errors.
struct ViewPlace {
  ViewStamp at;
  Vec2d center;
  std::array<double, 9> precision;  ///< row by row, 1 / m2
  std::array<double, 3> slope;      ///< 1 / m
  double noise_m;  ///< by which the noise of its points may move it: their variance over the radius
};

/// The places, by at most kMostViewPoints points each, of the views that show 15 points of the circle at breast height, near it. Nothing with fewer than
/// two of them, or without that circle.
std::vector<ViewPlace> view_places(const ViewedTree& tree, const Stem& stem, const OpContext& ctx);

/// The same wherever the views are, for the radius that fits all of them best: that of the circle, or of a single view.
///
/// Without a circle at breast height the views are measured one by one, and the first with one is taken.
std::vector<ViewPlace> search_view_places(const ViewedTree& tree, const Stem& stem, const TreeGround& ground,
                                          const StemParams& params, OpContext& ctx);

}  // namespace pc
