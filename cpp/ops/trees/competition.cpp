#include "ops/trees/competition.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/error.h"
#include "core/memory.h"
#include "core/parallel.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = 256;

/// The trees of a stand by square cells, in the order of their rows within a cell.
class StemGrid {
 public:
  StemGrid(Span<const Vec2d> stems, Span<const double> diameters, double cell) : cell_(cell) {
    for (std::size_t i = 0; i < stems.size; ++i) {
      if (diameters[i] > 0 && std::isfinite(stems[i].x) && std::isfinite(stems[i].y)) rows_.push_back(i);
    }
    if (rows_.empty()) return;
    Vec2d high = stems[rows_[0]];
    low_ = high;
    for (const std::size_t row : rows_) {
      low_ = {std::min(low_.x, stems[row].x), std::min(low_.y, stems[row].y)};
      high = {std::max(high.x, stems[row].x), std::max(high.y, stems[row].y)};
    }
    keys_.resize(rows_.size());
    for (std::size_t i = 0; i < rows_.size(); ++i) keys_[i] = {cell_of(stems[rows_[i]]), rows_[i]};
    std::sort(keys_.begin(), keys_.end());
  }

  /// Calls visit(row) for the trees in the cell of a point and in its eight neighbours, row by row of cells.
  template <class Visit>
  void for_each_near(const Vec2d& point, Visit&& visit) const {
    const Cell at = cell_of(point);
    for (std::int64_t y = at.y - 1; y <= at.y + 1; ++y) {
      auto entry = std::lower_bound(keys_.begin(), keys_.end(), Entry{{at.x - 1, y}, 0});
      for (; entry != keys_.end() && entry->cell.y == y && entry->cell.x <= at.x + 1; ++entry)
        visit(entry->row);
    }
  }

 private:
  struct Cell {
    std::int64_t x, y;
  };
  struct Entry {
    Cell cell;
    std::size_t row;
    friend bool operator<(const Entry& a, const Entry& b) {
      if (a.cell.y != b.cell.y) return a.cell.y < b.cell.y;
      if (a.cell.x != b.cell.x) return a.cell.x < b.cell.x;
      return a.row < b.row;
    }
  };
  /// Far away cells saturate: they have no neighbours within the radius.
  Cell cell_of(const Vec2d& p) const {
    const auto index = [&](double value, double low) {
      return static_cast<std::int64_t>(std::clamp(std::floor((value - low) / cell_), -0x1p60, 0x1p60));
    };
    return {index(p.x, low_.x), index(p.y, low_.y)};
  }

  double cell_;
  Vec2d low_{0, 0};
  std::vector<std::size_t> rows_;
  std::vector<Entry> keys_;
};

}  // namespace

Competition competition(Span<const Vec2d> stems, Span<const double> diameters,
                        const CompetitionParams& params, OpContext& ctx) {
  require(stems.size == diameters.size, "every stem needs a diameter, NaN if it is unknown");
  require(std::isfinite(params.radius_m) && params.radius_m > 0, "radius_m must be finite and above 0");
  require(params.least_distance_m > 0, "least_distance_m must be above 0");
  const std::size_t n = stems.size;
  const bool has_plot = params.plot.size() >= 3;
  Competition out{std::vector<double>(n, std::nan("")), std::vector<double>(n, std::nan("")),
                  std::vector<std::uint32_t>(n, 0), std::vector<std::uint8_t>(n, 1)};
  ctx.begin_phase("Stand metrics", 2 * n);
  const StemGrid grid(stems, diameters, params.radius_m);
  std::vector<double> depth(n, -1);  // inside the plot's border
  if (has_plot) {
    parallel_for(ctx, n, kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) depth[i] = depth_of(params.plot, stems[i]);
    });
  }
  parallel_for(ctx, n, kGrain, [&](std::size_t begin, std::size_t end) {
    std::vector<std::pair<std::size_t, double>> near;
    for (std::size_t i = begin; i < end; ++i) {
      out.edge[i] = depth[i] >= params.radius_m ? 0 : 1;
      if (!std::isfinite(stems[i].x) || !std::isfinite(stems[i].y)) continue;
      near.clear();
      grid.for_each_near(stems[i], [&](std::size_t j) {
        const double dx = stems[j].x - stems[i].x, dy = stems[j].y - stems[i].y;
        const double distance = std::sqrt(dx * dx + dy * dy);
        if (j != i && distance <= params.radius_m) near.emplace_back(j, distance);
      });
      out.neighbor_count[i] = static_cast<std::uint32_t>(near.size());
      if (!(diameters[i] > 0)) continue;
      std::sort(near.begin(), near.end());
      double plain = 0, corrected = 0;
      for (const auto& [j, distance] : near) {
        const double term = diameters[j] / diameters[i] / std::max(distance, params.least_distance_m);
        plain += term;
        if (depth[i] < 0 || depth[j] < 0) continue;
        corrected += depth[i] < distance ? term / arc_inside(params.plot, stems[i], distance) : term;
      }
      out.hegyi[i] = plain;
      if (depth[i] >= 0) out.hegyi_corrected[i] = corrected;
    }
  });
  return out;
}

}  // namespace pc
