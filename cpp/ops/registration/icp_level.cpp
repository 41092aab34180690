#include "ops/registration/icp_level.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/nth_smallest.h"
#include "core/parallel.h"
#include "core/radix_sort.h"
#include "core/symmetric_eigen.h"
#include "ops/registration/rigid_transform.h"
#include "spatial/all_knn.h"

namespace pc {

namespace {

constexpr std::uint32_t kNeighbors = 20;
constexpr std::uint32_t kSpacingRank = 6;
constexpr double kRim = 0.4, kMostRim = 0.3;
constexpr std::size_t kGrain = std::size_t{1} << 16;
constexpr int kAxisBits = 20;

struct Surface {
  Vec3d normal;
  bool is_rim;
};

/// The plane through the points of `slots` and `center`, of which the farthest is sqrt(reach_squared) away.
Surface surface_at(const Vec3d& center, Span<const std::uint64_t> slots, double reach_squared,
                   const Vec3d* points) {
  Vec3d sum{0, 0, 0};
  for (const std::uint64_t slot : slots) sum = sum + (points[slot] - center);
  const auto count = static_cast<double>(slots.size);
  const Vec3d mean = sum * (1 / (count + 1));
  Symmetric3 moments{0, 0, 0, 0, 0, 0};
  const auto add = [&](const Vec3d& d) { moments.add_square(d); };
  add(mean * -1);
  for (const std::uint64_t slot : slots) add(points[slot] - center - mean);
  const SymmetricEigen3 eigen = symmetric_eigen(moments);
  constexpr double kLine = 1e-10;  // second over first moment of points on a line, with rounding
  if (!(eigen.value[1] > kLine * eigen.value[2])) return {{0, 0, 0}, false};
  const Vec3d normal = eigen.vector[0], to_mean = sum * (1 / count);
  const Vec3d along = to_mean - normal * dot(normal, to_mean);
  return {normal, dot(along, along) > kRim * kRim * reach_squared};
}

double median_positive(BulkVector<double>& values) {
  const auto end = std::remove_if(values.begin(), values.end(), [](double v) { return !(v > 0); });
  const auto count = static_cast<std::size_t>(end - values.begin());
  return count == 0 ? 0 : nth_smallest(values.data(), count, count / 2);
}

void copy_points(IcpLevel& level) {
  const KdTreeView view = level.tree->view();
  for (const std::uint32_t number : level.tree->leaves()) {
    const kd_tree::Leaf leaf = view.leaf(view.nodes[number]);
    const std::uint64_t begin = view.nodes[number].begin;
    for (std::uint32_t i = 0; i < leaf.count; ++i) level.points[begin + i] = leaf.point(i);
  }
}

}  // namespace

IcpLevel icp_level(Span<const Vec3d> points, OpContext& ctx) {
  require(points.size < ~std::uint32_t{0}, "a level holds less than 2^32 - 1 points");
  IcpLevel level;
  level.tree = std::make_unique<KdTree>(points, ctx);
  const std::size_t count = level.tree->size();
  level.points.resize(count);
  level.normals.resize(count);
  level.is_rim.resize(count);
  copy_points(level);
  if (count < 2) return level;
  const KdTreeView view = level.tree->view();
  BulkVector<double> reach(count);
  const auto most = static_cast<std::uint32_t>(std::min<std::size_t>(kNeighbors, count - 1));
  all_knn(*level.tree, most, ctx, [&](std::uint32_t number, const LeafKnn& found) {
    const kd_tree::Node& node = view.nodes[number];
    for (std::uint32_t i = 0; i < node.end - node.begin; ++i) {
      const std::uint64_t slot = node.begin + i;
      const auto squared = found.squared(i);
      if (squared.size == 0) continue;
      const Surface surface =
          surface_at(level.points[slot], found.slots(i), squared[squared.size - 1], level.points.data());
      level.normals[slot] = surface.normal;
      level.is_rim[slot] = surface.is_rim ? 1 : 0;
      reach[slot] = squared[std::min<std::size_t>(kSpacingRank, squared.size) - 1];
    }
  });
  level.spacing_m = std::sqrt(median_positive(reach));
  std::size_t rim = 0;
  for (const std::uint8_t is : level.is_rim) rim += is;
  if (static_cast<double>(rim) > kMostRim * static_cast<double>(count))
    std::fill(level.is_rim.begin(), level.is_rim.end(), std::uint8_t{0});
  return level;
}

BulkVector<Vec3d> voxel_means(Span<const Vec3d> points, double voxel_m, OpContext& ctx) {
  Box3d box;
  for (std::size_t i = 0; i < points.size; ++i) {
    if (i % kGrain == 0) ctx.checkpoint();
    box.add(points[i]);
  }
  if (box.empty()) return {};
  const double extent = std::max({box.max.x - box.min.x, box.max.y - box.min.y, box.max.z - box.min.z});
  const double edge = std::max(voxel_m, extent / ((1 << kAxisBits) - 1));
  BulkVector<std::uint64_t> keys(points.size);
  BulkVector<std::uint32_t> rows(points.size);
  const auto cell = [&](double value, double min) {
    return static_cast<std::uint64_t>((value - min) / edge);
  };
  parallel_for(ctx, points.size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Vec3d& p = points[i];
      keys[i] =
          cell(p.x, box.min.x) | cell(p.y, box.min.y) << kAxisBits | cell(p.z, box.min.z) << (2 * kAxisBits);
      rows[i] = static_cast<std::uint32_t>(i);
    }
  });
  radix_sort_pairs(keys.view(), rows.view(), 3 * kAxisBits, ctx);
  BulkVector<Vec3d> means;
  std::size_t polled = 0;
  for (std::size_t begin = 0, end = 0; begin < keys.size(); begin = end) {
    if (begin >= polled) {
      ctx.checkpoint();
      polled = begin + kGrain;
    }
    Vec3d sum{0, 0, 0};
    for (; end < keys.size() && keys[end] == keys[begin]; ++end) sum = sum + points[rows[end]];
    means.push_back(sum * (1 / static_cast<double>(end - begin)));
  }
  return means;
}

BulkVector<Vec3d> at_most_points(BulkVector<Vec3d> points, std::size_t most, double first_voxel_m,
                                 OpContext& ctx) {
  require(first_voxel_m > 0, "a voxel needs an edge");
  if (points.size() <= most) return points;
  for (double voxel_m = first_voxel_m;; voxel_m *= 1.1) {
    BulkVector<Vec3d> means = voxel_means(points.view(), voxel_m, ctx);
    if (means.size() <= most) return means;
    // At twice the edge a surface has a quarter of the voxels, a volume an eighth: the cube root never leaps too far.
    voxel_m *= std::cbrt(static_cast<double>(means.size()) / static_cast<double>(most));
  }
}

}  // namespace pc
