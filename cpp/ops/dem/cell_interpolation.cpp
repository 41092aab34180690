#include "ops/dem/cell_interpolation.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <vector>

#include "core/memory.h"
#include "core/parallel.h"
#include "spatial/floor_division.h"
#include "spatial/lattice_delaunay.h"
#include "spatial/nearest_cells.h"

namespace pc {

namespace {

constexpr std::size_t kIdwNeighbors = 12;

/// Known cells with a side, or the rim of the grid, to one that is not: u = row, v = column.
BulkVector<LatticePoint> rim_cells(const CellSurface& s, OpContext& ctx) {
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

/// A triangle of cells; a point on a side shared by two belongs to one of them.
struct Facet {
  std::array<LatticePoint, 3> p;
  std::array<bool, 3> closed;  ///< points on side i belong to it
  std::int64_t twice_area;

  Facet(const LatticeTriangle& t, const BulkVector<LatticePoint>& points) {
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
      // The point is on the left of the side: du (v - a.v) - dv (u - a.u) >= limit.
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

void fill_facet(const Facet& facet, const CellSurface& s) {
  const auto cell = [&](const LatticePoint& p) {
    return static_cast<std::size_t>(p.u) * s.nx + static_cast<std::size_t>(p.v);
  };
  const double z0 = s.z[cell(facet.p[0])], z1 = s.z[cell(facet.p[1])] - z0, z2 = s.z[cell(facet.p[2])] - z0;
  const auto area = static_cast<double>(facet.twice_area);
  for (std::int64_t u = facet.first_row(); u <= facet.last_row(); ++u) {
    const HullRow range = facet.columns(u);
    for (std::int64_t v = range.first; v <= range.last; ++v) {
      const LatticePoint q{static_cast<std::int32_t>(u), static_cast<std::int32_t>(v)};
      if (s.known[cell(q)] != 0) continue;
      const auto w1 = static_cast<double>(lattice_orient(facet.p[2], facet.p[0], q));
      const auto w2 = static_cast<double>(lattice_orient(facet.p[0], facet.p[1], q));
      s.z[cell(q)] = z0 + (w1 * z1 + w2 * z2) / area;
    }
  }
}

}  // namespace

void interpolate_tin(const CellSurface& surface, OpContext& ctx) {
  const BulkVector<LatticePoint> points = rim_cells(surface, ctx);
  const LatticeDelaunay mesh(points.view(), ctx);
  parallel_for(ctx, mesh.slots(), 4096, [&](std::size_t begin, std::size_t end) {
    LatticeTriangle triangle{};
    std::int64_t work = 0;
    for (std::size_t slot = begin; slot < end; ++slot) {
      if (!mesh.triangle(slot, triangle)) continue;
      const Facet facet(triangle, points);
      if (facet.twice_area == 1) continue;  // holds no other cell (Pick 1899)
      fill_facet(facet, surface);
      work += facet.twice_area + facet.last_row() - facet.first_row();
      if (work > 1'000'000) {
        if (ctx.canceled()) return;
        work = 0;
      }
    }
  });
}

void interpolate_idw(const CellSurface& surface, const RasterHull& hull, OpContext& ctx) {
  const CellSearch search(surface.nx, surface.ny, surface.known, ctx);
  parallel_for(ctx, surface.z.size, 512, [&](std::size_t begin, std::size_t end) {
    std::vector<CellNeighbor> near;
    for (std::size_t c = begin; c < end; ++c) {
      const auto j = static_cast<std::uint32_t>(c / surface.nx),
                 i = static_cast<std::uint32_t>(c % surface.nx);
      const HullRow& row = hull.rows[j];
      if (surface.known[c] != 0 || (!hull.degenerate && (i < row.first || i > row.last))) continue;
      search.nearest(i, j, kIdwNeighbors, near);
      double weights = 0, sum = 0;
      for (const CellNeighbor& neighbor : near) {
        const double weight = 1 / static_cast<double>(neighbor.squared_distance);
        weights += weight;
        sum += weight * (surface.z[neighbor.cell] - surface.z[near[0].cell]);
      }
      if (!near.empty()) surface.z[c] = surface.z[near[0].cell] + sum / weights;
    }
  });
}

}  // namespace pc
