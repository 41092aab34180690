#include "ops/trees/return_spacing.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "core/memory.h"
#include "core/parallel.h"
#include "ops/trees/coarse_ground.h"
#include "spatial/raster.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 16;
constexpr double kFinest = 1, kCoarsest = 10;  // metres
constexpr double kCellPoints = 16;
constexpr double kManyCells = 1'900'000;
constexpr double kFarthest = 1e9;  // metres

struct Extent {
  Box3d box;
  double count = 0;
};

template <class Counts>
Extent extent_of(Span<const Vec3d> positions, const Counts& counts, OpContext& ctx) {
  std::vector<Extent> parts((positions.size + kGrain - 1) / kGrain);
  parallel_for(ctx, positions.size, kGrain, [&](std::size_t begin, std::size_t end) {
    Extent part;
    for (std::size_t i = begin; i < end; ++i) {
      if (!counts(i)) continue;
      part.box.add(positions[i]);
      part.count += 1;
    }
    parts[begin / kGrain] = part;
  });
  Extent all;
  for (const Extent& part : parts) {
    all.box.add(part.box);
    all.count += part.count;
  }
  return all;
}

/// Edge of the cells to count in, metres.
double counting_cell(double wide, double high, double count) {
  const double wanted = std::clamp(std::sqrt(kCellPoints * wide * high / count), kFinest, kCoarsest);
  return std::max({wanted, std::sqrt(wide * high / kManyCells), (wide + high) / kManyCells});
}

}  // namespace

double return_spacing(Span<const Vec3d> positions, Span<const std::uint8_t> skip, OpContext& ctx) {
  ctx.begin_phase("Measuring the spacing of the points", 2 * positions.size);
  const auto counts_too = [&](std::size_t i) {
    return (skip.empty() || skip[i] == 0) && is_finite(positions[i]);
  };
  const auto [box, count] = extent_of(positions, counts_too, ctx);
  const double wide = box.max.x - box.min.x, high = box.max.y - box.min.y;
  if (count == 0 || !(wide + high <= kFarthest)) return 0;
  const double cell = counting_cell(wide, high, count);
  const RasterFrame frame = centered_frame(box, cell, kMaxRasterCells);
  BulkVector<std::uint32_t> counts(frame.cells());
  std::fill(counts.begin(), counts.end(), 0U);
  parallel_for(ctx, positions.size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (!counts_too(i)) continue;
      std::atomic_ref(counts[frame.cell_of(positions[i])]).fetch_add(1, std::memory_order_relaxed);
    }
  });
  const auto held = std::remove(counts.begin(), counts.end(), 0U);
  const auto middle = counts.begin() + (held - counts.begin()) / 2;
  std::nth_element(counts.begin(), middle, held);
  return cell / std::sqrt(static_cast<double>(*middle));
}

}  // namespace pc
