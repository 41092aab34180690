#include "ops/trees/path_nodes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/parallel.h"
#include "core/radix_sort.h"
#include "core/round.h"
#include "ops/trees/local_position.h"
#include "spatial/finite_box.h"

namespace pc {

namespace {

constexpr std::size_t kBlock = 65'536;
constexpr double kMiddleCell = 0x1p31;       // of the keys' range
constexpr double kMostCells = 0x1.fp30;      // from the origin to any point
constexpr double kFine = 0x1p20;             // parts of a voxel, for exact sums
constexpr double kHeightParts = 0x1p16;      // parts of a metre
constexpr double kMostHeight = 0x1p14;       // metres; higher ones are unknown
constexpr std::uint64_t kShare = 16;         // one voxel of so many is counted,
constexpr std::size_t kAllCounted = 65'536;  // of clouds with more points
constexpr std::uint64_t kFewestNodes = 128;
constexpr int kBisections = 6;

/// Largest distance of the box from the origin along an axis.
double reach_of(const Box3d& box, const Vec3d& origin) {
  const Vec3d low = origin - box.min, high = box.max - origin;
  return std::max({std::abs(low.x), std::abs(low.y), std::abs(low.z), std::abs(high.x), std::abs(high.y),
                   std::abs(high.z)});
}

struct Cell {
  std::uint32_t x, y, z;
  std::uint64_t xy() const { return std::uint64_t{x} << 32 | y; }
};

struct Grid {
  Vec3d origin;
  double edge;

  static std::uint32_t index(double cells) {
    return static_cast<std::uint32_t>(std::floor(cells) + kMiddleCell);
  }
  Cell of(const Vec3d& p) const {
    const Vec3d at = local_position(p, origin);
    return {index(at.x / edge), index(at.y / edge), index(at.z / edge)};
  }
  /// Place of a point in its voxel, in parts.
  static std::int64_t part(double offset, double edge, std::uint32_t cell) {
    const double within = offset / edge - (static_cast<double>(cell) - kMiddleCell);
    return static_cast<std::int64_t>(round_half_even(within * kFine));
  }
};

/// The grid for points of a box that is not empty.
Grid grid_over(const Box3d& box, double edge_m, const std::optional<Vec3d>& origin) {
  const Vec3d middle = (box.min * 0.5) + (box.max * 0.5);
  const Vec3d at = origin.value_or(middle);
  const double reach = reach_of(box, at);
  require(reach < 0x1p500, "coordinates are too large for trees");
  return {at, std::max(edge_m, reach / kMostCells)};
}

std::uint64_t mixed(std::uint64_t value) {  // splitmix64, Steele et al. 2014
  value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9;
  value = (value ^ value >> 27) * 0x94D049BB133111EB;
  return value ^ value >> 31;
}

/// Voxels with points, of large clouds from one in kShare of them.
VoxelCount counted(Span<const Vec3d> xyz, const Grid& grid, OpContext& ctx) {
  const std::uint64_t share = xyz.size > kAllCounted ? kShare : 1;
  std::vector<std::vector<std::uint64_t>> found((xyz.size + kBlock - 1) / kBlock);
  parallel_for(ctx, xyz.size, kBlock, [&](std::size_t begin, std::size_t end) {
    auto& hashes = found[begin / kBlock];
    for (std::size_t i = begin; i < end; ++i) {
      if (!is_finite(xyz[i])) continue;
      const Cell cell = grid.of(xyz[i]);
      const std::uint64_t hash = mixed(mixed(cell.xy() + 0x9E3779B97F4A7C15) + cell.z);
      if (hash % share == 0) hashes.push_back(hash);
    }
  });
  BulkVector<std::uint64_t> all;
  for (const auto& hashes : found) {
    for (const std::uint64_t hash : hashes) all.push_back(hash);
    ctx.checkpoint();
  }
  BulkVector<std::uint32_t> rows(all.size());
  radix_sort_pairs(all.view(), rows.view(), 64, ctx);
  VoxelCount count{0, 0};
  for (std::size_t i = 0, next = 0; i < all.size(); i = next) {
    if (count.voxels % kBlock == 0) ctx.checkpoint();
    while (next < all.size() && all[next] == all[i]) ++next;
    count.voxels += share;
    count.single += next == i + 1 ? share : 0;
  }
  return count;
}

/// Finite rows, sorted by voxel, and where each voxel begins.
struct Sorted {
  BulkVector<std::uint32_t> row;
  BulkVector<std::uint32_t> first;  ///< (m + 1)
};

Sorted sort_rows(Span<const Vec3d> xyz, const Grid& grid, OpContext& ctx) {
  Sorted sorted;
  sorted.row.reserve(xyz.size);
  for (std::size_t i = 0; i < xyz.size; ++i) {
    if (i % kBlock == 0) ctx.checkpoint();
    if (is_finite(xyz[i])) sorted.row.push_back(static_cast<std::uint32_t>(i));
  }
  const std::size_t n = sorted.row.size();
  {
    BulkVector<std::uint32_t> z(n);
    parallel_for(ctx, n, kBlock, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) z[i] = grid.of(xyz[sorted.row[i]]).z;
    });
    radix_sort_pairs(z.view(), sorted.row.view(), 32, ctx);
  }
  {
    BulkVector<std::uint64_t> xy(n);
    parallel_for(ctx, n, kBlock, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) xy[i] = grid.of(xyz[sorted.row[i]]).xy();
    });
    radix_sort_pairs(xy.view(), sorted.row.view(), 64, ctx);
  }
  Cell before{0, 0, 0};
  for (std::size_t i = 0; i < n; ++i) {
    if (i % kBlock == 0) ctx.checkpoint();
    const Cell cell = grid.of(xyz[sorted.row[i]]);
    if (i == 0 || cell.z != before.z || cell.xy() != before.xy())
      sorted.first.push_back(static_cast<std::uint32_t>(i));
    before = cell;
  }
  sorted.first.push_back(static_cast<std::uint32_t>(n));
  return sorted;
}

/// Sums of the points of a voxel.
struct Sums {
  std::int64_t x = 0, y = 0, z = 0, height = 0, heights = 0;
};

Sums sum_of(const Sorted& sorted, std::size_t node, Span<const Vec3d> xyz, Span<const float> heights,
            const Grid& grid, const Cell& cell) {
  Sums sums;
  for (std::uint32_t i = sorted.first[node]; i < sorted.first[node + 1]; ++i) {
    const std::uint32_t row = sorted.row[i];
    const Vec3d at = local_position(xyz[row], grid.origin);
    sums.x += Grid::part(at.x, grid.edge, cell.x);
    sums.y += Grid::part(at.y, grid.edge, cell.y);
    sums.z += Grid::part(at.z, grid.edge, cell.z);
    const double height =
        heights.empty() ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(heights[row]);
    if (!(std::abs(height) <= kMostHeight)) continue;
    sums.height += static_cast<std::int64_t>(round_half_even(height * kHeightParts));
    ++sums.heights;
  }
  return sums;
}

void fill_node(std::size_t node, const Sorted& sorted, Span<const Vec3d> xyz, Span<const float> heights,
               const Grid& grid, PathNodes& out) {
  const std::uint32_t begin = sorted.first[node], end = sorted.first[node + 1];
  const Cell cell = grid.of(xyz[sorted.row[begin]]);
  const Sums sums = sum_of(sorted, node, xyz, heights, grid, cell);
  const double count = static_cast<double>(end - begin);
  const auto mean = [&](std::uint32_t index, std::int64_t sum) {
    return (static_cast<double>(index) - kMiddleCell + static_cast<double>(sum) / kFine / count) * grid.edge;
  };
  out.place[node] = {mean(cell.x, sums.x), mean(cell.y, sums.y), mean(cell.z, sums.z)};
  out.height[node] = sums.heights == 0 ? std::numeric_limits<float>::quiet_NaN()
                                       : static_cast<float>(static_cast<double>(sums.height) / kHeightParts /
                                                            static_cast<double>(sums.heights));
  out.points[node] = end - begin;
  for (std::uint32_t i = begin; i < end; ++i) out.node_of[sorted.row[i]] = static_cast<std::uint32_t>(node);
}

}  // namespace

PathNodes path_nodes(HitPoints points, Span<const float> heights, double edge_m,
                     const std::optional<Vec3d>& origin, OpContext& ctx) {
  const auto xyz = points.xyz();
  require(xyz.size < kNoNode, "trees take fewer than 2^32 points");
  require(heights.empty() || heights.size == xyz.size, "every point needs a height, NaN if it is unknown");
  require(std::isfinite(edge_m) && edge_m > 0, "node_m must be finite and above 0");
  require(!origin || is_finite(*origin), "origin must be finite");
  ctx.begin_phase("Gathering voxels", 5 * xyz.size);
  PathNodes nodes;
  const Box3d box = finite_box(xyz, ctx);
  nodes.node_of.resize(xyz.size);
  std::fill(nodes.node_of.begin(), nodes.node_of.end(), kNoNode);
  nodes.edge_m = edge_m;
  nodes.origin = origin.value_or(Vec3d{0, 0, 0});
  if (box.empty()) return nodes;
  const Grid grid = grid_over(box, edge_m, origin);
  nodes.origin = grid.origin;
  nodes.edge_m = grid.edge;
  const Sorted sorted = sort_rows(xyz, grid, ctx);
  const std::size_t count = sorted.first.size() - 1;
  nodes.place.resize(count);
  nodes.height.resize(count);
  nodes.points.resize(count);
  parallel_for(ctx, count, 4096, [&](std::size_t begin, std::size_t end) {
    for (std::size_t node = begin; node < end; ++node) fill_node(node, sorted, xyz, heights, grid, nodes);
  });
  return nodes;
}

VoxelCount voxel_count(HitPoints points, double edge_m, OpContext& ctx) {
  require(std::isfinite(edge_m) && edge_m > 0, "the edge of a voxel must be finite and above 0");
  ctx.begin_phase("Counting voxels", 0);
  const Box3d box = finite_box(points.xyz(), ctx);
  return box.empty() ? VoxelCount{0, 0} : counted(points.xyz(), grid_over(box, edge_m, {}), ctx);
}

double path_node_edge(HitPoints points, double finest_m, std::uint64_t most_nodes, OpContext& ctx) {
  const auto xyz = points.xyz();
  require(std::isfinite(finest_m) && finest_m > 0, "the edge of a voxel must be finite and above 0");
  require(most_nodes >= kFewestNodes, "any cloud has 128 voxels");
  if (xyz.size <= most_nodes) return finest_m;
  ctx.begin_phase("Counting voxels", 0);
  const Box3d box = finite_box(xyz, ctx);
  if (box.empty()) return finest_m;
  const auto fits = [&](double edge) {
    return counted(xyz, grid_over(box, edge, {}), ctx).voxels <= most_nodes;
  };
  if (fits(finest_m)) return finest_m;
  double fine = finest_m, coarse = 2 * finest_m;
  while (!fits(coarse)) fine = std::exchange(coarse, 2 * coarse);
  for (int i = 0; i < kBisections; ++i) {
    const double middle = std::sqrt(fine * coarse);
    (fits(middle) ? coarse : fine) = middle;
  }
  return coarse;
}

}  // namespace pc
