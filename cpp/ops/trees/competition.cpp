#include "ops/trees/competition.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "core/error.h"
#include "core/parallel.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = 256;

/// The trees of a stand by square cells, in the order of their rows within a cell. Neighbours in the stand are
/// neighbours in memory.
class StemGrid {
 public:
  struct Stem {
    Vec2d place;
    double diameter;
    std::size_t row;
  };

  StemGrid(Span<const Vec2d> stems, Span<const double> diameters, double cell) : cell_(cell) {
    std::vector<std::size_t> rows;
    for (std::size_t i = 0; i < stems.size; ++i) {
      if (diameters[i] > 0 && is_place(stems[i])) rows.push_back(i);
    }
    if (rows.empty()) return;
    low_ = stems[rows[0]];
    for (const std::size_t row : rows)
      low_ = {std::min(low_.x, stems[row].x), std::min(low_.y, stems[row].y)};
    struct Keyed {
      Cell cell;
      std::size_t row;
    };
    std::vector<Keyed> keyed(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) keyed[i] = {cell_of(stems[rows[i]]), rows[i]};
    std::sort(keyed.begin(), keyed.end(), [](const Keyed& a, const Keyed& b) {
      return a.cell < b.cell || (!(b.cell < a.cell) && a.row < b.row);
    });
    for (const auto& [at, row] : keyed) {
      cells_.push_back(at);
      stems_.push_back({stems[row], diameters[row], row});
    }
  }

  std::size_t size() const { return stems_.size(); }
  const Stem& operator[](std::size_t i) const { return stems_[i]; }

  /// The stems in the cell of a place and in its eight neighbours: a range for each row of cells.
  struct Near {
    std::int64_t x, y;
    std::array<std::pair<std::size_t, std::size_t>, 3> ranges;
  };
  /// `last` is the answer for a place before this one, which may lie in the same cell.
  void find_near(const Vec2d& place, std::optional<Near>& last) const {
    const Cell at = cell_of(place);
    if (last && last->x == at.x && last->y == at.y) return;
    last = Near{at.x, at.y, {}};
    for (std::int64_t k = 0; k < 3; ++k) {
      const std::int64_t y = at.y + k - 1;
      const auto first = std::lower_bound(cells_.begin(), cells_.end(), Cell{at.x - 1, y});
      const auto end = std::lower_bound(first, cells_.end(), Cell{at.x + 2, y});
      last->ranges[static_cast<std::size_t>(k)] = {static_cast<std::size_t>(first - cells_.begin()),
                                                   static_cast<std::size_t>(end - cells_.begin())};
    }
  }

  static bool is_place(const Vec2d& p) { return std::isfinite(p.x) && std::isfinite(p.y); }

 private:
  struct Cell {
    std::int64_t x, y;
    friend bool operator<(const Cell& a, const Cell& b) { return a.y < b.y || (a.y == b.y && a.x < b.x); }
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
  std::vector<Cell> cells_;
  std::vector<Stem> stems_;  ///< as cells_
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
  const auto measure = [&](const StemGrid::Stem& own, std::optional<StemGrid::Near>& near) {
    const std::size_t i = own.row;
    out.edge[i] = depth[i] >= params.radius_m ? 0 : 1;
    if (!StemGrid::is_place(own.place)) return;
    ctx.checkpoint();
    double plain = 0, corrected = 0;
    std::uint32_t count = 0;
    grid.find_near(own.place, near);
    for (const auto& [first, end] : near->ranges) {
      for (std::size_t k = first; k < end; ++k) {
        const StemGrid::Stem& other = grid[k];
        const double dx = other.place.x - own.place.x, dy = other.place.y - own.place.y;
        const double square = dx * dx + dy * dy;
        if (other.row == i || !(square <= params.radius_m * params.radius_m)) continue;
        ++count;
        const double distance = std::sqrt(square);
        const double term = other.diameter / own.diameter / std::max(distance, params.least_distance_m);
        plain += term;
        if (depth[i] < 0 || depth[other.row] < 0) continue;
        if (depth[i] >= distance) {
          corrected += term;
          continue;
        }
        ctx.checkpoint();
        corrected += term / arc_inside(params.plot, own.place, distance);
      }
    }
    out.neighbor_count[i] = count;
    if (!(own.diameter > 0)) return;
    out.hegyi[i] = plain;
    if (depth[i] >= 0) out.hegyi_corrected[i] = corrected;
  };
  std::vector<StemGrid::Stem> others;  // without a diameter or a place
  for (std::size_t i = 0; i < n; ++i) {
    if (!(diameters[i] > 0) || !StemGrid::is_place(stems[i])) others.push_back({stems[i], std::nan(""), i});
  }
  parallel_for(ctx, grid.size() + others.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    std::optional<StemGrid::Near> near;
    for (std::size_t k = begin; k < end; ++k)
      measure(k < grid.size() ? grid[k] : others[k - grid.size()], near);
  });
  return out;
}

}  // namespace pc
