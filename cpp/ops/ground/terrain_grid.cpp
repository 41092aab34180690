#include "ops/ground/terrain_grid.h"

#include <algorithm>
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
constexpr std::size_t kColumnGrain = 16;  // columns that share a cache line

}  // namespace

// The transform prefers the lowest column; of the transposed grid that is the lowest row.
void fill_from_nearest(const Lattice& lattice, BulkVector<float>& values, OpContext& ctx) {
  const std::size_t nx = lattice.nx, ny = lattice.ny;
  BulkVector<std::uint8_t> known(lattice.cells());
  const auto each_cell = [&](const auto& visit) {
    parallel_for(ctx, nx, kColumnGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t y = 0; y < ny; ++y)
        for (std::size_t x = begin; x < end; ++x) visit(values[y * nx + x], x * ny + y);
    });
  };
  each_cell([&](float value, std::size_t transposed) { known[transposed] = std::isnan(value) ? 0 : 1; });
  const BulkVector<std::uint32_t> nearest = nearest_cells(lattice.ny, lattice.nx, known.view(), ctx);
  // Known cells are not written, so the order does not matter.
  each_cell([&](float& value, std::size_t transposed) {
    const std::uint32_t from = nearest[transposed];
    if (known[transposed] == 0 && from != kNoCell) value = values[from % ny * nx + from / ny];
  });
}

TerrainGrid rasterize_terrain(Span<const Vec3d> xyz, const Lattice& lattice, float band,
                              const LowOutliers& outliers, GpuRun& gpu, OpContext& ctx) {
  const std::size_t cells = lattice.cells();
  BulkVector<std::uint32_t> lowest(cells);
  BulkVector<std::uint64_t> nearest(cells);
  parallel_for(ctx, cells, kCellGrain, [&](std::size_t begin, std::size_t end) {
    std::fill(lowest.begin() + begin, lowest.begin() + end, kAboveAllFloats);
    std::fill(nearest.begin() + begin, nearest.begin() + end, kNoNearest);
  });
  const RasterPass pass{xyz.data, outliers.view(), lattice, band, lowest.data(), nearest.data()};
  const HostRaster host{pass, xyz.size, outliers.count == 0 ? 0 : outliers.floor.size()};
  const bool done = gpu.run([&](const auto& table, const auto& control, auto& error) {
    return table.cloth_raster(&host, &control, &error);
  });
  if (!done) {
    parallel_for(ctx, xyz.size, kPointGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) offer_lowest(i, pass);
    });
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
  lowest.reset();
  nearest.reset();
  fill_from_nearest(lattice, terrain.height, ctx);
  return terrain;
}

}  // namespace pc
