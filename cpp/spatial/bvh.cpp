#include "spatial/bvh.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <string>
#include <vector>

#include "core/parallel.h"
#include "spatial/bvh_split.h"

namespace pc {

namespace {

using bvh::Box4;
using bvh::Item;
using bvh::kWidth;
using bvh::Node;
using bvh::Range;
using bvh::Splitter;

constexpr std::size_t kBlock = 65'536;  // vertices or triangles per block of a streaming pass
/// One worker builds subtrees up to this size, or this part of the tree: dividing larger ranges together costs a few
/// starts of the team each.
constexpr std::size_t kSubtreeItems = 32'768, kSubtrees = 12;

/// Lowest i in [0, count) for which bad(i), or `count`.
template <class Bad>
std::size_t first_bad(OpContext& ctx, std::size_t count, const Bad& bad) {
  std::atomic<std::size_t> first{count};
  parallel_for(ctx, count, kBlock, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (!bad(i)) continue;
      std::size_t seen = first.load();
      while (i < seen && !first.compare_exchange_weak(seen, i)) {
      }
      return;
    }
  });
  return first.load();
}

bool out_of_range(const Vec3d& p) {
  const auto beyond = [](double value) { return !(std::abs(value) <= bvh::kMaxCoordinate); };
  return beyond(p.x) || beyond(p.y) || beyond(p.z);
}

/// Middle of the box of the vertices.
Vec3d middle_of(Span<const Vec3d> vertices, OpContext& ctx) {
  std::vector<Box3d> parts((vertices.size + kBlock - 1) / kBlock);
  parallel_for(ctx, vertices.size, kBlock, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) parts[begin / kBlock].add(vertices[i]);
  });
  Box3d box;
  for (const Box3d& part : parts) box.add(part);
  return box.empty() ? Vec3d{0, 0, 0} : box.min * 0.5 + box.max * 0.5;
}

void take_items(const TriangleMesh& mesh, const Vec3d& origin, Span<Item> items, OpContext& ctx) {
  parallel_for(ctx, items.size, kBlock, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      Box3d box;
      for (std::size_t k = 0; k < 3; ++k) box.add(mesh.vertices[mesh.indices[3 * i + k]] - origin);
      items[i].box = {
          {bvh::rounded_down(box.min.x), bvh::rounded_down(box.min.y), bvh::rounded_down(box.min.z), 0},
          {bvh::rounded_up(box.max.x), bvh::rounded_up(box.max.y), bvh::rounded_up(box.max.z), 0}};
      items[i].set_index(static_cast<std::uint32_t>(i));
    }
  });
}

/// The whole range; its boxes do not depend on the blocks.
Range root_range(const Splitter& splitter, std::size_t count, OpContext& ctx) {
  std::vector<Range> parts((count + kBlock - 1) / kBlock);
  parallel_for(ctx, count, kBlock, [&](std::size_t begin, std::size_t end) {
    parts[begin / kBlock] = splitter.measured(begin, end, 0, ctx);
  });
  Range root{0, count, Box4::empty(), Box4::empty(), 0, false};
  for (const Range& part : parts) {
    root.box.add(part.box);
    root.middles.add(part.middles);
  }
  return root;
}

/// Children of a node: ranges, of which those with one item are triangles.
struct Children {
  std::array<Range, kWidth> range;
  std::size_t count = 0;
};

/// Opens the child of the largest area until there are eight, as long as one has more items than a node holds.
Children children_of(const Splitter& splitter, const Range& parent, OpContext& ctx) {
  Children children;
  children.range[children.count++] = parent;
  while (children.count < kWidth) {
    std::size_t widest = kWidth;
    float area = -1;
    for (std::size_t i = 0; i < children.count; ++i) {
      Range& child = children.range[i];
      splitter.remove_copies(child, ctx);
      if (child.count() > kWidth && child.box.half_area() > area) {
        area = child.box.half_area();
        widest = i;
      }
    }
    if (widest == kWidth) break;
    const Range opened = children.range[widest];
    splitter.split(opened, children.range[widest], children.range[children.count], ctx);
    ++children.count;
  }
  for (std::size_t i = 0; i < children.count; ++i) splitter.remove_copies(children.range[i], ctx);
  return children;
}

/// Replaces small ranges by their items where lanes are free, the smallest first.
void open_small(Span<const Item> items, Children& children) {
  for (;;) {
    std::size_t smallest = kWidth, fewest = kWidth + 1;
    for (std::size_t i = 0; i < children.count; ++i) {
      const std::size_t count = children.range[i].count();
      if (count > 1 && count < fewest) {
        fewest = count;
        smallest = i;
      }
    }
    if (smallest == kWidth || children.count - 1 + fewest > kWidth) return;
    const Range opened = children.range[smallest];
    for (std::size_t k = 0; k < fewest; ++k) {
      const std::size_t at = opened.begin + k;
      const Range item{at, at + 1, items[at].box, Box4::empty(), 0, true};
      children.range[k == 0 ? smallest : children.count++] = item;
    }
  }
}

Node empty_node() {
  Node node;
  for (std::size_t lane = 0; lane < kWidth; ++lane) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      node.min[axis][lane] = std::numeric_limits<float>::infinity();
      node.max[axis][lane] = -std::numeric_limits<float>::infinity();
    }
    node.child[lane] = bvh::kNone;
    node.unused[lane] = 0;
  }
  return node;
}

void set_lane(Node& node, std::size_t lane, const Range& range) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    node.min[axis][lane] = range.box.min[axis];
    node.max[axis][lane] = range.box.max[axis];
  }
  node.child[lane] = bvh::kTriangle | static_cast<std::uint32_t>(range.begin);
}

/// A range whose node is still to be made, and the lane that waits for it.
struct Pending {
  Range range;
  std::uint32_t parent;
  std::uint32_t lane;
};

/// Builds nodes into a list; children beyond `largest` items are left to `left_over`.
class Builder {
 public:
  Builder(const Splitter& splitter, Span<const Item> items, std::size_t smallest_left)
      : splitter_(splitter), items_(items), smallest_left_(smallest_left) {}

  /// The node of a range; those below it with at most `smallest_left` items become `pending`.
  std::uint32_t build(const Range& range, OpContext& ctx) {
    ctx.checkpoint();
    Children children = children_of(splitter_, range, ctx);
    open_small(items_, children);
    const auto number = static_cast<std::uint32_t>(nodes.size());
    nodes.push_back(empty_node());
    for (std::size_t lane = 0; lane < children.count; ++lane) {
      const Range& child = children.range[lane];
      set_lane(nodes[number], lane, child);
      if (child.count() == 1) continue;
      if (child.count() <= smallest_left_) {
        pending.push_back({child, number, static_cast<std::uint32_t>(lane)});
      } else {
        const std::uint32_t below = build(child, ctx);
        nodes[number].child[lane] = below;
      }
    }
    return number;
  }

  std::vector<Node> nodes;
  std::vector<Pending> pending;

 private:
  const Splitter& splitter_;
  Span<const Item> items_;
  std::size_t smallest_left_;
};

void append(BulkVector<Node>& nodes, const std::vector<Node>& below, const Pending& job) {
  const auto shift = static_cast<std::uint32_t>(nodes.size());
  nodes[job.parent].child[job.lane] = shift;
  for (Node node : below) {
    for (std::uint32_t& child : node.child)
      if ((child & bvh::kTriangle) == 0) child += shift;
    nodes.push_back(node);
  }
}

BulkVector<Node> build_nodes(BulkVector<Item>& items, const TriangleMesh& mesh, OpContext& ctx) {
  const std::size_t subtree = std::max(kSubtreeItems, items.size() / kSubtrees);
  BulkVector<Item> scratch(items.size() > subtree ? items.size() : 0);
  const Splitter shared(items.view(), scratch.view(), mesh), own(items.view(), {}, mesh);
  Builder top(shared, items.view(), subtree);
  top.build(root_range(own, items.size(), ctx), ctx);
  scratch.reset();
  std::vector<std::vector<Node>> below(top.pending.size());
  parallel_for(ctx, below.size(), 1, [&](std::size_t i, std::size_t) {
    Builder subtree(own, items.view(), 0);
    subtree.build(top.pending[i].range, ctx);
    below[i] = std::move(subtree.nodes);
  });
  BulkVector<Node> nodes;
  std::size_t count = top.nodes.size();
  for (const auto& list : below) count += list.size();
  nodes.reserve(count);
  for (const Node& node : top.nodes) nodes.push_back(node);
  for (std::size_t i = 0; i < below.size(); ++i) {
    ctx.checkpoint();
    append(nodes, below[i], top.pending[i]);
    std::vector<Node>().swap(below[i]);
  }
  return nodes;
}

}  // namespace

void check_mesh(const TriangleMesh& mesh, OpContext& ctx) {
  const std::size_t count = mesh.indices.size;
  require(count % 3 == 0, "the number of mesh indices is not a multiple of 3");
  require(count / 3 < bvh::kTriangle && mesh.vertices.size <= bvh::kNone,
          "a mesh has at most 2147483647 triangles and 4294967295 vertices");
  const std::size_t index =
      first_bad(ctx, count, [&](std::size_t i) { return mesh.indices[i] >= mesh.vertices.size; });
  if (index < count) {
    throw Error(ErrorCode::kInvalidArgument, "mesh index " + std::to_string(index) + " is " +
                                                 std::to_string(mesh.indices[index]) + ", but there are " +
                                                 std::to_string(mesh.vertices.size) + " vertices");
  }
  const std::size_t vertex =
      first_bad(ctx, mesh.vertices.size, [&](std::size_t i) { return out_of_range(mesh.vertices[i]); });
  if (vertex < mesh.vertices.size) {
    throw Error(ErrorCode::kInvalidArgument, "mesh vertex " + std::to_string(vertex) +
                                                 " is not a finite place within 1e15 m of the origin");
  }
}

Bvh::Bvh(const TriangleMesh& mesh, OpContext& ctx) {
  check_mesh(mesh, ctx);
  if (mesh.triangle_count() == 0) return;
  origin_ = middle_of(mesh.vertices, ctx);
  BulkVector<Item> items(mesh.triangle_count());
  take_items(mesh, origin_, items.view(), ctx);
  nodes_ = build_nodes(items, mesh, ctx);
  triangles_ = BulkVector<bvh::Triangle>(items.size());
  parallel_for(ctx, items.size(), kBlock, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint32_t index = items[i].index();
      const auto corner = [&](std::size_t k) {
        return mesh.vertices[mesh.indices[std::size_t{index} * 3 + k]] - origin_;
      };
      triangles_[i] = {corner(0), corner(1), corner(2), index, 0};
    }
  });
}

}  // namespace pc
