#pragma once
#include <cmath>
#include <cstdint>

#include "core/host_device.h"
#include "spatial/kd_tree_view.h"

namespace pc::statistical_outlier_kernel {

/// What the host hands to pc_cuda: a tree in host memory; a mean for the row of each of its points.
struct HostPass {
  HostKdTree tree;
  std::uint32_t k;  ///< neighbours; the tree has more points
  double* means;    ///< (row_count)
  std::uint64_t row_count;
};

/// Puts a squared distance below the first into a descending list and drops the first. `stride` elements lie between
/// two of the list: lists of threads side by side lie interleaved.
PC_HD inline void insert(double squared, double* list, std::uint32_t k, std::uint64_t stride) {
  std::uint32_t at = 0;
  for (; at + 1 < k && list[(at + 1) * stride] > squared; ++at) list[at * stride] = list[(at + 1) * stride];
  list[at * stride] = squared;
}

PC_HD inline void offer_leaf(const Vec3d& p, const kd_tree::Leaf& leaf, std::uint32_t skip, double* list,
                             std::uint32_t k, std::uint64_t stride) {
  for (std::uint32_t j = 0; j < leaf.count; ++j) {
    const double squared = squared_distance(p, {leaf.x[j], leaf.y[j], leaf.z[j]});
    if (j != skip && squared < list[0]) insert(squared, list, k, stride);
  }
}

/// Mean distance of point `lane` of a leaf to its k nearest others, when the leaf has so many: summed from the nearest
/// on, as on the CPU, so that the bits are the same. `infinity` fills the list: HUGE_VAL is no device constant.
PC_HD inline void measure_point(std::uint32_t own, std::uint32_t lane, std::uint32_t k,
                                const KdTreeView& tree, double* list, std::uint64_t stride, double infinity,
                                double* means) {
  constexpr std::uint32_t kNobody = 0xffffffffU;
  const kd_tree::Leaf leaf = tree.leaf(tree.nodes[own]);
  if (lane >= leaf.count) return;
  const Vec3d p{leaf.x[lane], leaf.y[lane], leaf.z[lane]};
  for (std::uint32_t i = 0; i < k; ++i) list[i * stride] = infinity;
  offer_leaf(p, leaf, lane, list, k, stride);
  std::uint32_t stack[kd_tree::kMaxDepth];
  std::uint32_t depth = 0;
  stack[depth++] = 0;
  while (depth > 0) {
    const std::uint32_t number = stack[--depth];
    const kd_tree::Node& node = tree.nodes[number];
    if (number == own || kd_tree::least_squared_distance(p, node) >= list[0]) continue;
    if (node.left == 0) {
      offer_leaf(p, tree.leaf(node), kNobody, list, k, stride);
      continue;
    }
    const bool left_first = kd_tree::least_squared_distance(p, tree.nodes[node.left]) <
                            kd_tree::least_squared_distance(p, tree.nodes[node.left + 1]);
    stack[depth++] = node.left + (left_first ? 1 : 0);
    stack[depth++] = node.left + (left_first ? 0 : 1);
  }
  double sum = 0;
  for (std::uint32_t i = k; i-- > 0;) sum += sqrt(list[i * stride]);
  means[leaf.row[lane]] = sum / static_cast<double>(k);
}

}  // namespace pc::statistical_outlier_kernel
