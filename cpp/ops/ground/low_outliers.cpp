#include "ops/ground/low_outliers.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <vector>

#include "core/parallel.h"
#include "ops/ground/ground_trend.h"

namespace pc {

namespace {

using namespace cloth_kernel;

constexpr std::size_t kPointGrain = std::size_t{1} << 15, kCellGrain = std::size_t{1} << 14;
constexpr std::uint32_t kDepth = 4;      // heights kept per cell; at 4 % strays, 1 cell in 4e5 has more
constexpr double kPointsPerCell = 16;    // on average, in cells with points
constexpr std::uint32_t kSupport = 3;    // neighbours that make a height credible
constexpr std::uint32_t kWitnesses = 8;  // with fewer heights around, nothing is an outlier
constexpr double kLayerPerCell = 0.15;   // thickness of the layer, in cells
constexpr double kLayerPerSpread = 3;    // and in typical spreads of the lowest heights of a cell
constexpr std::size_t kSpreadSample = 200'000;
constexpr double kMinLayer = 0.03, kMaxLayer = 0.5;  // metres: range noise; less than a storey
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

/// The kDepth lowest distinct heights of each cell, ascending; kAboveAllFloats where there are fewer.
class LowestHeights {
 public:
  LowestHeights(Span<const Vec3d> xyz, OpContext& ctx) : xyz_(xyz), ctx_(ctx) {}

  const Lattice& lattice() const { return lattice_; }
  std::uint32_t key(std::uint32_t depth, std::size_t cell) const { return keys_[depth][cell]; }

  /// Lowest height of each cell; returns the mean number of points of occupied cells.
  double find_lowest(const Lattice& lattice, std::uint64_t finite_count) {
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

  BulkVector<float> lowest() const {
    BulkVector<float> heights(lattice_.cells());
    for (std::size_t cell = 0; cell < heights.size(); ++cell) {
      heights[cell] = float_of_ordered(keys_[0][cell]);  // NaN for kAboveAllFloats
    }
    return heights;
  }

  void find_others() {
    for (std::uint32_t depth = 1; depth < kDepth; ++depth) find(depth);
  }

 private:
  void find(std::uint32_t depth) {
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

  Span<const Vec3d> xyz_;
  OpContext& ctx_;
  Lattice lattice_{};
  std::array<BulkVector<std::uint32_t>, kDepth> keys_;
};

LowestHeights lowest_heights(Span<const Vec3d> xyz, const GroundExtent& extent, double& points_per_cell,
                             OpContext& ctx) {
  const double ex = extent.box.max.x - extent.box.min.x, ey = extent.box.max.y - extent.box.min.y;
  const auto n = static_cast<double>(extent.finite_count);
  LowestHeights heights(xyz, ctx);
  double size =
      std::max({std::sqrt(kPointsPerCell * ex * ey / n), kPointsPerCell * std::max(ex, ey) / n, 1e-3});
  for (int attempt = 0;; ++attempt) {
    size = admissible_size(extent, size);
    const double mean = heights.find_lowest(lattice_of(extent, size), extent.finite_count);
    const double better = admissible_size(extent, size * std::sqrt(kPointsPerCell / mean));
    const bool good = mean >= kPointsPerCell / 2 && mean <= 2.5 * kPointsPerCell;
    if (good || attempt == 3 || std::abs(better - size) < 0.1 * size) break;
    size = better;
  }
  points_per_cell = heights.find_lowest(
      lattice_of(extent, size, fit_trend(heights.lattice(), heights.lowest().view())), extent.finite_count);
  heights.find_others();
  return heights;
}

/// Heights of the 3 x 3 cells around `cell` that are not outliers so far: all of them, and those up to `limit`.
struct Company {
  std::uint32_t all = 0, near = 0;
};

Company company_of(const LowestHeights& heights, const BulkVector<std::uint8_t>& first, std::size_t cell,
                   std::uint32_t limit) {
  const Lattice& lattice = heights.lattice();
  const std::size_t i = cell % lattice.nx, j = cell / lattice.nx;
  Company company;
  for (std::size_t y = j == 0 ? 0 : j - 1; y <= std::min<std::size_t>(j + 1, lattice.ny - 1); ++y) {
    for (std::size_t x = i == 0 ? 0 : i - 1; x <= std::min<std::size_t>(i + 1, lattice.nx - 1); ++x) {
      const std::size_t other = y * lattice.nx + x;
      for (std::uint32_t depth = first[other]; depth < kDepth; ++depth) {
        const std::uint32_t key = heights.key(depth, other);
        if (key == kAboveAllFloats) break;
        company.all += 1;
        company.near += key <= limit;
      }
    }
  }
  return company;
}

/// Median over the cells of the distance between the lowest and the fourth lowest height: about the standard deviation
/// of noise, more on slopes. 0 without such cells.
double typical_spread(const LowestHeights& heights) {
  const std::size_t cells = heights.lattice().cells(), step = cells / kSpreadSample + 1;
  std::vector<float> spreads;
  for (std::size_t cell = 0; cell < cells; cell += step) {
    const std::uint32_t last = heights.key(kDepth - 1, cell);
    if (last != kAboveAllFloats)
      spreads.push_back(float_of_ordered(last) - float_of_ordered(heights.key(0, cell)));
  }
  if (spreads.empty()) return 0;
  const auto middle = spreads.begin() + static_cast<std::ptrdiff_t>(spreads.size() / 2);
  std::nth_element(spreads.begin(), middle, spreads.end());
  return *middle;
}

/// first[cell] = how many of the cell's lowest heights are outliers.
BulkVector<std::uint8_t> count_outlying(const LowestHeights& heights, OpContext& ctx) {
  const std::size_t cells = heights.lattice().cells();
  const double thickness =
      std::max(kLayerPerCell * heights.lattice().size, kLayerPerSpread * typical_spread(heights));
  const auto layer = static_cast<float>(std::clamp(thickness, kMinLayer, kMaxLayer));
  BulkVector<std::uint8_t> first(cells), next(cells);
  // Each round removes at least one height of some cell; strays are isolated, so few rounds are needed.
  for (int round = 0; round < 12; ++round) {
    std::atomic<bool> changed{false};
    parallel_for(ctx, cells, kCellGrain / 4, [&](std::size_t begin, std::size_t end) {
      bool own_change = false;
      for (std::size_t cell = begin; cell < end; ++cell) {
        next[cell] = first[cell];
        if (first[cell] == kDepth) continue;
        const std::uint32_t key = heights.key(first[cell], cell);
        if (key == kAboveAllFloats) continue;
        const Company company = company_of(heights, first, cell, ordered_bits(float_of_ordered(key) + layer));
        if (company.all <= kWitnesses || company.near > kSupport) continue;  // both count the height itself
        next[cell] += 1;
        own_change = true;
      }
      if (own_change) changed.store(true, std::memory_order_relaxed);
    });
    std::swap(first, next);
    if (!changed) break;
  }
  return first;
}

}  // namespace

LowOutliers find_low_outliers(HitPoints points, const GroundExtent& extent, OpContext& ctx) {
  LowOutliers result{{}, {}, 0, 0};
  if (extent.finite_count == 0) return result;
  ctx.begin_phase("Looking for points below the ground", 0);
  const LowestHeights heights = lowest_heights(points.xyz(), extent, result.points_per_cell, ctx);
  const BulkVector<std::uint8_t> outlying = count_outlying(heights, ctx);
  result.lattice = heights.lattice();
  result.floor.resize(outlying.size());
  bool any = false;
  for (std::size_t cell = 0; cell < outlying.size(); ++cell) {
    const bool some = outlying[cell] > 0;
    result.floor[cell] = some ? float_of_ordered(heights.key(outlying[cell] - 1U, cell))
                              : -std::numeric_limits<float>::infinity();
    any |= some;
  }
  if (!any) return result;
  std::atomic<std::uint64_t> count{0};
  result.count = 1;  // enables view()
  parallel_for(ctx, points.size(), kPointGrain,
               [&, floor = result.view()](std::size_t begin, std::size_t end) {
                 std::uint64_t own = 0;
                 for (std::size_t i = begin; i < end; ++i)
                   own += is_finite(points.xyz()[i]) && floor.below(points.xyz()[i]);
                 count.fetch_add(own, std::memory_order_relaxed);
               });
  result.count = count;
  return result;
}

}  // namespace pc
