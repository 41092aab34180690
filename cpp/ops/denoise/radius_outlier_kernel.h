#pragma once
#include <cstdint>

#include "core/host_device.h"
#include "ops/denoise/noise_class.h"
#include "spatial/kd_tree_view.h"

namespace pc::radius_outlier_kernel {

struct Ball {
  double squared_radius;
  std::uint64_t wanted;  ///< points within it, the centre counted, that make the centre clean
};

/// What the host hands to pc_cuda: a tree in host memory; a label for the row of each of its points.
struct HostPass {
  HostKdTree tree;
  Ball ball;
  std::uint8_t* labels;  ///< (row_count)
  std::uint64_t row_count;
};

/// Are `ball.wanted` points of the tree within the ball around point i of a leaf? The leaf itself mostly has them.
PC_HD inline bool is_clean(const kd_tree::Leaf& leaf, std::uint32_t i, const Ball& ball,
                           const KdTreeView& tree) {
  const Vec3d p = leaf.point(i);
  return KdTreeView::count_in_leaf(p, leaf, ball.squared_radius) >= ball.wanted ||
         tree.count_within(p, ball.squared_radius, ball.wanted) >= ball.wanted;
}

/// Labels point `lane` of a leaf, when it has so many.
PC_HD inline void label_point(const kd_tree::Node& node, std::uint32_t lane, const Ball& ball,
                              const KdTreeView& tree, std::uint8_t* labels) {
  const kd_tree::Leaf leaf = tree.leaf(node);
  if (lane >= leaf.count) return;
  labels[leaf.row[lane]] = is_clean(leaf, lane, ball, tree) ? kClean : kNoise;
}

}  // namespace pc::radius_outlier_kernel
