#include "ops/skeleton/point_graph.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/nth_smallest.h"
#include "core/parallel.h"
#include "core/polled_sort.h"
#include "core/radix_sort.h"
#include "ops/trees/cut_pursuit_nodes.h"
#include "spatial/kd_tree.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = 65536;
constexpr std::uint64_t kSpacingSamples = 2000;
constexpr int kAxisBits = 21;

std::uint64_t spread(std::uint64_t v) {  // two zero bits after each of 21 bits
  v = (v | v << 32) & 0x1f00000000ffffULL;
  v = (v | v << 16) & 0x1f0000ff0000ffULL;
  v = (v | v << 8) & 0x100f00f00f00f00fULL;
  v = (v | v << 4) & 0x10c30c30c30c30c3ULL;
  return (v | v << 2) & 0x1249249249249249ULL;
}

bool before(const Vec3d& a, const Vec3d& b) {
  if (a.x != b.x) return a.x < b.x;
  return a.y != b.y ? a.y < b.y : a.z < b.z;
}

Box3d box_of(Span<const Vec3d> points) {
  Box3d box;
  for (const Vec3d& p : points) box.add(p);
  return box;
}

/// Sorts by Morton cell of the box, then by x, y, z: close points stay close, and rows play no part.
void sort_by_position(PointGraph& graph, OpContext& ctx) {
  const std::size_t count = graph.local.size();
  const Box3d box = box_of(graph.local.view());
  const double size = std::max({box.max.x - box.min.x, box.max.y - box.min.y, box.max.z - box.min.z, 1e-9});
  const double scale = (static_cast<double>(std::uint64_t{1} << kAxisBits) - 1) / size;
  BulkVector<std::uint64_t> key(count);
  BulkVector<std::uint32_t> place(count);
  parallel_for(ctx, count, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Vec3d at = (graph.local[i] - box.min) * scale;
      key[i] = spread(static_cast<std::uint64_t>(at.x)) | spread(static_cast<std::uint64_t>(at.y)) << 1 |
               spread(static_cast<std::uint64_t>(at.z)) << 2;
      place[i] = static_cast<std::uint32_t>(i);
    }
  });
  radix_sort_pairs(key.view(), place.view(), 3 * kAxisBits, ctx);
  const auto less = [&](std::uint32_t a, std::uint32_t b) { return before(graph.local[a], graph.local[b]); };
  for (std::size_t begin = 0, end = 0; begin < count; begin = end) {
    while (end < count && key[end] == key[begin]) ++end;
    if (end - begin > 1) polled_sort(place.begin() + begin, place.begin() + end, less, ctx);
    if (begin % kGrain < end - begin) ctx.checkpoint();
  }
  key.reset();
  BulkVector<Vec3d> local(count);
  BulkVector<std::uint32_t> order(count);
  parallel_for(ctx, count, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      local[i] = graph.local[place[i]];
      order[i] = graph.order[place[i]];
    }
  });
  graph.local = std::move(local);
  graph.order = std::move(order);
}

double median_spacing(Span<const Vec3d> local, OpContext& ctx) {
  const KdTree tree(local, ctx);
  const std::uint64_t samples = std::min<std::uint64_t>(kSpacingSamples, local.size);
  std::vector<double> squared(samples, std::numeric_limits<double>::infinity());
  parallel_for(ctx, samples, 32, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      squared[i] = tree.view().nearest_elsewhere(local[i * local.size / samples]);
  });
  squared.erase(std::remove_if(squared.begin(), squared.end(), [](double s) { return !std::isfinite(s); }),
                squared.end());
  if (squared.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto middle = squared.begin() + static_cast<std::ptrdiff_t>((squared.size() - 1) / 2);
  std::nth_element(squared.begin(), middle, squared.end());
  return std::sqrt(*middle);
}

/// Every position is a vertex: for a cloud that has too many planes of voxels.
void keep_positions(PointGraph& graph) {
  graph.of_point = BulkVector<std::uint32_t>(graph.local.size());
  graph.vertex.reset();
  for (std::size_t i = 0; i < graph.local.size(); ++i) {
    if (i == 0 || !(graph.local[i] == graph.local[i - 1])) graph.vertex.push_back(graph.local[i]);
    graph.of_point[i] = static_cast<std::uint32_t>(graph.vertex.size() - 1);
  }
}

}  // namespace

PointGraph point_graph(Span<const Vec3d> points, double least_spacing_m, OpContext& ctx) {
  if (points.size >= kNoNode) {
    throw Error(ErrorCode::kInvalidArgument, "a tree may have 4,294,967,294 points, not " +
                                                 std::to_string(points.size) + "; thin the cloud");
  }
  PointGraph graph;
  graph.origin = box_center(points, ctx);
  for (std::size_t begin = 0; begin < points.size; begin += kGrain) {
    ctx.checkpoint();
    for (std::size_t i = begin; i < std::min(points.size, begin + kGrain); ++i)
      if (is_finite(points[i])) graph.order.push_back(static_cast<std::uint32_t>(i));
  }
  graph.local = BulkVector<Vec3d>(graph.order.size());
  parallel_for(ctx, graph.order.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      graph.local[i] = local_position(points[graph.order[i]], graph.origin);
  });
  sort_by_position(graph, ctx);
  graph.spacing_m = median_spacing(graph.local.view(), ctx);
  if (!std::isfinite(graph.spacing_m)) {
    keep_positions(graph);
    return graph;
  }
  graph.spacing_m = std::max(graph.spacing_m, least_spacing_m);
  try {
    VoxelNodes nodes = voxel_nodes(graph.local.view(), graph.spacing_m, ctx);
    graph.vertex = std::move(nodes.position);
    graph.of_point = std::move(nodes.of_point);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInvalidArgument) throw;
    keep_positions(graph);
  }
  return graph;
}

}  // namespace pc
