#pragma once
#include <cstddef>
#include <cstdint>

#include "core/host_device.h"
#include "core/vec3.h"

namespace pc {

namespace kd_tree {

/// Most points of a leaf: a few cache lines per coordinate.
constexpr std::size_t kLeafPoints = 32;
/// Bound of the depth: every split leaves each side at least 1/16 of the points.
constexpr std::size_t kMaxDepth = 512;

/// A box, tight around its points, and where they lie. Children stand side by side; 0 = a leaf.
struct Node {
  Vec3d min, max;
  std::uint64_t begin, end;
  std::uint32_t left;
};

/// A point while the tree is built. Afterwards the items of a leaf hold its x, then its y, its z, its rows.
struct Item {
  double axis[3];
  std::uint64_t row;
};

/// Points of a leaf as columns of `count`.
struct Leaf {
  const double* x;
  const double* y;
  const double* z;
  const std::uint64_t* row;
  std::uint32_t count;
};

PC_HD inline double outside(double value, double min, double max) {
  return value < min ? min - value : (value > max ? value - max : 0.0);
}

PC_HD inline double reach(double value, double min, double max) {
  const double below = value - min, above = max - value;
  return below > above ? below : above;
}

/// Bounds of squared_distance(p, q) for q in the box, as rounded arithmetic computes it: rounding never
/// reverses an order, so these hold to the last bit.
PC_HD inline double least_squared_distance(const Vec3d& p, const Node& node) {
  const double dx = outside(p.x, node.min.x, node.max.x);
  const double dy = outside(p.y, node.min.y, node.max.y);
  const double dz = outside(p.z, node.min.z, node.max.z);
  return dx * dx + dy * dy + dz * dz;
}

PC_HD inline double greatest_squared_distance(const Vec3d& p, const Node& node) {
  const double dx = reach(p.x, node.min.x, node.max.x);
  const double dy = reach(p.y, node.min.y, node.max.y);
  const double dz = reach(p.z, node.min.z, node.max.z);
  return dx * dx + dy * dy + dz * dz;
}

/// Bound of the squared distance of any two points of two boxes.
PC_HD inline double gap(double a_min, double a_max, double b_min, double b_max) {
  return a_max < b_min ? b_min - a_max : (b_max < a_min ? a_min - b_max : 0.0);
}

PC_HD inline double least_squared_distance(const Node& a, const Node& b) {
  const double dx = gap(a.min.x, a.max.x, b.min.x, b.max.x);
  const double dy = gap(a.min.y, a.max.y, b.min.y, b.max.y);
  const double dz = gap(a.min.z, a.max.z, b.min.z, b.max.z);
  return dx * dx + dy * dy + dz * dz;
}

}  // namespace kd_tree

/// The tree as kernels see it. Node 0 is the root; there is none for no points.
struct KdTreeView {
  const kd_tree::Node* nodes;
  const kd_tree::Item* items;
  std::uint64_t size;

  PC_HD kd_tree::Leaf leaf(const kd_tree::Node& node) const {
    const auto count = static_cast<std::uint32_t>(node.end - node.begin);
    const auto* x = reinterpret_cast<const double*>(items + node.begin);
    return {x, x + count, x + 2 * count, reinterpret_cast<const std::uint64_t*>(x + 3 * count), count};
  }
};

/// A tree in host memory with the length of its arrays, as the module copies it.
struct HostKdTree {
  KdTreeView tree;
  std::uint64_t node_count;
  const std::uint32_t* leaves;  ///< (leaf_count) node numbers
  std::uint64_t leaf_count;
};

}  // namespace pc
