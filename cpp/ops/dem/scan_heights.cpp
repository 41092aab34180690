#include "ops/dem/scan_heights.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <optional>
#include <set>

#include "core/error.h"
#include "core/memory.h"
#include "core/nth_smallest.h"
#include "core/parallel.h"
#include "core/plane_fit.h"

namespace pc {

namespace {

constexpr double kLeastBlock_m = 0.5;
constexpr std::uint64_t kMostEntries = 2'000'000;
constexpr double kMicrometres = 1e6,
                 kMostHeight_m = 1e4;   // from the first point: sums of 9e8 points fit
constexpr double kMostRoughness = 0.2;  // of the block
constexpr double kDeviation = 1.4826;   // of a normal distribution with a median distance of 1
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

/// Places of the points of each scan in each block: (blocks, scans).
struct Sums {
  Sums(std::size_t blocks, std::size_t scans)
      : x(blocks * scans), y(blocks * scans), z(blocks * scans), count(blocks * scans), scans(scans) {
    for (auto* one : {&x, &y, &z}) std::fill(one->begin(), one->end(), 0);
    std::fill(count.begin(), count.end(), 0);
  }

  BulkVector<std::int64_t> x, y, z;  ///< micrometres: beside the block's middle, and above a datum
  BulkVector<std::uint32_t> count;
  std::size_t scans;

  void add(std::size_t entry, const Vec3d& beside) {
    const auto plus = [&](BulkVector<std::int64_t>& to, double metres) {
      std::atomic_ref(to[entry]).fetch_add(std::llround(metres * kMicrometres), std::memory_order_relaxed);
    };
    plus(x, beside.x);
    plus(y, beside.y);
    plus(z, beside.z);
    std::atomic_ref(count[entry]).fetch_add(1, std::memory_order_relaxed);
  }

  Vec3d mean(std::size_t entry) const {
    const double n = kMicrometres * count[entry];
    return {static_cast<double>(x[entry]) / n, static_cast<double>(y[entry]) / n,
            static_cast<double>(z[entry]) / n};
  }
};

/// Of the points of all scans in a block, beside its middle; nothing without any.
std::optional<Vec3d> mean_of_block(const Sums& sums, std::size_t block) {
  Vec3d sum{0, 0, 0};
  double count = 0;
  for (std::size_t entry = block * sums.scans; entry < (block + 1) * sums.scans; ++entry) {
    if (sums.count[entry] == 0) continue;
    sum = sum + sums.mean(entry) * sums.count[entry];
    count += sums.count[entry];
  }
  if (count == 0) return std::nullopt;
  return sum * (1 / count);
}

/// Plane through the mean places of a block and those around it.
PlaneFit::Plane plane_at(const std::vector<std::optional<Vec3d>>& means, const RasterFrame& blocks,
                         std::size_t block) {
  constexpr double kPull = 0.001;  // of the block's area: few places, or some on a line, show no slope
  const auto nx = static_cast<std::int64_t>(blocks.nx), ny = static_cast<std::int64_t>(blocks.ny);
  const auto i = static_cast<std::int64_t>(block) % nx, j = static_cast<std::int64_t>(block) / nx;
  PlaneFit fit;
  for (std::int64_t v = std::max<std::int64_t>(0, j - 1); v <= std::min(ny - 1, j + 1); ++v)
    for (std::int64_t u = std::max<std::int64_t>(0, i - 1); u <= std::min(nx - 1, i + 1); ++u)
      if (const auto& at = means[static_cast<std::size_t>(v * nx + u)])
        fit.add(at->x + static_cast<double>(u - i) * blocks.cell,
                at->y + static_cast<double>(v - j) * blocks.cell, at->z, 1);
  return fit.plane(kPull * blocks.cell * blocks.cell);
}

/// How far the mean places of a scan in a block and those around it scatter about the plane of all scans, but for its height.
float roughness(const Sums& sums, std::size_t scan, const PlaneFit::Plane& plane, const RasterFrame& blocks,
                std::size_t block) {
  const auto nx = static_cast<std::int64_t>(blocks.nx), ny = static_cast<std::int64_t>(blocks.ny);
  const auto i = static_cast<std::int64_t>(block) % nx, j = static_cast<std::int64_t>(block) / nx;
  double n = 0, sum = 0, squares = 0, first = 0;
  for (std::int64_t v = std::max<std::int64_t>(0, j - 1); v <= std::min(ny - 1, j + 1); ++v)
    for (std::int64_t u = std::max<std::int64_t>(0, i - 1); u <= std::min(nx - 1, i + 1); ++u) {
      const std::size_t entry = static_cast<std::size_t>(v * nx + u) * sums.scans + scan;
      if (sums.count[entry] == 0) continue;
      const Vec3d at = sums.mean(entry);
      const double x = at.x + static_cast<double>(u - i) * blocks.cell,
                   y = at.y + static_cast<double>(v - j) * blocks.cell;
      const double above = at.z - plane.gu * x - plane.gv * y;
      if (n == 0) first = above;
      n += 1;
      sum += above - first;
      squares += (above - first) * (above - first);
    }
  return n == 0 ? 0 : static_cast<float>(std::sqrt(std::max(0.0, squares / n - sum * sum / n / n)));
}

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
  Sums sums(blocks.cells(), width);
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
        const std::uint32_t block = blocks.cell_of(positions[i]);
        const Vec3d middle{blocks.center_x(block % blocks.nx), blocks.center_y(block / blocks.nx), datum};
        sums.add(block * width + at, positions[i] - middle);
      }
    });
  });
  std::vector<std::optional<Vec3d>> means;
  for (std::size_t block = 0; block < blocks.cells(); ++block) {
    if (block % kGrain == 0) ctx.checkpoint();
    means.push_back(mean_of_block(sums, block));
  }
  std::vector<PlaneFit::Plane> planes(blocks.cells());
  for (std::size_t block = 0; block < blocks.cells(); ++block) {
    if (block % kGrain == 0) ctx.checkpoint();
    if (means[block]) planes[block] = plane_at(means, blocks, block);
  }
  BulkVector<float> rough(blocks.cells() * width);
  parallel_for(ctx, blocks.cells(), 1024, [&](std::size_t begin, std::size_t end) {
    for (std::size_t block = begin; block < end; ++block)
      for (std::size_t scan = 0; scan < width; ++scan)
        rough[block * width + scan] =
            sums.count[block * width + scan] == 0 ? 0 : roughness(sums, scan, planes[block], blocks, block);
  });
  const auto is_compared = [&](std::size_t entry) {
    return sums.count[entry] >= kFewestCellPoints && rough[entry] <= kMostRoughness * blocks.cell;
  };
  std::vector<ScanHeight> out;
  std::vector<double> off;
  for (std::size_t a = 0; a < width; ++a)
    for (std::size_t b = a + 1; b < width; ++b) {
      ctx.checkpoint();
      off.clear();
      for (std::size_t block = 0; block < blocks.cells(); ++block) {
        const std::size_t first = block * width + a, second = block * width + b;
        if (!is_compared(first) || !is_compared(second)) continue;
        const Vec3d d = sums.mean(second) - sums.mean(first);
        off.push_back(d.z - planes[block].gu * d.x - planes[block].gv * d.y);
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
