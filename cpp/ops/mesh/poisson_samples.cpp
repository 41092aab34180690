#include "ops/mesh/poisson_samples.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/error.h"
#include "core/parallel.h"
#include "core/radix_sort.h"
#include "spatial/all_knn.h"

namespace pc::poisson_detail {

namespace {

constexpr std::size_t kGrain = 16'384;
/// A sample lies at a crease if the normals of this many of its neighbours are turned by 45 to 135 degrees from its own: one
/// alone may be a wrong normal, and one that is turned farther belongs to the other face of a sheet.
constexpr int kLeastTurned = 2;
constexpr double kTurned = 0.5;                            // squared cosine
constexpr double kMinExtent = 1e-150, kMaxExtent = 1e150;  // beyond, squares and inverses are 0 or infinite

double length(const Vec3d& v) { return std::sqrt(v.x * v.x + v.y * v.y + v.z * v.z); }

/// Rows with a position and a normal.
BulkVector<std::uint32_t> usable_rows(Span<const Vec3d> points, Span<const Vec3d> normals, OpContext& ctx) {
  BulkVector<std::uint32_t> rows;
  rows.reserve(points.size);
  for (std::size_t i = 0; i < points.size; ++i) {
    if (i % 65'536 == 0) ctx.checkpoint();
    const double size = length(normals[i]);
    if (is_finite(points[i]) && size > 0 && std::isfinite(size))
      rows.push_back(static_cast<std::uint32_t>(i));
  }
  return rows;
}

Cube cube_of(Span<const Vec3d> points, const BulkVector<std::uint32_t>& rows, double scale, OpContext& ctx) {
  Box3d box;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i % 65'536 == 0) ctx.checkpoint();
    box.add(points[rows[i]]);
  }
  if (box.empty())
    throw Error(ErrorCode::kInvalidArgument, "Poisson reconstruction needs points with normals");
  const Vec3d extent = box.max - box.min;
  const double longest = std::max({extent.x, extent.y, extent.z});
  if (!(longest >= kMinExtent) || longest > kMaxExtent)
    throw Error(ErrorCode::kInvalidArgument,
                "Poisson reconstruction needs points at different places, 1e-150 to 1e150 m apart");
  const double side = scale * longest;
  const Vec3d middle = box.min + extent * 0.5;
  return {middle - Vec3d{side, side, side} * 0.5, side};
}

/// Appends the mean of the points of one cell.
void merge(Samples& samples, std::uint64_t key, const Vec3d& place_sum, const Vec3d& normal_sum,
           std::uint32_t count) {
  samples.key.push_back(key);
  samples.place.push_back(place_sum * (1.0 / count));
  samples.area_normal.push_back(normal_sum * (1.0 / count));
}

/// Whether the surface has a crease at a sample; normals of any length.
bool is_at_crease(Span<const Vec3d> normals, std::size_t row, Span<const std::uint64_t> neighbors) {
  int turned = 0;
  for (const std::uint64_t other : neighbors) {
    const Vec3d &a = normals[row], &b = normals[other];
    const double cosine = dot(a, b);
    turned += cosine * cosine < kTurned * dot(a, a) * dot(b, b) ? 1 : 0;
  }
  return turned >= kLeastTurned;
}

}  // namespace

SampledCloud sample_cloud(Span<const Vec3d> points, Span<const Vec3d> normals, double scale,
                          std::uint32_t depth, OpContext& ctx) {
  const BulkVector<std::uint32_t> rows = usable_rows(points, normals, ctx);
  SampledCloud cloud{cube_of(points, rows, scale, ctx), {}, {}, points.size - rows.size()};
  const double cells = std::ldexp(1.0, static_cast<int>(depth + kMergeLevels));
  cloud.samples.bits = depth + kMergeLevels;
  BulkVector<std::uint64_t> keys(rows.size());
  const auto unit = [&](std::size_t i) {
    return (points[rows[i]] - cloud.cube.origin) * (1 / cloud.cube.side);
  };
  parallel_for(ctx, rows.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Vec3d p = unit(i) * cells;
      const auto at = [&](double v) { return static_cast<std::uint32_t>(std::clamp(v, 0.0, cells - 1)); };
      keys[i] = morton_encode({at(p.x), at(p.y), at(p.z)});
    }
  });
  const BulkVector<std::uint32_t> order =
      radix_sort_order(keys.view(), static_cast<int>(3 * cloud.samples.bits), ctx);
  Vec3d place{0, 0, 0}, normal{0, 0, 0};
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i % 65'536 == 0) ctx.checkpoint();
    const std::uint32_t at = order[i];
    place = place + unit(at);
    normal = normal + normals[rows[at]] * (1 / length(normals[rows[at]]));
    ++count;
    if (i + 1 < order.size() && keys[order[i + 1]] == keys[at]) continue;
    merge(cloud.samples, keys[at], place, normal, count);
    place = normal = {0, 0, 0};
    count = 0;
  }
  return cloud;
}

void measure_density(SampledCloud& cloud, const KdTree& tree, double samples_per_node, std::uint32_t depth,
                     OpContext& ctx) {
  Samples& samples = cloud.samples;
  samples.area.resize(samples.size());
  samples.resolution.resize(samples.size());
  samples.splat_depth.resize(samples.size());
  samples.leaf_depth.resize(samples.size());
  cloud.spacing.resize(samples.size());
  const std::uint32_t farthest = std::max(kDensityNeighbors, kSupportNeighbors);
  const auto k = static_cast<std::uint32_t>(std::min<std::uint64_t>(farthest, tree.size() - 1));
  const KdTreeView view = tree.view();
  all_knn(tree, k, ctx, [&](std::uint32_t number, const LeafKnn& found) {
    const kd_tree::Leaf leaf = view.leaf(view.nodes[number]);
    for (std::uint32_t p = 0; p < leaf.count; ++p) {
      const std::size_t row = leaf.row[p];
      const Span<const double> squared = found.squared(p);
      const std::size_t last = std::min<std::size_t>(kDensityNeighbors, squared.size);
      // The sample and last - 1 others lie in the disc, the farthest on its border: last samples in its area.
      const double area = M_PI * squared[last - 1] / static_cast<double>(last);
      samples.area[row] = area;
      cloud.spacing[row] = std::sqrt(squared[std::min<std::size_t>(kSupportNeighbors, squared.size) - 1]);
      const double level = -0.5 * std::log2(samples_per_node * area);
      const bool crease = is_at_crease(samples.area_normal.view(), row, found.rows(p));
      const double finer = crease ? 1 : 0, most = depth;
      const double leaf_level = std::clamp(std::round(level) + finer, 0.0, most);
      samples.resolution[row] = static_cast<float>(std::exp2(std::clamp(level + finer, 0.0, most)));
      samples.leaf_depth[row] = static_cast<std::uint8_t>(leaf_level);
      samples.splat_depth[row] = static_cast<float>(std::clamp(level, 0.0, leaf_level));
    }
  });
  parallel_for(ctx, samples.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t s = begin; s < end; ++s)
      samples.area_normal[s] = samples.area_normal[s] * samples.area[s];
  });
}

}  // namespace pc::poisson_detail
