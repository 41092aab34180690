#include "ops/trees/drift_check.h"

#include <algorithm>
#include <cmath>

#include "core/nth_smallest.h"

namespace pc {

namespace {

constexpr std::size_t kFolds = 5;
constexpr double kMostLeft = 0.5;  // of the distances, where scans drift

/// Root mean square distance of the places of a stem from their middle, each moved back by `offset`.
template <class Offset>
double spread_of(const std::vector<ViewPlace>& places, Offset&& offset) {
  const auto n = static_cast<double>(places.size());
  std::vector<Vec2d> at;
  Vec2d middle{0, 0};
  for (const ViewPlace& place : places) {
    const Vec2d by = offset(place);
    at.push_back({place.center.x - by.x, place.center.y - by.y});
    middle = {middle.x + at.back().x / n, middle.y + at.back().y / n};
  }
  double squares = 0;
  for (const Vec2d& one : at)
    squares += (one.x - middle.x) * (one.x - middle.x) + (one.y - middle.y) * (one.y - middle.y);
  return std::sqrt(squares / n);
}

}  // namespace

bool is_real_drift(const std::vector<std::vector<ViewPlace>>& stems, OpContext& ctx) {
  std::vector<std::vector<ViewPlace>> shown;
  for (const auto& places : stems)
    if (places.size() >= 2) shown.push_back(places);
  if (shown.size() < kFewestCheckedStems) return false;
  const std::size_t folds = std::min(kFolds, shown.size());
  std::vector<double> before, after;
  for (std::size_t fold = 0; fold < folds; ++fold) {
    std::vector<std::vector<ViewPlace>> others;
    for (std::size_t i = 0; i < shown.size(); ++i)
      if (i % folds != fold) others.push_back(shown[i]);
    const auto fit = fit_drift(others, ctx);
    if (!fit) return false;
    for (std::size_t i = fold; i < shown.size(); i += folds) {
      before.push_back(spread_of(shown[i], [](const ViewPlace&) { return Vec2d{0, 0}; }));
      after.push_back(
          spread_of(shown[i], [&](const ViewPlace& place) { return fit->drift.at(place.at, place.center); }));
    }
  }
  return upper_median(after) < kMostLeft * upper_median(before);
}

}  // namespace pc
