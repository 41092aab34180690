#include "ops/skeleton/geodesic_distance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "core/error.h"
#include "ops/skeleton/sparse_surfaces.h"
#include "ops/trees/gap_components.h"
#include "spatial/union_find.h"

namespace pc {

namespace {

constexpr double kUnreached = std::numeric_limits<double>::infinity();
constexpr std::uint32_t kNotQueued = 0xffffffff;
constexpr std::size_t kPoll = 1024;

/// Vertices by distance, nearest first, with decreasing keys.
class DistanceQueue {
 public:
  explicit DistanceQueue(BulkVector<double>& distance) : distance_(distance), place_(distance.size()) {
    for (std::uint32_t& p : place_) p = kNotQueued;
  }
  bool empty() const { return heap_.empty(); }

  /// Puts a vertex in its place after its distance has become less.
  void lower(std::uint32_t vertex) {
    if (place_[vertex] == kNotQueued) {
      place_[vertex] = static_cast<std::uint32_t>(heap_.size());
      heap_.push_back(vertex);
    }
    rise(place_[vertex]);
  }

  std::uint32_t pop() {
    const std::uint32_t top = heap_[0], last = heap_.back();
    heap_.resize(heap_.size() - 1);
    place_[top] = kNotQueued;
    if (!heap_.empty()) sink(last);
    return top;
  }

 private:
  static constexpr std::size_t kWays = 4;
  bool nearer(std::uint32_t a, std::uint32_t b) const {
    return distance_[a] != distance_[b] ? distance_[a] < distance_[b] : a < b;
  }
  void put(std::size_t at, std::uint32_t vertex) {
    heap_[at] = vertex;
    place_[vertex] = static_cast<std::uint32_t>(at);
  }
  void rise(std::size_t at) {
    const std::uint32_t vertex = heap_[at];
    for (; at > 0; at = (at - 1) / kWays) {
      const std::uint32_t parent = heap_[(at - 1) / kWays];
      if (!nearer(vertex, parent)) break;
      put(at, parent);
    }
    put(at, vertex);
  }
  /// Lets `vertex` sink from the top.
  void sink(std::uint32_t vertex) {
    std::size_t at = 0;
    for (;;) {
      const std::size_t first = at * kWays + 1, end = std::min(first + kWays, heap_.size());
      if (first >= end) break;
      std::size_t best = first;
      for (std::size_t child = first + 1; child < end; ++child)
        if (nearer(heap_[child], heap_[best])) best = child;
      if (!nearer(heap_[best], vertex)) break;
      put(at, heap_[best]);
      at = best;
    }
    put(at, vertex);
  }

  BulkVector<double>& distance_;
  BulkVector<std::uint32_t> place_, heap_;
};

/// Sets of vertices that steps of at most edge_m connect.
BulkVector<std::uint32_t> components(const PointGraph& graph, const KdTree& tree, double edge_m,
                                     OpContext& ctx) {
  try {
    return gap_components(graph.vertex.view(), edge_m, ctx);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInvalidArgument) throw;
  }
  // Too many planes of voxels for gap_components: few neighbours each.
  UnionFind sets(graph.vertex.size());
  for (std::size_t i = 0; i < graph.vertex.size(); ++i) {
    if (i % kPoll == 0) ctx.checkpoint();
    tree.view().for_each_within(graph.vertex[i], edge_m * edge_m,
                                [&](std::uint64_t row, std::uint64_t, double) { sets.join(i, row); });
  }
  BulkVector<std::uint32_t> out(graph.vertex.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = sets.root_of(i);
  return out;
}

/// Makes one component of those that a link connects.
void join_components(BulkVector<std::uint32_t>& component, const std::vector<VertexLink>& links) {
  if (links.empty()) return;
  UnionFind sets(component.size());
  for (const VertexLink& link : links) sets.join(component[link.a], component[link.b]);
  for (std::uint32_t& name : component) name = sets.root_of(name);
}

/// Both directions of every link, by vertex.
std::vector<VertexLink> directed(const std::vector<VertexLink>& links) {
  std::vector<VertexLink> out;
  for (const VertexLink& link : links) {
    out.push_back(link);
    out.push_back({link.b, link.a, link.squared});
  }
  std::sort(out.begin(), out.end(), [](const VertexLink& p, const VertexLink& q) {
    return std::pair(p.a, p.b) < std::pair(q.a, q.b);
  });
  return out;
}

}  // namespace

GeodesicDistance geodesic_distance(const PointGraph& graph, const KdTree& tree,
                                   Span<const std::uint32_t> weight, const GeodesicParams& params,
                                   OpContext& ctx) {
  const std::size_t count = graph.vertex.size();
  BulkVector<std::uint32_t> component = components(graph, tree, params.edge_m, ctx);
  std::vector<VertexLink> more;
  if (params.joins_sparse_surfaces) more = sparse_surface_links(graph, tree, params.edge_m, ctx);
  join_components(component, more);
  const GapBridges gaps = gap_bridges(graph.vertex.view(), component.view(), weight, params.bridge_m, ctx);
  more.insert(more.end(), gaps.links.begin(), gaps.links.end());
  const std::vector<VertexLink> links = directed(more);
  GeodesicDistance out{BulkVector<double>(count), BulkVector<std::uint32_t>(count),
                       BulkVector<std::uint32_t>(count), gaps.links.size()};
  double lowest = kUnreached;
  for (std::size_t i = 0; i < count; ++i) {
    out.distance_m[i] = kUnreached;
    out.previous[i] = static_cast<std::uint32_t>(i);
    if (component[i] == gaps.main_component) lowest = std::min(lowest, graph.vertex[i].z);
  }
  DistanceQueue queue(out.distance_m);
  for (std::size_t i = 0; i < count; ++i) {
    if (component[i] != gaps.main_component || graph.vertex[i].z > lowest + params.root_m) continue;
    out.distance_m[i] = 0;
    queue.lower(static_cast<std::uint32_t>(i));
  }
  component.reset();
  UnionFind blocks(count);
  BulkVector<std::uint8_t> settled(count);
  const auto bin = [&](std::size_t v) { return std::floor(out.distance_m[v] / params.bin_m); };
  for (std::size_t popped = 0; !queue.empty(); ++popped) {
    if (popped % kPoll == 0) ctx.checkpoint();
    const std::uint32_t at = queue.pop();
    settled[at] = 1;
    const double distance = out.distance_m[at];
    const auto visit = [&](std::uint64_t row, std::uint64_t, double squared) {
      if (settled[row] != 0) {
        if (row != at && bin(row) == bin(at)) blocks.join(row, at);
        return;
      }
      const double reached = distance + std::sqrt(squared);
      if (!(reached < out.distance_m[row])) return;
      out.distance_m[row] = reached;
      out.previous[row] = at;
      queue.lower(static_cast<std::uint32_t>(row));
    };
    tree.view().for_each_within(graph.vertex[at], params.edge_m * params.edge_m, visit);
    auto link = std::lower_bound(links.begin(), links.end(), at,
                                 [](const VertexLink& l, std::uint32_t v) { return l.a < v; });
    for (; link != links.end() && link->a == at; ++link) visit(link->b, 0, link->squared);
  }
  for (std::size_t i = 0; i < count; ++i) out.block[i] = blocks.root_of(i);
  return out;
}

}  // namespace pc
