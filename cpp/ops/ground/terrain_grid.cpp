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

}  // namespace

void fill_from_nearest(const Lattice& lattice, BulkVector<float>& values, OpContext& ctx) {
  BulkVector<std::uint8_t> known(lattice.cells());
  parallel_for(ctx, known.size(), kCellGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t cell = begin; cell < end; ++cell) known[cell] = std::isnan(values[cell]) ? 0 : 1;
  });
  const BulkVector<std::uint32_t> nearest = nearest_cells(lattice.nx, lattice.ny, known.view(), ctx);
  // Known cells are not written, so the order does not matter.
  parallel_for(ctx, known.size(), kCellGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t cell = begin; cell < end; ++cell) {
      if (known[cell] == 0 && nearest[cell] != kNoCell) values[cell] = values[nearest[cell]];
    }
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
