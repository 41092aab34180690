#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "core/parallel.h"
#include "ops/skeleton/point_graph.h"
#include "spatial/kd_tree.h"
#include "spatial/union_find.h"

namespace pc {

namespace {

constexpr std::uint32_t kMixed = 0xffffffff;
constexpr double kNone = std::numeric_limits<double>::infinity();

/// Shorter first, then by the lower and the higher vertex: a strict order of all links, so that the forest is unique.
bool shorter(const VertexLink& a, const VertexLink& b) {
  return std::tie(a.squared, a.a, a.b) < std::tie(b.squared, b.a, b.b);
}

VertexLink link_of(std::uint32_t v, std::uint32_t w, double squared) {
  return {std::min(v, w), std::max(v, w), squared};
}

/// The component of all points of each node of the tree, or kMixed.
std::vector<std::uint32_t> uniform_components(const KdTree& tree, Span<const std::uint32_t> component) {
  const KdTreeView view = tree.view();
  std::vector<std::uint32_t> uniform(tree.node_count());
  for (std::size_t i = uniform.size(); i-- > 0;) {  // children have higher numbers than their parent
    const kd_tree::Node& node = view.nodes[i];
    if (node.left != 0) {
      uniform[i] = uniform[node.left] == uniform[node.left + 1] ? uniform[node.left] : kMixed;
      continue;
    }
    const kd_tree::Leaf leaf = view.leaf(node);
    uniform[i] = component[leaf.row[0]];
    for (std::uint32_t k = 1; k < leaf.count; ++k)
      if (component[leaf.row[k]] != uniform[i]) uniform[i] = kMixed;
  }
  return uniform;
}

/// The shortest link of vertex `v` to another component that is at most as long as `best`.
struct ForeignSearch {
  const KdTreeView tree;
  Span<const std::uint32_t> uniform, component;

  VertexLink nearest(std::uint32_t v, const Vec3d& p, double reach) const {
    VertexLink best{kMixed, kMixed, reach};
    const std::uint32_t own = component[v];
    std::uint32_t stack[kd_tree::kMaxDepth];
    std::uint32_t depth = 0;
    stack[depth++] = 0;
    while (depth > 0) {
      const std::uint32_t at = stack[--depth];
      const kd_tree::Node& node = tree.nodes[at];
      if (uniform[at] == own || kd_tree::least_squared_distance(p, node) > best.squared) continue;
      if (node.left == 0) {
        const kd_tree::Leaf leaf = tree.leaf(node);
        for (std::uint32_t i = 0; i < leaf.count; ++i) {
          const auto row = static_cast<std::uint32_t>(leaf.row[i]);
          if (component[row] == own) continue;
          const VertexLink link = link_of(v, row, squared_distance(p, leaf.point(i)));
          if (shorter(link, best)) best = link;
        }
        continue;
      }
      const bool left_first = kd_tree::least_squared_distance(p, tree.nodes[node.left]) <
                              kd_tree::least_squared_distance(p, tree.nodes[node.left + 1]);
      stack[depth++] = node.left + (left_first ? 1 : 0);
      stack[depth++] = node.left + (left_first ? 0 : 1);
    }
    return best;
  }
};

std::uint32_t heaviest(Span<const std::uint32_t> component, Span<const std::uint32_t> weight) {
  BulkVector<std::uint64_t> total(component.size);
  std::uint32_t best = 0;
  for (std::size_t i = 0; i < component.size; ++i) total[component[i]] += weight[i];
  for (std::size_t i = 0; i < component.size; ++i)
    if (total[i] > total[best]) best = static_cast<std::uint32_t>(i);
  return best;
}

/// The state of Boruvka's rounds.
struct Rounds {
  Span<const Vec3d> vertices;
  Span<std::uint32_t> component;
  double reach_squared;
  std::uint32_t main;
  BulkVector<std::uint32_t> active;  ///< vertices outside of the main component that may still have a link
  BulkVector<VertexLink> found;      ///< of them
  std::vector<VertexLink> links;

  void search(const KdTree& tree, OpContext& ctx) {
    const std::vector<std::uint32_t> uniform = uniform_components(tree, component);
    const ForeignSearch search{tree.view(), {uniform.data(), uniform.size()}, component};
    parallel_for(ctx, active.size(), 1024, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const VertexLink& old = found[i];
        if (old.a != kMixed && component[old.a] != component[old.b]) continue;
        found[i] = search.nearest(active[i], vertices[active[i]], reach_squared);
      }
    });
  }

  /// Adds the shortest link of every component; false if there was none.
  bool join() {
    std::map<std::uint32_t, VertexLink> best;
    for (std::size_t i = 0; i < active.size(); ++i) {
      if (found[i].a == kMixed) continue;
      const auto [at, fresh] = best.try_emplace(component[active[i]], found[i]);
      if (!fresh && shorter(found[i], at->second)) at->second = found[i];
    }
    UnionFind sets(component.size);
    for (const auto& [name, link] : best)
      if (sets.join(component[link.a], component[link.b])) links.push_back(link);
    for (std::uint32_t& name : component) name = sets.root_of(name);
    main = sets.root_of(main);
    return !best.empty();
  }

  /// Drops vertices that are part of the main component now, or have nothing within reach.
  void drop_done() {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < active.size(); ++i) {
      if (found[i].a == kMixed || component[active[i]] == main) continue;
      active[kept] = active[i];
      found[kept++] = found[i];
    }
    active.resize(kept);
    found.resize(kept);
  }
};

}  // namespace

GapBridges gap_bridges(Span<const Vec3d> vertices, Span<std::uint32_t> component,
                       Span<const std::uint32_t> weight, double reach_m, OpContext& ctx) {
  if (vertices.size == 0) return {{}, 0};
  Rounds rounds{vertices, component, reach_m * reach_m, heaviest(component, weight), {}, {}, {}};
  for (std::size_t i = 0; i < vertices.size; ++i) {
    if (component[i] == rounds.main) continue;
    rounds.active.push_back(static_cast<std::uint32_t>(i));
    rounds.found.push_back({kMixed, kMixed, kNone});
  }
  if (!rounds.active.empty()) {
    const KdTree tree(vertices, ctx);
    do {
      rounds.search(tree, ctx);
      if (!rounds.join()) break;
      rounds.drop_done();
    } while (!rounds.active.empty());
  }
  GapBridges out{{}, rounds.main};
  for (const VertexLink& link : rounds.links)
    if (component[link.a] == rounds.main) out.links.push_back(link);
  std::sort(out.links.begin(), out.links.end(),
            [](const VertexLink& a, const VertexLink& b) { return std::tie(a.a, a.b) < std::tie(b.a, b.b); });
  return out;
}

}  // namespace pc
