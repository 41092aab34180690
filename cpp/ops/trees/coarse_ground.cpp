#include "ops/trees/coarse_ground.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/error.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "ops/dem/cell_percentile.h"
#include "spatial/nearest_cells.h"

namespace pc {

namespace {

/// Lowest value of the 3 x 3 cells around each cell; NaN where none of them has one.
Column<double> lowest_around(const RasterFrame& frame, Span<const double> z, OpContext& ctx) {
  Column<double> out(z.size);
  parallel_row_parts(
      ctx, frame.nx, frame.ny, std::size_t{1} << 16, [&](std::size_t y, std::size_t begin, std::size_t end) {
        const std::size_t y0 = y == 0 ? 0 : y - 1, y1 = std::min<std::size_t>(frame.ny - 1, y + 1);
        for (std::size_t x = begin; x < end; ++x) {
          const std::size_t x0 = x == 0 ? 0 : x - 1, x1 = std::min<std::size_t>(frame.nx - 1, x + 1);
          double lowest = std::numeric_limits<double>::quiet_NaN();
          for (std::size_t j = y0; j <= y1; ++j)
            for (std::size_t i = x0; i <= x1; ++i) lowest = std::fmin(lowest, z[j * frame.nx + i]);
          out[y * frame.nx + x] = lowest;
        }
      });
  return out;
}

void fill_from_nearest(const RasterFrame& frame, Column<double>& z, OpContext& ctx) {
  BulkVector<std::uint8_t> known(z.size());
  for (std::size_t i = 0; i < known.size(); ++i) known[i] = std::isnan(z[i]) ? 0 : 1;
  const BulkVector<std::uint32_t> nearest = nearest_cells(frame.nx, frame.ny, known.view(), ctx);
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (known[i] == 0 && nearest[i] != kNoCell) z[i] = z[nearest[i]];
  }
}

}  // namespace

RasterFrame centered_frame(const Box3d& box, double cell, std::uint64_t most) {
  const double wide = box.max.x - box.min.x, high = box.max.y - box.min.y;
  const double nx = std::floor(wide / cell) + 1, ny = std::floor(high / cell) + 1;
  if (!(nx * ny <= static_cast<double>(most))) {
    throw Error(ErrorCode::kInvalidArgument, "points over " + std::to_string(wide) + " by " +
                                                 std::to_string(high) + " m need too many cells of " +
                                                 std::to_string(cell) + " m (limit " +
                                                 std::to_string(most / 1'000'000) +
                                                 " M); remove stray points (denoise) or take larger cells");
  }
  return {.min_x = box.min.x + (wide - nx * cell) / 2,
          .min_y = box.min.y + (high - ny * cell) / 2,
          .cell = cell,
          .nx = static_cast<std::uint32_t>(nx),
          .ny = static_cast<std::uint32_t>(ny)};
}

CoarseGround coarse_ground(HitPoints plants, HitPoints ground, const Box3d& box, OpContext& ctx) {
  ctx.begin_phase("Measuring the terrain", 0);
  const RasterFrame frame = centered_frame(box, kCoarseGroundCell, kMaxRasterCells);
  CoarseGround out{frame, {}};
  if (ground.size() > 0) {
    out.z = std::move(cell_percentiles(ground, frame, 50, ctx).z);
  } else {
    const CellPercentiles lowest = cell_percentiles(plants, frame, 0, ctx);
    out.z = lowest_around(frame, lowest.z.view(), ctx);
  }
  fill_from_nearest(frame, out.z, ctx);
  return out;
}

}  // namespace pc
