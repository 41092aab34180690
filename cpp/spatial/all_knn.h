#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/parallel.h"
#include "core/span.h"
#include "spatial/kd_tree.h"
#include "spatial/knn_field.h"
#include "spatial/knn_kernels.h"

namespace pc {

/// What LeafKnn stores of a neighbour. Less is faster.
enum class KnnColumns : std::uint8_t { kSquared, kSquaredAndSlots, kAll };

struct LeafKnnParams {
  std::uint32_t k;          ///< number of neighbours, 1 .. 1000; designed for up to about 100
  std::uint32_t most_tied;  ///< further neighbours that are stored if they are as far away as the k-th one
  KnnColumns columns;
};

/// Finds the k nearest other points of every point of a KdTree leaf and holds them. Each worker thread has one object:
/// it enters a block of neighbouring leaves, then finds the neighbours leaf by leaf.
class LeafKnn {
 public:
  explicit LeafKnn(const LeafKnnParams& params, const KnnKernels& kernels = fastest_knn_kernels());

  /// Gathers the points near `leaves`, the leaf nodes that are searched next.
  void enter(Span<const std::uint32_t> leaves, const KdTreeView& tree);
  /// Searches for the points of leaf node `leaf`. Any leaf is allowed; leaves of the block entered last are faster.
  void find(std::uint32_t leaf, const KdTreeView& tree);

  /// Neighbours of point `i` of the leaf, nearest first: squared distances, rows and slots. There are fewer than k when
  /// the tree has fewer other points, more if others are tied with the k-th: most_tied of them, or fewer if there are
  /// no more. Tied neighbours are ordered by row, without the column of rows in no particular order.
  Span<const double> squared(std::uint32_t i) const {
    return {squared_.data() + std::size_t{i} * width_, count_[i]};
  }
  /// Needs KnnColumns::kAll.
  Span<const std::uint64_t> rows(std::uint32_t i) const {
    return {row_.data() + std::size_t{i} * width_, count_[i]};
  }
  /// Needs KnnColumns::kSquaredAndSlots or kAll.
  Span<const std::uint64_t> slots(std::uint32_t i) const {
    return {slot_.data() + std::size_t{i} * width_, count_[i]};
  }

 private:
  using Box = KnnField::Box;

  /// A neighbour and its squared distance, for sorting many.
  struct Candidate {
    double squared;
    std::uint64_t row, place;
  };

  void find_one_place(const kd_tree::Node& node, const KdTreeView& tree);
  void find_alone(std::uint32_t i, const kd_tree::Node& node, const KdTreeView& tree);
  void search_pending(const kd_tree::Node& node, const KdTreeView& tree, const KnnField& field);
  void gather_near(const kd_tree::Node& node, const KnnField& field);
  std::size_t pick(std::size_t own, float error);
  std::size_t narrow(std::size_t found, float limit, float slack);
  void order(std::size_t picked);
  void measure(const Vec3d& p, std::size_t picked, const KnnField& field, const KdTreeView& tree);
  void sort_measured(std::size_t picked, const KdTreeView& tree);
  bool choose(std::uint32_t i, const Vec3d& p, std::size_t picked, const KnnField& field,
              const KdTreeView& tree);
  double kth(std::uint32_t i) const { return squared_[std::size_t{i} * width_ + k_ - 1]; }
  std::uint32_t without_farther(const double* squared, std::uint32_t count) const;
  void learn(const kd_tree::Node& node);
  double expected_squared(const kd_tree::Node& node) const;

  std::uint32_t k_, width_;  ///< neighbours wanted, neighbours stored at most
  KnnColumns columns_;
  const KnnKernels& kernels_;
  std::vector<double> squared_;
  std::vector<std::uint64_t> row_, slot_;
  std::array<std::uint32_t, kd_tree::kLeafPoints> count_{};
  KnnField block_, wide_;

  std::array<std::uint32_t, kd_tree::kLeafPoints> pending_{};  ///< points of the leaf still searched for
  std::uint32_t pending_count_ = 0;
  Box pending_box_{};
  double pending_squared_ = 0;  ///< squared search radius around pending_box_

  std::vector<float> near_x_, near_y_, near_z_;  ///< points of a field near the pending ones
  std::vector<std::uint32_t> near_;              ///< their indices in the field
  std::vector<std::uint32_t> near_parts_;
  std::size_t near_count_ = 0, own_begin_ = 0;
  float near_limit_ = 0;  ///< squared distance, in squared radii, up to which near_ is complete

  std::vector<float> key_;             ///< squared distances of candidate neighbours, in squared radii
  std::vector<std::uint32_t> picked_;  ///< their indices into near_
  std::vector<std::int32_t> rank_key_, rank_;
  std::vector<std::uint32_t> sorted_;  ///< indices into picked_
  std::vector<double> exact_;          ///< squared distances in this order
  std::vector<std::uint64_t> place_;   ///< and places in the tree
  std::vector<Candidate> candidates_;
  double hint_ = 0;       ///< squared search radius learned from the last leaf, 0 = none
  double log_ratio_ = 0;  ///< log2 of such radii over the squared scale of their leaves, averaged
  std::vector<double> expected_;
  double threshold_squared_ =
      0;                 ///< squared distance expected to hold enough candidates of the next point, 0 = none
  float threshold_ = 1;  ///< the same in squared radii
};

/// Points per block. Small k: large blocks, whose leaves share the points gathered near them. Large k: small blocks, so
/// that a cancel takes effect in time.
constexpr std::uint64_t all_knn_block(std::uint32_t k) { return k <= 100 ? 1500 : (k <= 300 ? 200 : 32); }

/// Finds the k nearest neighbours of every point: calls visit(leaf node number, LeafKnn) for each leaf of
/// tree.leaves(), concurrently and in no particular order. The contents of the LeafKnn are valid during the call. The
/// neighbours of a point are the k other points with the smallest squared_distance; among equally distant points those
/// with lower rows come first. A point is no neighbour if its squared distance overflows.
///
/// blocks   where each block of tree.leaves() begins, then the end: KdTree::leaf_blocks
/// Order    The neighbours are a function of the points, for any thread count.
/// Cost     O(n k) expected where the density changes little from leaf to leaf; elsewhere O(log n) boxes per point
///          more.
/// Cancel   Within 100 ms; progress counts blocks of leaves.
/// Source   Own: adjacent leaves share the points near them (as the boxes of Vaidya 1989 do), gathered within a radius
///          estimated from the previous leaf; points that this radius is too small for are searched again in a wider
///          one.
template <class Visit>
void all_knn(const KdTree& tree, const LeafKnnParams& params, Span<const std::size_t> blocks, OpContext& ctx,
             const Visit& visit) {
  std::vector<LeafKnn> workers(static_cast<std::size_t>(ctx.threads()), LeafKnn(params));
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

/// With all columns and without ties beyond the k-th neighbour.
template <class Visit>
void all_knn(const KdTree& tree, std::uint32_t k, OpContext& ctx, const Visit& visit) {
  const std::vector<std::size_t> blocks = tree.leaf_blocks(all_knn_block(k));
  all_knn(tree, {k, 0, KnnColumns::kAll}, {blocks.data(), blocks.size()}, ctx, visit);
}

}  // namespace pc
