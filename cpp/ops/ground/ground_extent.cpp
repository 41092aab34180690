#include "ops/ground/ground_extent.h"

#include <algorithm>
#include <vector>

#include "core/error.h"
#include "core/parallel.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 16;
constexpr double kPreciseRange = 2000;  // float32 has 0.1 mm steps below 2 km
constexpr std::size_t kBins = 65'536;
constexpr double kLargestExtent = 1e12;  // metres; beyond it, areas and cells overflow sooner or later

double low_bin_edge(Span<const Vec3d> xyz, const GroundExtent& extent, OpContext& ctx) {
  const double low = extent.box.min.z, width = (extent.box.max.z - low) / kBins;
  const auto workers = static_cast<std::size_t>(ctx.threads());
  std::vector<std::vector<std::uint64_t>> counts(workers, std::vector<std::uint64_t>(kBins));
  parallel_for_worker(ctx, xyz.size, kGrain, [&](std::size_t begin, std::size_t end, int worker) {
    std::vector<std::uint64_t>& own = counts[static_cast<std::size_t>(worker)];
    for (std::size_t i = begin; i < end; ++i) {
      if (!is_finite(xyz[i])) continue;
      const double bin = (xyz[i].z - low) / width;
      own[bin < kBins - 1 ? static_cast<std::size_t>(bin) : kBins - 1] += 1;
    }
  });
  std::uint64_t seen = 0;
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    for (const auto& own : counts) seen += own[bin];
    if (seen * 10 >= extent.finite_count) return low + width * static_cast<double>(bin);
  }
  return low;
}

}  // namespace

GroundExtent ground_extent(HitPoints points, OpContext& ctx) {
  const Span<const Vec3d> xyz = points.xyz();
  struct Part {
    Box3d box;
    std::uint64_t count = 0;
  };
  std::vector<Part> parts(static_cast<std::size_t>(ctx.threads()));
  ctx.begin_phase("Measuring the extent", xyz.size);
  parallel_for_worker(ctx, xyz.size, kGrain, [&](std::size_t begin, std::size_t end, int worker) {
    Part part = parts[static_cast<std::size_t>(worker)];
    for (std::size_t i = begin; i < end; ++i) {
      if (!is_finite(xyz[i])) continue;
      part.box.add(xyz[i]);
      part.count += 1;
    }
    parts[static_cast<std::size_t>(worker)] = part;
  });
  GroundExtent extent{{}, 0, 0};
  for (const Part& part : parts) {
    extent.box.add(part.box);
    extent.finite_count += part.count;
  }
  if (extent.finite_count == 0) return extent;
  const Vec3d size = extent.box.max - extent.box.min;
  require(std::max({size.x, size.y, size.z}) <= kLargestExtent,
          "the points lie more than 1e12 m apart, which is no scan; remove the stray points");
  extent.z_origin = extent.box.min.z;
  if (extent.box.max.z - extent.box.min.z > kPreciseRange) extent.z_origin = low_bin_edge(xyz, extent, ctx);
  return extent;
}

}  // namespace pc
