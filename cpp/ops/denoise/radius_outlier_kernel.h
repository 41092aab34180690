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

PC_HD inline std::uint64_t count_leaf(const Vec3d& p, const kd_tree::Leaf& leaf, double squared_radius) {
  std::uint64_t inside = 0;
  for (std::uint32_t j = 0; j < leaf.count; ++j) {
    const Vec3d other{leaf.x[j], leaf.y[j], leaf.z[j]};
    inside += squared_distance(p, other) <= squared_radius ? 1 : 0;
  }
  return inside;
}

/// Are `ball.wanted` points of the tree within the ball round p, its surface included? Near boxes come first.
PC_HD inline bool is_clean(const Vec3d& p, const Ball& ball, const KdTreeView& tree) {
  std::uint64_t inside = 0;
  std::uint32_t stack[kd_tree::kMaxDepth];
  std::uint32_t depth = 0;
  stack[depth++] = 0;
  while (depth > 0 && inside < ball.wanted) {
    const kd_tree::Node& node = tree.nodes[stack[--depth]];
    if (kd_tree::greatest_squared_distance(p, node) <= ball.squared_radius) {
      inside += node.end - node.begin;
      continue;
    }
    if (node.left == 0) {
      inside += count_leaf(p, tree.leaf(node), ball.squared_radius);
      continue;
    }
    const double to_left = kd_tree::least_squared_distance(p, tree.nodes[node.left]);
    const double to_right = kd_tree::least_squared_distance(p, tree.nodes[node.left + 1]);
    const bool left_first = to_left < to_right;
    const double near = left_first ? to_left : to_right, far = left_first ? to_right : to_left;
    if (far <= ball.squared_radius) stack[depth++] = node.left + (left_first ? 1 : 0);
    if (near <= ball.squared_radius) stack[depth++] = node.left + (left_first ? 0 : 1);
  }
  return inside >= ball.wanted;
}

/// Labels point `lane` of a leaf, when it has so many.
PC_HD inline void label_point(const kd_tree::Node& node, std::uint32_t lane, const Ball& ball,
                              const KdTreeView& tree, std::uint8_t* labels) {
  const kd_tree::Leaf leaf = tree.leaf(node);
  if (lane >= leaf.count) return;
  const Vec3d p{leaf.x[lane], leaf.y[lane], leaf.z[lane]};
  const bool clean = count_leaf(p, leaf, ball.squared_radius) >= ball.wanted || is_clean(p, ball, tree);
  labels[leaf.row[lane]] = clean ? kClean : kNoise;
}

}  // namespace pc::radius_outlier_kernel
