#include "ops/trees/tree_ground.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "core/linear_solve.h"
#include "core/polled_sort.h"

namespace pc {

namespace {

constexpr double kCell = 0.5, kCellReach = 2, kLeastDistance = 0.05;
constexpr double kLowHeight = 1, kNear = 0.5, kFar = 1;
constexpr std::size_t kPlanePoints = 6, kMedianPoints = 3, kNearest = 20;
constexpr std::size_t kMostPlanePoints = 20'000;
/// Variance of the plane at the place, as a multiple of that of one point: beyond it the plane is guessed from afar, as
/// from the points of one scan line beside the place.
constexpr double kMostLeverage = 1;
constexpr std::size_t kLeastPending = 1 << 18, kPollPoints = 1 << 16;

std::int64_t cell_index(double value) {
  return static_cast<std::int64_t>(std::clamp(std::floor(value / kCell), -0x1p60, 0x1p60));
}

double median_of(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

/// Variance of a plane at the origin of its rows (1, dx, dy), where each of them has variance 1.
double leverage_of(const std::vector<double>& rows) {
  const double n = static_cast<double>(rows.size() / 3);
  double mx = 0, my = 0, xx = 0, xy = 0, yy = 0;
  for (std::size_t i = 0; i < rows.size(); i += 3) {
    mx += rows[i + 1] / n;
    my += rows[i + 2] / n;
  }
  for (std::size_t i = 0; i < rows.size(); i += 3) {
    const double dx = rows[i + 1] - mx, dy = rows[i + 2] - my;
    xx += dx * dx;
    xy += dx * dy;
    yy += dy * dy;
  }
  const double det = xx * yy - xy * xy;
  if (!(det > 0)) return std::numeric_limits<double>::infinity();
  return 1 / n + (mx * mx * yy - 2 * mx * my * xy + my * my * xx) / det;
}

/// Place of the highest point whose height above ground is known; of equally high ones the first by x, then y.
std::optional<Vec2d> top_of(Span<const Vec3d> points, Span<const double> heights, const OpContext& ctx) {
  std::optional<Vec2d> top;
  double highest = 0;
  for (std::size_t i = 0; i < heights.size; ++i) {
    if (i % kPollPoints == 0) ctx.checkpoint();
    const Vec3d& p = points[i];
    if (!std::isfinite(heights[i]) || (top && p.z < highest)) continue;
    if (top && p.z == highest && std::pair(p.x, p.y) >= std::pair(top->x, top->y)) continue;
    top = Vec2d{p.x, p.y};
    highest = p.z;
  }
  return top;
}

}  // namespace

GroundHeights::GroundHeights(Span<const Vec3d> ground, OpContext& ctx) {
  for (std::size_t i = 0; i < ground.size; ++i) add(ground[i], ctx);
  finish(ctx);
}

void GroundHeights::add(const Vec3d& point, const OpContext& ctx) {
  if (!is_finite(point)) return;
  pending_.push_back({cell_index(point.x), cell_index(point.y), point.z, 1});
  // Merging costs the length of both lists, so the new one grows with the old one.
  if (pending_.size() >= std::max(kLeastPending, cells_.size())) finish(ctx);
}

void GroundHeights::finish(const OpContext& ctx) {
  const auto before = [](const Cell& a, const Cell& b) { return a.y < b.y || (a.y == b.y && a.x < b.x); };
  polled_stable_sort(pending_.begin(), pending_.end(), before, ctx);
  std::vector<Cell> merged;
  merged.reserve(cells_.size());
  const auto take = [&](const Cell& cell) {
    if (!merged.empty() && merged.back().x == cell.x && merged.back().y == cell.y) {
      merged.back().sum += cell.sum;
      merged.back().count += cell.count;
    } else {
      merged.push_back(cell);
    }
  };
  auto old = cells_.cbegin();
  for (const Cell& cell : pending_) {
    for (; old != cells_.cend() && !before(cell, *old); ++old) take(*old);
    take(cell);
  }
  for (; old != cells_.cend(); ++old) take(*old);
  cells_ = std::move(merged);
  pending_.clear();
}

template <class Visit>
void GroundHeights::for_each_near(const Vec2d& place, Visit&& visit) const {
  const auto reach = static_cast<std::int64_t>(kCellReach / kCell) + 1;
  const std::int64_t x = cell_index(place.x), y = cell_index(place.y);
  for (std::int64_t row = y - reach; row <= y + reach; ++row) {
    const auto before = [&](const Cell& cell, std::int64_t column) {
      return cell.y < row || (cell.y == row && cell.x < column);
    };
    for (auto cell = std::lower_bound(cells_.begin(), cells_.end(), x - reach, before);
         cell != cells_.end() && cell->y == row && cell->x <= x + reach; ++cell) {
      const double dx = (static_cast<double>(cell->x) + 0.5) * kCell - place.x;
      const double dy = (static_cast<double>(cell->y) + 0.5) * kCell - place.y;
      const double distance = std::sqrt(dx * dx + dy * dy);
      if (distance <= kCellReach) visit(*cell, distance);
    }
  }
}

double GroundHeights::at(const Vec2d& place) const {
  double sum = 0, weights = 0;
  for_each_near(place, [&](const Cell& cell, double distance) {
    const double weight = 1 / std::max(distance, kLeastDistance);
    sum += weight * cell.sum / static_cast<double>(cell.count);
    weights += weight;
  });
  return weights > 0 ? sum / weights : std::nan("");
}

double GroundHeights::spacing(const Vec2d& place) const {
  std::uint64_t cells = 0, points = 0;
  for_each_near(place, [&](const Cell& cell, double) {
    cells += 1;
    points += cell.count;
  });
  if (points == 0) return std::nan("");
  return kCell / 2 * std::sqrt(static_cast<double>(cells) / static_cast<double>(points));
}

double GroundHeights::share_around(const Vec2d& place) const {
  if (cells_.empty() || !std::isfinite(place.x) || !std::isfinite(place.y)) return std::nan("");
  std::uint64_t held = 0, all = 0;
  for_each_near(place, [&](const Cell&, double) { held += 1; });
  const double x = place.x - static_cast<double>(cell_index(place.x)) * kCell,
               y = place.y - static_cast<double>(cell_index(place.y)) * kCell;
  constexpr int kReach = static_cast<int>(kCellReach / kCell) + 1;
  for (int row = -kReach; row <= kReach; ++row)
    for (int column = -kReach; column <= kReach; ++column)
      all += std::hypot((column + 0.5) * kCell - x, (row + 0.5) * kCell - y) <= kCellReach ? 1 : 0;
  return std::min(1.0, static_cast<double>(held) / static_cast<double>(all));
}

TreeGround::TreeGround(Span<const Vec3d> points, Span<const double> heights, const GroundHeights& cells,
                       const OpContext& ctx)
    : cells_(cells), lowest_(HUGE_VAL), top_(top_of(points, heights, ctx)) {
  struct Keyed {
    std::pair<std::int64_t, std::int64_t> key;
    Implied implied;
  };
  std::vector<Keyed> keyed;
  for (std::size_t i = 0; i < points.size; ++i) {
    if (i % kPollPoints == 0) ctx.checkpoint();
    const Vec3d& p = points[i];
    lowest_ = std::min(lowest_, p.z);
    if (heights.empty() || !std::isfinite(heights[i])) continue;
    keyed.push_back(
        {{cell_index(p.y), cell_index(p.x)}, {{p.x, p.y}, p.z - heights[i], heights[i] < kLowHeight}});
  }
  polled_stable_sort(
      keyed.begin(), keyed.end(), [](const Keyed& a, const Keyed& b) { return a.key < b.key; }, ctx);
  implied_.reserve(keyed.size());
  keys_.reserve(keyed.size());
  for (const Keyed& one : keyed) {
    implied_.push_back(one.implied);
    keys_.push_back(one.key);
  }
}

template <class Visit>
void TreeGround::for_each_within(const Vec2d& place, double radius, Visit&& visit) const {
  const auto reach = static_cast<std::int64_t>(std::ceil(radius / kCell));
  const std::int64_t x = cell_index(place.x), y = cell_index(place.y);
  for (std::int64_t row = y - reach; row <= y + reach; ++row) {
    auto at = std::lower_bound(keys_.begin(), keys_.end(), std::pair(row, x - reach));
    for (; at != keys_.end() && at->first == row && at->second <= x + reach; ++at) {
      const Implied& p = implied_[static_cast<std::size_t>(at - keys_.begin())];
      const double dx = p.place.x - place.x, dy = p.place.y - place.y;
      const double distance = std::sqrt(dx * dx + dy * dy);
      if (distance <= radius) visit(p, dx, dy, distance);
    }
  }
}

double TreeGround::from_heights(const Vec2d& place) const {
  std::size_t low_count = 0, seen = 0;
  for_each_within(place, kNear,
                  [&](const Implied& p, double, double, double) { low_count += p.low ? 1 : 0; });
  const std::size_t stride = low_count / kMostPlanePoints + 1;
  std::vector<double> rows, ground;
  for_each_within(place, kNear, [&](const Implied& p, double dx, double dy, double) {
    if (!p.low || seen++ % stride != 0) return;
    rows.insert(rows.end(), {1, dx, dy});
    ground.push_back(p.ground);
  });
  if (ground.size() >= kPlanePoints) {
    // About the mean, so that heights of any size keep their digits.
    const double mean =
        std::accumulate(ground.begin(), ground.end(), 0.0) / static_cast<double>(ground.size());
    for (double& g : ground) g -= mean;
    const LeastSquares plane =
        solve_least_squares({{rows.data(), rows.size()}, ground.size(), 3}, {ground.data(), ground.size()});
    if (plane.rank == 3 && leverage_of(rows) <= kMostLeverage) return mean + plane.x[0];
    for (double& g : ground) g += mean;
  }
  if (ground.size() >= kMedianPoints) return median_of(ground);
  std::vector<std::pair<double, double>> near;
  for_each_within(place, kFar, [&](const Implied& p, double, double, double distance) {
    near.emplace_back(distance, p.ground);
  });
  if (near.empty()) return std::nan("");
  const std::size_t count = std::min(near.size(), kNearest);
  std::partial_sort(near.begin(), near.begin() + static_cast<std::ptrdiff_t>(count), near.end());
  near.resize(count);
  std::vector<double> values;
  for (const auto& [distance, value] : near) values.push_back(value);
  return median_of(values);
}

TreeGround::Answer TreeGround::at(const Vec2d& place) const {
  if (!implied_.empty()) {
    if (const double z = from_heights(place); std::isfinite(z)) return {z, GroundSource::kHeightAboveGround};
  }
  if (const double z = cells_.at(place); std::isfinite(z)) return {z, GroundSource::kGroundClass};
  return {lowest_, GroundSource::kTreeMinimum};
}

}  // namespace pc
