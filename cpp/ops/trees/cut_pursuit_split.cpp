#include "ops/trees/cut_pursuit_split.h"

#include <algorithm>
#include <utility>

#include "core/symmetric_eigen.h"
#include "ops/trees/work_poll.h"

namespace pc {

namespace {

constexpr int kMeanTurns = 5;  ///< of the two means before the first cut
constexpr int kCutTurns = 4;   ///< of cut and means
constexpr std::uint32_t kNoPiece = 0xffffffff;
constexpr std::size_t kPoll = 16384;
/// Gains below this share of a segment's energy are rounding.
constexpr double kLeastGain = 1e-10;

}  // namespace

std::uint32_t SegmentSplit::split(Span<const std::uint32_t> nodes, Span<const std::uint32_t> component,
                                  Span<std::uint32_t> piece) {
  for (const std::uint32_t v : nodes) piece[v] = 0;
  if (nodes.size < 2 || !start_at_two_means(nodes) || !improve(nodes, component)) return 1;
  for (const std::uint32_t v : nodes) piece[v] = kNoPiece;
  const std::uint32_t count = connected_pieces(nodes, component, piece);
  if (gain(nodes, component, piece, count) > 0) return count;
  for (const std::uint32_t v : nodes) piece[v] = 0;
  return 1;
}

bool SegmentSplit::side_means(Span<const std::uint32_t> nodes) {
  ValueSum sums[2];
  for (std::size_t i = 0; i < nodes.size; ++i) {
    if (i % kPoll == 0) ctx_.checkpoint();
    sums[side_[i]].add(value_[nodes[i]], weight_[nodes[i]]);
  }
  if (sums[0].count == 0 || sums[1].count == 0) return false;
  if (sums[1].count > sums[0].count) {  // the same sides in a mirrored cloud
    std::swap(sums[0], sums[1]);
    for (std::uint8_t& side : side_) side ^= 1;
  }
  mean_[0] = sums[0].mean();
  mean_[1] = sums[1].mean();
  return true;
}

bool SegmentSplit::start_at_two_means(Span<const std::uint32_t> nodes) {
  ValueSum all;
  for (const std::uint32_t v : nodes) all.add(value_[v], weight_[v]);
  const Vec3d center = all.mean();
  Symmetric3 moments{};
  for (std::size_t i = 0; i < nodes.size; ++i) {
    if (i % kPoll == 0) ctx_.checkpoint();
    const Vec3d d = value_[nodes[i]] - center, wd = d * weight_[nodes[i]];
    moments.xx += wd.x * d.x;
    moments.xy += wd.x * d.y;
    moments.xz += wd.x * d.z;
    moments.yy += wd.y * d.y;
    moments.yz += wd.y * d.z;
    moments.zz += wd.z * d.z;
  }
  const Vec3d axis = symmetric_eigen(moments).vector[2];
  side_.resize(nodes.size);
  for (std::size_t i = 0; i < nodes.size; ++i) side_[i] = dot(value_[nodes[i]] - center, axis) > 0 ? 1 : 0;
  if (!side_means(nodes)) return false;
  for (int turn = 0; turn < kMeanTurns; ++turn) {
    bool moved = false;
    for (std::size_t i = 0; i < nodes.size; ++i) {
      const Vec3d& v = value_[nodes[i]];
      const std::uint8_t side = squared_distance(v, mean_[1]) < squared_distance(v, mean_[0]) ? 1 : 0;
      moved = moved || side != side_[i];
      side_[i] = side;
    }
    if (!moved) break;
    if (!side_means(nodes)) return false;
  }
  return true;
}

bool SegmentSplit::improve(Span<const std::uint32_t> nodes, Span<const std::uint32_t> component) {
  cost_.resize(nodes.size);
  for (int turn = 0; turn < kCutTurns; ++turn) {
    for (std::size_t i = 0; i < nodes.size; ++i) {
      const Vec3d& v = value_[nodes[i]];
      cost_[i] = weight_[nodes[i]] * (squared_distance(v, mean_[1]) - squared_distance(v, mean_[0]));
    }
    if (!cut_.solve(nodes, component, {cost_.data(), cost_.size()})) return false;
    bool moved = turn == 0;
    for (std::size_t i = 0; i < nodes.size; ++i) {
      const std::uint8_t side = state_.on_second_side(nodes[i]) ? 1 : 0;
      moved = moved || side != side_[i];
      side_[i] = side;
    }
    if (!moved || turn + 1 == kCutTurns) break;
    if (!side_means(nodes)) return false;
  }
  return true;
}

std::uint32_t SegmentSplit::connected_pieces(Span<const std::uint32_t> nodes,
                                             Span<const std::uint32_t> component, Span<std::uint32_t> piece) {
  std::uint32_t count = 0;
  WorkPoll poll(ctx_);
  for (const std::uint32_t root : nodes) {
    if (piece[root] != kNoPiece) continue;
    queue_.assign(1, root);
    piece[root] = count;
    while (!queue_.empty()) {
      const std::uint32_t at = queue_.back();
      queue_.pop_back();
      poll.add(graph_.first[at + 1] - graph_.first[at] + 1);
      for (std::uint64_t a = graph_.first[at]; a < graph_.first[at + 1]; ++a) {
        const std::uint32_t to = graph_.head[a];
        if (component[to] != component[root] || piece[to] != kNoPiece) continue;
        if (state_.on_second_side(to) != state_.on_second_side(root)) continue;
        piece[to] = count;
        queue_.push_back(to);
      }
    }
    ++count;
  }
  return count;
}

double SegmentSplit::gain(Span<const std::uint32_t> nodes, Span<const std::uint32_t> component,
                          Span<const std::uint32_t> piece, std::uint32_t count) {
  ValueSum all;
  sums_.assign(count, {});
  double cut = 0;
  WorkPoll poll(ctx_);
  for (std::size_t i = 0; i < nodes.size; ++i) {
    const std::uint32_t v = nodes[i];
    poll.add(graph_.first[v + 1] - graph_.first[v] + 1);
    all.add(value_[v], weight_[v]);
    sums_[piece[v]].add(value_[v], weight_[v]);
    for (std::uint64_t a = graph_.first[v]; a < graph_.first[v + 1]; ++a) {
      const std::uint32_t to = graph_.head[a];
      if (to > v && component[to] == component[v] && piece[to] != piece[v]) cut += graph_.weight[a];
    }
  }
  // The energy falls by sum n_k |m_k - m|^2 - cut, which is exact where the values are far from 0.
  const Vec3d mean = all.mean();
  double fall = 0;
  for (const ValueSum& sum : sums_) fall += sum.count * squared_distance(sum.mean(), mean);
  return fall - cut > kLeastGain * (fall + cut) ? fall - cut : 0;
}

}  // namespace pc
