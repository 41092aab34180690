#include "ops/dem/cell_statistics.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <mutex>
#include <type_traits>

#include "core/error.h"
#include "core/float_bits.h"
#include "core/memory.h"
#include "core/parallel.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 15;

void check(Span<const Vec3d> points, Span<const std::uint8_t> skip, const RasterFrame& frame) {
  check_raster(frame);
  require(skip.empty() || skip.size == points.size, "one skip value per point is needed");
}

bool counts(Span<const Vec3d> points, Span<const std::uint8_t> skip, const RasterFrame& frame,
            std::size_t i) {
  return (skip.empty() || skip[i] == 0) && frame.contains(points[i]);
}

}  // namespace

CellCounts cell_counts(Span<const Vec3d> points, Span<const std::uint8_t> skip, const RasterFrame& frame,
                       OpContext& ctx) {
  check(points, skip, frame);
  CellCounts result{Column<std::uint32_t>(frame.cells()), Column<std::uint8_t>(frame.cells())};
  ctx.begin_phase("Counting points", points.size);
  parallel_for(ctx, points.size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (!counts(points, skip, frame, i)) continue;
      std::atomic_ref<std::uint32_t>(result.counts[frame.cell_of(points[i])])
          .fetch_add(1, std::memory_order_relaxed);
    }
  });
  for (std::size_t c = 0; c < frame.cells(); ++c) result.footprint[c] = result.counts[c] != 0;
  return result;
}

Column<float> cell_means(Span<const Vec3d> points, Span<const std::uint8_t> skip, const AnyColumn& values,
                         const ValueUnits& units, const RasterFrame& frame, OpContext& ctx) {
  check(points, skip, frame);
  require(values.size() == points.size, "one value per point is needed");
  ctx.begin_phase("Averaging values", 2 * points.size);
  Column<float> means(frame.cells());
  visit_scalar(values, [&](auto given) {
    const auto value = [&](std::size_t i) { return static_cast<double>(given[i]); };
    std::atomic<std::uint64_t> largest_bits{0};  // bits of non-negative doubles are ordered like their values
    parallel_for(ctx, points.size, kGrain, [&](std::size_t begin, std::size_t end) {
      double largest = 0;
      for (std::size_t i = begin; i < end; ++i)
        if (std::isfinite(value(i))) largest = std::max(largest, std::abs(value(i)));
      const auto bits = bits_of(largest);
      std::uint64_t seen = largest_bits;
      while (bits > seen && !largest_bits.compare_exchange_weak(seen, bits)) {
      }
    });
    const int exponent = std::ilogb(std::max(double_of(largest_bits.load()), 1e-300)) + 1;
    const int step = 62 - exponent - std::bit_width(static_cast<std::uint64_t>(points.size));
    BulkVector<std::int64_t> sums(frame.cells());
    BulkVector<std::uint32_t> numbers(frame.cells());
    parallel_for(ctx, points.size, kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        if (!counts(points, skip, frame, i) || !std::isfinite(value(i))) continue;
        const std::uint32_t c = frame.cell_of(points[i]);
        const auto whole = static_cast<std::int64_t>(std::rint(std::ldexp(value(i), step)));
        std::atomic_ref<std::int64_t>(sums[c]).fetch_add(whole, std::memory_order_relaxed);
        std::atomic_ref<std::uint32_t>(numbers[c]).fetch_add(1, std::memory_order_relaxed);
      }
    });
    for (std::size_t c = 0; c < frame.cells(); ++c) {
      means[c] = numbers[c] == 0 ? std::numeric_limits<float>::quiet_NaN()
                                 : static_cast<float>(std::ldexp(static_cast<double>(sums[c]), -step) /
                                                          static_cast<double>(numbers[c]) / units.divisor +
                                                      units.offset);
    }
  });
  return means;
}

CellLayer cell_layer(const AnyColumn& grid, Span<const std::uint32_t> cell, OpContext& ctx) {
  CellLayer layer{Column<float>(grid.size()), Column<float>(cell.size), {0, 1}};
  std::mutex mutex;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  float low = kInfinity, high = -kInfinity;
  visit_scalar(grid, [&](auto given) {
    using T = std::remove_cvref_t<decltype(given[0])>;
    parallel_for(ctx, given.size, std::size_t{1} << 18, [&](std::size_t begin, std::size_t end) {
      float least = kInfinity, most = -kInfinity;
      for (std::size_t c = begin; c < end; ++c) {
        const bool nothing = std::is_integral_v<T> && given[c] == T{};
        layer.grid[c] = nothing ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(given[c]);
        if (!std::isfinite(layer.grid[c])) continue;
        least = std::min(least, layer.grid[c]);
        most = std::max(most, layer.grid[c]);
      }
      const std::lock_guard<std::mutex> lock(mutex);
      low = std::min(low, least);
      high = std::max(high, most);
    });
  });
  if (low <= high) layer.range = {low, high};
  parallel_for(ctx, cell.size, std::size_t{1} << 18, [&](std::size_t begin, std::size_t end) {
    for (std::size_t v = begin; v < end; ++v) {
      require(cell[v] < grid.size(), "a vertex lies in a cell beyond the grid");
      layer.at_vertices[v] = layer.grid[cell[v]];
    }
  });
  return layer;
}

}  // namespace pc
