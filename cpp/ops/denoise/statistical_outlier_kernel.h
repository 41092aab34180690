#pragma once
#include <cmath>
#include <cstdint>

#include "core/host_device.h"
#include "spatial/kd_tree_view.h"

namespace pc::statistical_outlier_kernel {

/// Input of pc_cuda: a tree in host memory. Output: a mean for the row of each of its points.
struct HostPass {
  HostKdTree tree;
  std::uint32_t k;  ///< number of neighbours, less than the number of points
  double* means;    ///< (row_count)
  std::uint64_t row_count;
};

/// Mean of k distances. Their squares are given in ascending order, `stride` apart; summed from the smallest on.
PC_HD inline double mean_distance(const double* squared, std::uint32_t k, std::uint64_t stride) {
  double sum = 0;
  for (std::uint32_t i = 0; i < k; ++i) sum += sqrt(squared[i * stride]);
  return sum / static_cast<double>(k);
}

/// The same of a list in registers.
template <std::uint32_t kMost>
PC_HD double mean_of_few(const KdTreeView& tree, const Vec3d& p, std::uint32_t k, std::uint64_t skip) {
  kd_tree::NearestFew<kMost> nearest(k);
  tree.find_nearest(p, skip, nearest);
  double sum = 0;
  nearest.for_each([&](double squared) { sum += sqrt(squared); });
  return sum / static_cast<double>(k);
}

/// Writes the mean distance from point `lane` of a leaf to its k nearest other points, if the leaf has that many
/// points. `list` is scratch for k squared distances, `stride` apart.
PC_HD inline void measure_point(const kd_tree::Node& node, std::uint32_t lane, std::uint32_t k,
                                const KdTreeView& tree, double* list, std::uint64_t stride, double* means) {
  const kd_tree::Leaf leaf = tree.leaf(node);
  if (lane >= leaf.count) return;
  const Vec3d p = leaf.point(lane);
  const std::uint64_t row = leaf.row[lane];
  if (k <= 8) {
    means[row] = mean_of_few<8>(tree, p, k, row);
  } else if (k <= 16) {
    means[row] = mean_of_few<16>(tree, p, k, row);
  } else if (k <= 32) {
    means[row] = mean_of_few<32>(tree, p, k, row);
  } else {
    kd_tree::NearestHeap nearest(list, k, stride);
    tree.find_nearest(p, row, nearest);
    nearest.sort();
    means[row] = mean_distance(list, k, stride);
  }
}

}  // namespace pc::statistical_outlier_kernel
