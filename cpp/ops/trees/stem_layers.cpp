#include "ops/trees/stem_layers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>

#include "core/nth_smallest.h"
#include "ops/trees/two_circles.h"

namespace pc {

namespace {

constexpr std::size_t kPollPoints = 1 << 16;
constexpr double kDeviation = 1.4826;  // of a normal distribution with a median distance of 1
constexpr int kSections = 5;
constexpr double kSectionStep = 0.1, kSectionHeight = 0.08, kRoom = 0.15;  // metres
constexpr std::size_t kFewestPoints = 40, kMostTried = 250, kMostFitted = 1000;
constexpr std::array kStarts{0.02, 0.05, 0.1};  // metres apart
constexpr int kDirections = 6, kTriedRounds = 8, kFittedRounds = 30;
constexpr std::size_t kFewestSections = 2, kKept = 3;  // of the starts
constexpr double kLeastApart = 0.012, kMostApart = 0.2, kLeastDeviations = 6;
constexpr double kAhead = 0.5;  // of the way apart: seen in its direction
constexpr std::size_t kSectors = 18, kFewestInSector = 8, kFewestOfLayer = 3, kFewestSectors = 2;
constexpr double kLeastShare = 0.1, kLeastSectors = 0.25;
constexpr double kSame = 0.005, kSamePart = 0.2;         // metres, of the way
constexpr double kOnStem = 0.02, kOnStemDeviations = 3;  // metres from a circle
constexpr std::size_t kFewestOnSlice = 20;
constexpr double kLeastOnStem = 0.3;  // of the points of a slice
constexpr double kMostWider = 0.2;    // of the radius from slice to slice
constexpr double kLeastGain = 0.1;    // of the cost of one circle
constexpr int kMostMissing = 3;
constexpr double kMostAbove = 150;  // metres: higher than any stem

double length(const Vec2d& v) { return std::hypot(v.x, v.y); }
double dot(const Vec2d& a, const Vec2d& b) { return a.x * b.x + a.y * b.y; }
bool is_same(const Vec2d& a, const Vec2d& b) {
  return std::hypot(a.x - b.x, a.y - b.y) <= std::max(kSame, kSamePart * length(a));
}
Vec2d turned_up(const Vec2d& v) { return v.y < 0 || (v.y == 0 && v.x < 0) ? Vec2d{-v.x, -v.y} : v; }

/// Level places of points about the stem: from its axis at the height of each.
class AboutAxis {
 public:
  explicit AboutAxis(const Stem& stem) : center_(stem.breast_height->center) {
    if (stem.axis.z > 0) lean_ = {stem.axis.x / stem.axis.z, stem.axis.y / stem.axis.z};
  }
  double above(const Vec3d& p) const { return p.z - center_.z; }
  Vec2d place(const Vec3d& p) const {
    const double h = above(p);
    return {p.x - center_.x - lean_.x * h, p.y - center_.y - lean_.y * h};
  }

 private:
  Vec3d center_;
  Vec2d lean_{0, 0};
};

double deviation_of(Span<const Vec2d> points, const TwoCircles& circles) {
  std::vector<double> off;
  for (const Vec2d& p : points) off.push_back(std::abs(circles.nearer(p).off_m));
  return kDeviation * nth_smallest(off.data(), off.size(), off.size() / 2);
}

/// Two circles in a section.
struct Pair {
  const std::vector<Vec2d>* points;
  TwoCircles circles;  ///< apart: turned up
  double deviation;
};

std::optional<Pair> pair_of(const std::vector<Vec2d>& section, double radius) {
  const Span<const Vec2d> points{section.data(), section.size()};
  TwoCircles one{{0, 0}, radius, {0, 0}};
  fit_two_circles(points, kMostTried, kFittedRounds, TwoCirclesFit::kOne, one);
  std::vector<std::pair<double, TwoCircles>> tried;
  for (const double away : kStarts) {
    for (int k = 0; k < kDirections; ++k) {
      const double angle = std::numbers::pi * k / kDirections;
      TwoCircles circles = one;
      circles.apart = {away * std::cos(angle), away * std::sin(angle)};
      const double cost = fit_two_circles(points, kMostTried, kTriedRounds, TwoCirclesFit::kFree, circles);
      tried.emplace_back(cost, circles);
    }
  }
  std::stable_sort(tried.begin(), tried.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  double least = HUGE_VAL;
  TwoCircles best = one;
  for (std::size_t i = 0; i < kKept; ++i) {
    TwoCircles circles = tried[i].second;
    const double cost = fit_two_circles(points, kMostFitted, kFittedRounds, TwoCirclesFit::kFree, circles);
    if (cost < least) least = cost, best = circles;
  }
  const double away = length(best.apart);
  if (!(away >= kLeastApart && away <= kMostApart && best.radius_m > 0)) return std::nullopt;
  const double deviation = deviation_of(points, best);
  if (away < kLeastDeviations * deviation) return std::nullopt;
  best.apart = turned_up(best.apart);
  return Pair{&section, best, deviation};
}

/// Those that are as far apart as one of them, if these are the most, turned its way.
std::vector<Pair> agreed(const std::vector<Pair>& all) {
  std::vector<Pair> best;
  for (const Pair& one : all) {
    std::vector<Pair> same;
    for (Pair other : all) {
      if (dot(one.circles.apart, other.circles.apart) < 0)
        other.circles.apart = {-other.circles.apart.x, -other.circles.apart.y};
      if (is_same(one.circles.apart, other.circles.apart)) same.push_back(other);
    }
    if (same.size() > best.size()) best = std::move(same);
  }
  return best;
}

/// Whether both circles are seen at once: in sectors about the direction in which they are apart. Of an ellipse, of which parts lie near
/// either, each sector shows one.
bool shows_both(const std::vector<Pair>& pairs) {
  std::array<std::array<std::size_t, 2>, kSectors> count{};
  for (const Pair& pair : pairs) {
    const TwoCircles& circles = pair.circles;
    for (const Vec2d& p : *pair.points) {
      const TwoCircles::Nearer near = circles.nearer(p);
      if (std::abs(near.off_m) > kOnStemDeviations * pair.deviation) continue;
      if (std::abs(dot(near.out, circles.apart)) < kAhead * length(circles.apart)) continue;
      const double turn = std::atan2(p.y - circles.middle.y, p.x - circles.middle.x) / (2 * std::numbers::pi);
      const auto sector = static_cast<std::size_t>((turn - std::floor(turn)) * kSectors);
      ++count[std::min(kSectors - 1, sector)][near.second ? 1 : 0];
    }
  }
  std::size_t seen = 0, both = 0;
  for (const auto& [first, second] : count) {
    const std::size_t all = first + second, lesser = std::min(first, second);
    if (all < kFewestInSector) continue;
    ++seen;
    both += lesser >= kFewestOfLayer && static_cast<double>(lesser) >= kLeastShare * static_cast<double>(all)
                ? 1
                : 0;
  }
  return both >= kFewestSectors && static_cast<double>(both) >= kLeastSectors * static_cast<double>(seen);
}

/// Points of slices across a stem, by their number from breast height upwards.
using Slices = std::map<int, std::vector<std::size_t>>;

/// Follows two layers from slice to slice, and moves them together.
class LayersAlong {
 public:
  LayersAlong(std::vector<Vec3d>& points, const AboutAxis& axis, const Slices& slices, const Vec2d& apart)
      : points_(points), axis_(axis), slices_(slices), apart_(apart) {}

  /// False if the slice at breast height shows one layer alone.
  bool run(double radius) {
    const auto at = slices_.find(0);
    if (at == slices_.end() || at->second.size() < kFewestOnSlice) return false;
    const std::vector<Vec2d> places = places_of(at->second);
    const Span<const Vec2d> there{places.data(), places.size()};
    TwoCircles one{{0, 0}, radius, {0, 0}};
    const double cost_of_one = fit_two_circles(there, kMostFitted, kFittedRounds, TwoCirclesFit::kOne, one);
    TwoCircles two{one.middle, one.radius_m, apart_};
    const double cost_of_two = fit_two_circles(there, kMostFitted, kFittedRounds, TwoCirclesFit::kFixed, two);
    if (!(cost_of_two < (1 - kLeastGain) * cost_of_one)) return false;
    follow(two, 0, 1);
    follow(two, -1, -1);
    return true;
  }

 private:
  std::vector<Vec2d> places_of(const std::vector<std::size_t>& rows) const {
    std::vector<Vec2d> out;
    for (const std::size_t i : rows) out.push_back(axis_.place(points_[i]));
    return out;
  }

  void follow(TwoCircles circles, int from, int by) {
    int missing = 0;
    const int last = by > 0 ? slices_.rbegin()->first : slices_.begin()->first;
    for (int k = from; by > 0 ? k <= last : k >= last; k += by) {
      const auto at = slices_.find(k);
      if (at != slices_.end() && join(at->second, circles)) {
        missing = 0;
      } else if (++missing == kMostMissing) {
        return;
      }
    }
  }

  bool join(const std::vector<std::size_t>& rows, TwoCircles& before) {
    if (rows.size() < kFewestOnSlice) return false;
    const std::vector<Vec2d> places = places_of(rows);
    const Span<const Vec2d> there{places.data(), places.size()};
    TwoCircles circles = before;
    fit_two_circles(there, kMostFitted, kFittedRounds, TwoCirclesFit::kFixed, circles);
    if (std::abs(circles.radius_m - before.radius_m) > kMostWider * before.radius_m) return false;
    const double most = std::max(kOnStem, kOnStemDeviations * deviation_of(there, circles));
    const auto is_on = [&](const Vec2d& p) { return std::abs(circles.nearer(p).off_m) <= most; };
    const auto on = static_cast<double>(std::count_if(places.begin(), places.end(), is_on));
    if (on < std::max<double>(kFewestOnSlice, kLeastOnStem * static_cast<double>(rows.size()))) return false;
    for (std::size_t j = 0; j < rows.size(); ++j) {
      if (!is_on(places[j])) continue;
      const double back = circles.nearer(places[j]).second ? -0.5 : 0.5;
      Vec3d& p = points_[rows[j]];
      p = {p.x + back * apart_.x, p.y + back * apart_.y, p.z};
    }
    before = circles;
    return true;
  }

  std::vector<Vec3d>& points_;
  const AboutAxis& axis_;
  const Slices& slices_;
  const Vec2d apart_;
};

}  // namespace

std::optional<Vec2d> stem_layers(Span<const Vec3d> points, const Stem& stem, const OpContext& ctx) {
  if (!stem.breast_height) return std::nullopt;
  const AboutAxis axis(stem);
  const double radius = stem.breast_height->circle.radius;
  std::array<std::vector<Vec2d>, kSections> sections;
  for (std::size_t i = 0; i < points.size; ++i) {
    if (i % kPollPoints == 0) ctx.checkpoint();
    const double at = axis.above(points[i]) / kSectionStep, nearest = std::rint(at);
    if (std::abs(nearest) > kSections / 2 || std::abs(at - nearest) * kSectionStep > kSectionHeight / 2)
      continue;
    const Vec2d place = axis.place(points[i]);
    if (std::abs(length(place) - radius) <= kRoom)
      sections[static_cast<std::size_t>(nearest + kSections / 2)].push_back(place);
  }
  std::vector<Pair> found;
  std::size_t seen = 0;
  for (const std::vector<Vec2d>& section : sections) {
    if (section.size() < kFewestPoints) continue;
    ++seen;
    ctx.checkpoint();
    if (const auto pair = pair_of(section, radius)) found.push_back(*pair);
  }
  const std::vector<Pair> same = agreed(found);
  if (same.size() < kFewestSections || 2 * same.size() < seen || !shows_both(same)) return std::nullopt;
  Vec2d sum{0, 0};
  for (const Pair& pair : same) sum = {sum.x + pair.circles.apart.x, sum.y + pair.circles.apart.y};
  const auto n = static_cast<double>(same.size());
  return turned_up({sum.x / n, sum.y / n});
}

bool join_layers(std::vector<Vec3d>& points, const Stem& stem, const Vec2d& apart, const OpContext& ctx) {
  if (!stem.breast_height) return false;
  const AboutAxis axis(stem);
  const double radius = stem.breast_height->circle.radius;
  Slices slices;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (i % kPollPoints == 0) ctx.checkpoint();
    const double above = axis.above(points[i]);
    if (std::abs(above) <= kMostAbove && length(axis.place(points[i])) <= radius + kRoom)
      slices[static_cast<int>(std::rint(above / kSectionStep))].push_back(i);
  }
  return LayersAlong(points, axis, slices, apart).run(radius);
}

}  // namespace pc
