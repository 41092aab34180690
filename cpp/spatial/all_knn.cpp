#include "spatial/all_knn.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/nth_smallest.h"

namespace pc {

namespace {

using kd_tree::kInfinity;
using kd_tree::kLeafPoints;
using kd_tree::Leaf;
using kd_tree::Node;

constexpr std::size_t kStep = KnnKernels::kStep;
constexpr std::size_t kRanked = 128;       // more picked points are sorted, not ordered by counting
constexpr std::uint32_t kPlaceMask = 127;  // bits of a key that hold the point's index
constexpr int kGuesses = 3;                // limits tried to narrow the candidates of a point
constexpr std::uint32_t kFew = 16;         // pending points that cost less one by one than together
constexpr double kLearnRate = 0.1;         // of the ratio of radius to leaf size
constexpr float kAim = 1.6F;               // candidates aimed at, over k: fewer cost another pass more often
constexpr float kAway = 1e15F;             // farther than any limit
constexpr double kBlockFactor = 2;         // block over expected leaf radius, squared
constexpr double kLeafFactor = 1.45;       // hint over the 7/8 quantile of kth squared distances
constexpr float kNever = std::numeric_limits<float>::infinity();

/// More candidates than that are not ordered: ties at the k-th distance.
std::size_t most_picked(std::uint32_t k) { return kRanked + 4 * std::size_t{k}; }

/// Capacity of a field: twice the points of a block in a cloud of even density.
std::size_t most_points(std::uint32_t k) { return 12'288 + 64 * std::size_t{k}; }

Node box_of(const Box3d& box) { return {box.min, box.max, 0, 0, 0, 0}; }

/// Squared diagonal of a leaf's box per point: follows the density of surfaces.
double squared_scale(const Node& node) {
  return squared_distance(node.min, node.max) / static_cast<double>(node.end - node.begin);
}

}  // namespace

LeafKnn::LeafKnn(const LeafKnnParams& params, const KnnKernels& kernels)
    : k_(params.k),
      width_(params.k + params.most_tied),
      columns_(params.columns),
      kernels_(kernels),
      squared_(kLeafPoints * width_),
      row_(kLeafPoints * width_),
      slot_(kLeafPoints * width_),
      rank_key_(kRanked + kStep),
      rank_(kRanked + kStep) {
  const std::size_t most = most_points(k_), size = most + kLeafPoints + 2 * kStep;
  block_.reserve(most);
  wide_.reserve(most);
  for (auto* column : {&near_x_, &near_y_, &near_z_, &key_}) column->resize(size);
  for (auto* column : {&near_, &picked_}) column->resize(size);
  sorted_.resize(most_picked(k_) + kStep);
  exact_.resize(most_picked(k_) + 1);
  place_.resize(most_picked(k_) + 1);
}

void LeafKnn::enter(Span<const std::uint32_t> leaves, const KdTreeView& tree) {
  Box3d box;
  expected_.clear();
  for (const std::uint32_t leaf : leaves) {
    const Node& node = tree.nodes[leaf];
    box.add(Box3d{node.min, node.max});
    expected_.push_back(expected_squared(node));
  }
  const auto at = expected_.begin() + static_cast<std::ptrdiff_t>((expected_.size() - 1) * 7 / 8);
  std::nth_element(expected_.begin(), at, expected_.end());
  const double squared = kBlockFactor * *at;
  if (!block_.gather(box_of(box), squared, tree, kernels_))
    block_.gather(box_of(box), squared / 8, tree, kernels_);
}

/// Squared search radius large enough for most points of a leaf: the geometric mean of what the last leaf and what the
/// size of this one suggest.
double LeafKnn::expected_squared(const Node& node) const {
  if (!(hint_ > 0)) return squared_scale(node) * static_cast<double>(k_);
  return std::sqrt(squared_scale(node) * std::exp2(log_ratio_) * hint_);
}

void LeafKnn::find(std::uint32_t leaf, const KdTreeView& tree) {
  const Node& node = tree.nodes[leaf];
  if (node.min == node.max) return find_one_place(node, tree);
  pending_count_ = static_cast<std::uint32_t>(node.end - node.begin);
  for (std::uint32_t i = 0; i < pending_count_; ++i) pending_[i] = i;
  pending_box_ = node;
  const double expected = expected_squared(node);
  pending_squared_ = expected;
  if (!(threshold_squared_ > 0)) threshold_squared_ = expected;
  count_.fill(0);
  if (block_.squared_radius > 0 && block_.covers(node)) {
    pending_squared_ = std::min(expected, block_.squared_radius);
    search_pending(node, tree, block_);
    if (pending_count_ > 0 && pending_squared_ <= block_.squared_radius) search_pending(node, tree, block_);
  }
  for (int wider = 0; wider < 2 && pending_count_ > kFew; ++wider) {
    if (wide_.gather(pending_box_, pending_squared_, tree, kernels_))
      search_pending(node, tree, wide_);
    else
      pending_squared_ /= 8;
  }
  for (std::uint32_t p = 0; p < pending_count_; ++p) find_alone(pending_[p], node, tree);
  learn(node);
}

/// Learns the radius that most points of this leaf need.
void LeafKnn::learn(const Node& node) {
  std::array<double, kLeafPoints> nearness;  // so that the smallest are the farthest
  std::uint32_t known = 0;
  for (std::uint32_t i = 0; i < node.end - node.begin; ++i)
    if (count_[i] >= k_) nearness[known++] = -kth(i);
  if (known == 0) return;
  const double hint = -nth_smallest(nearness.data(), known, known / 8) * kLeafFactor;
  const double log_ratio = std::log2(hint / squared_scale(node));
  if (!std::isfinite(log_ratio)) return;
  log_ratio_ = hint_ > 0 ? log_ratio_ + kLearnRate * (log_ratio - log_ratio_) : log_ratio;
  hint_ = hint;
}

/// Number of the first `count` ascending values that are among the k first or equal to the k-th.
std::uint32_t LeafKnn::without_farther(const double* squared, std::uint32_t count) const {
  while (count > k_ && squared[count - 1] > squared[k_ - 1]) --count;
  return count;
}

/// For a leaf whose points coincide: apart from the point itself, all have the same neighbours.
void LeafKnn::find_one_place(const Node& node, const KdTreeView& tree) {
  const Leaf own = tree.leaf(node);
  std::vector<double> squared(width_ + 1);
  std::vector<std::uint64_t> row(width_ + 1), slot(width_ + 1);
  const std::uint32_t found =
      tree.knn(own.point(0), width_ + 1, kd_tree::kNoRow, squared.data(), row.data(), slot.data());
  for (std::uint32_t i = 0; i < own.count; ++i) {
    const std::size_t to = std::size_t{i} * width_;
    std::uint32_t count = 0;
    for (std::uint32_t j = 0; j < found && count < width_; ++j) {
      if (row[j] == own.row[i]) continue;
      squared_[to + count] = squared[j];
      row_[to + count] = row[j];
      slot_[to + count++] = slot[j];
    }
    count_[i] = without_farther(squared_.data() + to, count);
  }
}

/// Neighbours found in part of the tree, if any, bound the search.
void LeafKnn::find_alone(std::uint32_t i, const Node& node, const KdTreeView& tree) {
  const Leaf own = tree.leaf(node);
  const std::size_t to = std::size_t{i} * width_;
  const double limit = count_[i] == width_ ? squared_[to + width_ - 1] : kInfinity;
  const std::uint32_t found = tree.knn_within(own.point(i), width_, limit, own.row[i], squared_.data() + to,
                                              row_.data() + to, slot_.data() + to);
  count_[i] = without_farther(squared_.data() + to, found);
}

/// Searches the field for the neighbours of the pending points. Points whose search is not finished stay pending; the
/// pending box and radius are updated for them.
void LeafKnn::search_pending(const Node& node, const KdTreeView& tree, const KnnField& field) {
  gather_near(node, field);
  const double unit = field.squared_radius;
  threshold_ = static_cast<float>(threshold_squared_ / unit);
  const Leaf own = tree.leaf(node);
  const double squared = pending_squared_;
  Box3d box;
  double farthest = 0;
  const double unknown = squared < field.squared_radius ? field.squared_radius : 4 * squared;
  std::uint32_t left = 0;
  for (std::uint32_t p = 0; p < pending_count_; ++p) {
    const std::uint32_t i = pending_[p];
    const std::size_t picked = pick(own_begin_ + i, field.error);
    if (picked > most_picked(k_)) {
      find_alone(i, node, tree);
      continue;
    }
    if (choose(i, own.point(i), picked, field, tree) && kth(i) <= squared) continue;
    farthest = std::max(farthest, count_[i] >= k_ ? kth(i) : unknown);
    box.add(own.point(i));
    pending_[left++] = i;
  }
  threshold_squared_ = threshold_ * unit;
  pending_count_ = left;
  pending_box_ = box_of(box);
  pending_squared_ = farthest;
}

/// Collects the points of the field within the radius around the pending points, and all points of the leaf.
void LeafKnn::gather_near(const Node& node, const KnnField& field) {
  const LocalBox box = field.local(pending_box_);
  near_limit_ = static_cast<float>(pending_squared_ * (field.scale * field.scale)) + 2.5F * field.error;
  if (near_parts_.size() < field.parts.size() + kStep) near_parts_.resize(field.parts.size() + kStep);
  const std::size_t parts =
      kernels_.near_boxes(field.boxes(), field.parts.size(), box, near_limit_, near_parts_.data());
  near_count_ = 0;
  std::size_t begin = 0, end = 0;  // points of consecutive parts
  const auto take = [&](float limit) {
    if (begin == end) return;
    near_count_ = kernels_.filter(field.points(), begin, end, box, limit, near_x_.data(), near_y_.data(),
                                  near_z_.data(), near_.data(), near_count_);
  };
  for (std::size_t p = 0; p < parts; ++p) {
    const KnnField::Part& part = field.parts[near_parts_[p]];
    const bool is_own = part.first_slot == node.begin;
    if (is_own || part.begin != end) {
      take(near_limit_);
      begin = part.begin;
    }
    end = part.end;
    if (!is_own) continue;
    own_begin_ = near_count_;
    take(kNever);
    begin = end;
  }
  take(near_limit_);
}

/// Picks the near points that may be among the k nearest of near point `own` or tied with them; all within the radius
/// if that holds fewer than k others. Returns how many.
std::size_t LeafKnn::pick(std::size_t own, float error) {
  const float slack = 2.5F * error;
  const float x = near_x_[own], y = near_y_[own], z = near_z_[own];
  near_x_[own] = kAway;  // no neighbour of itself
  float limit = std::min(threshold_, near_limit_);
  std::size_t found = 0;
  for (;;) {
    found = kernels_.select({near_x_.data(), near_y_.data(), near_z_.data()}, near_count_, x, y, z, limit,
                            key_.data(), picked_.data());
    if (!(limit < near_limit_) || kernels_.count_below(key_.data(), found, limit - slack) >= k_) break;
    const float more = kAim * static_cast<float>(k_) / (static_cast<float>(found) + 0.5F);
    limit = std::min(limit * std::max(more, 1.25F) + slack, near_limit_);
  }
  near_x_[own] = x;
  return narrow(found, limit, slack);
}

/// Drops candidates that are too far away from those found within `limit`, and learns the threshold.
std::size_t LeafKnn::narrow(std::size_t found, float limit, float slack) {
  const std::uint32_t most = k_ + 6 + k_ / 4;
  const float wanted = static_cast<float>(k_ + most) * 0.5F;
  float low = 0, high = limit;
  auto inside = static_cast<std::uint32_t>(found);
  for (int guess = 0; guess < kGuesses && inside > most; ++guess) {
    float middle = high * wanted / (static_cast<float>(inside) + 0.5F);
    if (!(middle > low)) middle = 0.5F * (low + high);
    const std::uint32_t below = kernels_.count_below(key_.data(), found, middle);
    if (below >= k_) {
      high = middle;
      inside = below;
    } else {
      low = middle;
    }
  }
  threshold_ = high * kAim * static_cast<float>(k_) / (static_cast<float>(inside) + 0.5F);
  if (high + slack < limit) return kernels_.narrow(key_.data(), picked_.data(), found, high + slack);
  return found;
}

/// Writes the order of the picked points by their keys, nearly that of their distances, to sorted_.
void LeafKnn::order(std::size_t picked) {
  std::int32_t* const key = rank_key_.data();
  for (std::size_t i = 0; i < picked; ++i) {
    const auto bits = std::bit_cast<std::uint32_t>(key_[i]);
    key[i] = static_cast<std::int32_t>((bits & ~kPlaceMask) | static_cast<std::uint32_t>(i));
  }
  kernels_.rank(key, picked, rank_.data());
  for (std::size_t i = 0; i < picked; ++i)
    sorted_[static_cast<std::size_t>(rank_[i])] = static_cast<std::uint32_t>(i);
}

/// Computes the exact squared distances of the picked points in the order of sorted_.
void LeafKnn::measure(const Vec3d& p, std::size_t picked, const KnnField& field, const KdTreeView& tree) {
  for (std::size_t j = 0; j < picked; ++j) {
    const std::uint64_t place = field.place[near_[picked_[sorted_[j]]]];
    place_[j] = place;
    exact_[j] = squared_distance(p, KnnPlace(place).point(tree.items));
  }
}

/// Sorts the measured points: nearest first, equally near ones by ascending row.
void LeafKnn::sort_measured(std::size_t picked, const KdTreeView& tree) {
  const auto row = [&](std::uint64_t place) { return KnnPlace(place).row(tree.items); };
  if (picked <= kRanked) {  // insertion sort: almost in order already
    for (std::size_t j = 1; j < picked; ++j) {
      const double squared = exact_[j];
      const std::uint64_t place = place_[j];
      std::size_t at = j;
      for (; at > 0; --at) {
        if (exact_[at - 1] < squared || (exact_[at - 1] == squared && row(place_[at - 1]) < row(place)))
          break;
        exact_[at] = exact_[at - 1];
        place_[at] = place_[at - 1];
      }
      exact_[at] = squared;
      place_[at] = place;
    }
    return;
  }
  candidates_.resize(picked);
  for (std::size_t j = 0; j < picked; ++j) candidates_[j] = {exact_[j], row(place_[j]), place_[j]};
  std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
    return a.squared < b.squared || (a.squared == b.squared && a.row < b.row);
  });
  for (std::size_t j = 0; j < picked; ++j) {
    exact_[j] = candidates_[j].squared;
    place_[j] = candidates_[j].place;
  }
}

/// Stores the k nearest of the picked points, and those tied with them, as the neighbours of point i of the leaf, which
/// is at p. False if there are fewer than k.
bool LeafKnn::choose(std::uint32_t i, const Vec3d& p, std::size_t picked, const KnnField& field,
                     const KdTreeView& tree) {
  const bool is_ranked = picked <= kRanked;
  if (is_ranked)
    order(picked);
  else
    std::iota(sorted_.begin(), sorted_.begin() + static_cast<std::ptrdiff_t>(picked), 0U);
  measure(p, picked, field, tree);
  exact_[picked] = kd_tree::kInfinity;
  unsigned unordered = is_ranked ? 0 : 1;
  const bool rows_matter = columns_ == KnnColumns::kAll;
  if (rows_matter)
    for (std::size_t j = 0; j < picked; ++j) unordered |= exact_[j] < exact_[j + 1] ? 0U : 1U;
  else
    for (std::size_t j = 0; j < picked; ++j) unordered |= exact_[j] <= exact_[j + 1] ? 0U : 1U;
  if (unordered != 0) sort_measured(picked, tree);
  const std::size_t to = std::size_t{i} * width_;
  std::size_t kept = std::min<std::size_t>(picked, k_);
  while (kept >= k_ && kept < width_ && kept < picked && exact_[kept] == exact_[k_ - 1]) ++kept;
  std::copy(exact_.data(), exact_.data() + kept, squared_.data() + to);
  if (columns_ != KnnColumns::kSquared)
    for (std::size_t j = 0; j < kept; ++j) slot_[to + j] = KnnPlace(place_[j]).slot();
  if (rows_matter)
    for (std::size_t j = 0; j < kept; ++j) row_[to + j] = KnnPlace(place_[j]).row(tree.items);
  count_[i] = static_cast<std::uint32_t>(kept);
  return kept >= k_;
}

}  // namespace pc
