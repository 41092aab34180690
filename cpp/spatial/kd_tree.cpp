#include "spatial/kd_tree.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/parallel.h"
#include "spatial/kd_tree_deal.h"

namespace pc {

namespace {

using kd_tree::Item;
using kd_tree::kLeafPoints;
using kd_tree::Node;

constexpr std::size_t kBlock = 65'536;          // rows per block of the first pass
constexpr std::size_t kSubtreePoints = 65'536;  // one worker builds subtrees up to this size: 5 ms
constexpr std::size_t kPollEvery = 262'144;     // steps between two cancel checks: 2 ms
constexpr std::size_t kSamples = 129, kFewSamples = 33;

struct Split {
  int axis;
  double value;
};

/// Median of a sample of the items along the sample's longest side; axis -1 if all sampled items coincide.
Split sampled_split(const Item* items, std::size_t count) {
  const std::size_t wanted = std::min(count, count > 4096 ? kSamples : kFewSamples);
  const std::size_t step = count / wanted;
  std::array<double, kSamples> values{};
  Split best{-1, 0};
  double widest = 0;
  for (int axis = 0; axis < 3; ++axis) {
    double low = items[0].axis[axis], high = low;
    for (std::size_t i = 1; i < wanted; ++i) {
      low = std::min(low, items[i * step].axis[axis]);
      high = std::max(high, items[i * step].axis[axis]);
    }
    if (high - low > widest) {
      widest = high - low;
      best.axis = axis;
    }
  }
  if (best.axis < 0) return best;
  for (std::size_t i = 0; i < wanted; ++i) values[i] = items[i * step].axis[best.axis];
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(wanted / 2);
  std::nth_element(values.begin(), middle, values.begin() + static_cast<std::ptrdiff_t>(wanted));
  best.value = *middle;
  return best;
}

/// Moves the items below the split to the front and returns their count. Branch-free: half of the branches would be
/// mispredicted.
std::size_t partition(Item* items, std::size_t count, const Split& split, OpContext& ctx) {
  std::size_t below = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (i % kPollEvery == 0) ctx.checkpoint();
    const Item item = items[i];
    items[i] = items[below];
    items[below] = item;
    below += item.axis[split.axis] < split.value ? 1 : 0;
  }
  return below;
}

Vec3d position(const Item& item) { return {item.axis[0], item.axis[1], item.axis[2]}; }

/// Halves the items by count along the longest side of their exact box: the fallback if values repeat.
std::size_t halve(Item* items, std::size_t count, OpContext& ctx) {
  Box3d box;
  for (std::size_t i = 0; i < count; ++i) {
    if (i % kPollEvery == 0) ctx.checkpoint();
    box.add(position(items[i]));
  }
  const Vec3d size = box.max - box.min;
  const int axis = size.x >= size.y && size.x >= size.z ? 0 : (size.y >= size.z ? 1 : 2);
  const std::size_t middle = count / 2;
  if (!(size.x > 0 || size.y > 0 || size.z > 0)) return middle;  // all items coincide
  std::size_t compared = 0;
  std::nth_element(items, items + middle, items + count, [&](const Item& a, const Item& b) {
    if (++compared % kPollEvery == 0) ctx.checkpoint();
    return a.axis[axis] < b.axis[axis];
  });
  return middle;
}

/// Reorders the items of a node so that those of the left child come first; returns their count. Each child gets at
/// least 1/16 of the items.
std::size_t split_items(Item* items, std::size_t count, OpContext& ctx) {
  const Split split = sampled_split(items, count);
  if (split.axis >= 0) {
    const std::size_t below = partition(items, count, split, ctx);
    if (below >= count / 16 && count - below >= count / 16) return below;
  }
  return halve(items, count, ctx);
}

void finish_leaf(Item* items, Node& node) {
  const std::size_t count = node.end - node.begin;
  std::array<Item, kLeafPoints> copy;
  std::copy(items + node.begin, items + node.end, copy.begin());
  auto* x = reinterpret_cast<double*>(items + node.begin);
  auto* row = reinterpret_cast<std::uint64_t*>(x + 3 * count);
  Box3d box;
  node.least_row = copy[0].row;
  for (std::size_t i = 0; i < count; ++i) {
    box.add(position(copy[i]));
    for (std::size_t axis = 0; axis < 3; ++axis) x[axis * count + i] = copy[i].axis[axis];
    row[i] = copy[i].row;
    node.least_row = std::min(node.least_row, copy[i].row);
  }
  node.min = box.min;
  node.max = box.max;
}

void enclose(Node& node, const Node& left, const Node& right) {
  Box3d box{left.min, left.max};
  box.add(Box3d{right.min, right.max});
  node.min = box.min;
  node.max = box.max;
  node.least_row = std::min(left.least_row, right.least_row);
}

Node node_of(std::uint64_t begin, std::uint64_t end) { return {{}, {}, begin, end, 0, 0}; }

/// The nodes below a node, parents before children; [0] is the node itself.
std::vector<Node> subtree(Item* items, const Node& root, OpContext& ctx) {
  std::vector<Node> nodes{root};
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::uint64_t begin = nodes[i].begin, end = nodes[i].end;
    if (end - begin <= kLeafPoints) {
      finish_leaf(items, nodes[i]);
      continue;
    }
    const std::uint64_t middle = begin + split_items(items + begin, end - begin, ctx);
    nodes[i].left = static_cast<std::uint32_t>(nodes.size());
    nodes.push_back(node_of(begin, middle));
    nodes.push_back(node_of(middle, end));
  }
  for (std::size_t i = nodes.size(); i-- > 0;) {
    if (nodes[i].left != 0) enclose(nodes[i], nodes[nodes[i].left], nodes[nodes[i].left + 1]);
  }
  return nodes;
}

}  // namespace

KdTree::KdTree(Span<const Vec3d> points, OpContext& ctx) {
  std::vector<std::uint32_t> level = begin_nodes(points, ctx);
  if (items_.empty()) {
    nodes_.resize(0);
    return;
  }
  const std::vector<std::uint32_t> roots = split_large(std::move(level), ctx);
  split_small(roots, ctx);
  list_leaves(roots, ctx);
}

/// Takes the items and makes the first nodes; returns the numbers of those that are not split yet.
std::vector<std::uint32_t> KdTree::begin_nodes(Span<const Vec3d> points, OpContext& ctx) {
  if (points.size < kd_tree::kLeastDealt) {
    take_finite(points, ctx);
    nodes_.push_back(node_of(0, items_.size()));
    return {0};
  }
  kd_tree::Dealt dealt = kd_tree::deal(points, kSubtreePoints, ctx);
  items_ = std::move(dealt.items);
  std::vector<std::uint32_t> whole;
  for (const kd_tree::DealtNode& node : dealt.nodes) {
    if (node.left == 0) whole.push_back(static_cast<std::uint32_t>(nodes_.size()));
    nodes_.push_back(node_of(node.begin, node.end));
    nodes_.back().left = node.left;
  }
  return whole;
}

/// Lists the leaves below nodes that are ordered by slot and hold all points.
void KdTree::list_leaves(const std::vector<std::uint32_t>& roots, OpContext& ctx) {
  std::vector<std::vector<std::uint32_t>> below(roots.size());
  parallel_for(ctx, roots.size(), 1, [&](std::size_t i, std::size_t) {
    std::vector<std::uint32_t> open{roots[i]};
    while (!open.empty()) {
      const std::uint32_t number = open.back();
      open.pop_back();
      const std::uint32_t left = nodes_[number].left;
      if (left == 0) {
        below[i].push_back(number);
      } else {
        open.push_back(left + 1);
        open.push_back(left);
      }
    }
  });
  std::vector<std::size_t> first{0};
  for (const auto& leaves : below) first.push_back(first.back() + leaves.size());
  leaves_.resize(first.back());
  parallel_for(ctx, roots.size(), 1, [&](std::size_t i, std::size_t) {
    std::copy(below[i].begin(), below[i].end(), leaves_.begin() + first[i]);
  });
}

std::vector<std::size_t> KdTree::leaf_blocks(std::uint64_t points) const {
  std::vector<std::size_t> blocks;
  std::vector<std::uint32_t> open;
  if (!nodes_.empty()) open.push_back(0);
  std::size_t leaf = 0;
  while (!open.empty()) {
    const Node& node = nodes_[open.back()];
    open.pop_back();
    if (node.left != 0 && node.end - node.begin > points) {
      open.push_back(node.left + 1);
      open.push_back(node.left);
      continue;
    }
    blocks.push_back(leaf);
    while (leaf < leaves_.size() && nodes_[leaves_[leaf]].begin < node.end) ++leaf;
  }
  blocks.push_back(leaf);
  return blocks;
}

void KdTree::take_finite(Span<const Vec3d> points, OpContext& ctx) {
  const std::size_t blocks = (points.size + kBlock - 1) / kBlock;
  std::vector<std::size_t> first(blocks + 1, 0);
  parallel_for(ctx, points.size, kBlock, [&](std::size_t begin, std::size_t end) {
    std::size_t finite = 0;
    for (std::size_t i = begin; i < end; ++i) finite += is_finite(points[i]) ? 1 : 0;
    first[begin / kBlock + 1] = finite;
  });
  for (std::size_t block = 0; block < blocks; ++block) first[block + 1] += first[block];
  items_ = BulkVector<Item>(first[blocks]);
  parallel_for(ctx, points.size, kBlock, [&](std::size_t begin, std::size_t end) {
    std::size_t to = first[begin / kBlock];
    for (std::size_t i = begin; i < end; ++i) {
      if (is_finite(points[i])) items_[to++] = {{points[i].x, points[i].y, points[i].z}, i};
    }
  });
}

/// Splits nodes level by level until all are small; returns the numbers of these.
std::vector<std::uint32_t> KdTree::split_large(std::vector<std::uint32_t> level, OpContext& ctx) {
  std::vector<std::uint32_t> small;
  while (!level.empty()) {
    std::vector<std::uint32_t> large;
    for (const std::uint32_t node : level) {
      const bool is_large = nodes_[node].end - nodes_[node].begin > kSubtreePoints;
      (is_large ? large : small).push_back(node);
    }
    std::vector<std::uint64_t> middle(large.size());
    parallel_for(ctx, large.size(), 1, [&](std::size_t i, std::size_t) {
      const Node& node = nodes_[large[i]];
      middle[i] = node.begin + split_items(items_.data() + node.begin, node.end - node.begin, ctx);
    });
    level.clear();
    for (std::size_t i = 0; i < large.size(); ++i) {
      Node& node = nodes_[large[i]];
      const auto left = static_cast<std::uint32_t>(nodes_.size());
      const std::uint64_t begin = node.begin, end = node.end;
      node.left = left;
      nodes_.push_back(node_of(begin, middle[i]));
      nodes_.push_back(node_of(middle[i], end));
      level.push_back(left);
      level.push_back(left + 1);
    }
  }
  std::sort(small.begin(), small.end(),
            [&](std::uint32_t a, std::uint32_t b) { return nodes_[a].begin < nodes_[b].begin; });
  return small;
}

void KdTree::split_small(const std::vector<std::uint32_t>& roots, OpContext& ctx) {
  const std::size_t top = nodes_.size();
  std::vector<std::vector<Node>> below(roots.size());
  parallel_for(ctx, roots.size(), 1,
               [&](std::size_t i, std::size_t) { below[i] = subtree(items_.data(), nodes_[roots[i]], ctx); });
  // A subtree's node 0 is in the tree already; the others follow in the order of the subtrees.
  std::vector<std::size_t> first{top};
  for (const auto& nodes : below) first.push_back(first.back() + nodes.size() - 1);
  nodes_.resize(first.back());
  parallel_for(ctx, roots.size(), 1, [&](std::size_t i, std::size_t) {
    const auto shift = static_cast<std::uint32_t>(first[i] - 1);
    for (std::size_t j = 0; j < below[i].size(); ++j) {
      Node& node = nodes_[j == 0 ? roots[i] : j + shift];
      node = below[i][j];
      if (node.left != 0) node.left += shift;
    }
    std::vector<Node>().swap(below[i]);
  });
  for (std::size_t i = top; i-- > 0;) {
    Node& node = nodes_[i];
    const bool split_above = node.left != 0 && node.left < top;
    if (split_above) enclose(node, nodes_[node.left], nodes_[node.left + 1]);
  }
}

}  // namespace pc
