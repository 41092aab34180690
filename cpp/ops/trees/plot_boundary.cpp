#include "ops/trees/plot_boundary.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace pc {

namespace {

constexpr double kEdge = 2.5;  // gaps of less than two edges belong to a plot
constexpr double kHalf = 0x1.0p30;
constexpr std::size_t kMostCells = 1 << 16, kPending = 1 << 16, kRecent = 1 << 12;
constexpr std::size_t kMostPlotCorners = 720, kCornersOfShare = 64, kPollCells = 1 << 12;
constexpr double kLeastCells = 20, kSpacings = 2;
constexpr double kLeastBaseShare = 0.9, kLeastCrownShare = 0.5, kLeastSeenShare = 0.5;

std::uint64_t index_of(double value) {
  return static_cast<std::uint64_t>(std::clamp(std::floor(value / kEdge), -kHalf, kHalf - 1) + kHalf);
}

std::uint64_t packed(std::uint64_t x, std::uint64_t y) { return y << 32 | x; }
std::uint64_t x_of(std::uint64_t cell) { return cell & 0xffffffff; }
std::uint64_t y_of(std::uint64_t cell) { return cell >> 32; }

void unique_sort(std::vector<std::uint64_t>& cells, const OpContext& ctx) {
  ctx.checkpoint();
  std::sort(cells.begin(), cells.end());
  cells.erase(std::unique(cells.begin(), cells.end()), cells.end());
}

std::vector<std::uint64_t> doubled(std::vector<std::uint64_t> cells, const OpContext& ctx) {
  for (std::uint64_t& cell : cells) cell = packed(x_of(cell) >> 1, y_of(cell) >> 1);
  unique_sort(cells, ctx);
  return cells;
}

/// The cells and their eight neighbours, one more than their indices.
std::vector<std::uint64_t> grown(const std::vector<std::uint64_t>& cells, const OpContext& ctx) {
  std::vector<std::uint64_t> near;
  near.reserve(9 * cells.size());
  for (const std::uint64_t cell : cells) {
    for (std::uint64_t row = 0; row < 3; ++row) {
      for (std::uint64_t column = 0; column < 3; ++column)
        near.push_back(packed(x_of(cell) + column, y_of(cell) + row));
    }
  }
  unique_sort(near, ctx);
  return near;
}

/// Whether all neighbours of a cell are there, too. Cells are ascending.
bool is_inner(const std::vector<std::uint64_t>& cells, std::size_t at) {
  const std::uint64_t x = x_of(cells[at]), y = y_of(cells[at]);
  if (x == 0 || y == 0) return false;
  const auto has_row = [&](std::uint64_t row) {
    const auto first = std::lower_bound(cells.begin(), cells.end(), packed(x - 1, row));
    return cells.end() - first >= 3 && first[0] == packed(x - 1, row) && first[2] == packed(x + 1, row);
  };
  return has_row(y - 1) && has_row(y) && has_row(y + 1);
}

/// Shares of the bases and of the crown area inside; NaN without any.
struct Inside {
  double bases, crowns;
};

Inside inside_of(const ConvexPolygon& polygon, const PlotEvidence& evidence, const OpContext& ctx) {
  double bases = 0, area = 0, common = 0;
  for (const Vec2d& base : evidence.bases) bases += contains(polygon, base) ? 1 : 0;
  for (const ConvexPolygon& crown : evidence.crowns) {
    ctx.checkpoint();
    area += area_of(crown);
    common += area_of(intersection_of(crown, polygon));
  }
  return {bases / static_cast<double>(evidence.bases.size()), common / area};
}

}  // namespace

void SeenCells::add(const Vec2d& point, const OpContext& ctx) {
  if (!std::isfinite(point.x) || !std::isfinite(point.y)) return;
  ++point_count_;
  const std::uint64_t cell = packed(index_of(point.x) >> doublings_, index_of(point.y) >> doublings_);
  if (recent_.empty()) recent_.assign(kRecent, ~std::uint64_t{0});
  std::uint64_t& recent = recent_[(cell * 0x9e3779b97f4a7c15U) >> 52];
  if (recent == cell) return;
  recent = cell;
  pending_.push_back(cell);
  if (pending_.size() >= kPending) merge(ctx);
}

void SeenCells::merge(const OpContext& ctx) {
  cells_.insert(cells_.end(), pending_.begin(), pending_.end());
  pending_.clear();
  unique_sort(cells_, ctx);
  for (; cells_.size() > kMostCells; ++doublings_) {
    cells_ = doubled(std::move(cells_), ctx);
    recent_.clear();
  }
}

double SeenCells::share_of(const ConvexPolygon& polygon, const OpContext& ctx) {
  const double area = area_of(polygon);
  merge(ctx);
  std::vector<std::uint64_t> cells = cells_;
  int doublings = doublings_;
  const double least = kSpacings * std::sqrt(area / static_cast<double>(point_count_));
  for (; doublings < 31 && std::ldexp(kEdge, doublings) < least; ++doublings)
    cells = doubled(std::move(cells), ctx);
  const double edge = std::ldexp(kEdge, doublings);
  if (!(area >= kLeastCells * edge * edge)) return 1;
  const std::vector<std::uint64_t> near = grown(cells, ctx);
  const ConvexPolygon outline = with_fewer_corners(polygon, kCornersOfShare);
  const auto center = [&](std::uint64_t index) {
    return (static_cast<double>(index) - 0.5) * edge - kHalf * kEdge;
  };
  double inside = 0;
  for (std::size_t i = 0; i < near.size(); ++i) {
    if (i % kPollCells == 0) ctx.checkpoint();
    if (is_inner(near, i))
      inside += contains(outline, {center(x_of(near[i])), center(y_of(near[i]))}) ? 1 : 0;
  }
  return std::min(1.0, inside * edge * edge / area);
}

PlotBoundary plot_boundary(const PlotEvidence& evidence, SeenCells& seen, const OpContext& ctx) {
  PlotBoundary out{{}, PlotSource::kNone, 0, std::nan(""), std::nan(""), false};
  const bool has_ground = evidence.ground.size() >= 3;
  bool on_ground = has_ground;
  if (has_ground) {
    const Inside inside = inside_of(evidence.ground, evidence, ctx);
    on_ground = !(inside.bases < kLeastBaseShare) && !(inside.crowns < kLeastCrownShare);
    out.ground_share = std::fmin(inside.bases, inside.crowns);
    out.ground_refused = !on_ground;
  }
  const ConvexPolygon& hull = on_ground ? evidence.ground : evidence.all;
  if (hull.size() < 3) return out;
  out.seen_share = seen.share_of(hull, ctx);
  if (out.seen_share < kLeastSeenShare) return out;
  out.source = on_ground ? PlotSource::kGroundClass : PlotSource::kAllPoints;
  out.polygon = with_fewer_corners(hull, kMostPlotCorners);
  out.area_m2 = area_of(out.polygon);
  return out;
}

}  // namespace pc
