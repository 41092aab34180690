#include "ops/trees/stem_views.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>

#include "core/error.h"
#include "core/polled_sort.h"
#include "ops/trees/circle_center.h"
#include "ops/trees/stem_frame.h"

namespace pc {

namespace {

constexpr std::size_t kPollPoints = 1 << 16;
constexpr double kBelow = 0.1, kAbove = 0.7;  // metres along the axis: plants stand around the stem below
constexpr double kRoom = 0.3;                 // metres beyond the circle
constexpr std::size_t kFewestSectors = 3;
constexpr std::size_t kViewsWithoutCircle = 3;
constexpr double kMostCounted = 200;  // points of a view: bark makes more say no more
constexpr double kCloseness = 0.01;   // metres from a circle that count as one
constexpr double kOwn = 0.001;        // metres by which places of views differ besides
constexpr double kFar = 0.1;          // metres of a view from the others that count as one

/// Points of a stem around breast height, across its axis, view by view.
struct Window {
  std::vector<std::vector<Vec2d>> views;
};

struct BreastHeight {
  Vec3d center, axis;
  double radius;
};

BreastHeight breast_height_of(const Stem& stem) {
  return {stem.breast_height->center, stem.axis, stem.breast_height->circle.radius};
}

/// Calls visit(i, place across the axis) for each point near the circle.
template <class Visit>
void for_each_near(Span<const Vec3d> points, const BreastHeight& at, double room, const OpContext& ctx,
                   Visit&& visit) {
  const std::array<Vec3d, 2> frame = stem_frame(at.axis);
  for (std::size_t i = 0; i < points.size; ++i) {
    if (i % kPollPoints == 0) ctx.checkpoint();
    const Vec3d off = points[i] - at.center;
    const double along = dot(off, at.axis);
    if (!(along >= -kBelow && along <= kAbove)) continue;
    const Vec2d place{dot(off, frame[0]), dot(off, frame[1])};
    if (std::hypot(place.x, place.y) <= at.radius + room) visit(i, place);
  }
}

ViewSplit split_at(const ViewedTree& tree, const BreastHeight& at, double room, const OpContext& ctx) {
  std::vector<ViewStamp> stamps;
  for_each_near(tree.points, at, room, ctx,
                [&](std::size_t i, const Vec2d&) { stamps.push_back(tree.stamps[i]); });
  return ViewSplit(std::move(stamps), ctx);
}

Window window_of(const ViewedTree& tree, const ViewSplit& split, const BreastHeight& at, double room,
                 const OpContext& ctx) {
  Window out{std::vector<std::vector<Vec2d>>(split.count())};
  for_each_near(tree.points, at, room, ctx, [&](std::size_t i, const Vec2d& place) {
    const std::uint32_t view = split.of(tree.stamps[i]);
    if (view != kNoView) out.views[view].push_back(place);
  });
  for (std::vector<Vec2d>& points : out.views) {
    const std::size_t step = points.size() / (kMostViewPoints + 1) + 1;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < points.size(); i += step) points[kept++] = points[i];
    points.resize(kept);
  }
  return out;
}

/// The centre of a view's circle, if it shows enough of it.
std::optional<CircleCenter> located(Span<const Vec2d> points, double radius, const Vec2d& start) {
  auto found = circle_center(points, radius, start);
  if (found && found->sectors < kFewestSectors) found.reset();
  return found;
}

using Matrix3 = std::array<double, 9>;

/// (1 + a b)^-1 c for 3 x 3 matrices; c has `columns`.
std::vector<double> damped(const Matrix3& a, const Matrix3& b, std::vector<double> c, std::size_t columns) {
  Matrix3 m{1, 0, 0, 0, 1, 0, 0, 0, 1};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      for (std::size_t k = 0; k < 3; ++k) m[3 * i + j] += a[3 * i + k] * b[3 * k + j];
  const auto minor = [&](std::size_t i, std::size_t j) {
    const std::size_t r = (i + 1) % 3, s = (i + 2) % 3, u = (j + 1) % 3, v = (j + 2) % 3;
    return m[3 * r + u] * m[3 * s + v] - m[3 * r + v] * m[3 * s + u];
  };
  const double det = m[0] * minor(0, 0) + m[1] * minor(0, 1) + m[2] * minor(0, 2);
  std::vector<double> out(3 * columns);
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t k = 0; k < columns; ++k)
      for (std::size_t j = 0; j < 3; ++j) out[columns * i + k] += minor(j, i) / det * c[columns * j + k];
  return out;
}

/// Covariance of what a view says because of the stem's form and the noise. Noise along the beams moves points of the front out of
/// the circle and those of the sides into it, in all views alike: arcs seem to be parts of narrower circles, nearer to the scanner.
/// How a circle that touches the stem in front may be wider is therefore held to be hardly known, unless there is little noise.
Matrix3 errors_of(const CircleCenter& found, double radius, double noise_m) {
  constexpr double kForm = 0.025, kCurvature = 100;
  const double form = kForm * radius, place = form * form / 4 + kOwn * kOwn;
  const double away = std::hypot(found.normal[2], found.normal[5]);
  const std::array<double, 3> flatter{away > 0 ? -found.normal[2] / away : 0,
                                      away > 0 ? -found.normal[5] / away : 0, 1};
  Matrix3 out{place, 0, 0, 0, place, 0, 0, 0, form * form};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      out[3 * i + j] += kCurvature * kCurvature * noise_m * noise_m * flatter[i] * flatter[j];
  return out;
}

ViewPlace place_of(const ViewStamp& at, const Vec2d& level, const CircleCenter& found, double radius) {
  const double points = std::min(1.0, kMostCounted / static_cast<double>(found.points));
  const double weight = points / (found.deviation * found.deviation + kOwn * kOwn);
  const double noise = found.deviation * found.deviation / radius;
  Matrix3 normal = found.normal;
  for (double& value : normal) value *= weight;
  const Matrix3 errors = errors_of(found, radius, noise);
  const auto precision = damped(normal, errors, {normal.begin(), normal.end()}, 3);
  const auto slope = damped(normal, errors, {0, 0, weight * found.wider}, 1);
  ViewPlace out{at, level, {}, {slope[0], slope[1], slope[2]}, noise};
  std::copy(precision.begin(), precision.end(), out.precision.begin());
  return out;
}

/// The places of the views for circles of one radius.
struct Placing {
  std::vector<std::optional<CircleCenter>> centers;
  double radius = 0, cost = HUGE_VAL;
};

class Placer {
 public:
  Placer(const Window& window, const CircleFitParams& params, const OpContext& ctx)
      : window_(window), params_(params), ctx_(ctx) {}

  /// The best of several radii: that given, and those of single views.
  Placing best(double radius) const {
    std::vector<std::optional<FittedCircle>> own;
    for (const auto& points : window_.views) {
      ctx_.checkpoint();
      own.push_back(fit_circle({points.data(), points.size()}, params_));
    }
    Placing best = with(radius, own);
    for (const auto& circle : own) {
      if (!circle) continue;
      Placing other = with(circle->radius, own);
      if (other.cost < best.cost) best = std::move(other);
    }
    return best;
  }

 private:
  Placing with(double radius, const std::vector<std::optional<FittedCircle>>& own) const {
    Placing out{{}, radius, 0};
    for (std::size_t i = 0; i < window_.views.size(); ++i) {
      ctx_.checkpoint();
      const Span<const Vec2d> points{window_.views[i].data(), window_.views[i].size()};
      auto center = located(points, radius, {0, 0});
      if (own[i]) {
        const auto other = located(points, radius, own[i]->center);
        if (other &&
            (!center || cost_of(points, radius, other->center) < cost_of(points, radius, center->center)))
          center = other;
      }
      out.centers.push_back(center);
      out.cost += cost_of(points, radius, center ? center->center : Vec2d{0, 0});
    }
    return out;
  }

  /// Of the squared distances from the circle, limited to that of an outlier, and of that of its centre.
  double cost_of(Span<const Vec2d> points, double radius, const Vec2d& center) const {
    const double most = 2 * params_.inlier_distance_m;
    double sum = 0;
    for (const Vec2d& p : points) {
      const double off = std::min(most, std::abs(std::hypot(p.x - center.x, p.y - center.y) - radius));
      sum += off * off / (kCloseness * kCloseness);
    }
    const auto n = static_cast<double>(points.size);
    const double moved = (center.x * center.x + center.y * center.y) / (kFar * kFar);
    return (n > kMostCounted ? sum * kMostCounted / n : sum) + moved;
  }

  const Window& window_;
  const CircleFitParams& params_;
  const OpContext& ctx_;
};

CircleFitParams circle_params(const StemParams& params) {
  return {params.search,
          params.inlier_distance_m,
          params.min_radius_m,
          params.max_radius_m,
          std::max(params.min_slice_points, kFewestCenterPoints),
          params.seed,
          params.ellipticity_square,
          true,
          params.inlier_part};
}

/// The circle of the first of the views with the most points that shows one by itself.
std::optional<BreastHeight> circle_of_one_view(const ViewedTree& tree, const TreeGround& ground,
                                               const StemParams& params, OpContext& ctx) {
  const ViewSplit split({tree.stamps.begin(), tree.stamps.end()}, ctx);
  std::vector<std::vector<Vec3d>> views(split.count());
  for (std::size_t i = 0; i < tree.points.size; ++i) {
    if (i % kPollPoints == 0) ctx.checkpoint();
    const std::uint32_t view = split.of(tree.stamps[i]);
    if (view != kNoView) views[view].push_back(tree.points[i]);
  }
  std::stable_sort(views.begin(), views.end(),
                   [](const auto& a, const auto& b) { return a.size() > b.size(); });
  for (std::size_t i = 0; i < std::min(views.size(), kViewsWithoutCircle); ++i) {
    const Stem stem = measure_stem({views[i].data(), views[i].size()}, ground, params, ctx);
    if (stem.breast_height) return breast_height_of(stem);
  }
  return std::nullopt;
}

}  // namespace

ViewSplit::ViewSplit(std::vector<ViewStamp> stamps, const OpContext& ctx) {
  stamps.erase(std::remove_if(stamps.begin(), stamps.end(), [](const ViewStamp& s) { return !s.is_known(); }),
               stamps.end());
  polled_sort(stamps.begin(), stamps.end(), std::less<>(), ctx);
  for (const ViewStamp& stamp : stamps) {
    const bool is_new = views_.empty() || stamp.scan != views_.back().last.scan ||
                        stamp.time_s - views_.back().last.time_s > kVisitGap ||
                        stamp.time_s - views_.back().first.time_s > kLongestVisit;
    if (is_new) views_.push_back({stamp, stamp, 0});
    views_.back().last = stamp;
    ++views_.back().points;
  }
  if (views_.size() <= kMostViews) return;
  std::stable_sort(views_.begin(), views_.end(),
                   [](const View& a, const View& b) { return a.points > b.points; });
  views_.resize(kMostViews);
  std::sort(views_.begin(), views_.end(), [](const View& a, const View& b) { return a.first < b.first; });
}

std::uint32_t ViewSplit::of(const ViewStamp& stamp) const {
  if (!stamp.is_known()) return kNoView;
  const auto found = std::lower_bound(views_.begin(), views_.end(), stamp,
                                      [](const View& view, const ViewStamp& at) { return view.last < at; });
  if (found == views_.end() || stamp < found->first) return kNoView;
  return static_cast<std::uint32_t>(found - views_.begin());
}

ViewStamp ViewSplit::at(std::size_t view) const {
  const View& one = views_[view];
  return {one.first.scan, one.first.time_s + (one.last.time_s - one.first.time_s) / 2};
}

namespace {

/// The places of the views that have one.
std::vector<ViewPlace> level_places(const ViewSplit& split, const BreastHeight& at, const Placing& placing) {
  const std::array<Vec3d, 2> frame = stem_frame(at.axis);
  std::vector<ViewPlace> places;
  for (std::size_t i = 0; i < placing.centers.size(); ++i) {
    const auto& found = placing.centers[i];
    if (!found) continue;
    const Vec3d place = at.center + frame[0] * found->center.x + frame[1] * found->center.y;
    places.push_back(place_of(split.at(i), {place.x, place.y}, *found, placing.radius));
  }
  if (places.size() < 2) places.clear();
  return places;
}

}  // namespace

std::vector<ViewPlace> view_places(const ViewedTree& tree, const Stem& stem, const OpContext& ctx) {
  require(tree.stamps.size == tree.points.size, "every point needs a stamp");
  if (!stem.breast_height) return {};
  const BreastHeight at = breast_height_of(stem);
  const ViewSplit split = split_at(tree, at, kRoom, ctx);
  if (split.count() < 2) return {};
  const Window window = window_of(tree, split, at, kRoom, ctx);
  Placing placing{{}, at.radius, 0};
  for (const auto& points : window.views)
    placing.centers.push_back(located({points.data(), points.size()}, at.radius, {0, 0}));
  return level_places(split, at, placing);
}

std::vector<ViewPlace> search_view_places(const ViewedTree& tree, const Stem& stem, const TreeGround& ground,
                                          const StemParams& params, OpContext& ctx) {
  require(tree.stamps.size == tree.points.size, "every point needs a stamp");
  const auto at = stem.breast_height ? std::optional(breast_height_of(stem))
                                     : circle_of_one_view(tree, ground, params, ctx);
  if (!at) return {};
  const ViewSplit split = split_at(tree, *at, kRoom, ctx);
  if (split.count() < 2) return {};
  const Window window = window_of(tree, split, *at, kRoom, ctx);
  return level_places(split, *at, Placer(window, circle_params(params), ctx).best(at->radius));
}

}  // namespace pc
