#include "spatial/all_knn.h"

#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

namespace pc {

namespace {

using kd_tree::kInfinity;
using kd_tree::kLeafPoints;
using kd_tree::Leaf;
using kd_tree::Node;

constexpr std::size_t kStep = KnnKernels::kStep;
constexpr std::size_t kRanked = 128;       // more picked points are sorted, not ordered by counting
constexpr std::uint32_t kPlaceMask = 127;  // bits of a key that hold the point's index
constexpr int kGuesses = 5;                // thresholds tried per point
constexpr double kBlockFactor = 2;         // block over leaf radius, squared: serves most pending points
constexpr double kLeafFactor = 1.45;       // hint over the 7/8 quantile of kth squared distances
constexpr float kNever = std::numeric_limits<float>::infinity();

std::size_t padded(std::size_t count) { return (count + kStep - 1) / kStep * kStep; }

/// Capacity of a field: twice the points of a block in a cloud of even density.
std::size_t most_points(std::uint32_t k) { return 12'288 + 64 * std::size_t{k}; }

Node box_of(const Box3d& box) { return {box.min, box.max, 0, 0, 0, 0}; }

}  // namespace

void LeafKnn::Field::reserve(std::size_t points) {
  most = points;
  const std::size_t size = points + kLeafPoints + kStep;  // the last leaf and the last step may exceed it
  part.resize(size);
  for (auto* column : {&local_x, &local_y, &local_z}) column->resize(size);
}

/// Appends the points of a leaf to the columns, in single precision.
///
/// Error: let |coordinate| <= A. The difference of two coordinates has an error of at most e = 4 A 2^-24; a squared
/// distance up to 1 has an error of at most 2 sqrt(3) e + 3 e^2 + 3 * 2^-24 < A 2^-19. A squared distance above 1 is
/// computed as at least 1 minus that bound.
void LeafKnn::Field::append(const Node& node, const Leaf& leaf) {
  const auto local = [&](double value, double origin) {
    return static_cast<float>((value - origin) * scale);
  };
  for (std::uint32_t i = 0; i < leaf.count; ++i) local_x[count + i] = local(leaf.x[i], middle.x);
  for (std::uint32_t i = 0; i < leaf.count; ++i) local_y[count + i] = local(leaf.y[i], middle.y);
  for (std::uint32_t i = 0; i < leaf.count; ++i) local_z[count + i] = local(leaf.z[i], middle.z);
  for (std::uint32_t i = 0; i < leaf.count; ++i) part[count + i] = static_cast<std::uint32_t>(parts.size());
  const Vec3d low = node.min - middle, high = node.max - middle;
  const double lows[] = {low.x, low.y, low.z}, highs[] = {high.x, high.y, high.z};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    box_min[axis].push_back(static_cast<float>(lows[axis] * scale));
    box_max[axis].push_back(static_cast<float>(highs[axis] * scale));
  }
  parts.push_back({leaf, node.begin, static_cast<std::uint32_t>(count)});
  count += leaf.count;
}

/// Returns false and gathers nothing if there are too many points or single precision is too coarse for them.
bool LeafKnn::Field::gather(const Box& around, double squared, const KdTreeView& tree) {
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
    append(node, tree.leaf(node));
    return count <= most;
  });
  if (count > most) return false;
  for (auto* corner : {&box_min, &box_max})
    for (auto& column : *corner) column.resize(parts.size() + kStep);
  squared_radius = squared;
  return true;
}

bool LeafKnn::Field::covers(const Box& inner) const {
  return inner.min.x >= box.min.x && inner.min.y >= box.min.y && inner.min.z >= box.min.z &&
         inner.max.x <= box.max.x && inner.max.y <= box.max.y && inner.max.z <= box.max.z;
}

LeafKnn::LeafKnn(std::uint32_t k, const KnnKernels& kernels)
    : k_(k),
      kernels_(kernels),
      squared_(kLeafPoints * k),
      row_(kLeafPoints * k),
      slot_(kLeafPoints * k),
      rank_key_(kRanked + kStep),
      rank_(kRanked + kStep) {
  const std::size_t most = most_points(k), size = most + kLeafPoints + 2 * kStep;
  block_.reserve(most);
  wide_.reserve(most);
  for (auto* column : {&near_x_, &near_y_, &near_z_, &key_}) column->resize(size);
  for (auto* column : {&near_, &picked_, &sorted_}) column->resize(size);
  exact_.resize(size);
}

void LeafKnn::enter(Span<const std::uint32_t> leaves, const KdTreeView& tree) {
  Box3d box;
  for (const std::uint32_t leaf : leaves) box.add(Box3d{tree.nodes[leaf].min, tree.nodes[leaf].max});
  if (!(hint_ > 0)) hint_ = squared_distance(tree.nodes[leaves[0]].min, tree.nodes[leaves[0]].max);
  double squared = kBlockFactor * hint_;
  if (!block_.gather(box_of(box), squared, tree)) block_.gather(box_of(box), squared / 8, tree);
}

void LeafKnn::find(std::uint32_t leaf, const KdTreeView& tree) {
  const Node& node = tree.nodes[leaf];
  if (node.min == node.max) return find_one_place(node, tree);
  pending_count_ = static_cast<std::uint32_t>(node.end - node.begin);
  for (std::uint32_t i = 0; i < pending_count_; ++i) pending_[i] = i;
  pending_box_ = node;
  pending_squared_ = hint_;
  if (block_.squared_radius > 0 && block_.covers(node)) {
    pending_squared_ = std::min(hint_, block_.squared_radius);
    search_pending(node, tree, block_);
    if (pending_count_ > 0 && pending_squared_ <= block_.squared_radius) search_pending(node, tree, block_);
  }
  for (int wider = 0; wider < 2 && pending_count_ > 0; ++wider) {
    if (wide_.gather(pending_box_, pending_squared_, tree))
      search_pending(node, tree, wide_);
    else
      pending_squared_ /= 8;
  }
  for (std::uint32_t p = 0; p < pending_count_; ++p) find_alone(pending_[p], node, tree);
  learn(static_cast<std::uint32_t>(node.end - node.begin));
}

/// Sets the search radius for the next leaf, large enough for most kth neighbours of this leaf.
void LeafKnn::learn(std::uint32_t points) {
  std::array<double, kLeafPoints> farthest;
  std::uint32_t known = 0;
  for (std::uint32_t i = 0; i < points; ++i)
    if (count_[i] == k_) farthest[known++] = kth(i);
  if (known == 0) return;
  const auto at = farthest.begin() + (known - 1) * 7 / 8;
  std::nth_element(farthest.begin(), at, farthest.begin() + known);
  hint_ = *at * kLeafFactor;
}

/// For a leaf whose points coincide: apart from the point itself, all have the same neighbours.
void LeafKnn::find_one_place(const Node& node, const KdTreeView& tree) {
  const Leaf own = tree.leaf(node);
  std::vector<double> squared(k_ + 1);
  std::vector<std::uint64_t> row(k_ + 1), slot(k_ + 1);
  const std::uint32_t found =
      tree.knn(own.point(0), k_ + 1, kd_tree::kNoRow, squared.data(), row.data(), slot.data());
  for (std::uint32_t i = 0; i < own.count; ++i) {
    const std::size_t to = std::size_t{i} * k_;
    std::uint32_t count = 0;
    for (std::uint32_t j = 0; j < found && count < k_; ++j) {
      if (row[j] == own.row[i]) continue;
      squared_[to + count] = squared[j];
      row_[to + count] = row[j];
      slot_[to + count++] = slot[j];
    }
    count_[i] = count;
  }
}

void LeafKnn::find_alone(std::uint32_t i, const Node& node, const KdTreeView& tree) {
  const Leaf own = tree.leaf(node);
  const std::size_t to = std::size_t{i} * k_;
  count_[i] =
      tree.knn(own.point(i), k_, own.row[i], squared_.data() + to, row_.data() + to, slot_.data() + to);
}

/// Searches the field for the neighbours of the pending points. Points whose search is not finished stay pending; the
/// pending box and radius are updated for them.
void LeafKnn::search_pending(const Node& node, const KdTreeView& tree, const Field& field) {
  gather_near(node, field);
  const Leaf own = tree.leaf(node);
  const double squared = pending_squared_;
  Box3d box;
  double farthest = 0;
  const double unknown = squared < field.squared_radius ? field.squared_radius : 4 * squared;
  std::uint32_t left = 0;
  for (std::uint32_t p = 0; p < pending_count_; ++p) {
    const std::uint32_t i = pending_[p];
    const std::size_t picked = pick(own_begin_ + i, field.error);
    if (picked > kRanked + 4 * std::size_t{k_}) {  // ties at the kth distance: too many to order
      find_alone(i, node, tree);
      continue;
    }
    if (choose(i, picked, field) && kth(i) <= squared) continue;
    farthest = std::max(farthest, count_[i] == k_ ? kth(i) : unknown);
    box.add(own.point(i));
    pending_[left++] = i;
  }
  pending_count_ = left;
  pending_box_ = box_of(box);
  pending_squared_ = farthest;
}

/// Collects the points of the field within the radius around the pending points, and all points of the leaf.
void LeafKnn::gather_near(const Node& node, const Field& field) {
  LocalBox box;
  const Vec3d low = (pending_box_.min - field.middle) * field.scale,
              high = (pending_box_.max - field.middle) * field.scale;
  const double lows[] = {low.x, low.y, low.z}, highs[] = {high.x, high.y, high.z};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    box.min[axis] = static_cast<float>(lows[axis]);
    box.max[axis] = static_cast<float>(highs[axis]);
  }
  near_limit_ = static_cast<float>(pending_squared_ * (field.scale * field.scale)) + 2.5F * field.error;
  if (near_parts_.size() < field.parts.size() + kStep) near_parts_.resize(field.parts.size() + kStep);
  const LocalBoxes boxes{{field.box_min[0].data(), field.box_min[1].data(), field.box_min[2].data()},
                         {field.box_max[0].data(), field.box_max[1].data(), field.box_max[2].data()}};
  const std::size_t parts =
      kernels_.near_boxes(boxes, field.parts.size(), box, near_limit_, near_parts_.data());
  near_count_ = 0;
  std::size_t begin = 0, end = 0;  // points of consecutive parts
  const auto take = [&](float limit) {
    if (begin == end) return;
    near_count_ = kernels_.filter(field.points(), begin, end, box, limit, near_x_.data(), near_y_.data(),
                                  near_z_.data(), near_.data(), near_count_);
  };
  for (std::size_t p = 0; p < parts; ++p) {
    const Field::Part& part = field.parts[near_parts_[p]];
    const bool is_own = part.first_slot == node.begin;
    if (is_own || part.begin != end) {
      take(near_limit_);
      begin = part.begin;
    }
    end = part.begin + part.leaf.count;
    if (!is_own) continue;
    own_begin_ = near_count_;
    take(kNever);
    begin = end;
  }
  take(near_limit_);
  for (std::size_t i = near_count_; i < padded(near_count_); ++i)
    near_x_[i] = near_y_[i] = near_z_[i] = 1e15F;
}

/// Picks the near points that may be among the k nearest of near point `own`; all within the radius if that holds at
/// most k. Returns how many.
std::size_t LeafKnn::pick(std::size_t own, float error) {
  const std::size_t count = padded(near_count_);
  float* const key = key_.data();
  kernels_.distances({near_x_.data(), near_y_.data(), near_z_.data()}, count, near_x_[own], near_y_[own],
                     near_z_[own], key);
  key[own] = kNever;
  const std::uint32_t most = k_ + 4 + k_ / 4;
  const float wanted = static_cast<float>(k_ + most) * 0.5F;
  float low = 0, high = near_limit_, limit = std::min(threshold_, near_limit_);
  for (int guess = 0; guess < kGuesses; ++guess) {
    const std::uint32_t inside = kernels_.count_below(key, count, limit);
    if (inside >= k_) {
      high = limit;
      if (inside <= most) break;
    } else {
      low = limit;
      if (limit >= near_limit_) break;
    }
    limit *= wanted / (static_cast<float>(inside) + 0.5F);
    if (!(limit > low)) limit = 0.5F * (low + high);
    if (limit >= high) limit = high == near_limit_ ? high : 0.5F * (low + high);
  }
  threshold_ = high;
  return kernels_.pick_below(key, count, std::min(high + 2.5F * error, near_limit_), picked_.data());
}

/// Writes the order of the picked points to sorted_: nearest first, equally near points by ascending row.
void LeafKnn::order(std::size_t picked, const Field& field) {
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    return exact_[a] < exact_[b] ||
           (exact_[a] == exact_[b] && field.row(near_[picked_[a]]) < field.row(near_[picked_[b]]));
  };
  const auto begin = sorted_.begin(), end = begin + static_cast<std::ptrdiff_t>(picked);
  if (picked > kRanked) {
    std::iota(begin, end, 0U);
    return std::sort(begin, end, before);
  }
  const std::size_t count = padded(picked);
  std::int32_t* const key = rank_key_.data();
  for (std::size_t i = 0; i < picked; ++i) {
    const auto bits = std::bit_cast<std::uint32_t>(key_[picked_[i]]);
    key[i] = static_cast<std::int32_t>((bits & ~kPlaceMask) | static_cast<std::uint32_t>(i));
  }
  for (std::size_t i = picked; i < count; ++i) key[i] = std::numeric_limits<std::int32_t>::max();
  kernels_.rank(key, count, rank_.data());
  for (std::size_t i = 0; i < picked; ++i)
    sorted_[static_cast<std::size_t>(rank_[i])] = static_cast<std::uint32_t>(i);
  for (std::size_t i = 1; i < picked; ++i) {  // insertion sort: almost in order already
    const std::uint32_t moved = sorted_[i];
    std::size_t at = i;
    for (; at > 0 && before(moved, sorted_[at - 1]); --at) sorted_[at] = sorted_[at - 1];
    sorted_[at] = moved;
  }
}

/// Stores the k nearest of the picked points as the neighbours of point i of the leaf. False if there are fewer than k.
bool LeafKnn::choose(std::uint32_t i, std::size_t picked, const Field& field) {
  const Vec3d p = field.point(near_[own_begin_ + i]);
  for (std::size_t j = 0; j < picked; ++j) exact_[j] = squared_distance(p, field.point(near_[picked_[j]]));
  order(picked, field);
  const std::size_t kept = std::min<std::size_t>(picked, k_), to = std::size_t{i} * k_;
  for (std::size_t j = 0; j < kept; ++j) {
    const std::uint32_t from = sorted_[j], at = near_[picked_[from]];
    squared_[to + j] = exact_[from];
    row_[to + j] = field.row(at);
    slot_[to + j] = field.slot(at);
  }
  count_[i] = static_cast<std::uint32_t>(kept);
  return kept == k_;
}

}  // namespace pc
