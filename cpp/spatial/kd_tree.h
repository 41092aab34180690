#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"
#include "spatial/kd_tree_view.h"

namespace pc {

/// A k-d tree: the finite points of a cloud in nested boxes, for the searches of KdTreeView and all_knn.
///
/// Node     A box, tight around its points. The root holds all; a node of more than 32 points has two children that
///          divide them, any other is a leaf.
/// Split    Along the longest side of the box of a sample of the node's points (129, or 33 in small nodes), at the
///          median of the sample. Where that leaves a child less than 1/16 of the points, as duplicates do, the points
///          are halved by count along the longest side of the node itself. So neither a point far away nor duplicates
///          unbalance the tree.
/// Slot     The points are stored node by node: those of a node, and of neighbouring leaves, stand side by side. The
///          place of a point in that order is its slot, its index in the cloud its row.
///
/// points   (n) metres; rows that are not finite are left out.
/// Order    A function of the points, for any thread count.
/// Cost     O(n log n) time, 40 n bytes. 10M points: 1.3 s of CPU.
/// Cancel   Within 50 ms.
/// Source   Friedman, Bentley & Finkel 1977 (buckets, longest side), with the median of a sample.
class KdTree {
 public:
  KdTree(Span<const Vec3d> points, OpContext& ctx);

  KdTreeView view() const { return {nodes_.data(), items_.data(), items_.size()}; }
  /// Number of finite points.
  std::uint64_t size() const { return items_.size(); }
  std::size_t node_count() const { return nodes_.size(); }
  HostKdTree host() const { return {view(), nodes_.size(), leaves_.data(), leaves_.size()}; }
  /// Node numbers of the leaves in the order of their slots: neighbours stand mostly side by side.
  Span<const std::uint32_t> leaves() const { return leaves_.view(); }
  /// Divides leaves() into those below the largest nodes of at most `points` points: where each block begins, and the
  /// end. Blocks of fewer points divide those of more.
  std::vector<std::size_t> leaf_blocks(std::uint64_t points) const;

 private:
  void take_finite(Span<const Vec3d> points, OpContext& ctx);
  std::vector<std::uint32_t> split_large(OpContext& ctx);
  void split_small(const std::vector<std::uint32_t>& roots, OpContext& ctx);
  void list_leaves(OpContext& ctx);

  BulkVector<kd_tree::Item> items_;
  BulkVector<kd_tree::Node> nodes_;
  BulkVector<std::uint32_t> leaves_;
};

}  // namespace pc
