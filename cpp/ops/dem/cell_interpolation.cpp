#include "ops/dem/cell_interpolation.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <vector>

#include "core/memory.h"
#include "core/parallel.h"
#include "spatial/divide_delaunay.h"
#include "spatial/floor_division.h"
#include "spatial/nearest_cells.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 14;

/// Known cells that share a side with an unknown cell or the rim of the grid: u = row, v = column.
BulkVector<LatticePoint> rim_cells(const KnownCells& s, OpContext& ctx) {
  const auto is_rim = [&](std::size_t j, std::size_t i) {
    const std::size_t c = j * s.nx + i;
    if (s.known[c] == 0) return false;
    return i == 0 || j == 0 || i + 1 == s.nx || j + 1 == s.ny || s.known[c - 1] == 0 || s.known[c + 1] == 0 ||
           s.known[c - s.nx] == 0 || s.known[c + s.nx] == 0;
  };
  BulkVector<std::uint64_t> starts(s.ny + std::size_t{1});
  const std::size_t grain = 1 + 65536 / (std::size_t{s.nx} + 1);
  parallel_for(ctx, s.ny, grain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t j = begin; j < end; ++j) {
      for (std::size_t i = 0; i < s.nx; ++i) starts[j + 1] += is_rim(j, i);
    }
  });
  for (std::size_t j = 0; j < s.ny; ++j) starts[j + 1] += starts[j];
  BulkVector<LatticePoint> cells(starts[s.ny]);
  parallel_for(ctx, s.ny, grain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t j = begin; j < end; ++j) {
      std::size_t at = starts[j];
      for (std::size_t i = 0; i < s.nx; ++i) {
        if (is_rim(j, i)) cells[at++] = {static_cast<std::int32_t>(j), static_cast<std::int32_t>(i)};
      }
    }
  });
  return cells;
}

/// A triangle of cells. A point on a side shared by two triangles belongs to exactly one of them.
struct Facet {
  std::array<LatticePoint, 3> p;
  std::array<bool, 3> closed;  ///< points on side i belong to the triangle
  std::int64_t twice_area;

  Facet(const DelaunayTriangle& t, const BulkVector<LatticePoint>& points) {
    for (std::size_t i = 0; i < 3; ++i) p[i] = points[t.corner[i]];
    for (std::size_t i = 0; i < 3; ++i) {
      const std::int32_t du = p[(i + 1) % 3].u - p[i].u, dv = p[(i + 1) % 3].v - p[i].v;
      closed[i] = t.on_hull[i] || du > 0 || (du == 0 && dv < 0);
    }
    twice_area = lattice_orient(p[0], p[1], p[2]);
  }
  std::int64_t first_row() const { return std::min({p[0].u, p[1].u, p[2].u}); }
  std::int64_t last_row() const { return std::max({p[0].u, p[1].u, p[2].u}); }
  /// Columns of a row that belong to the triangle.
  HullRow columns(std::int64_t u) const {
    HullRow range{std::min({p[0].v, p[1].v, p[2].v}), std::max({p[0].v, p[1].v, p[2].v})};
    for (std::size_t i = 0; i < 3; ++i) {
      const LatticePoint &a = p[i], &b = p[(i + 1) % 3];
      const std::int64_t du = b.u - a.u, dv = b.v - a.v;
      // The condition for a point left of the side: du (v - a.v) - dv (u - a.u) >= limit.
      const std::int64_t rest = (closed[i] ? 0 : 1) + dv * (u - a.u);
      if (du > 0) {
        range.first = std::max(range.first, a.v - floor_division(-rest, du));
      } else if (du < 0) {
        range.last = std::min(range.last, a.v + floor_division(-rest, -du));
      } else if (rest > 0) {
        return {0, -1};
      }
    }
    return range;
  }
};

/// Collects cells from all threads, some hundred at a time.
template <class Cell>
class Collector {
 public:
  Collector(BulkVector<Cell>& cells, std::atomic<std::uint64_t>& count) : cells_(cells), count_(count) {}
  ~Collector() { flush(); }
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;
  void add(const Cell& cell) {
    held_[used_++] = cell;
    if (used_ == held_.size()) flush();
  }

 private:
  void flush() {
    const std::uint64_t at = count_.fetch_add(used_, std::memory_order_relaxed);
    std::copy_n(held_.begin(), used_, cells_.view().subspan(at, used_).begin());
    used_ = 0;
  }
  BulkVector<Cell>& cells_;
  std::atomic<std::uint64_t>& count_;
  std::array<Cell, 256> held_;
  std::size_t used_ = 0;
};

void collect_facet(const Facet& facet, const KnownCells& s, Collector<TinInterpolation::Cell>& out) {
  const auto cell = [&](const LatticePoint& p) {
    return static_cast<std::uint32_t>(p.u) * s.nx + static_cast<std::uint32_t>(p.v);
  };
  const std::array<std::uint32_t, 3> corner{cell(facet.p[0]), cell(facet.p[1]), cell(facet.p[2])};
  for (std::int64_t u = facet.first_row(); u <= facet.last_row(); ++u) {
    const HullRow range = facet.columns(u);
    for (std::int64_t v = range.first; v <= range.last; ++v) {
      const LatticePoint q{static_cast<std::int32_t>(u), static_cast<std::int32_t>(v)};
      if (s.known[cell(q)] != 0) continue;
      out.add({cell(q), corner, static_cast<double>(lattice_orient(facet.p[2], facet.p[0], q)),
               static_cast<double>(lattice_orient(facet.p[0], facet.p[1], q)),
               static_cast<double>(facet.twice_area)});
    }
  }
}

}  // namespace

std::uint64_t KnownCells::unknown_count(OpContext& ctx) const {
  std::atomic<std::uint64_t> unknown{0};
  parallel_for(ctx, ny, 1 + 65536 / (std::size_t{nx} + 1), [&](std::size_t begin, std::size_t end) {
    std::uint64_t own = 0;
    for (std::size_t j = begin; j < end; ++j)
      for (std::size_t i = 0; i < nx; ++i) own += known[j * nx + i] == 0 && in_hull(i, j);
    unknown += own;
  });
  return unknown;
}

TinInterpolation::TinInterpolation(const KnownCells& cells, OpContext& ctx)
    : cells_(cells.unknown_count(ctx)) {
  const BulkVector<LatticePoint> points = rim_cells(cells, ctx);
  const DivideDelaunay<LatticePoint> mesh(points.view(), ctx);
  std::atomic<std::uint64_t> count{0};
  parallel_for(ctx, mesh.slots(), 4096, [&](std::size_t begin, std::size_t end) {
    Collector<Cell> collector(cells_, count);
    DelaunayTriangle triangle{};
    std::int64_t work = 0;
    for (std::size_t slot = begin; slot < end; ++slot) {
      if (!mesh.triangle(slot, triangle)) continue;
      const Facet facet(triangle, points);
      if (facet.twice_area == 1) continue;  // contains no other cell (Pick 1899)
      collect_facet(facet, cells, collector);
      work += facet.twice_area + facet.last_row() - facet.first_row();
      if (work > 1'000'000) {
        if (ctx.canceled()) return;
        work = 0;
      }
    }
  });
  cells_.resize(count);
}

void TinInterpolation::fill(Span<double> z, OpContext& ctx) const {
  parallel_for(ctx, cells_.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) {
      const Cell& cell = cells_[k];
      const double z0 = z[cell.corner[0]], z1 = z[cell.corner[1]] - z0, z2 = z[cell.corner[2]] - z0;
      z[cell.cell] = z0 + (cell.w1 * z1 + cell.w2 * z2) / cell.area;
    }
  });
}

IdwInterpolation::IdwInterpolation(const KnownCells& cells, OpContext& ctx)
    : nx_(cells.nx), cells_(cells.unknown_count(ctx)) {
  const CellSearch search(cells.nx, cells.ny, cells.known, ctx);
  std::atomic<std::uint64_t> count{0};
  parallel_for(ctx, cells.known.size, 512, [&](std::size_t begin, std::size_t end) {
    Collector<Cell> collector(cells_, count);
    std::vector<CellNeighbor> near;
    for (std::size_t c = begin; c < end; ++c) {
      const auto j = static_cast<std::uint32_t>(c / cells.nx), i = static_cast<std::uint32_t>(c % cells.nx);
      if (cells.known[c] != 0 || !cells.in_hull(i, j)) continue;
      search.nearest(i, j, kNeighbors, near);
      Cell cell{static_cast<std::uint32_t>(c), {}};
      cell.neighbor.fill(kNoCell);
      for (std::size_t k = 0; k < near.size(); ++k) cell.neighbor[k] = near[k].cell;
      collector.add(cell);
    }
  });
  cells_.resize(count);
}

void IdwInterpolation::fill(Span<double> z, OpContext& ctx) const {
  const auto squared_distance = [&](std::uint32_t a, std::uint32_t b) {
    const std::int64_t dx = std::int64_t{a % nx_} - b % nx_, dy = std::int64_t{a / nx_} - b / nx_;
    return static_cast<double>(dx * dx + dy * dy);
  };
  parallel_for(ctx, cells_.size(), 4096, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) {
      const Cell& cell = cells_[k];
      const double nearest = z[cell.neighbor[0]];
      double weights = 0, sum = 0;
      for (const std::uint32_t neighbor : cell.neighbor) {
        if (neighbor == kNoCell) break;
        const double weight = 1 / squared_distance(cell.cell, neighbor);
        weights += weight;
        sum += weight * (z[neighbor] - nearest);
      }
      z[cell.cell] = nearest + sum / weights;
    }
  });
}

NearestInterpolation::NearestInterpolation(const KnownCells& cells, OpContext& ctx)
    : source_(nearest_cells(cells.nx, cells.ny, cells.known, ctx)) {
  parallel_for(ctx, source_.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t c = begin; c < end; ++c) {
      if (cells.known[c] != 0 || !cells.in_hull(c % cells.nx, c / cells.nx)) source_[c] = kNoCell;
    }
  });
}

void NearestInterpolation::fill(Span<double> z, OpContext& ctx) const {
  parallel_for(ctx, source_.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t c = begin; c < end; ++c) {
      if (source_[c] != kNoCell) z[c] = z[source_[c]];
    }
  });
}

}  // namespace pc
