#include "spatial/hull.h"

#include "core/error.h"
#include "core/parallel.h"
#include "spatial/floor_division.h"

namespace pc {

namespace {

struct Knot {
  std::int64_t row, column;
};

/// The convex chain with all knots on one side of it; `side` -1 = the lower columns, 1 = the upper ones.
std::vector<Knot> chain(const std::vector<Knot>& knots, int side) {
  std::vector<Knot> out;
  for (const Knot& knot : knots) {
    while (out.size() >= 2) {
      const Knot &a = out[out.size() - 2], &b = out.back();
      const std::int64_t turn =
          (b.row - a.row) * (knot.column - a.column) - (b.column - a.column) * (knot.row - a.row);
      if (turn * side < 0) break;
      out.pop_back();
    }
    out.push_back(knot);
  }
  return out;
}

/// Calls put(row, floor, ceiling) for every row from the first knot to the last, with the chain's column rounded down
/// and up.
template <class Put>
void walk(const std::vector<Knot>& knots, Put&& put) {
  for (std::size_t k = 0; k + 1 < knots.size(); ++k) {
    const Knot &a = knots[k], &b = knots[k + 1];
    for (std::int64_t row = a.row; row <= b.row; ++row) {
      const std::int64_t rise = (b.column - a.column) * (row - a.row), run = b.row - a.row;
      put(row, a.column + floor_division(rise, run), a.column - floor_division(-rise, run));
    }
  }
  if (knots.size() == 1) put(knots[0].row, knots[0].column, knots[0].column);
}

}  // namespace

RasterHull raster_hull(std::uint32_t nx, std::uint32_t ny, Span<const std::uint8_t> marked, OpContext& ctx) {
  require(marked.size == static_cast<std::size_t>(nx) * ny, "one mark per cell is needed");
  RasterHull hull{BulkVector<HullRow>(ny), true};
  parallel_for(ctx, ny, 1 + 65536 / (std::size_t{nx} + 1), [&](std::size_t begin, std::size_t end) {
    for (std::size_t j = begin; j < end; ++j) {
      const std::uint8_t* row = marked.data + j * nx;
      std::int64_t first = 0, last = std::int64_t{nx} - 1;
      while (first < nx && row[first] == 0) ++first;
      while (last > first && row[last] == 0) --last;
      hull.rows[j] = {first, first < nx ? last : -1};
    }
  });
  std::vector<Knot> low, high;
  for (std::int64_t j = 0; j < ny; ++j) {
    HullRow& row = hull.rows[static_cast<std::size_t>(j)];
    if (row.first <= row.last) {
      low.push_back({j, row.first});
      high.push_back({j, row.last});
    }
    row = {0, -1};
  }
  if (low.empty()) return hull;
  const std::vector<Knot> left = chain(low, -1), right = chain(high, 1);
  walk(left, [&](std::int64_t row, std::int64_t, std::int64_t ceiling) {
    hull.rows[static_cast<std::size_t>(row)].first = ceiling;
  });
  walk(right, [&](std::int64_t row, std::int64_t floor, std::int64_t) {
    hull.rows[static_cast<std::size_t>(row)].last = floor;
  });
  const bool line = left.size() <= 2 && right.size() <= 2 && left.front().column == right.front().column &&
                    left.back().column == right.back().column;
  hull.degenerate = low.size() == 1 || line;
  return hull;
}

}  // namespace pc
