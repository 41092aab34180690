#include "spatial/knn_field.h"

#include <algorithm>
#include <cmath>

namespace pc {

namespace {

using kd_tree::kLeafPoints;
using kd_tree::Leaf;
using kd_tree::Node;

constexpr std::size_t kStep = KnnKernels::kStep;

}  // namespace

void KnnField::reserve(std::size_t points) {
  most = points;
  const std::size_t size = points + kLeafPoints + kStep;  // the last leaf and the last step may exceed it
  place.resize(size);
  for (auto* column : {&local_x, &local_y, &local_z}) column->resize(size);
}

LocalBox KnnField::local(const Box& of) const {
  const Vec3d low = (of.min - middle) * scale, high = (of.max - middle) * scale;
  return {{static_cast<float>(low.x), static_cast<float>(low.y), static_cast<float>(low.z)},
          {static_cast<float>(high.x), static_cast<float>(high.y), static_cast<float>(high.z)}};
}

/// Appends the points of a leaf to the columns, in single precision.
///
/// Error: let |coordinate| <= A. The difference of two coordinates has an error of at most e = 4 A 2^-24; a squared
/// distance up to 1 has an error of at most 2 sqrt(3) e + 3 e^2 + 3 * 2^-24 < A 2^-19. A squared distance above 1 is
/// computed as at least 1 minus that bound.
void KnnField::append(const Node& node, const Leaf& leaf, const KnnKernels& kernels) {
  kernels.localize(leaf.x, leaf.count, middle.x, scale, local_x.data() + count);
  kernels.localize(leaf.y, leaf.count, middle.y, scale, local_y.data() + count);
  kernels.localize(leaf.z, leaf.count, middle.z, scale, local_z.data() + count);
  const std::uint64_t of_leaf = KnnPlace::leaf(node.begin, leaf.count);
  for (std::uint32_t i = 0; i < leaf.count; ++i) place[count + i] = of_leaf | KnnPlace::index(i);
  const LocalBox corners = local(node);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    box_min[axis].push_back(corners.min[axis]);
    box_max[axis].push_back(corners.max[axis]);
  }
  const auto begin = static_cast<std::uint32_t>(count);
  parts.push_back({node.begin, begin, begin + leaf.count});
  count += leaf.count;
}

bool KnnField::gather(const Box& around, double squared, const KdTreeView& tree, const KnnKernels& kernels) {
  box = around;
  parts.clear();
  for (auto* corner : {&box_min, &box_max})
    for (auto& column : *corner) column.clear();
  count = 0;
  squared_radius = 0;
  const double radius = std::sqrt(squared);
  if (!(radius > 1e-100 && radius < 1e100)) return false;
  scale = 1 / radius;
  middle = box.min + (box.max - box.min) * 0.5;
  const Vec3d half = (box.max - box.min) * (0.5 * scale);
  const double farthest = 1.001 + std::max({half.x, half.y, half.z});
  if (!(farthest < 4096)) return false;
  error = static_cast<float>(farthest * 0x1p-19);
  const auto may_hold = [&](const Node& node, std::uint32_t) {
    return kd_tree::least_squared_distance(box, node) <= squared;
  };
  tree.for_each_leaf(may_hold, [&](const Node& node) {
    append(node, tree.leaf(node), kernels);
    return count <= most;
  });
  if (count > most) return false;
  for (auto* corner : {&box_min, &box_max})
    for (auto& column : *corner) column.resize(parts.size() + kStep);
  squared_radius = squared;
  return true;
}

bool KnnField::covers(const Box& inner) const {
  return inner.min.x >= box.min.x && inner.min.y >= box.min.y && inner.min.z >= box.min.z &&
         inner.max.x <= box.max.x && inner.max.y <= box.max.y && inner.max.z <= box.max.z;
}

}  // namespace pc
