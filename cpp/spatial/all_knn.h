#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/parallel.h"
#include "core/span.h"
#include "spatial/kd_tree.h"
#include "spatial/knn_kernels.h"

namespace pc {

/// Finds the k nearest other points of every point of a KdTree leaf and holds them. Each worker thread has one object:
/// it enters a block of neighbouring leaves, then finds the neighbours leaf by leaf.
class LeafKnn {
 public:
  explicit LeafKnn(std::uint32_t k, const KnnKernels& kernels = fastest_knn_kernels());

  /// Gathers the points near `leaves`, the leaf nodes that are searched next.
  void enter(Span<const std::uint32_t> leaves, const KdTreeView& tree);
  /// Searches for the points of leaf node `leaf`. Any leaf is allowed; leaves of the block entered last are faster.
  void find(std::uint32_t leaf, const KdTreeView& tree);

  /// Neighbours of point `i` of the leaf, nearest first: squared distances, rows and slots. There are fewer than k when
  /// the tree has fewer other points.
  Span<const double> squared(std::uint32_t i) const {
    return {squared_.data() + std::size_t{i} * k_, count_[i]};
  }
  Span<const std::uint64_t> rows(std::uint32_t i) const {
    return {row_.data() + std::size_t{i} * k_, count_[i]};
  }
  Span<const std::uint64_t> slots(std::uint32_t i) const {
    return {slot_.data() + std::size_t{i} * k_, count_[i]};
  }

 private:
  using Box = kd_tree::Node;  ///< only the corners are used

  /// The points of all leaves that reach into a box enlarged by a radius, in single precision.
  struct Field {
    struct Part {
      kd_tree::Leaf leaf;
      std::uint64_t first_slot;
      std::uint32_t begin;  ///< index of its first point in the columns
    };
    std::vector<Part> parts;
    std::vector<std::uint32_t> part;                     ///< part of each point
    std::vector<float> local_x, local_y, local_z;        ///< offset from `middle`, in units of the radius
    std::array<std::vector<float>, 3> box_min, box_max;  ///< corners of each part, in the same units
    std::size_t most = 0, count = 0;                     ///< capacity and number of points
    Box box{};                                           ///< the box that was enlarged
    double squared_radius = 0;                           ///< 0 = no points gathered
    Vec3d middle{};
    double scale = 0;
    float error = 0;  ///< error bound of squared distances up to 1, in squared radii

    void reserve(std::size_t points);
    bool gather(const Box& around, double squared, const KdTreeView& tree);
    bool covers(const Box& inner) const;
    void append(const kd_tree::Node& node, const kd_tree::Leaf& leaf);
    LocalPoints points() const { return {local_x.data(), local_y.data(), local_z.data()}; }
    Vec3d point(std::uint32_t at) const { return parts[part[at]].leaf.point(at - parts[part[at]].begin); }
    std::uint64_t row(std::uint32_t at) const { return parts[part[at]].leaf.row[at - parts[part[at]].begin]; }
    std::uint64_t slot(std::uint32_t at) const {
      return parts[part[at]].first_slot + (at - parts[part[at]].begin);
    }
  };

  void find_one_place(const kd_tree::Node& node, const KdTreeView& tree);
  void find_alone(std::uint32_t i, const kd_tree::Node& node, const KdTreeView& tree);
  void search_pending(const kd_tree::Node& node, const KdTreeView& tree, const Field& field);
  void gather_near(const kd_tree::Node& node, const Field& field);
  bool choose(std::uint32_t i, std::size_t picked, const Field& field);
  std::size_t pick(std::size_t own, float error);
  void order(std::size_t picked, const Field& field);
  double kth(std::uint32_t i) const { return squared_[std::size_t{i} * k_ + k_ - 1]; }
  void learn(std::uint32_t points);

  std::uint32_t k_;
  const KnnKernels& kernels_;
  std::vector<double> squared_;
  std::vector<std::uint64_t> row_, slot_;
  std::array<std::uint32_t, kd_tree::kLeafPoints> count_{};
  Field block_, wide_;

  std::array<std::uint32_t, kd_tree::kLeafPoints> pending_{};  ///< points of the leaf still searched for
  std::uint32_t pending_count_ = 0;
  Box pending_box_{};
  double pending_squared_ = 0;  ///< squared search radius around pending_box_

  std::vector<float> near_x_, near_y_, near_z_;  ///< points of a field near the pending ones
  std::vector<std::uint32_t> near_;              ///< their indices in the field
  std::vector<std::uint32_t> near_parts_;
  std::size_t near_count_ = 0, own_begin_ = 0;
  float near_limit_ = 0;  ///< squared distance, in squared radii, up to which near_ is complete

  std::vector<float> key_;             ///< squared distances of one point to those near, in squared radii
  std::vector<std::uint32_t> picked_;  ///< indices into near_ of candidate neighbours
  std::vector<std::int32_t> rank_key_, rank_;
  std::vector<std::uint32_t> sorted_;  ///< indices into picked_
  std::vector<double> exact_;
  double hint_ = 0;      ///< squared search radius learned from the last leaf, 0 = none
  float threshold_ = 1;  ///< squared distance, in squared radii, that held k neighbours of the last point
};

/// Points per block. Small k: large blocks, whose leaves share the points gathered near them. Large k: small blocks, so
/// that a cancel takes effect in time.
constexpr std::uint64_t all_knn_block(std::uint32_t k) { return k <= 100 ? 1500 : (k <= 300 ? 200 : 32); }

/// Finds the k nearest neighbours of every point: calls visit(leaf node number, LeafKnn) for each leaf of
/// tree.leaves(), concurrently and in no particular order. The contents of the LeafKnn are valid during the call. The
/// neighbours of a point are the k other points with the smallest squared_distance; among equally distant points those
/// with lower rows come first. A point is no neighbour if its squared distance overflows.
///
/// k        1 .. 1000; designed for up to about 100
/// blocks   where each block of tree.leaves() begins, then the end: KdTree::leaf_blocks
/// Order    The neighbours are a function of the points, for any thread count.
/// Cost     O(n k) expected where the density changes little from leaf to leaf; elsewhere O(log n) boxes per point
///          more.
/// Cancel   Within 100 ms; progress counts blocks of leaves.
/// Source   Own: adjacent leaves share the points near them (as the boxes of Vaidya 1989 do), gathered within a radius
///          estimated from the previous leaf; points that this radius is too small for are searched again in a wider
///          one.
template <class Visit>
void all_knn(const KdTree& tree, std::uint32_t k, Span<const std::size_t> blocks, OpContext& ctx,
             const Visit& visit) {
  std::vector<LeafKnn> workers(static_cast<std::size_t>(ctx.threads()), LeafKnn(k));
  const KdTreeView view = tree.view();
  parallel_for_worker(ctx, blocks.size - 1, 1, [&](std::size_t block, std::size_t, int worker) {
    LeafKnn& neighbors = workers[static_cast<std::size_t>(worker)];
    const auto leaves = tree.leaves().subspan(blocks[block], blocks[block + 1] - blocks[block]);
    neighbors.enter(leaves, view);
    for (const std::uint32_t leaf : leaves) {
      neighbors.find(leaf, view);
      visit(leaf, neighbors);
    }
  });
}

template <class Visit>
void all_knn(const KdTree& tree, std::uint32_t k, OpContext& ctx, const Visit& visit) {
  const std::vector<std::size_t> blocks = tree.leaf_blocks(all_knn_block(k));
  all_knn(tree, k, {blocks.data(), blocks.size()}, ctx, visit);
}

}  // namespace pc
