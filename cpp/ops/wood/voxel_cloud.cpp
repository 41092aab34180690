#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/parallel.h"
#include "ops/wood/voxel_hierarchy.h"

namespace pc {

namespace {

constexpr double kLow = 0.02, kHigh = 0.98;  // quantiles that span the range of the reflectance
constexpr double kMost = 3;                  // half ranges from the median
constexpr std::size_t kBlock = 65'536;

struct Scale {
  double middle = 0, half_range = 0;

  float of(float value) const {
    if (!std::isfinite(value) || !(half_range > 0)) return 0;
    return static_cast<float>(std::clamp((static_cast<double>(value) - middle) / half_range, -kMost, kMost));
  }
};

Scale scale_of(Span<const float> reflectance, OpContext& ctx) {
  BulkVector<float> finite;
  finite.reserve(reflectance.size);
  for (std::size_t i = 0; i < reflectance.size; ++i) {
    if (i % kBlock == 0) ctx.checkpoint();
    if (std::isfinite(reflectance[i])) finite.push_back(reflectance[i]);
  }
  if (finite.empty()) return {};
  const auto quantile = [&](double share) {
    const auto at = static_cast<std::size_t>(share * static_cast<double>(finite.size() - 1));
    std::nth_element(finite.begin(), finite.begin() + at, finite.end());
    ctx.checkpoint();
    return static_cast<double>(finite[at]);
  };
  const double low = quantile(kLow), middle = quantile(0.5), high = quantile(kHigh);
  return {middle, (high - low) / 2};
}

/// The finest edge at which enough voxels hold several points: of the voxels, not of the points, so that a stem near the
/// scanner does not decide for the crown.
double edge_of(HitPoints points, const VoxelEdges& edges, OpContext& ctx) {
  constexpr int kBisections = 6;
  if (edges.finest_m == edges.coarsest_m) return edges.coarsest_m;
  const auto fits = [&](double edge_m) {
    const VoxelCount count = voxel_count(points, edge_m, ctx);
    return static_cast<double>(count.single) <= edges.most_single * static_cast<double>(count.voxels);
  };
  if (fits(edges.finest_m)) return edges.finest_m;
  if (!fits(edges.coarsest_m)) return edges.coarsest_m;
  double fine = edges.finest_m, coarse = edges.coarsest_m;
  for (int i = 0; i < kBisections; ++i) {
    const double middle = std::sqrt(fine * coarse);
    (fits(middle) ? coarse : fine) = middle;
  }
  return coarse;
}

}  // namespace

VoxelCloud voxel_cloud(HitPoints points, Span<const float> reflectance, const VoxelEdges& edges,
                       OpContext& ctx) {
  require(edges.finest_m > 0 && edges.finest_m <= edges.coarsest_m && std::isfinite(edges.coarsest_m),
          "finest_m and coarsest_m must be finite and above 0, and finest_m at most coarsest_m");
  require(edges.most_single > 0 && edges.most_single <= 1, "most_single must be above 0 and at most 1");
  require(reflectance.empty() || reflectance.size == points.size(), "every point needs a reflectance");
  const double voxel_m = edge_of(points, edges, ctx);
  VoxelCloud cloud;
  if (reflectance.empty()) {
    cloud.nodes = path_nodes(points, {}, voxel_m, {}, ctx);
    return cloud;
  }
  BulkVector<float> scaled(reflectance.size);
  const Scale scale = scale_of(reflectance, ctx);
  parallel_for(ctx, scaled.size(), kBlock, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) scaled[i] = scale.of(reflectance[i]);
  });
  cloud.nodes = path_nodes(points, scaled.view(), voxel_m, {}, ctx);
  cloud.reflectance = std::move(cloud.nodes.height);
  cloud.nodes.height = {};
  return cloud;
}

std::uint64_t voxel_network_bytes(std::uint64_t points, const VoxelNetworkSize& size) {
  constexpr std::uint64_t kVoxelBytes = 44, kPathBytes = 190, kCropBytes = 64'000'000;
  const std::uint64_t columns = std::uint64_t{size.features} + size.classes + size.neighbors;
  return points * (kVoxelBytes + kPathBytes + 4 * columns) + kCropBytes;
}

}  // namespace pc
