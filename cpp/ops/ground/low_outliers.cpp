#include "ops/ground/low_outliers.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "core/parallel.h"
#include "ops/ground/lowest_heights.h"
#include "ops/ground/outlier_support.h"

namespace pc {

namespace {

constexpr std::size_t kPointGrain = std::size_t{1} << 15, kCellGrain = std::size_t{1} << 14;
constexpr std::uint32_t kWitnesses = 8;  // with fewer heights around, nothing is an outlier
constexpr std::uint32_t kLast = LowestHeights::kDepth - 1;
constexpr std::size_t kSpreadSample = 200'000;

/// Heights of the 3 x 3 cells around `cell` that are not outliers so far: all of them, and those up to `limit`.
struct Company {
  std::uint32_t all = 0, near = 0;
};

Company company_of(const LowestHeights& heights, const BulkVector<std::uint8_t>& first, std::size_t cell,
                   float limit) {
  const Lattice& lattice = heights.lattice();
  const std::size_t i = cell % lattice.nx, j = cell / lattice.nx;
  Company company;
  for (std::size_t y = j == 0 ? 0 : j - 1; y <= std::min<std::size_t>(j + 1, lattice.ny - 1); ++y) {
    for (std::size_t x = i == 0 ? 0 : i - 1; x <= std::min<std::size_t>(i + 1, lattice.nx - 1); ++x) {
      const std::size_t other = y * lattice.nx + x;
      for (std::uint32_t depth = first[other]; heights.has(depth, other); ++depth) {
        company.all += 1;
        company.near += heights.height(depth, other) <= limit;
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
    if (heights.has(kLast, cell)) spreads.push_back(heights.height(kLast, cell) - heights.height(0, cell));
  }
  if (spreads.empty()) return 0;
  const auto middle = spreads.begin() + static_cast<std::ptrdiff_t>(spreads.size() / 2);
  std::nth_element(spreads.begin(), middle, spreads.end());
  return *middle;
}

double layer_of(const LowestHeights& heights, const LowOutlierConstants& constants) {
  const double thickness = std::max(constants.layer_per_cell * heights.lattice().size,
                                    constants.layer_per_spread * typical_spread(heights));
  return std::clamp(thickness, constants.min_layer, constants.max_layer);
}

/// first[cell] = how many of the cell's lowest heights are outliers.
BulkVector<std::uint8_t> count_outlying(const LowestHeights& heights, float layer, double support,
                                        OpContext& ctx) {
  const std::size_t cells = heights.lattice().cells();
  BulkVector<std::uint8_t> first(cells), next(cells);
  // Each round removes at least one height of some cell; strays are isolated, so few rounds are needed.
  for (int round = 0; round < 12; ++round) {
    std::atomic<bool> changed{false};
    parallel_for(ctx, cells, kCellGrain / 4, [&](std::size_t begin, std::size_t end) {
      bool own_change = false;
      for (std::size_t cell = begin; cell < end; ++cell) {
        next[cell] = first[cell];
        if (!heights.has(first[cell], cell)) continue;
        const Company company = company_of(heights, first, cell, heights.height(first[cell], cell) + layer);
        if (company.all <= kWitnesses || company.near > support) continue;  // both count the height itself
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

LowOutliers find_low_outliers(HitPoints points, const GroundExtent& extent,
                              const LowOutlierConstants& constants, OpContext& ctx,
                              const GroundFrame* frame) {
  LowOutliers result{{}, {}, 0, 0, 0};
  if (extent.finite_count == 0) return result;
  ctx.begin_phase("Looking for points below the ground", 0);
  const LowestHeights heights =
      frame != nullptr
          ? lowest_heights_in(*frame, points.xyz(), extent, ctx)
          : lowest_heights(points.xyz(), extent, constants.points_per_cell, result.points_per_cell, ctx);
  const double layer = frame != nullptr ? frame->outlier_layer_m : layer_of(heights, constants);
  result.layer_m = layer;
  BulkVector<std::uint8_t> outlying =
      count_outlying(heights, static_cast<float>(layer), constants.support, ctx);
  const auto point_count = frame != nullptr ? frame->point_count : static_cast<double>(extent.finite_count);
  keep_supported(heights, constants, layer, point_count, outlying, ctx);
  result.lattice = heights.lattice();
  result.floor.resize(outlying.size());
  bool any = false;
  for (std::size_t cell = 0; cell < outlying.size(); ++cell) {
    const bool some = outlying[cell] > 0;
    result.floor[cell] =
        some ? heights.height(outlying[cell] - 1U, cell) : -std::numeric_limits<float>::infinity();
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

double lowest_z(HitPoints points, const LowOutliers& outliers, OpContext& ctx) {
  std::vector<double> lowest(static_cast<std::size_t>(ctx.threads()), HUGE_VAL);
  parallel_for_worker(ctx, points.size(), kPointGrain,
                      [&, floor = outliers.view()](std::size_t begin, std::size_t end, int worker) {
                        double own = lowest[static_cast<std::size_t>(worker)];
                        for (std::size_t i = begin; i < end; ++i) {
                          const Vec3d& p = points.xyz()[i];
                          if (is_finite(p) && p.z < own && !floor.below(p)) own = p.z;
                        }
                        lowest[static_cast<std::size_t>(worker)] = own;
                      });
  return *std::min_element(lowest.begin(), lowest.end());
}

}  // namespace pc
