#include "ops/trees/canopy_model.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>

#include "core/atomic.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "core/round.h"
#include "ops/dem/pit_fill.h"
#include "spatial/nearest_cells.h"
#include "spatial/raster_sample.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 15;
constexpr std::size_t kCells = std::size_t{1} << 15;
constexpr std::size_t kReach = 4;  // cells
constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
constexpr double kSteps = 0x1p20;  // per metre
constexpr double kVoid = std::numeric_limits<double>::quiet_NaN();

/// Falls as the value rises; never all ones.
std::uint64_t descending(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value + 0.0);
  return (bits & kSign) != 0 ? bits : ~bits & ~kSign;
}
double value_of(std::uint64_t key) { return std::bit_cast<double>((key & kSign) != 0 ? key : ~key & ~kSign); }

Column<double> greatest_heights(HitPoints points, const CoarseGround& ground, const RasterFrame& frame,
                                OpContext& ctx) {
  constexpr std::uint64_t kEmpty = ~std::uint64_t{0};
  BulkVector<std::uint64_t> keys(frame.cells());
  parallel_for(ctx, keys.size(), kCells, [&](std::size_t begin, std::size_t end) {
    std::fill(keys.begin() + begin, keys.begin() + end, kEmpty);
  });
  const RasterSample terrain(ground.frame, ground.z.view());
  const Span<const Vec3d> xyz = points.xyz();
  parallel_for(ctx, xyz.size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Vec3d& p = xyz[i];
      if (!is_finite(p)) continue;
      atomic_min(&keys[frame.cell_of(p)], descending(p.z - terrain.at(p.x, p.y)));
    }
  });
  Column<double> out(frame.cells());
  parallel_for(ctx, keys.size(), kCells, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) out[i] = keys[i] == kEmpty ? kVoid : value_of(keys[i]);
  });
  return out;
}

/// Sets the cells to 0 that hold ground alone, and marks them with 1.
BulkVector<std::uint8_t> put_ground(HitPoints seen, const RasterFrame& frame, Span<double> heights,
                                    OpContext& ctx) {
  BulkVector<std::uint8_t> ground(heights.size);
  parallel_for(ctx, ground.size(), kCells, [&](std::size_t begin, std::size_t end) {
    std::fill(ground.begin() + begin, ground.begin() + end, std::uint8_t{0});
  });
  const Span<const Vec3d> xyz = seen.xyz();
  parallel_for(ctx, xyz.size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (!is_finite(xyz[i]) || !frame.contains(xyz[i])) continue;
      std::atomic_ref(ground[frame.cell_of(xyz[i])]).store(1, std::memory_order_relaxed);
    }
  });
  parallel_for(ctx, ground.size(), kCells, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (!std::isnan(heights[i])) ground[i] = 0;
      if (ground[i] != 0) heights[i] = 0;
    }
  });
  return ground;
}

/// Fills empty cells near others; one filled from ground is ground.
void fill_holes(const RasterFrame& frame, Span<double> heights, Span<std::uint8_t> ground, OpContext& ctx) {
  BulkVector<std::uint8_t> known(heights.size);
  parallel_for(ctx, heights.size, kCells, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) known[i] = std::isnan(heights[i]) ? 0 : 1;
  });
  const BulkVector<std::uint32_t> nearest = nearest_cells(frame.nx, frame.ny, known.view(), ctx);
  const double reach = std::max(1 / frame.cell, 2.0);
  parallel_for(ctx, heights.size, kCells, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint32_t from = nearest[i];
      if (known[i] != 0 || from == kNoCell) continue;
      const double dx = static_cast<double>(i % frame.nx) - from % frame.nx;
      const double dy = static_cast<double>(i / frame.nx) - from / frame.nx;
      if (dx * dx + dy * dy > reach * reach) continue;
      heights[i] = heights[from];
      ground[i] = ground[from];
    }
  });
}

using Weights = std::array<double, kReach + 1>;

Weights gaussian() {
  Weights weights;
  for (std::size_t k = 0; k <= kReach; ++k) {
    const double at = static_cast<double>(k) / kCanopySmoothing;
    weights[k] = std::exp(-at * at / 2);
  }
  return weights;
}

/// A sum of heights and the sum of their weights.
struct Weighted {
  double sum, weight;
};

/// Weighted sum along a line of `count` entries, `stride` apart. Entries on both sides are added in pairs: a mirrored
/// line has the same sum to the last bit.
template <class Entry>
Weighted along(std::size_t at, std::size_t count, const Weights& weights, const Entry& entry) {
  Weighted out = entry(at);
  for (std::size_t k = 1; k <= kReach; ++k) {
    const Weighted before = at >= k ? entry(at - k) : Weighted{0, 0};
    const Weighted after = at + k < count ? entry(at + k) : Weighted{0, 0};
    out.sum += weights[k] * (before.sum + after.sum);
    out.weight += weights[k] * (before.weight + after.weight);
  }
  return out;
}

void smooth(const RasterFrame& frame, Span<double> heights, OpContext& ctx) {
  const Weights weights = gaussian();
  const std::size_t nx = frame.nx, ny = frame.ny;
  BulkVector<Weighted> rows(heights.size);
  parallel_row_parts(ctx, nx, ny, kCells, [&](std::size_t y, std::size_t begin, std::size_t end) {
    const double* const row = heights.data + y * nx;
    const auto entry = [row](std::size_t x) {
      return std::isnan(row[x]) ? Weighted{0, 0} : Weighted{row[x], 1};
    };
    for (std::size_t x = begin; x < end; ++x) rows[y * nx + x] = along(x, nx, weights, entry);
  });
  parallel_row_parts(ctx, nx, ny, kCells, [&](std::size_t y, std::size_t begin, std::size_t end) {
    for (std::size_t x = begin; x < end; ++x) {
      double& height = heights[y * nx + x];
      if (std::isnan(height)) continue;
      const Weighted all = along(y, ny, weights, [&](std::size_t j) { return rows[j * nx + x]; });
      height = round_half_even(all.sum / all.weight * kSteps) / kSteps;
    }
  });
}

}  // namespace

Column<double> canopy_model(HitPoints points, HitPoints seen, const CoarseGround& ground,
                            const RasterFrame& frame, double least, OpContext& ctx) {
  ctx.begin_phase("Building the canopy height model", points.size() + seen.size() + 8 * frame.cells());
  BulkVector<std::uint8_t> outside;
  Column<double> heights = [&] {
    Column<double> greatest = greatest_heights(points, ground, frame, ctx);
    outside = put_ground(seen, frame, greatest.view(), ctx);
    return pit_fill(frame.nx, frame.ny, greatest.view(), ctx);
  }();
  parallel_for(ctx, heights.size(), kCells, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      if (heights[i] > 0) outside[i] = 0;
  });
  fill_holes(frame, heights.view(), {outside.data(), outside.size()}, ctx);
  parallel_for(ctx, heights.size(), kCells, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      if (!(heights[i] >= least)) outside[i] = 1;
  });
  smooth(frame, heights.view(), ctx);
  parallel_for(ctx, heights.size(), kCells, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      if (outside[i] != 0) heights[i] = kVoid;
  });
  return heights;
}

}  // namespace pc
