#include "ops/trees/cut_pursuit.h"

#include <algorithm>
#include <memory>

#include "core/parallel.h"
#include "core/radix_sort.h"
#include "ops/trees/cut_pursuit_flow.h"
#include "ops/trees/cut_pursuit_join.h"
#include "ops/trees/cut_pursuit_split.h"
#include "ops/trees/work_poll.h"

namespace pc {

namespace {

constexpr std::uint32_t kNone = 0xffffffff;
constexpr std::size_t kPoll = 65536;
/// The energy falls strictly, so rounds end by themselves; typical clouds take 10 to 25.
constexpr int kMostRounds = 200;

class CutPursuit {
 public:
  CutPursuit(const CutGraph& graph, Span<const Vec3d> value, Span<const double> weight, OpContext& ctx)
      : graph_(graph),
        value_(value),
        weight_(weight),
        ctx_(ctx),
        state_(graph),
        segment_(graph.nodes()),
        piece_(graph.nodes()),
        order_(graph.nodes()) {
    for (int worker = 0; worker < ctx.threads(); ++worker)
      splits_.push_back(std::make_unique<SegmentSplit>(state_, value_, weight_, ctx_));
  }

  CutPursuitSegments run() {
    start_at_components();
    CutPursuitSegments out;
    out.energy.push_back(energy());
    for (int round = 0; round < kMostRounds && split(); ++round) {
      join();
      out.energy.push_back(energy());
    }
    renumber(out);
    return out;
  }

 private:
  Span<const std::uint32_t> nodes_of(std::uint32_t segment) const {
    return {order_.data() + first_[segment], first_[segment + 1] - first_[segment]};
  }

  void start_at_components() {
    for (std::uint32_t& s : segment_) s = kNone;
    std::vector<std::uint32_t> stack;
    std::uint32_t count = 0;
    WorkPoll poll(ctx_);
    for (std::size_t root = 0; root < segment_.size(); ++root) {
      if (segment_[root] != kNone) continue;
      stack.assign(1, static_cast<std::uint32_t>(root));
      segment_[root] = count;
      while (!stack.empty()) {
        const std::uint32_t at = stack.back();
        poll.add(graph_.first[at + 1] - graph_.first[at] + 1);
        stack.pop_back();
        for (std::uint64_t a = graph_.first[at]; a < graph_.first[at + 1]; ++a) {
          const std::uint32_t to = graph_.head[a];
          if (segment_[to] != kNone) continue;
          segment_[to] = count;
          stack.push_back(to);
        }
      }
      ++count;
    }
    untried_.assign(count, 1);
    group(count);
  }

  /// Lists the nodes segment by segment, ascending, and sums their values.
  void group(std::uint32_t count) {
    first_.assign(std::size_t{count} + 1, 0);
    for (const std::uint32_t s : segment_) ++first_[s + 1];
    for (std::uint32_t s = 0; s < count; ++s) first_[s + 1] += first_[s];
    std::vector<std::uint64_t> next(first_.begin(), first_.end() - 1);
    sums_.assign(count, {});
    for (std::size_t v = 0; v < segment_.size(); ++v) {
      if (v % kPoll == 0) ctx_.checkpoint();
      order_[next[segment_[v]]++] = static_cast<std::uint32_t>(v);
      sums_[segment_[v]].add(value_[v], weight_[v]);
    }
  }

  /// Splits the segments that were not tried yet, the largest first. Returns whether any was split.
  bool split() {
    const auto count = static_cast<std::uint32_t>(first_.size() - 1);
    std::vector<std::uint32_t> tried;
    for (std::uint32_t s = 0; s < count; ++s) {
      if (untried_[s] != 0) tried.push_back(s);
    }
    std::stable_sort(tried.begin(), tried.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return nodes_of(a).size > nodes_of(b).size; });
    std::vector<std::uint32_t> pieces(count, 1);
    state_.separate(segment_.view(), ctx_);
    parallel_for_worker(ctx_, tried.size(), 1, [&](std::size_t i, std::size_t, int worker) {
      pieces[tried[i]] = splits_[static_cast<std::size_t>(worker)]->split(nodes_of(tried[i]), segment_.view(),
                                                                          piece_.view());
    });
    std::vector<std::uint32_t> base(std::size_t{count} + 1, 0), fresh;
    for (std::uint32_t s = 0; s < count; ++s) {
      base[s + 1] = base[s] + pieces[s];
      fresh.insert(fresh.end(), pieces[s], pieces[s] > 1 ? 1 : 0);
    }
    if (base[count] == count) return false;
    for (std::size_t v = 0; v < segment_.size(); ++v) {
      if (v % kPoll == 0) ctx_.checkpoint();
      const std::uint32_t s = segment_[v];
      segment_[v] = base[s] + (pieces[s] > 1 ? piece_[v] : 0);
    }
    untried_.assign(fresh.begin(), fresh.end());
    group(base[count]);
    return true;
  }

  std::vector<SegmentBorder> borders() const {
    BulkVector<std::uint64_t> pairs;
    BulkVector<double> weights;
    WorkPoll poll(ctx_);
    for (std::size_t v = 0; v < segment_.size(); ++v) {
      poll.add(graph_.first[v + 1] - graph_.first[v] + 1);
      for (std::uint64_t a = graph_.first[v]; a < graph_.first[v + 1]; ++a) {
        const std::uint32_t to = segment_[graph_.head[a]];
        if (to <= segment_[v]) continue;
        pairs.push_back(std::uint64_t{segment_[v]} << 32 | to);
        weights.push_back(graph_.weight[a]);
      }
    }
    std::vector<SegmentBorder> out;
    std::uint64_t last = ~std::uint64_t{0};
    for (const std::uint32_t i : radix_sort_order(pairs.view(), 64, ctx_)) {
      if (pairs[i] != last)
        out.push_back({static_cast<std::uint32_t>(pairs[i] >> 32), static_cast<std::uint32_t>(pairs[i]), 0});
      last = pairs[i];
      out.back().weight += weights[i];
    }
    return out;
  }

  void join() {
    const std::vector<std::uint32_t> lowest = join_segments(sums_, borders(), ctx_);
    std::vector<std::uint32_t> number(lowest.size(), 0);
    std::vector<std::uint8_t> untried;
    for (std::size_t s = 0; s < lowest.size(); ++s) {
      if (lowest[s] == s) {
        number[s] = static_cast<std::uint32_t>(untried.size());
        untried.push_back(untried_[s]);
      } else {
        number[s] = number[lowest[s]];
        untried[number[s]] = 1;
      }
    }
    for (std::size_t v = 0; v < segment_.size(); ++v) {
      if (v % kPoll == 0) ctx_.checkpoint();
      segment_[v] = number[segment_[v]];
    }
    untried_ = std::move(untried);
    group(static_cast<std::uint32_t>(untried_.size()));
  }

  double energy() {
    return parallel_sum(ctx_, segment_.size(), [&](std::size_t v) {
      double sum = weight_[v] * squared_distance(value_[v], sums_[segment_[v]].mean());
      for (std::uint64_t a = graph_.first[v]; a < graph_.first[v + 1]; ++a) {
        if (segment_[graph_.head[a]] > segment_[v]) sum += graph_.weight[a];
      }
      return sum;
    });
  }

  void renumber(CutPursuitSegments& out) {
    std::vector<std::uint32_t> number(first_.size() - 1, kNone);
    for (std::uint32_t& s : segment_) {
      if (number[s] == kNone) number[s] = out.count++;
      s = number[s];
    }
    out.segment = std::move(segment_);
  }

  const CutGraph& graph_;
  Span<const Vec3d> value_;
  Span<const double> weight_;
  OpContext& ctx_;
  CutState state_;
  std::vector<std::unique_ptr<SegmentSplit>> splits_;
  BulkVector<std::uint32_t> segment_, piece_, order_;
  std::vector<std::uint64_t> first_;  ///< (segments + 1) into order_
  std::vector<ValueSum> sums_;
  std::vector<std::uint8_t> untried_;
};

}  // namespace

CutPursuitSegments cut_pursuit(const CutGraph& graph, Span<const Vec3d> value, Span<const double> weight,
                               OpContext& ctx) {
  if (value.size != graph.nodes() || weight.size != graph.nodes())
    throw Error(ErrorCode::kInternal, "a value and a weight per node are needed");
  return CutPursuit(graph, value, weight, ctx).run();
}

}  // namespace pc
