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

/// A k-d tree over the finite points of a cloud, for the searches of KdTreeView and all_knn.
///
/// Row      The index of a point in the cloud.
/// Node     The tight bounding box of a set of points. The root holds all points. A node with more than 32 points has
///          two children that share them; any other node is a leaf.
/// Slot     The index of a point in the tree, which stores the points leaf by leaf: the points of a node occupy
///          consecutive slots.
/// Split    At the median of a sample of the node's points (129, or 33 in small nodes, more where all threads split a large
///          cloud: kd_tree_deal.h), along the longest side of the sample's box. If a child would get less than 1/16 of the points, as duplicates cause, the points are halved
///          by count along the longest side of the node's box. So neither distant points nor duplicates unbalance the
///          tree.
///
/// points   (n) metres; rows that are not finite are left out.
/// Order    A function of the points, for any thread count.
/// Cost     O(n log n) time, 40 n bytes. 10M points: 0.8 s of CPU.
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
  /// Node numbers of the leaves, ordered by slot; leaves close in this order are mostly close in space.
  Span<const std::uint32_t> leaves() const { return leaves_.view(); }
  /// Divides leaves() into blocks, one for each of the largest nodes with at most `points` points. Returns the index
  /// where each block begins, then the end. A smaller `points` subdivides the blocks of a larger one.
  std::vector<std::size_t> leaf_blocks(std::uint64_t points) const;

 private:
  void take_finite(Span<const Vec3d> points, OpContext& ctx);
  std::vector<std::uint32_t> begin_nodes(Span<const Vec3d> points, OpContext& ctx);
  std::vector<std::uint32_t> split_large(std::vector<std::uint32_t> level, OpContext& ctx);
  void split_small(const std::vector<std::uint32_t>& roots, OpContext& ctx);
  void list_leaves(const std::vector<std::uint32_t>& roots, OpContext& ctx);

  BulkVector<kd_tree::Item> items_;
  BulkVector<kd_tree::Node> nodes_;
  BulkVector<std::uint32_t> leaves_;
};

}  // namespace pc
