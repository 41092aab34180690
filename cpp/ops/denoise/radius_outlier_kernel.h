#pragma once
#include <cstdint>

#include "core/host_device.h"
#include "ops/denoise/noise_class.h"
#include "spatial/kd_tree_view.h"

namespace pc::radius_outlier_kernel {

struct Ball {
  double squared_radius;
  std::uint64_t wanted;  ///< points within the radius, including the centre, that a clean centre needs
};

/// Input of pc_cuda: a tree in host memory. Output: a label for the row of each of its points.
struct HostPass {
  HostKdTree tree;
  Ball ball;
  std::uint8_t* labels;  ///< (row_count)
  std::uint64_t row_count;
};

/// True if the ball around point i of a leaf holds `ball.wanted` points of the tree. The leaf alone mostly suffices.
PC_HD inline bool is_clean(const kd_tree::Leaf& leaf, std::uint32_t i, const Ball& ball,
                           const KdTreeView& tree) {
  const Vec3d p = leaf.point(i);
  return KdTreeView::count_in_leaf(p, leaf, ball.squared_radius) >= ball.wanted ||
         tree.count_within(p, ball.squared_radius, ball.wanted) >= ball.wanted;
}

/// Labels point `lane` of a leaf, if the leaf has that many points.
PC_HD inline void label_point(const kd_tree::Node& node, std::uint32_t lane, const Ball& ball,
                              const KdTreeView& tree, std::uint8_t* labels) {
  const kd_tree::Leaf leaf = tree.leaf(node);
  if (lane >= leaf.count) return;
  labels[leaf.row[lane]] = is_clean(leaf, lane, ball, tree) ? kClean : kNoise;
}

}  // namespace pc::radius_outlier_kernel
