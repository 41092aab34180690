#include "ops/trees/tree_ground.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/linear_solve.h"

namespace pc {

namespace {

constexpr double kCell = 0.5, kCellReach = 2, kLeastDistance = 0.05;
constexpr double kLowHeight = 1, kNear = 0.5, kFar = 1;
constexpr std::size_t kPlanePoints = 6, kMedianPoints = 3, kNearest = 20;

std::int64_t cell_index(double value) {
  return static_cast<std::int64_t>(std::clamp(std::floor(value / kCell), -0x1p60, 0x1p60));
}

double median_of(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

}  // namespace

GroundHeights::GroundHeights(Span<const Vec3d> ground, OpContext& ctx) {
  std::vector<Cell> all;
  all.reserve(ground.size);
  for (std::size_t i = 0; i < ground.size; ++i) {
    if (i % (std::size_t{1} << 18) == 0) ctx.checkpoint();
    if (is_finite(ground[i]))
      all.push_back({cell_index(ground[i].x), cell_index(ground[i].y), ground[i].z, 1});
  }
  ctx.checkpoint();
  std::stable_sort(all.begin(), all.end(),
                   [](const Cell& a, const Cell& b) { return a.y < b.y || (a.y == b.y && a.x < b.x); });
  for (const Cell& cell : all) {
    if (!cells_.empty() && cells_.back().x == cell.x && cells_.back().y == cell.y) {
      cells_.back().sum += cell.sum;
      ++cells_.back().count;
    } else {
      cells_.push_back(cell);
    }
  }
  cells_.shrink_to_fit();
}

double GroundHeights::at(const Vec2d& place) const {
  const auto reach = static_cast<std::int64_t>(kCellReach / kCell) + 1;
  const std::int64_t x = cell_index(place.x), y = cell_index(place.y);
  double sum = 0, weights = 0;
  for (std::int64_t row = y - reach; row <= y + reach; ++row) {
    const auto before = [&](const Cell& cell, std::int64_t column) {
      return cell.y < row || (cell.y == row && cell.x < column);
    };
    for (auto cell = std::lower_bound(cells_.begin(), cells_.end(), x - reach, before);
         cell != cells_.end() && cell->y == row && cell->x <= x + reach; ++cell) {
      const double dx = (static_cast<double>(cell->x) + 0.5) * kCell - place.x;
      const double dy = (static_cast<double>(cell->y) + 0.5) * kCell - place.y;
      const double distance = std::sqrt(dx * dx + dy * dy);
      if (distance > kCellReach) continue;
      const double weight = 1 / std::max(distance, kLeastDistance);
      sum += weight * cell->sum / static_cast<double>(cell->count);
      weights += weight;
    }
  }
  return weights > 0 ? sum / weights : std::nan("");
}

TreeGround::TreeGround(Span<const Vec3d> points, Span<const double> heights, const GroundHeights& cells)
    : cells_(cells), lowest_(HUGE_VAL) {
  for (std::size_t i = 0; i < points.size; ++i) {
    lowest_ = std::min(lowest_, points[i].z);
    if (heights.empty() || !std::isfinite(heights[i])) continue;
    implied_.push_back({{points[i].x, points[i].y}, points[i].z - heights[i], heights[i] < kLowHeight});
  }
  const auto key = [](const Implied& p) { return std::pair(cell_index(p.place.y), cell_index(p.place.x)); };
  std::stable_sort(implied_.begin(), implied_.end(),
                   [&](const Implied& a, const Implied& b) { return key(a) < key(b); });
  for (const Implied& p : implied_) keys_.push_back(key(p));
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
  std::vector<double> rows, ground;
  for_each_within(place, kNear, [&](const Implied& p, double dx, double dy, double) {
    if (!p.low) return;
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
    if (plane.rank == 3) return mean + plane.x[0];
    for (double& g : ground) g += mean;
  }
  if (ground.size() >= kMedianPoints) return median_of(ground);
  std::vector<std::pair<double, double>> near;
  for_each_within(place, kFar, [&](const Implied& p, double, double, double distance) {
    near.emplace_back(distance, p.ground);
  });
  if (near.empty()) return std::nan("");
  std::sort(near.begin(), near.end());
  near.resize(std::min(near.size(), kNearest));
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
