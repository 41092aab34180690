#include "ops/ground/terrain_grid.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <vector>

#include "core/parallel.h"
#include "spatial/nearest_cells.h"

namespace pc {

namespace {

using namespace cloth_kernel;

constexpr std::size_t kPointGrain = std::size_t{1} << 15, kCellGrain = std::size_t{1} << 16;
constexpr std::size_t kColumnGrain = 16, kRowGrain = 16, kPoll = 256;  // 16 columns share a cache line

}  // namespace

void fill_empty_cells(const Lattice& lattice, BulkVector<float>& values, OpContext& ctx) {
  const std::size_t nx = lattice.nx, ny = lattice.ny;
  BulkVector<std::uint8_t> known(lattice.cells()), row_known(ny), column_known(nx);
  for (std::size_t y = 0; y < ny; ++y) {
    if (y % kPoll == 0) ctx.checkpoint();
    for (std::size_t x = 0; x < nx; ++x) {
      known[y * nx + x] = std::isnan(values[y * nx + x]) ? 0 : 1;
      row_known[y] |= known[y * nx + x];
      column_known[x] |= known[y * nx + x];
    }
  }
  const bool cross = std::find(row_known.begin(), row_known.end(), 0) != row_known.end() &&
                     std::find(column_known.begin(), column_known.end(), 0) != column_known.end();
  if (cross) {
    const BulkVector<std::uint32_t> nearest = nearest_cells(lattice.nx, lattice.ny, known.view(), ctx);
    parallel_for(ctx, ny, kRowGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t y = begin; y < end; ++y) {
        if (row_known[y] != 0) continue;
        for (std::size_t x = 0; x < nx; ++x)
          if (column_known[x] == 0 && nearest[y * nx + x] != kNoCell)
            values[y * nx + x] = values[nearest[y * nx + x]];
      }
    });
  }
  parallel_for(ctx, nx, kColumnGrain, [&](std::size_t begin, std::size_t end) {
    std::array<float, kColumnGrain> last{};
    const auto fill = [&](std::size_t y) {
      for (std::size_t x = begin; x < end; ++x) {
        const std::size_t cell = y * nx + x;
        if (known[cell] != 0) last[x - begin] = values[cell];
        if (row_known[y] == 0 && !std::isnan(last[x - begin])) values[cell] = last[x - begin];
      }
    };
    // What is found at smaller y is written last.
    last.fill(std::numeric_limits<float>::quiet_NaN());
    for (std::size_t y = ny; y-- > 0;) fill(y);
    last.fill(std::numeric_limits<float>::quiet_NaN());
    for (std::size_t y = 0; y < ny; ++y) fill(y);
  });
  parallel_for(ctx, ny, kRowGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t y = begin; y < end; ++y) {
      if (row_known[y] == 0) continue;
      float* const row = values.data() + y * nx;
      float last = std::numeric_limits<float>::quiet_NaN();
      for (std::size_t x = nx; x-- > 0;) {
        if (known[y * nx + x] != 0) last = row[x];
        row[x] = last;
      }
      for (std::size_t x = 1; x < nx; ++x) row[x] = std::isnan(row[x]) ? row[x - 1] : row[x];
    }
  });
}

TerrainGrid rasterize_terrain(Span<const Vec3d> xyz, const Lattice& lattice, const LowOutliers& outliers,
                              GpuRun& gpu, OpContext& ctx) {
  const std::size_t cells = lattice.cells();
  BulkVector<std::uint64_t> nearest(cells);
  parallel_for(ctx, cells, kCellGrain, [&](std::size_t begin, std::size_t end) {
    std::fill(nearest.begin() + begin, nearest.begin() + end, kNoNearest);
  });
  const RasterPass pass{xyz.data, outliers.view(), lattice, nearest.data()};
  const HostRaster host{pass, xyz.size, outliers.count == 0 ? 0 : outliers.floor.size()};
  const bool done = gpu.run([&](const auto& table, const auto& control, auto& error) {
    return table.cloth_raster(&host, &control, &error);
  });
  if (!done) {
    parallel_for(ctx, xyz.size, kPointGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) offer_nearest(i, pass);
    });
  }
  TerrainGrid terrain{lattice, BulkVector<float>(cells), 0};
  std::atomic<std::uint64_t> occupied{0};
  parallel_for(ctx, cells, kCellGrain, [&](std::size_t begin, std::size_t end) {
    std::uint64_t own = 0;
    for (std::size_t cell = begin; cell < end; ++cell) {
      const bool some = nearest[cell] != kNoNearest;
      own += some;
      terrain.height[cell] = some ? -float_of_ordered(static_cast<std::uint32_t>(nearest[cell]))
                                  : std::numeric_limits<float>::quiet_NaN();
    }
    occupied.fetch_add(own, std::memory_order_relaxed);
  });
  terrain.occupied_count = occupied;
  nearest.reset();
  fill_empty_cells(lattice, terrain.height, ctx);
  return terrain;
}

}  // namespace pc
