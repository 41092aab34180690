#include "spatial/leaf_neighbors.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace pc {

namespace {

using kd_tree::kLeafPoints;
using kd_tree::Leaf;
using kd_tree::Node;

/// Longer lists are searched first: most of a move is spared then.
constexpr std::size_t kSweptList = 64;

double beyond(double value, double min, double max) {
  const double below = min - value, above = value - max;
  const double out = below > above ? below : above;
  return out > 0 ? out : 0;
}

/// The points of `own` that may have use for points of `box`; how many. Two loops, so that the first runs in vectors.
std::uint32_t in_reach(const Leaf& own, const Node& box, const double* worst, std::uint32_t* near) {
  std::array<double, kLeafPoints> bound;
  for (std::uint32_t i = 0; i < own.count; ++i) {
    const double dx = beyond(own.x[i], box.min.x, box.max.x), dy = beyond(own.y[i], box.min.y, box.max.y),
                 dz = beyond(own.z[i], box.min.z, box.max.z);
    bound[i] = dx * dx + dy * dy + dz * dz;
  }
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < own.count; ++i) {
    near[count] = i;
    count += bound[i] < worst[i] ? 1 : 0;
  }
  return count;
}

}  // namespace

LeafNeighbors::LeafNeighbors(std::size_t k) : k_(k), nearest_(kLeafPoints * (k + 1)) {}

/// Puts a distance that is below the first into a descending list and drops the first. A short list is swept as a
/// whole: every place takes what belongs there from itself, the next and the new, without a branch on the data.
void LeafNeighbors::offer(std::size_t point, double squared) {
  double* const list = this->list(point);
  if (k_ <= kSweptList) {
    for (std::size_t i = 0; i < k_; ++i) {
      const double next = list[i + 1], low = list[i] < squared ? list[i] : squared;
      list[i] = next > low ? next : low;
    }
  } else {
    const auto after = std::lower_bound(list + 1, list + k_, squared, std::greater<>());
    std::copy(list + 1, after, list);
    *(after - 1) = squared;
  }
  worst_[point] = list[0];
}

void LeafNeighbors::offer_leaf(const Leaf& own, const Leaf& other, const Node& box) {
  std::array<std::uint32_t, kLeafPoints> near;
  const std::uint32_t near_count = in_reach(own, box, worst_.data(), near.data());
  std::array<double, kLeafPoints> squared, candidates;
  for (std::uint32_t n = 0; n < near_count; ++n) {
    const std::uint32_t i = near[n];
    const Vec3d p{own.x[i], own.y[i], own.z[i]};
    for (std::uint32_t j = 0; j < other.count; ++j) {
      squared[j] = squared_distance(p, {other.x[j], other.y[j], other.z[j]});
    }
    std::uint32_t count = 0;
    for (std::uint32_t j = 0; j < other.count; ++j) {
      candidates[count] = squared[j];
      count += squared[j] < worst_[i] ? 1 : 0;
    }
    for (std::uint32_t j = 0; j < count; ++j) {
      if (candidates[j] < worst_[i]) offer(i, candidates[j]);
    }
  }
}

void LeafNeighbors::offer_own(const Leaf& own) {
  for (std::uint32_t i = 0; i < own.count; ++i) {
    const Vec3d p{own.x[i], own.y[i], own.z[i]};
    for (std::uint32_t j = 0; j < own.count; ++j) {
      const double squared = squared_distance(p, {own.x[j], own.y[j], own.z[j]});
      if (j != i && squared < worst_[i]) offer(i, squared);
    }
  }
}

double LeafNeighbors::greatest(std::size_t points) const {
  return *std::max_element(worst_.begin(), worst_.begin() + static_cast<std::ptrdiff_t>(points));
}

/// Near boxes first.
void LeafNeighbors::find(std::uint32_t leaf, const KdTreeView& tree) {
  const Node& box = tree.nodes[leaf];
  const Leaf own = tree.leaf(box);
  std::fill_n(nearest_.begin(), own.count * (k_ + 1), HUGE_VAL);
  std::fill_n(worst_.begin(), own.count, HUGE_VAL);
  for (std::uint32_t i = 0; i < own.count; ++i) list(i)[k_] = -1;  // below every squared distance
  offer_own(own);
  double worst = greatest(own.count);
  std::array<std::pair<std::uint32_t, double>, kd_tree::kMaxDepth> stack;
  std::size_t depth = 0;
  stack[depth++] = {0, 0.0};
  while (depth > 0) {
    const auto [number, distance] = stack[--depth];
    if (distance >= worst || number == leaf) continue;
    const Node& node = tree.nodes[number];
    if (node.left == 0) {
      offer_leaf(own, tree.leaf(node), node);
      worst = greatest(own.count);
      continue;
    }
    const double to_left = kd_tree::least_squared_distance(box, tree.nodes[node.left]);
    const double to_right = kd_tree::least_squared_distance(box, tree.nodes[node.left + 1]);
    const bool left_first = to_left < to_right;
    stack[depth++] = {node.left + (left_first ? 1 : 0), left_first ? to_right : to_left};
    stack[depth++] = {node.left + (left_first ? 0 : 1), left_first ? to_left : to_right};
  }
}

}  // namespace pc
