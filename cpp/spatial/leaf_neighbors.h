#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/span.h"
#include "spatial/kd_tree.h"

namespace pc {

/// The k nearest others of all points of one leaf of a KdTree, searched together: they lie side by side and share the
/// way through the tree. Exact: the squared distances are those of squared_distance. Another row at the same place
/// counts, at distance 0. One object serves one worker, leaf after leaf.
class LeafNeighbors {
 public:
  explicit LeafNeighbors(std::size_t k);

  /// Searches for the points of leaf node `leaf`.
  void find(std::uint32_t leaf, const KdTreeView& tree);
  /// The k squared distances of the leaf's point `point`, descending; infinite where there are fewer others.
  Span<const double> descending(std::uint32_t point) const { return {list(point), k_}; }

 private:
  double* list(std::size_t point) { return nearest_.data() + point * (k_ + 1); }
  const double* list(std::size_t point) const { return nearest_.data() + point * (k_ + 1); }
  void offer(std::size_t point, double squared);
  void offer_leaf(const kd_tree::Leaf& own, const kd_tree::Leaf& other, const kd_tree::Node& box);
  void offer_own(const kd_tree::Leaf& own);
  double greatest(std::size_t points) const;

  std::size_t k_;
  std::vector<double> nearest_;                       ///< per point k + 1: an end mark follows the list
  std::array<double, kd_tree::kLeafPoints> worst_{};  ///< first of each list: what a nearer point must beat
};

}  // namespace pc
