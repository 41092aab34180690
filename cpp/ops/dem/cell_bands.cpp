#include "ops/dem/cell_bands.h"

#include <algorithm>
#include <array>

#include "core/parallel.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 15;

/// The band of a point, and its entry in that band.
struct Placed {
  std::uint32_t cell;
  CellEntry entry;

  Placed(const Vec3d& p, const RasterFrame& frame, int shift) : cell(frame.cell_of(p)), entry{p.z + 0.0, 0} {
    const std::uint64_t local = cell & ((std::uint32_t{1} << shift) - 1);
    entry.word = local << (2 * CellEntry::kPlaceBits) |
                 steps((p.x - frame.min_x) / frame.cell, frame.column(p.x)) << CellEntry::kPlaceBits |
                 steps((p.y - frame.min_y) / frame.cell, frame.row(p.y));
  }

 private:
  static std::uint64_t steps(double at, std::uint32_t cell) {
    constexpr double kSteps = 2.0 * CellEntry::kHalf;
    // A point on an edge may lie a little below it.
    return static_cast<std::uint64_t>(std::clamp((at - cell) * kSteps + 0.5, 0.0, kSteps - 1));
  }
};

}  // namespace

CellBands cell_bands(Span<const Vec3d> points, const RasterFrame& frame, OpContext& ctx) {
  CellBands bands{0, {}, {}};
  while ((frame.cells() - 1) >> bands.shift >= CellBands::kMost) ++bands.shift;
  const std::size_t count = ((frame.cells() - 1) >> bands.shift) + 1,
                    blocks = (points.size + kGrain - 1) / kGrain;
  // Position at which each block of points writes to each band.
  BulkVector<std::uint64_t> at(blocks * count);
  parallel_for(ctx, points.size, kGrain, [&](std::size_t begin, std::size_t end) {
    std::uint64_t* const own = at.data() + begin / kGrain * count;
    for (std::size_t i = begin; i < end; ++i) {
      if (frame.contains(points[i])) ++own[frame.cell_of(points[i]) >> bands.shift];
    }
  });
  bands.starts.resize(count + 1);
  for (std::size_t block = 0; block < blocks; ++block)
    for (std::size_t b = 0; b < count; ++b) bands.starts[b + 1] += at[block * count + b];
  for (std::size_t b = 0; b < count; ++b) bands.starts[b + 1] += bands.starts[b];
  std::array<std::uint64_t, CellBands::kMost> next{};
  std::copy_n(bands.starts.begin(), count, next.begin());
  for (std::size_t block = 0; block < blocks; ++block) {
    for (std::size_t b = 0; b < count; ++b) {
      const std::uint64_t size = at[block * count + b];
      at[block * count + b] = next[b];
      next[b] += size;
    }
  }
  bands.entries.resize(bands.starts[count]);
  parallel_for(ctx, points.size, kGrain, [&](std::size_t begin, std::size_t end) {
    std::uint64_t* const own = at.data() + begin / kGrain * count;
    for (std::size_t i = begin; i < end; ++i) {
      if (!frame.contains(points[i])) continue;
      const Placed placed(points[i], frame, bands.shift);
      bands.entries[own[placed.cell >> bands.shift]++] = placed.entry;
    }
  });
  return bands;
}

}  // namespace pc
