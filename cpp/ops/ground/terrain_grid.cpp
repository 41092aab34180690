#include "ops/ground/terrain_grid.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <vector>

#include "core/parallel.h"

namespace pc {

namespace {

using namespace cloth_kernel;

constexpr std::size_t kPointGrain = std::size_t{1} << 15, kCellGrain = std::size_t{1} << 16;
constexpr std::int32_t kNone = -1;

/// Nearest filled column of each cell's own row; of two equally near the left one.
void nearest_in_row(const float* values, std::int32_t* column, std::uint32_t nx) {
  std::int32_t last = kNone;
  for (std::uint32_t x = 0; x < nx; ++x) {
    if (!std::isnan(values[x])) last = static_cast<std::int32_t>(x);
    column[x] = last;
  }
  last = kNone;
  for (std::uint32_t x = nx; x-- > 0;) {
    if (!std::isnan(values[x])) last = static_cast<std::int32_t>(x);
    const auto here = static_cast<std::int32_t>(x);
    if (last != kNone && (column[x] == kNone || last - here < here - column[x])) column[x] = last;
  }
}

/// Lower envelope of the parabolas (y - row)^2 + gap(row)^2: Felzenszwalb & Huttenlocher 2012, algorithm 1.
class Envelope {
 public:
  explicit Envelope(std::uint32_t rows) : row_(rows), from_(rows + 1), gap_(rows) {}

  void clear() { size_ = 0; }
  void add(std::uint32_t row, double gap_squared) {
    const auto y = static_cast<double>(row);
    while (size_ > 0) {
      const auto below = static_cast<double>(row_[size_ - 1]);
      const double meet = (gap_squared + y * y - gap_[size_ - 1] - below * below) / (2 * (y - below));
      if (meet > from_[size_ - 1]) {
        from_[size_] = meet;
        break;
      }
      --size_;
    }
    if (size_ == 0) from_[0] = -HUGE_VAL;
    row_[size_] = row;
    gap_[size_] = gap_squared;
    ++size_;
  }
  /// Row of the lowest parabola at each y asked for, y ascending from one call to the next; `at` starts at 0.
  std::uint32_t lowest(double y, std::size_t& at) const {
    while (at + 1 < size_ && from_[at + 1] < y) ++at;
    return row_[at];
  }
  bool empty() const { return size_ == 0; }

 private:
  std::vector<std::uint32_t> row_;
  std::vector<double> from_, gap_;
  std::size_t size_ = 0;
};

}  // namespace

void fill_from_nearest(const Lattice& lattice, BulkVector<float>& values, OpContext& ctx) {
  const std::uint32_t nx = lattice.nx, ny = lattice.ny;
  BulkVector<std::int32_t> column(lattice.cells());
  parallel_for(ctx, ny, 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t y = begin; y < end; ++y)
      nearest_in_row(values.data() + y * nx, column.data() + y * nx, nx);
  });
  BulkVector<float> filled(lattice.cells());
  parallel_for(ctx, nx, 16, [&](std::size_t begin, std::size_t end) {
    Envelope envelope(ny);
    for (std::size_t x = begin; x < end; ++x) {
      envelope.clear();
      for (std::uint32_t y = 0; y < ny; ++y) {
        const std::int32_t nearest = column[y * std::size_t{nx} + x];
        if (nearest == kNone) continue;
        const double gap = static_cast<double>(nearest) - static_cast<double>(x);
        envelope.add(y, gap * gap);
      }
      std::size_t at = 0;
      for (std::uint32_t y = 0; y < ny; ++y) {
        const std::size_t cell = y * std::size_t{nx} + x;
        filled[cell] = values[cell];
        if (envelope.empty() || !std::isnan(values[cell])) continue;
        const std::size_t row = envelope.lowest(static_cast<double>(y), at);
        filled[cell] = values[row * nx + static_cast<std::size_t>(column[row * nx + x])];
      }
    }
  });
  std::swap(values, filled);
}

TerrainGrid rasterize_terrain(Span<const Vec3d> xyz, const Lattice& lattice, float band,
                              const LowOutliers& outliers, ClothDevice& device, OpContext& ctx) {
  const std::size_t cells = lattice.cells();
  BulkVector<std::uint32_t> lowest(cells);
  BulkVector<std::uint64_t> nearest(cells);
  parallel_for(ctx, cells, kCellGrain, [&](std::size_t begin, std::size_t end) {
    std::fill(lowest.begin() + begin, lowest.begin() + end, kNoKey);
    std::fill(nearest.begin() + begin, nearest.begin() + end, kNoNearest);
  });
  const RasterPass pass{xyz.data, outliers.view(), lattice, band, lowest.data(), nearest.data()};
  if (!device.raster({pass, xyz.size, outliers.count == 0 ? 0 : outliers.floor.size()})) {
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
      terrain.height[cell] = some ? -height_of_key(static_cast<std::uint32_t>(nearest[cell]))
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
