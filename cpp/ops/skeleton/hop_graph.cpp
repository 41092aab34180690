#include "ops/skeleton/hop_graph.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/float_bits.h"
#include "core/parallel.h"
#include "core/polled_sort.h"
#include "core/radix_sort.h"
#include "spatial/all_knn.h"
#include "spatial/kd_tree.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = 32'768;
constexpr std::size_t kRadiusSamples = 500;
constexpr double kRadiusFactor = 2.5;
constexpr double kMostExtent = 1e100;

/// Sorts by y, then z, what has one x.
void sort_equal_x(BulkVector<Vec3d>& points, OpContext& ctx) {
  std::size_t begin = 0;
  while (begin < points.size()) {
    std::size_t end = begin + 1;
    while (end < points.size() && points[end].x == points[begin].x) ++end;
    if (end - begin > 1) {
      polled_sort(
          points.begin() + begin, points.begin() + end,
          [](const Vec3d& a, const Vec3d& b) { return a.y != b.y ? a.y < b.y : a.z < b.z; }, ctx);
    }
    begin = end;
  }
}

void sort_by_position(BulkVector<Vec3d>& points, OpContext& ctx) {
  BulkVector<std::uint64_t> keys(points.size());
  parallel_for(ctx, points.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      keys[i] = bits_of(points[i].x);  // x >= 0: bits are in its order
  });
  const BulkVector<std::uint32_t> order = radix_sort_order(keys.view(), 64, ctx);
  keys.reset();
  BulkVector<Vec3d> sorted(points.size());
  parallel_for(ctx, points.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) sorted[i] = points[order[i]];
  });
  points = std::move(sorted);
  sort_equal_x(points, ctx);
}

/// Asks for the nearest points of every point.
void ask(HopGraph& graph, const KdTree& tree, double radius_m, OpContext& ctx) {
  const std::vector<std::size_t> blocks = tree.leaf_blocks(all_knn_block(graph.width));
  ctx.begin_phase("Linking points", blocks.size() - 1);
  const KdTreeView view = tree.view();
  const double most = radius_m * radius_m;
  const LeafKnnParams params{graph.width, 0,
                             KnnColumns::kAll};  // without rows, ties are not in a fixed order
  all_knn(tree, params, {blocks.data(), blocks.size()}, ctx, [&](std::uint32_t number, const LeafKnn& found) {
    const kd_tree::Node& node = view.nodes[number];
    const kd_tree::Leaf leaf = view.leaf(node);
    for (std::uint32_t p = 0; p < leaf.count; ++p) {
      const std::uint64_t slot = node.begin + p;
      graph.point[slot] = leaf.point(p);
      const Span<const double> squared = found.squared(p);
      const Span<const std::uint64_t> slots = found.slots(p);
      std::uint16_t count = 0;
      for (; count < squared.size && squared[count] <= most; ++count)
        graph.asked[slot * graph.width + count] = static_cast<std::uint32_t>(slots[count]);
      graph.asked_count[slot] = count;
    }
  });
}

/// Tells every point who asks for it without being asked for.
void answer(HopGraph& graph, OpContext& ctx) {
  const std::size_t size = graph.size();
  BulkVector<std::uint8_t> one_way(size * graph.width);
  ctx.begin_phase("Linking points back", size);
  const std::size_t grain = std::max<std::size_t>(64, 4'000'000 / (std::size_t{graph.width} * graph.width));
  parallel_for(ctx, size, std::min(grain, kGrain), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto node = static_cast<std::uint32_t>(i);
      const Span<const std::uint32_t> asked = graph.asked_by(node);
      for (std::size_t j = 0; j < asked.size; ++j) {
        const Span<const std::uint32_t> other = graph.asked_by(asked[j]);
        one_way[i * graph.width + j] =
            std::find(other.data, other.data + other.size, node) == other.data + other.size;
      }
    }
  });
  graph.first_back.resize(size + 1);
  const auto each_one_way = [&](const auto& visit) {
    for (std::size_t i = 0; i < size; ++i) {
      if (i % 4096 == 0) ctx.checkpoint();
      const Span<const std::uint32_t> asked = graph.asked_by(static_cast<std::uint32_t>(i));
      for (std::size_t j = 0; j < asked.size; ++j) {
        if (one_way[i * graph.width + j] != 0) visit(static_cast<std::uint32_t>(i), asked[j]);
      }
    }
  };
  each_one_way([&](std::uint32_t, std::uint32_t to) { ++graph.first_back[to]; });
  std::uint64_t total = 0;
  for (std::size_t i = 0; i <= size; ++i) {
    const std::uint64_t count = graph.first_back[i];
    graph.first_back[i] = total;
    total += count;
  }
  graph.back.resize(total);
  each_one_way([&](std::uint32_t from, std::uint32_t to) { graph.back[graph.first_back[to]++] = from; });
  for (std::size_t i = size; i > 0; --i) graph.first_back[i] = graph.first_back[i - 1];
  graph.first_back[0] = 0;
}

}  // namespace

SortedPoints sorted_points(Span<const Vec3d> positions, Span<const std::uint8_t> skip, OpContext& ctx) {
  ctx.begin_phase("Reading points", positions.size);
  const auto each_hit = [&](const auto& visit) {
    for (std::size_t i = 0; i < positions.size; ++i) {
      if (i % kGrain == 0) ctx.checkpoint();
      if (skip.size == 0 || skip[i] == 0) visit(positions[i]);
    }
  };
  SortedPoints local;
  BulkVector<Vec3d>& points = local.point;
  Box3d box;
  std::size_t count = 0;
  each_hit([&](const Vec3d& p) {
    if (!is_finite(p)) {
      ++local.non_finite;
      return;
    }
    box.add(p);
    ++count;
  });
  require(count == 0 || std::sqrt(squared_distance(box.min, box.max)) <= kMostExtent,
          "the points lie more than 1e100 m apart");
  points.reserve(count);
  each_hit([&](const Vec3d& p) {
    if (is_finite(p)) points.push_back(p);
  });
  require(points.size() < 0xffffffff, "a skeleton is of fewer than 4294967295 points");
  if (points.empty()) return local;
  local.origin = box.min;
  parallel_for(ctx, points.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) points[i] = points[i] - box.min;
  });
  ctx.begin_phase("Sorting points", 0);
  sort_by_position(points, ctx);
  return local;
}

HopGraph hop_graph(BulkVector<Vec3d> points, std::uint32_t neighbors, double radius_m, OpContext& ctx) {
  HopGraph graph;
  const std::size_t size = points.size();
  {
    ctx.begin_phase("Sorting points", 0);
    const KdTree tree(points.view(), ctx);
    points.reset();
    graph.width =
        static_cast<std::uint32_t>(std::min<std::size_t>(neighbors, std::max<std::size_t>(size, 2) - 1));
    graph.point.resize(size);
    graph.asked.resize(checked_bytes(size, graph.width));
    graph.asked_count.resize(size);
    ask(graph, tree, radius_m, ctx);
  }
  answer(graph, ctx);
  return graph;
}

std::optional<double> automatic_radius(Span<const Vec3d> points, OpContext& ctx) {
  if (points.size < 2) return std::nullopt;
  ctx.begin_phase("Measuring the point spacing", 0);
  const KdTree tree(points, ctx);
  const std::size_t samples = std::min(points.size, kRadiusSamples);
  double sum = 0;
  for (std::size_t i = 0; i < samples; ++i) {
    const std::size_t row = i * points.size / samples;
    double squared = 0;
    std::uint64_t near = 0, slot = 0;
    tree.view().knn(points[row], 1, row, &squared, &near, &slot);
    sum += std::sqrt(squared);
  }
  const double radius = kRadiusFactor * sum / static_cast<double>(samples);
  return std::isfinite(radius) && radius > 0 ? std::optional(radius) : std::nullopt;
}

}  // namespace pc
