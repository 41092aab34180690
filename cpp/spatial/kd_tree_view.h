#pragma once
#include <cstddef>
#include <cstdint>

#include "core/host_device.h"
#include "core/vec3.h"
#include "spatial/nearest_list.h"

namespace pc {

namespace kd_tree {

/// Most points in a leaf: a few cache lines per coordinate.
constexpr std::size_t kLeafPoints = 32;
/// Upper bound of the depth: every child has at least 1/16 of its parent's points.
constexpr std::size_t kMaxDepth = 512;

/// The tight bounding box of the points in slots [begin, end). A row is the index of a point in the cloud, a slot its
/// index in the tree, in which the points of a node are consecutive.
struct Node {
  Vec3d min, max;
  std::uint64_t begin, end;  ///< slots of its points
  std::uint64_t least_row;   ///< lowest row of its points
  std::uint32_t left;        ///< number of the first child, which the second one follows; 0 = leaf
};

/// A point while the tree is built. In the finished tree each leaf's items hold all its x, then all its y, z and rows.
struct Item {
  double axis[3];
  std::uint64_t row;
};

/// The points of a leaf as columns of `count` values.
struct Leaf {
  const double* x;
  const double* y;
  const double* z;
  const std::uint64_t* row;
  std::uint32_t count;

  PC_HD Vec3d point(std::uint32_t i) const { return {x[i], y[i], z[i]}; }
};

PC_HD inline double outside(double value, double min, double max) {
  return value < min ? min - value : (value > max ? value - max : 0.0);
}

PC_HD inline double reach(double value, double min, double max) {
  const double below = value - min, above = max - value;
  return below > above ? below : above;
}

/// Bound of squared_distance(p, q) over all q in the box. It holds to the last bit for the rounded result, because
/// rounding is monotone.
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

/// Distance along one axis between [a_min, a_max] and [b_min, b_max], 0 if they overlap.
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

/// The tree for host and device code. Node 0 is the root; an empty tree has no nodes.
///
/// Every search compares the computed float64 squared_distance(p, q), so its result equals that of a brute-force search
/// to the last bit. A radius r is passed as r * r and is inclusive. A query that is not finite has no neighbours.
/// Points at the position of the query are neighbours. k >= 1. Cost per query: O(log n) boxes plus the points found,
/// except where stated otherwise.
struct KdTreeView {
  const kd_tree::Node* nodes;
  const kd_tree::Item* items;
  std::uint64_t size;

  PC_HD kd_tree::Leaf leaf(const kd_tree::Node& node) const {
    const auto count = static_cast<std::uint32_t>(node.end - node.begin);
    const auto* x = reinterpret_cast<const double*>(items + node.begin);
    return {x, x + count, x + 2 * count, reinterpret_cast<const std::uint64_t*>(x + 3 * count), count};
  }

  /// Writes the k points nearest to p, other than row `skip`, to arrays of length k: squared distances, rows and slots,
  /// nearest first, equally near points by ascending row. Returns their number: less than k if the tree has fewer.
  PC_HD std::uint32_t knn(const Vec3d& p, std::uint32_t k, std::uint64_t skip, double* squared,
                          std::uint64_t* row, std::uint64_t* slot) const {
    kd_tree::NearestPoints nearest(squared, row, slot, k);
    find_nearest(p, skip, nearest);
    return nearest.count();
  }

  /// Hybrid search: like knn, restricted to the points within the radius.
  PC_HD std::uint32_t knn_within(const Vec3d& p, std::uint32_t k, double squared_radius, std::uint64_t skip,
                                 double* squared, std::uint64_t* row, std::uint64_t* slot) const {
    kd_tree::NearestPoints nearest(squared, row, slot, k, squared_radius);
    find_nearest(p, skip, nearest);
    return nearest.count();
  }

  /// Like knn, but writes only the ascending squared distances, `stride` apart; kInfinity where the tree has fewer
  /// points.
  PC_HD void nearest_distances(const Vec3d& p, std::uint32_t k, std::uint64_t skip, double* squared,
                               std::uint64_t stride) const {
    kd_tree::NearestDistances nearest(squared, k, stride);
    find_nearest(p, skip, nearest);
  }

  /// Squared distance to the nearest point that is not at p; kInfinity if there is none. Points at p cost nothing where
  /// they fill a node.
  PC_HD double nearest_elsewhere(const Vec3d& p) const {
    double best = kd_tree::kInfinity;
    if (size == 0 || !is_finite(p)) return best;
    std::uint32_t stack[kd_tree::kMaxDepth];
    std::uint32_t depth = 0;
    stack[depth++] = 0;
    while (depth > 0) {
      const kd_tree::Node& node = nodes[stack[--depth]];
      if (kd_tree::least_squared_distance(p, node) >= best || (node.min == p && node.max == p)) continue;
      if (node.left == 0) {
        const kd_tree::Leaf points = leaf(node);
        for (std::uint32_t i = 0; i < points.count; ++i) {
          const double squared = squared_distance(p, points.point(i));
          best = squared > 0 && squared < best ? squared : best;
        }
        continue;
      }
      const bool left_first = kd_tree::least_squared_distance(p, nodes[node.left]) <
                              kd_tree::least_squared_distance(p, nodes[node.left + 1]);
      stack[depth++] = node.left + (left_first ? 1 : 0);
      stack[depth++] = node.left + (left_first ? 0 : 1);
    }
    return best;
  }

  /// Calls visit(row, slot, squared) for every point within the radius, in no particular order.
  template <class Visit>
  PC_HD void for_each_within(const Vec3d& p, double squared_radius, const Visit& visit) const {
    if (!is_finite(p)) return;
    const auto may_hold = [&](const kd_tree::Node& node, std::uint32_t) {
      return kd_tree::least_squared_distance(p, node) <= squared_radius;
    };
    for_each_leaf(may_hold, [&](const kd_tree::Node& node) {
      const kd_tree::Leaf points = leaf(node);
      for (std::uint32_t i = 0; i < points.count; ++i) {
        const double squared = squared_distance(p, points.point(i));
        if (squared <= squared_radius) visit(points.row[i], node.begin + i, squared);
      }
      return true;
    });
  }

  /// Number of points within the radius. The search stops once it has counted `enough`. A box that lies entirely within
  /// the radius is counted as a whole, so a radius as large as the cloud costs no more.
  PC_HD std::uint64_t count_within(const Vec3d& p, double squared_radius, std::uint64_t enough) const {
    if (size == 0 || !is_finite(p)) return 0;
    std::uint64_t inside = 0;
    std::uint32_t stack[kd_tree::kMaxDepth];
    std::uint32_t depth = 0;
    stack[depth++] = 0;
    while (depth > 0 && inside < enough) {
      const kd_tree::Node& node = nodes[stack[--depth]];
      if (kd_tree::greatest_squared_distance(p, node) <= squared_radius) {
        inside += node.end - node.begin;
        continue;
      }
      if (node.left == 0) {
        inside += count_in_leaf(p, leaf(node), squared_radius);
        continue;
      }
      const double to_left = kd_tree::least_squared_distance(p, nodes[node.left]);
      const double to_right = kd_tree::least_squared_distance(p, nodes[node.left + 1]);
      const bool left_first = to_left < to_right;
      const double near = left_first ? to_left : to_right, far = left_first ? to_right : to_left;
      if (far <= squared_radius) stack[depth++] = node.left + (left_first ? 1 : 0);
      if (near <= squared_radius) stack[depth++] = node.left + (left_first ? 0 : 1);
    }
    return inside;
  }

  PC_HD static std::uint64_t count_in_leaf(const Vec3d& p, const kd_tree::Leaf& leaf, double squared_radius) {
    std::uint64_t inside = 0;
    for (std::uint32_t i = 0; i < leaf.count; ++i)
      inside += squared_distance(p, leaf.point(i)) <= squared_radius ? 1 : 0;
    return inside;
  }

  /// Visits leaves, second children first. Descends only into nodes for which may_hold(node, number) is true; stops
  /// when visit(node) returns false.
  template <class MayHold, class Visit>
  PC_HD void for_each_leaf(const MayHold& may_hold, const Visit& visit) const {
    std::uint32_t stack[kd_tree::kMaxDepth];
    std::uint32_t depth = 0;
    if (size > 0 && may_hold(nodes[0], 0U)) stack[depth++] = 0;
    while (depth > 0) {
      const kd_tree::Node& node = nodes[stack[--depth]];
      if (node.left == 0) {
        if (!visit(node)) return;
        continue;
      }
      stack[depth] = node.left;  // avoids a data-dependent branch
      depth += may_hold(nodes[node.left], node.left) ? 1 : 0;
      stack[depth] = node.left + 1;
      depth += may_hold(nodes[node.left + 1], node.left + 1) ? 1 : 0;
    }
  }

  /// Offers every point that `nearest` (nearest_list.h) may want, except row `skip`, to it; near boxes first.
  template <class Nearest>
  PC_HD void find_nearest(const Vec3d& p, std::uint64_t skip, Nearest& nearest) const {
    if (size == 0 || !is_finite(p)) return;
    std::uint32_t stack[kd_tree::kMaxDepth];
    std::uint32_t depth = 0;
    stack[depth++] = 0;
    while (depth > 0) {
      const kd_tree::Node& node = nodes[stack[--depth]];
      if (!nearest.wants(kd_tree::least_squared_distance(p, node), node.least_row)) continue;
      if (node.left == 0) {
        offer_leaf(p, skip, node, nearest);
        continue;
      }
      const kd_tree::Node &left = nodes[node.left], &right = nodes[node.left + 1];
      const double to_left = kd_tree::least_squared_distance(p, left);
      const double to_right = kd_tree::least_squared_distance(p, right);
      const bool left_first = to_left < to_right || (to_left == to_right && left.least_row < right.least_row);
      stack[depth++] = node.left + (left_first ? 1 : 0);
      stack[depth++] = node.left + (left_first ? 0 : 1);
    }
  }

 private:
  template <class Nearest>
  PC_HD void offer_leaf(const Vec3d& p, std::uint64_t skip, const kd_tree::Node& node,
                        Nearest& nearest) const {
    const kd_tree::Leaf points = leaf(node);
    for (std::uint32_t i = 0; i < points.count; ++i) {
      const double squared = squared_distance(p, points.point(i));
      const std::uint64_t row = points.row[i];
      if (nearest.wants(squared, row) && row != skip) nearest.take(squared, row, node.begin + i);
    }
  }
};

/// A tree in host memory with the lengths of its arrays, as pc_cuda copies it.
struct HostKdTree {
  KdTreeView tree;
  std::uint64_t node_count;
  const std::uint32_t* leaves;  ///< (leaf_count) node numbers
  std::uint64_t leaf_count;
};

}  // namespace pc
