#include "ops/dem/scan_heights.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <set>

#include "core/error.h"
#include "core/memory.h"
#include "core/nth_smallest.h"
#include "core/parallel.h"

namespace pc {

namespace {

constexpr double kLeastBlock_m = 0.5;
constexpr std::uint64_t kMostEntries = 2'000'000;
constexpr double kMicrometres = 1e6,
                 kMostHeight_m = 1e4;  // from the first point: sums of 9e8 points fit
constexpr double kDeviation = 1.4826;  // of a normal distribution with a median distance of 1
constexpr std::size_t kGrain = std::size_t{1} << 15;

bool takes_part(Span<const Vec3d> positions, Span<const std::uint8_t> skip, std::size_t i) {
  return (skip.empty() || skip[i] == 0) && is_finite(positions[i]);
}

/// The scans of the points, ascending; one too many if there are more than are compared.
std::vector<double> scans_of(Span<const Vec3d> positions, Span<const std::uint8_t> skip,
                             const AnyColumn& scans, OpContext& ctx) {
  std::vector<std::set<double>> found(static_cast<std::size_t>(ctx.threads()));
  visit_scalar(scans, [&](auto values) {
    parallel_for_worker(ctx, positions.size, kGrain, [&](std::size_t begin, std::size_t end, int worker) {
      std::set<double>& own = found[static_cast<std::size_t>(worker)];
      double last = std::nan("");
      for (std::size_t i = begin; i < end && own.size() <= kMostComparedScans; ++i) {
        const auto scan = static_cast<double>(values[i]);
        if (scan == last || !std::isfinite(scan) || !takes_part(positions, skip, i)) continue;
        own.insert(scan);
        last = scan;
      }
    });
  });
  std::set<double> all;
  for (const std::set<double>& part : found) all.insert(part.begin(), part.end());
  return {all.begin(), all.end()};
}

/// Blocks of cells.
RasterFrame blocks_of(const RasterFrame& frame, std::size_t scans) {
  const auto joined = [&](double side) {
    const double cell = frame.cell * side;
    const auto count = [&](std::uint32_t n) {
      return static_cast<std::uint32_t>(std::max(1.0, std::ceil(n / side)));
    };
    return RasterFrame{frame.min_x, frame.min_y, cell, count(frame.nx), count(frame.ny)};
  };
  double side = std::max(1.0, std::ceil(kLeastBlock_m / frame.cell));
  while (joined(side).cells() * scans > kMostEntries) ++side;
  return joined(side);
}

/// Heights of the points of each scan in each block.
struct Sums {
  BulkVector<std::int64_t> height;  ///< micrometres above a datum, (blocks, scans)
  BulkVector<std::uint32_t> count;
};

double median_of(std::vector<double>& values) {
  return nth_smallest(values.data(), values.size(), values.size() / 2);
}

}  // namespace

std::vector<ScanHeight> scan_heights(Span<const Vec3d> positions, Span<const std::uint8_t> skip,
                                     const AnyColumn& scans, const RasterFrame& frame, OpContext& ctx) {
  check_raster(frame);
  require(scans.size() == positions.size && (skip.empty() || skip.size == positions.size),
          "every column needs one value per point");
  ctx.begin_phase("Comparing scans", 2 * positions.size);
  const std::vector<double> numbers = scans_of(positions, skip, scans, ctx);
  const std::size_t width = numbers.size();
  if (width < 2 || width > kMostComparedScans) return {};
  const RasterFrame blocks = blocks_of(frame, width);
  double datum = std::nan("");
  for (std::size_t i = 0; i < positions.size && std::isnan(datum); ++i)
    if (takes_part(positions, skip, i)) datum = std::floor(positions[i].z);
  Sums sums{BulkVector<std::int64_t>(blocks.cells() * width),
            BulkVector<std::uint32_t>(blocks.cells() * width)};
  std::fill(sums.height.begin(), sums.height.end(), 0);
  std::fill(sums.count.begin(), sums.count.end(), 0);
  visit_scalar(scans, [&](auto values) {
    parallel_for(ctx, positions.size, kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const auto scan = static_cast<double>(values[i]);
        if (!std::isfinite(scan) || !takes_part(positions, skip, i) || !blocks.contains(positions[i]))
          continue;
        const double above = positions[i].z - datum;
        if (!(std::abs(above) < kMostHeight_m)) continue;
        const auto at = static_cast<std::size_t>(std::lower_bound(numbers.begin(), numbers.end(), scan) -
                                                 numbers.begin());
        const std::size_t entry = blocks.cell_of(positions[i]) * width + at;
        std::atomic_ref(sums.height[entry])
            .fetch_add(std::llround(above * kMicrometres), std::memory_order_relaxed);
        std::atomic_ref(sums.count[entry]).fetch_add(1, std::memory_order_relaxed);
      }
    });
  });
  std::vector<ScanHeight> out;
  std::vector<double> off;
  for (std::size_t a = 0; a < width; ++a)
    for (std::size_t b = a + 1; b < width; ++b) {
      ctx.checkpoint();
      off.clear();
      for (std::size_t block = 0; block < blocks.cells(); ++block) {
        const std::size_t first = block * width + a, second = block * width + b;
        if (sums.count[first] < kFewestCellPoints || sums.count[second] < kFewestCellPoints) continue;
        off.push_back((static_cast<double>(sums.height[second]) / sums.count[second] -
                       static_cast<double>(sums.height[first]) / sums.count[first]) /
                      kMicrometres);
      }
      if (off.size() < kFewestCommonCells) continue;
      ScanHeight one{numbers[a], numbers[b], off.size(), median_of(off), 0};
      for (double& value : off) value = std::abs(value - one.z_m);
      one.spread_m = kDeviation * median_of(off);
      out.push_back(one);
    }
  return out;
}

}  // namespace pc
