#include "ops/ground/lowest_heights.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "core/error.h"
#include "core/parallel.h"
#include "ops/ground/ground_trend.h"

namespace pc {

namespace {

using namespace cloth_kernel;

constexpr std::size_t kPointGrain = std::size_t{1} << 15, kCellGrain = std::size_t{1} << 14;
constexpr std::uint64_t kMaxCells = 25'000'000;

Lattice lattice_of(const GroundExtent& extent, double size, const GroundTrend& trend = {0, 0}) {
  const double ex = extent.box.max.x - extent.box.min.x, ey = extent.box.max.y - extent.box.min.y;
  return {extent.box.min.x,
          extent.box.min.y,
          size,
          extent.z_origin,
          0,
          trend.slope_x,
          trend.slope_y,
          static_cast<std::uint32_t>(ex / size + 0.5) + 1,
          static_cast<std::uint32_t>(ey / size + 0.5) + 1};
}

/// The smallest cell size >= `wanted` with an admissible number of cells.
double admissible_size(const GroundExtent& extent, double wanted) {
  const double ex = extent.box.max.x - extent.box.min.x, ey = extent.box.max.y - extent.box.min.y;
  const auto limit = static_cast<double>(std::min(kMaxCells, 4 * extent.finite_count + 1024));
  double size = wanted;
  while ((ex / size + 2) * (ey / size + 2) > limit) size *= 1.1;
  return size;
}

}  // namespace

double LowestHeights::find_lowest(const Lattice& lattice, std::uint64_t finite_count) {
  lattice_ = lattice;
  find(0);
  std::atomic<std::uint64_t> occupied{0};
  parallel_for(ctx_, lattice.cells(), kCellGrain, [&](std::size_t begin, std::size_t end) {
    std::uint64_t own = 0;
    for (std::size_t cell = begin; cell < end; ++cell) own += keys_[0][cell] != kAboveAllFloats;
    occupied.fetch_add(own, std::memory_order_relaxed);
  });
  return static_cast<double>(finite_count) / static_cast<double>(std::max<std::uint64_t>(1, occupied));
}

BulkVector<float> LowestHeights::lowest() const {
  BulkVector<float> heights(lattice_.cells());
  for (std::size_t cell = 0; cell < heights.size(); ++cell) {
    heights[cell] = float_of_ordered(keys_[0][cell]);  // NaN for kAboveAllFloats
  }
  return heights;
}

void LowestHeights::find_others() {
  for (std::uint32_t depth = 1; depth < kDepth; ++depth) find(depth);
}

void LowestHeights::find(std::uint32_t depth) {
  BulkVector<std::uint32_t>& keys = keys_[depth];
  keys.reset();
  keys.resize(lattice_.cells());
  parallel_for(ctx_, keys.size(), kCellGrain, [&](std::size_t begin, std::size_t end) {
    std::fill(keys.begin() + begin, keys.begin() + end, kAboveAllFloats);
  });
  const std::uint32_t* const above = depth == 0 ? nullptr : keys_[depth - 1].data();
  parallel_for(ctx_, xyz_.size, kPointGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (!is_finite(xyz_[i])) continue;
      const std::size_t cell = lattice_.cell_of(xyz_[i]);
      const std::uint32_t key = ordered_bits(lattice_.height_of(xyz_[i]));
      if (above == nullptr || key > above[cell]) atomic_min(keys.data() + cell, key);
    }
  });
}

LowestHeights lowest_heights(Span<const Vec3d> xyz, const GroundExtent& extent, double wanted_per_cell,
                             double& points_per_cell, OpContext& ctx) {
  const double ex = extent.box.max.x - extent.box.min.x, ey = extent.box.max.y - extent.box.min.y;
  const auto n = static_cast<double>(extent.finite_count);
  LowestHeights heights(xyz, ctx);
  double size =
      std::max({std::sqrt(wanted_per_cell * ex * ey / n), wanted_per_cell * std::max(ex, ey) / n, 1e-3});
  for (int attempt = 0;; ++attempt) {
    size = admissible_size(extent, size);
    const double mean = heights.find_lowest(lattice_of(extent, size), extent.finite_count);
    const double better = admissible_size(extent, size * std::sqrt(wanted_per_cell / mean));
    const bool good = mean >= wanted_per_cell / 2 && mean <= 2.5 * wanted_per_cell;
    if (good || attempt == 3 || std::abs(better - size) < 0.1 * size) break;
    size = better;
  }
  points_per_cell = heights.find_lowest(
      lattice_of(extent, size, fit_trend(heights.lattice(), heights.lowest().view())), extent.finite_count);
  heights.find_others();
  return heights;
}

LowestHeights lowest_heights_in(const GroundFrame& frame, Span<const Vec3d> xyz, const GroundExtent& extent,
                                OpContext& ctx) {
  const double size = frame.outlier_cell_m;
  const std::uint32_t block = outlier_block_cells(size);
  const FramedCells x = framed_cells(frame.origin_x, extent.box.min.x, extent.box.max.x, size, 0.5, block);
  const FramedCells y = framed_cells(frame.origin_y, extent.box.min.y, extent.box.max.y, size, 0.5, block);
  const auto nx = static_cast<double>(x.end - x.first), ny = static_cast<double>(y.end - y.first);
  require(nx * ny <= static_cast<double>(kMaxCells),
          "the extent needs more than 25 M cells of the frame's outlier_cell_m");
  LowestHeights heights(xyz, ctx);
  heights.find_lowest({.x_min = frame.origin_x,
                       .y_min = frame.origin_y,
                       .size = size,
                       .z_origin = frame.z_origin,
                       .pad = 0,
                       .slope_x = frame.slope_x,
                       .slope_y = frame.slope_y,
                       .nx = static_cast<std::uint32_t>(nx),
                       .ny = static_cast<std::uint32_t>(ny),
                       .skip_x = static_cast<double>(x.first),
                       .skip_y = static_cast<double>(y.first)},
                      extent.finite_count);
  heights.find_others();
  return heights;
}

}  // namespace pc
