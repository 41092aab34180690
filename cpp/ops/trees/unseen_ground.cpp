#include "ops/trees/unseen_ground.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include "core/memory.h"
#include "core/parallel.h"

namespace pc {

namespace {

constexpr double kLow = 2;  // metres above the ground: what hides more than the ground is no stem
constexpr double kEdge = 0.5, kMostEdge = 1, kSpacings = 2;
constexpr double kLeastCells = 100, kMostCells = 0x1p24;
constexpr std::size_t kBlock = 65'536, kPollRows = 64;

/// Square cells over the box of a plot: 1 = with a low point.
struct LowCells {
  Vec2d origin;
  double edge;
  std::size_t columns, rows;
  BulkVector<std::uint8_t> seen;
  double points = 0;  ///< low ones in the box

  /// columns * rows: no cell.
  std::size_t cell_of(const Vec3d& p) const {
    const double x = (p.x - origin.x) / edge, y = (p.y - origin.y) / edge;
    const bool inside = x >= 0 && y >= 0 && x < static_cast<double>(columns) && y < static_cast<double>(rows);
    return inside ? static_cast<std::size_t>(y) * columns + static_cast<std::size_t>(x) : columns * rows;
  }
};

/// No cells where the box has more than kMostCells of kMostEdge.
std::optional<LowCells> cells_over(const ConvexPolygon& plot) {
  Vec2d low = plot.front(), high = plot.front();
  for (const Vec2d& corner : plot) {
    low = {std::min(low.x, corner.x), std::min(low.y, corner.y)};
    high = {std::max(high.x, corner.x), std::max(high.y, corner.y)};
  }
  for (double edge = kEdge; edge <= kMostEdge; edge *= 2) {
    const double columns = std::floor((high.x - low.x) / edge) + 1,
                 rows = std::floor((high.y - low.y) / edge) + 1;
    if (!(columns * rows <= kMostCells)) continue;
    LowCells cells{low, edge, static_cast<std::size_t>(columns), static_cast<std::size_t>(rows), {}};
    cells.seen.resize(cells.columns * cells.rows);
    return cells;
  }
  return std::nullopt;
}

/// Calls visit(i) for the rows that lie low, from any thread, and adds up what it returns.
template <class Visit>
double sum_of_low(const TreeCloud& cloud, OpContext& ctx, const Visit& visit) {
  std::vector<double> parts((cloud.positions.size + kBlock - 1) / kBlock, 0);
  const auto run = [&](const auto& heights, const auto& is_ground) {
    parallel_for(ctx, cloud.positions.size, kBlock, [&](std::size_t begin, std::size_t end) {
      double sum = 0;
      for (std::size_t i = begin; i < end; ++i) {
        if (!cloud.skip.empty() && cloud.skip[i] != 0) continue;
        const auto height = static_cast<double>(heights[i]);
        const bool low = height != 0 && std::isfinite(height) && height < kLow;  // 0 = unknown
        if (low || is_ground(i)) sum += visit(i);
      }
      parts[begin / kBlock] = sum;
    });
  };
  visit_scalar(*cloud.height_above_ground, [&](auto heights) {
    if (cloud.ground_class == nullptr) return run(heights, [](std::size_t) { return false; });
    visit_scalar(*cloud.ground_class, [&](auto classes) {
      run(heights, [&](std::size_t i) { return std::rint(static_cast<double>(classes[i])) == 1; });
    });
  });
  return std::accumulate(parts.begin(), parts.end(), 0.0);
}

/// Cells of twice the edge.
LowCells coarser(const LowCells& fine) {
  LowCells out{fine.origin, 2 * fine.edge, (fine.columns + 1) / 2, (fine.rows + 1) / 2, {}, fine.points};
  out.seen.resize(out.columns * out.rows);
  for (std::size_t row = 0; row < fine.rows; ++row) {
    for (std::size_t column = 0; column < fine.columns; ++column)
      out.seen[row / 2 * out.columns + column / 2] |= fine.seen[row * fine.columns + column];
  }
  return out;
}

/// Share without a low point of the cells whose centres lie in the plot; NaN of too few.
double empty_share(const LowCells& cells, const ConvexPolygon& plot, OpContext& ctx) {
  double inside = 0, seen = 0;
  for (std::size_t row = 0; row < cells.rows; ++row) {
    if (row % kPollRows == 0) ctx.checkpoint();
    const auto [begin, end] = span_at(plot, cells.origin.y + (static_cast<double>(row) + 0.5) * cells.edge);
    for (std::size_t column = 0; column < cells.columns; ++column) {
      const double x = cells.origin.x + (static_cast<double>(column) + 0.5) * cells.edge;
      if (!(x >= begin && x <= end)) continue;
      ++inside;
      seen += cells.seen[row * cells.columns + column];
    }
  }
  return inside >= kLeastCells ? 1 - seen / inside : std::nan("");
}

}  // namespace

double unseen_ground(const TreeCloud& cloud, const ConvexPolygon& plot, OpContext& ctx) {
  const double unknown = std::nan("");
  if (cloud.height_above_ground == nullptr || plot.size() < 3) return unknown;
  ctx.begin_phase("Unseen ground", 0);
  std::optional<LowCells> cells = cells_over(plot);
  if (!cells) return unknown;
  cells->points = sum_of_low(cloud, ctx, [&](std::size_t i) {
    const std::size_t cell = cells->cell_of(cloud.positions[i] + cloud.shift);
    if (cell == cells->seen.size()) return 0;
    std::atomic_ref<std::uint8_t>(cells->seen[cell]).store(1, std::memory_order_relaxed);
    return 1;
  });
  const double least_edge = kSpacings * std::sqrt(area_of(plot) / cells->points);
  for (; cells->edge < least_edge; cells = coarser(*cells))
    if (cells->edge >= kMostEdge) return unknown;
  return empty_share(*cells, plot, ctx);
}

}  // namespace pc
