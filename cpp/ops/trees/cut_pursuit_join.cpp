#include "ops/trees/cut_pursuit_join.h"

#include <algorithm>
#include <queue>
#include <unordered_map>

#include "ops/trees/work_poll.h"
#include "spatial/union_find.h"

namespace pc {

namespace {

constexpr double kLeastGain = 1e-10;

struct Candidate {
  double gain;
  std::uint32_t a, b;                  ///< a < b
  std::uint32_t version_a, version_b;  ///< number of joins of each when the gain was computed

  friend bool operator<(const Candidate& p, const Candidate& q) {  // the queue gives the greatest
    if (p.gain != q.gain) return p.gain < q.gain;
    return p.a != q.a ? p.a > q.a : p.b > q.b;
  }
};

class Joining {
 public:
  Joining(std::vector<ValueSum> sums, const std::vector<SegmentBorder>& borders)
      : sums_(std::move(sums)), borders_(sums_.size()), version_(sums_.size(), 0), joined_(sums_.size()) {
    for (const SegmentBorder& border : borders) {
      borders_[border.first].emplace(border.second, border.weight);
      borders_[border.second].emplace(border.first, border.weight);
      offer(border.first, border.second, border.weight);
    }
  }

  std::vector<std::uint32_t> run(OpContext& ctx) {
    WorkPoll poll(ctx);
    while (!candidates_.empty()) {
      const Candidate best = candidates_.top();
      candidates_.pop();
      poll.add(16);
      if (best.version_a != version_[best.a] || best.version_b != version_[best.b]) continue;
      poll.add(64 * (borders_[best.a].size() + borders_[best.b].size()));
      join(best.a, best.b);
    }
    std::vector<std::uint32_t> lowest(sums_.size());
    for (std::size_t i = 0; i < lowest.size(); ++i) lowest[i] = joined_.root_of(i);
    return lowest;
  }

 private:
  static constexpr std::uint32_t kGone = 0xffffffff;

  void offer(std::uint32_t a, std::uint32_t b, double weight) {
    const ValueSum &p = sums_[a], &q = sums_[b];
    const double rise = p.count * q.count / (p.count + q.count) * squared_distance(p.mean(), q.mean());
    const double gain = weight - rise;
    if (!(gain > kLeastGain * (weight + rise))) return;
    const std::uint32_t low = std::min(a, b), high = std::max(a, b);
    candidates_.push({gain, low, high, version_[low], version_[high]});
  }

  void join(std::uint32_t a, std::uint32_t b) {
    joined_.join(a, b);
    const std::uint32_t low = std::min(a, b), high = std::max(a, b);
    sums_[low].count += sums_[high].count;
    sums_[low].sum = sums_[low].sum + sums_[high].sum;
    version_[high] = kGone;
    ++version_[low];
    borders_[low].erase(high);
    for (const auto& [to, weight] : borders_[high]) borders_[to].erase(high);
    if (borders_[low].size() < borders_[high].size()) borders_[low].swap(borders_[high]);
    for (const auto& [to, weight] : borders_[high]) {
      if (to != low) borders_[low][to] += weight;
    }
    borders_[high].clear();
    borders_[low].erase(low);
    for (const auto& [to, weight] : borders_[low]) {
      borders_[to][low] = weight;
      offer(low, to, weight);
    }
  }

  std::vector<ValueSum> sums_;
  std::vector<std::unordered_map<std::uint32_t, double>>
      borders_;  ///< only looked up: the order of a map has no effect
  std::vector<std::uint32_t> version_;
  UnionFind joined_;
  std::priority_queue<Candidate> candidates_;
};

}  // namespace

std::vector<std::uint32_t> join_segments(std::vector<ValueSum> sums,
                                         const std::vector<SegmentBorder>& borders, OpContext& ctx) {
  return Joining(std::move(sums), borders).run(ctx);
}

}  // namespace pc
