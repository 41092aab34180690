#include "ops/octree/octree_hierarchy.h"

#include <array>
#include <atomic>
#include <bit>
#include <vector>

#include "core/parallel.h"

namespace pc::octree {

namespace {

constexpr std::uint32_t kStepLevels = 4;
constexpr std::size_t kRecordBytes = 22;
constexpr std::uint32_t kPoll = 1u << 20;
enum NodeType : std::uint8_t { kInnerNode = 0, kLeafNode = 1, kProxy = 2 };

void count_own(Tree& tree, OpContext& ctx) {
  ctx.begin_phase("Placing nodes", tree.leaves.size());
  parallel_for(ctx, tree.leaves.size(), 16, [&](std::size_t first, std::size_t last) {
    for (std::size_t leaf = first; leaf < last; ++leaf) {
      const std::uint32_t index = tree.leaves[leaf].node;
      const Node& node = tree.nodes[index];
      std::array<std::uint32_t, 256> count{};
      for (std::uint32_t i = node.begin; i < node.end; ++i) {
        ++count[tree.level[i]];
        if (i % kPoll == kPoll - 1) ctx.checkpoint();
      }
      for (std::uint32_t at = index;; at = tree.nodes[at].parent) {
        Node& holder = tree.nodes[at];
        if (count[holder.level] != 0) {
          std::atomic_ref<std::uint32_t>(holder.own)
              .fetch_add(count[holder.level], std::memory_order_relaxed);
        }
        if (at == 0) break;
      }
    }
  });
}

std::byte* put(std::byte* out, std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) *out++ = static_cast<std::byte>(value >> (8 * i));
  return out;
}

}  // namespace

Layout make_layout(Tree& tree, std::uint32_t record_bytes, OpContext& ctx) {
  count_own(tree, ctx);
  BulkVector<std::uint8_t> mask(tree.nodes.size());    // by tree node: children that are written
  for (std::size_t i = tree.nodes.size(); i-- > 1;) {  // depth first: descendants have larger indices
    const Node& node = tree.nodes[i];
    if (node.own == 0 && mask[i] == 0) continue;
    const Node& parent = tree.nodes[node.parent];
    for (std::size_t c = 0; c < 8; ++c) {
      if (parent.child[c] == i) mask[node.parent] |= static_cast<std::uint8_t>(1u << c);
    }
  }
  Layout layout;
  layout.nodes.push_back({0, 0});
  for (std::size_t i = 0; i < layout.nodes.size(); ++i) {
    const std::uint32_t index = layout.nodes[i].node;
    const Node& node = tree.nodes[index];
    layout.nodes[i].offset = layout.total_bytes;
    layout.total_bytes += std::uint64_t{node.own} * record_bytes;
    layout.depth = node.level;
    layout.child_mask.push_back(mask[index]);
    for (std::size_t c = 0; c < 8; ++c) {
      if ((mask[index] >> c & 1) != 0) layout.nodes.push_back({node.child[c], 0});
    }
  }
  return layout;
}

namespace {

/// Writes chunks in the order in which their first nodes are reached.
class HierarchyWriter {
 public:
  HierarchyWriter(const Tree& tree, const Layout& layout, std::uint32_t record_bytes)
      : tree_(tree),
        layout_(layout),
        record_bytes_(record_bytes),
        first_child_(layout.nodes.size()),
        chunk_offset_(layout.nodes.size()),
        chunk_bytes_(layout.nodes.size()) {
    std::uint32_t next = 1;
    for (std::size_t i = 0; i < layout.nodes.size(); ++i) {
      first_child_[i] = next;
      next += static_cast<std::uint32_t>(std::popcount(layout.child_mask[i]));
    }
  }

  Hierarchy write() {
    Hierarchy result;
    std::uint64_t offset = 0;
    for (std::uint32_t i = 0; i < layout_.nodes.size(); ++i) {
      if (!opens_chunk(i)) continue;
      list_chunk(i);
      chunk_offset_[i] = offset;
      chunk_bytes_[i] = chunk_.size() * kRecordBytes;
      offset += chunk_bytes_[i];
    }
    result.first_chunk_bytes = chunk_bytes_[0];
    result.bytes.resize(offset);
    for (std::uint32_t i = 0; i < layout_.nodes.size(); ++i) {
      if (!opens_chunk(i)) continue;
      list_chunk(i);
      std::byte* out = result.bytes.data() + chunk_offset_[i];
      for (const std::uint32_t node : chunk_) out = put_node(out, node, node != i && opens_chunk(node));
    }
    return result;
  }

 private:
  std::uint32_t level(std::uint32_t i) const { return tree_.nodes[layout_.nodes[i].node].level; }
  bool opens_chunk(std::uint32_t i) const {
    return i == 0 || (level(i) % kStepLevels == 0 && layout_.child_mask[i] != 0);
  }
  void list_chunk(std::uint32_t first) {
    chunk_.clear();
    chunk_.push_back(first);
    for (std::size_t at = 0; at < chunk_.size(); ++at) {
      const std::uint32_t node = chunk_[at];
      if (node != first && opens_chunk(node)) continue;
      const auto children = static_cast<std::uint32_t>(std::popcount(layout_.child_mask[node]));
      for (std::uint32_t c = 0; c < children; ++c) chunk_.push_back(first_child_[node] + c);
    }
  }
  std::byte* put_node(std::byte* out, std::uint32_t i, bool proxy) const {
    const std::uint32_t own = tree_.nodes[layout_.nodes[i].node].own;
    const NodeType type = proxy ? kProxy : layout_.child_mask[i] != 0 ? kInnerNode : kLeafNode;
    out = put(out, type, 1);
    out = put(out, layout_.child_mask[i], 1);
    out = put(out, own, 4);
    out = put(out, proxy ? chunk_offset_[i] : layout_.nodes[i].offset, 8);
    return put(out, proxy ? chunk_bytes_[i] : std::uint64_t{own} * record_bytes_, 8);
  }

  const Tree& tree_;
  const Layout& layout_;
  std::uint32_t record_bytes_;
  BulkVector<std::uint32_t> first_child_;
  BulkVector<std::uint64_t> chunk_offset_, chunk_bytes_;
  std::vector<std::uint32_t> chunk_;  ///< at most 1 + 8 + 64 + 512 + 4096 nodes
};

}  // namespace

Hierarchy make_hierarchy(const Tree& tree, const Layout& layout, std::uint32_t record_bytes) {
  return HierarchyWriter(tree, layout, record_bytes).write();
}

}  // namespace pc::octree
