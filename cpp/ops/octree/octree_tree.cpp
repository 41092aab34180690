#include "ops/octree/octree_tree.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/parallel.h"
#include "ops/octree/cell_grids.h"

namespace pc::octree {

namespace {

constexpr std::size_t kPollRows = std::size_t{1} << 16;

/// Merges cells into leaves and inner nodes, depth first, and writes leaf numbers into the cells.
class NodeBuilder {
 public:
  NodeBuilder(CellGrids& grids, Tree& tree, const OpContext& ctx) : grids_(grids), tree_(tree), ctx_(ctx) {}

  void build() {
    if (grids_.grid(0).total == 0) {
      tree_.nodes.push_back(node_at(0, 0, {0, 0, 0}, 0));
      add_leaf(0, false);
      return;
    }
    build_grid(0, 0, {0, 0, 0}, 0);
  }

 private:
  /// Part of a grid: the node `depth` levels below the grid's own node, `code` its Morton code there.
  struct Part {
    std::uint32_t grid;
    const BulkVector<std::uint32_t>* before;  ///< points in the cells before each cell of the grid
    int depth;
    std::uint64_t code;
  };

  Node node_at(std::uint32_t count, std::uint32_t parent, const Steps& at, int level) const {
    Node node{};
    node.begin = next_record_;
    node.end = next_record_ + count;
    node.x = at.x;
    node.y = at.y;
    node.z = at.z;
    node.parent = parent;
    node.leaf = Node::kInner;
    node.level = static_cast<std::uint8_t>(level);
    return node;
  }

  void add_leaf(std::uint32_t node, bool inseparable) {
    tree_.nodes[node].leaf = static_cast<std::uint32_t>(tree_.leaves.size());
    tree_.leaves.push_back({node, inseparable, {}});
    next_record_ = tree_.nodes[node].end;
  }

  std::uint32_t build_grid(std::uint32_t index, std::uint32_t parent, const Steps& at, int level) {
    ctx_.checkpoint();
    const CellGrids::Grid& grid = grids_.grid(index);
    const std::uint64_t cells = std::uint64_t{1} << (3 * grid.bits);
    BulkVector<std::uint32_t> before(cells + 1);
    for (std::uint64_t i = 0; i < cells; ++i) {
      const std::uint32_t value = grids_.cell(grid, i);
      const bool refined = (value & CellGrids::kGridFlag) != 0;
      before[i + 1] = before[i] + (refined ? grids_.grid(value & ~CellGrids::kGridFlag).total : value);
    }
    return build_part({index, &before, 0, 0}, parent, at, level);
  }

  std::uint32_t build_part(const Part& part, std::uint32_t parent, const Steps& at, int level) {
    const CellGrids::Grid& grid = grids_.grid(part.grid);
    const std::uint64_t span = std::uint64_t{1} << (3 * (grid.bits - part.depth)), first = part.code * span;
    const std::uint32_t count = (*part.before)[first + span] - (*part.before)[first];
    if (count == 0) return 0;
    const bool fits = count <= grids_.capacity(), single = span == 1;
    if (single && !fits && grid.bits != 0) {
      return build_grid(grids_.cell(grid, first) & ~CellGrids::kGridFlag, parent, at, level);
    }
    const auto node = static_cast<std::uint32_t>(tree_.nodes.size());
    tree_.nodes.push_back(node_at(count, parent, at, level));
    if (fits || grid.bits == 0) {
      const auto leaf = static_cast<std::uint32_t>(tree_.leaves.size());
      for (std::uint64_t i = first; i < first + span; ++i) grids_.cell(grid, i) = leaf;
      add_leaf(node, !fits);
      return node;
    }
    for (std::uint32_t octant = 0; octant < 8; ++octant) {
      const Steps below{2 * at.x + (octant >> 2), 2 * at.y + (octant >> 1 & 1), 2 * at.z + (octant & 1)};
      const Part child_part{part.grid, part.before, part.depth + 1, part.code * 8 + octant};
      const std::uint32_t child = build_part(child_part, node, below, level + 1);
      tree_.nodes[node].child[octant] = child;
    }
    collapse(node);
    return node;
  }

  /// Removes a chain of nodes that leads to a single inseparable leaf: it shows no more than its top node.
  void collapse(std::uint32_t index) {
    Node& node = tree_.nodes[index];
    if (tree_.nodes.size() != index + 2) return;  // more than one descendant
    const Node only = tree_.nodes[index + 1];
    if (only.inner() || !tree_.leaves[only.leaf].inseparable) return;
    node.child = {};
    node.leaf = only.leaf;
    tree_.leaves[only.leaf].node = index;
    tree_.nodes.resize(index + 1);
  }

  CellGrids& grids_;
  Tree& tree_;
  const OpContext& ctx_;
  std::uint32_t next_record_ = 0;
};

/// Writes every row to its leaf, rows of a leaf in input order: counts the rows of each chunk, then fills.
class Scatter {
 public:
  Scatter(const OctreeInput& input, const Frame& frame, const CellGrids& grids, Tree& tree, OpContext& ctx)
      : input_(input), frame_(frame), grids_(grids), tree_(tree), ctx_(ctx) {
    const std::size_t rows = input.positions.size, leaves = tree.leaves.size();
    const std::size_t affordable =
        std::max<std::size_t>(1, rows / (4 * leaves));  // one byte of counters per row
    chunks_ = std::min(affordable, static_cast<std::size_t>(ctx.threads()) * 4);
    chunk_rows_ = (rows + chunks_ - 1) / chunks_;
    next_.resize(chunks_ * leaves);
  }

  void run() {
    const std::size_t leaves = tree_.leaves.size();
    ctx_.begin_phase("Sorting points", 2 * input_.positions.size + 2 * chunks_);
    for_each_row([&](std::size_t, const Steps&, std::uint32_t& next) { ++next; });
    std::uint32_t position = 0;
    for (std::size_t leaf = 0; leaf < leaves; ++leaf) {
      for (std::size_t chunk = 0; chunk < chunks_; ++chunk) {
        position += std::exchange(next_[chunk * leaves + leaf], position);
      }
    }
    tree_.records.resize(position);
    for_each_row([&](std::size_t row, const Steps& at, std::uint32_t& next) {
      tree_.records[next++] = {at, static_cast<std::uint32_t>(row)};
    });
  }

 private:
  template <class Visit>
  void for_each_row(const Visit& visit) {
    const std::size_t leaves = tree_.leaves.size();
    parallel_for(ctx_, chunks_, 1, [&](std::size_t chunk, std::size_t) {
      std::uint32_t* next = next_.data() + chunk * leaves;
      const std::size_t end = std::min(input_.positions.size, (chunk + 1) * chunk_rows_);
      for (std::size_t begin = chunk * chunk_rows_; begin < end; begin += kPollRows) {
        const std::size_t stop = std::min(end, begin + kPollRows);
        for (std::size_t row = begin; row < stop; ++row) {
          if (!input_.skip.empty() && input_.skip[row] != 0) continue;
          const Frame::Place place = frame_.place(input_.positions[row]);
          visit(row, place.at, next[grids_.leaf(place.cell)]);
        }
        ctx_.checkpoint();
        ctx_.advance(stop - begin);
      }
    });
  }

  const OctreeInput& input_;
  const Frame& frame_;
  const CellGrids& grids_;
  Tree& tree_;
  OpContext& ctx_;
  std::size_t chunks_, chunk_rows_;
  BulkVector<std::uint32_t> next_;  ///< (chunks, leaves) counts, then positions
};

/// Orders a leaf's records by octant (stable) and notes where each ends.
void sort_octants(Tree& tree, Leaf& leaf, const Frame& frame, BulkVector<Record>& copy) {
  const Node& node = tree.nodes[leaf.node];
  Record* records = tree.records.data() + node.begin;
  const std::uint32_t count = node.end - node.begin;
  if (leaf.inseparable || node.level == kMaxLevel) {
    leaf.octant_end.fill(node.end);
    return;
  }
  const int bit = kMaxLevel - 1 - node.level;
  const auto octant = [&](const Record& r) {
    return (frame.cell(r.at.x) >> bit & 1u) << 2 | (frame.cell(r.at.y) >> bit & 1u) << 1 |
           (frame.cell(r.at.z) >> bit & 1u);
  };
  copy.reserve(count);
  std::array<std::uint32_t, 8> next{};
  for (std::uint32_t i = 0; i < count; ++i) {
    copy.data()[i] = records[i];
    ++next[octant(records[i])];
  }
  std::uint32_t position = 0;
  for (std::size_t o = 0; o < 8; ++o) {
    position += std::exchange(next[o], position);
    leaf.octant_end[o] = node.begin + position;
  }
  for (std::uint32_t i = 0; i < count; ++i) records[next[octant(copy.data()[i])]++] = copy.data()[i];
}

}  // namespace

Tree make_tree(const OctreeInput& input, const Frame& frame, std::uint32_t leaf_capacity, OpContext& ctx) {
  Tree tree;
  {
    CellGrids grids(input, frame, leaf_capacity, ctx);
    NodeBuilder(grids, tree, ctx).build();
    Scatter(input, frame, grids, tree, ctx).run();
  }
  tree.level.resize(tree.records.size());
  std::vector<BulkVector<Record>> copies(static_cast<std::size_t>(ctx.threads()));
  ctx.begin_phase("Sorting leaves", tree.leaves.size());
  parallel_for_worker(ctx, tree.leaves.size(), 1, [&](std::size_t index, std::size_t, int worker) {
    Leaf& leaf = tree.leaves[index];
    const Node& node = tree.nodes[leaf.node];
    if (node.end == node.begin) return;
    sort_octants(tree, leaf, frame, copies[static_cast<std::size_t>(worker)]);
    std::memset(tree.level.data() + node.begin, node.level, node.end - node.begin);
  });
  for (const Node& node : tree.nodes) tree.depth = std::max<std::uint32_t>(tree.depth, node.level);
  return tree;
}

}  // namespace pc::octree
