#include "ops/cloud/normal_orientation.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/memory.h"
#include "core/parallel.h"
#include "core/radix_sort.h"
#include "spatial/all_knn.h"

namespace pc {

namespace {

constexpr std::uint32_t kNobody = 0xffffffffU;
constexpr int kCostBits = 16;
constexpr std::size_t kPoll = std::size_t{1} << 16;  // rows or links between two cancel checks
constexpr double kDecisive = 0.1;                    // |m| of the rule "Outward"

bool has_normal(const Vec3d& n) { return n.x != 0 || n.y != 0 || n.z != 0; }

/// Disjoint sets whose members are on the same side as their set's lowest member, or on the other one.
class SidedSets {
 public:
  explicit SidedSets(std::size_t size) : parent_(size), other_side_(size) {
    for (std::size_t i = 0; i < size; ++i) parent_[i] = static_cast<std::uint32_t>(i);
  }
  /// The root, and whether `member` is on its other side. Shortens the path.
  std::pair<std::uint32_t, bool> find(std::uint32_t member) {
    std::uint32_t root = member;
    bool side = false;
    while (parent_[root] != root) {
      side ^= other_side_[root] != 0;
      root = parent_[root];
    }
    const bool to_root = side;
    for (std::uint32_t at = member; parent_[at] != at;) {
      const std::uint32_t next = parent_[at];
      const bool here = other_side_[at] != 0;
      parent_[at] = root;
      other_side_[at] = side ? 1 : 0;
      side ^= here;
      at = next;
    }
    return {root, to_root};
  }
  void join(std::uint32_t a, std::uint32_t b, bool differ) {
    const auto [root_a, side_a] = find(a);
    const auto [root_b, side_b] = find(b);
    if (root_a == root_b) return;
    const std::uint32_t low = std::min(root_a, root_b), high = std::max(root_a, root_b);
    parent_[high] = low;
    other_side_[high] = (side_a != side_b) != differ ? 1 : 0;
  }

 private:
  BulkVector<std::uint32_t> parent_;
  BulkVector<std::uint8_t> other_side_;
};

/// Links of every row to its nearest: row i has the entries [i k, (i + 1) k).
struct Links {
  std::uint32_t k;
  BulkVector<std::uint32_t> to;    ///< kNobody = none
  BulkVector<std::uint32_t> cost;  ///< sqrt(1 - |n_i . n_j|) in steps of 2^-kCostBits
};

Links link_neighbors(const KdTree& tree, Span<const Vec3d> normals, std::uint32_t k, OpContext& ctx) {
  Links links{k, BulkVector<std::uint32_t>(normals.size * k), BulkVector<std::uint32_t>(normals.size * k)};
  constexpr double kMost = (1 << kCostBits) - 1;
  parallel_for(ctx, links.to.size(), kPoll, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      links.to[i] = kNobody;
      links.cost[i] = (1U << kCostBits) - 1;
    }
  });
  if (tree.size() < 2) return links;
  const auto wanted = static_cast<std::uint32_t>(std::min<std::uint64_t>(k, tree.size() - 1));
  const KdTreeView view = tree.view();
  all_knn(tree, wanted, ctx, [&](std::uint32_t number, const LeafKnn& found) {
    const kd_tree::Leaf leaf = view.leaf(view.nodes[number]);
    for (std::uint32_t p = 0; p < leaf.count; ++p) {
      const std::size_t row = leaf.row[p];
      if (!has_normal(normals[row])) continue;
      const Span<const std::uint64_t> rows = found.rows(p);
      for (std::size_t i = 0; i < rows.size; ++i) {
        if (!has_normal(normals[rows[i]])) continue;
        const double apart = 1 - std::min(1.0, std::abs(dot(normals[row], normals[rows[i]])));
        links.to[row * k + i] = static_cast<std::uint32_t>(rows[i]);
        links.cost[row * k + i] = static_cast<std::uint32_t>(std::sqrt(apart) * kMost);
      }
    }
  });
  return links;
}

/// Kruskal's algorithm; equal costs in the order of the links.
SidedSets spanning_trees(Links& links, Span<const Vec3d> normals, OpContext& ctx) {
  const BulkVector<std::uint32_t> order = radix_sort_order(links.cost.view(), kCostBits, ctx);
  links.cost.reset();
  SidedSets sets(normals.size);
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i % kPoll == 0) ctx.checkpoint();
    const std::uint32_t to = links.to[order[i]];
    if (to == kNobody) continue;
    const auto from = static_cast<std::uint32_t>(order[i] / links.k);
    sets.join(from, to, dot(normals[from], normals[to]) < 0);
  }
  return sets;
}

/// What decides the side of a component.
struct Component {
  Vec3d sum{0, 0, 0};
  double outward = 0;  ///< sum of n . (p - c)
  double spread = 0;   ///< sum of |p - c|^2
  std::uint64_t count = 0;
  std::uint32_t highest = kNobody;

  bool points_in(Span<const Vec3d> normals) const {
    const double m = outward / std::sqrt(spread * static_cast<double>(count));
    return std::abs(m) >= kDecisive ? m < 0 : normals[highest].z < 0;
  }
};

}  // namespace

std::uint64_t orient_consistently(const KdTree& tree, Span<const Vec3d> points, Span<Vec3d> normals,
                                  std::uint32_t neighbors, OpContext& ctx) {
  const std::size_t n = normals.size;
  if (static_cast<double>(n) * neighbors >= 4294967295.0)
    throw Error(ErrorCode::kUnsupported, "consistent normals of " + std::to_string(n) + " points with " +
                                             std::to_string(neighbors) + " links each: at most 2^32 links");
  Links links = link_neighbors(tree, normals, neighbors, ctx);
  SidedSets sets = spanning_trees(links, normals, ctx);
  links.to.reset();
  // Each pass in the order of the rows: sums that do not depend on the threads. The root is the component's first row.
  BulkVector<std::uint32_t> component(n);
  BulkVector<Component> components;
  const auto for_rows = [&](auto&& body) {
    for (std::size_t row = 0; row < n; ++row) {
      if (row % kPoll == 0) ctx.checkpoint();
      if (has_normal(normals[row])) body(row);
    }
  };
  for_rows([&](std::size_t row) {
    const auto [root, other_side] = sets.find(static_cast<std::uint32_t>(row));
    if (root == row) {
      component[row] = static_cast<std::uint32_t>(components.size());
      components.push_back(Component{});
    } else {
      component[row] = component[root];
    }
    if (other_side) normals[row] = normals[row] * -1;
    Component& c = components[component[row]];
    c.sum = c.sum + (points[row] - points[root]);
    ++c.count;
    if (c.highest == kNobody || points[row].z > points[c.highest].z)
      c.highest = static_cast<std::uint32_t>(row);
  });
  for_rows([&](std::size_t row) {
    Component& c = components[component[row]];
    const auto root = sets.find(static_cast<std::uint32_t>(row)).first;
    const Vec3d off = points[row] - points[root] - c.sum * (1 / static_cast<double>(c.count));
    c.outward += dot(normals[row], off);
    c.spread += dot(off, off);
  });
  BulkVector<std::uint8_t> flip(components.size());
  for (std::size_t i = 0; i < components.size(); ++i) flip[i] = components[i].points_in(normals) ? 1 : 0;
  for_rows([&](std::size_t row) {
    if (flip[component[row]] != 0) normals[row] = normals[row] * -1;
  });
  return components.size();
}

}  // namespace pc
