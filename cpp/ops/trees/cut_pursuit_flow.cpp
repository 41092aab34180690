#include "ops/trees/cut_pursuit_flow.h"

#include <algorithm>
#include <cmath>

#include "core/parallel.h"

namespace pc {

void CutState::separate(Span<const std::uint32_t> component, OpContext& ctx) {
  constexpr std::size_t kGrain = 4096;
  parallel_for(ctx, graph_.nodes(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t v = begin; v < end; ++v) {
      for (std::uint64_t a = graph_.first[v]; a < graph_.first[v + 1]; ++a)
        if (component[graph_.head[a]] != component[v]) residual_[a] = 0;
    }
  });
}

bool MinimumCut::solve(Span<const std::uint32_t> nodes, Span<const std::uint32_t> component,
                       Span<const double> cost) {
  start(nodes, component, cost);
  while (!active_.empty()) {
    for (std::size_t i = 0; i < active_.size(); ++i) {
      const std::uint32_t at = active_[i];
      while (state_.nodes_[at].parent != kFree) {
        const std::uint32_t meeting = grow(at);
        if (meeting == kFree) break;
        augment(meeting);
        adopt();
      }
      state_.nodes_[at].queued = false;
    }
    active_.swap(next_active_);
    next_active_.clear();
  }
  bool first = false, second = false;
  for (const std::uint32_t v : nodes) {
    Node& node = state_.nodes_[v];
    node.sink = node.parent == kFree || node.sink;
    (node.sink ? second : first) = true;
  }
  return first && second;
}

void MinimumCut::start(Span<const std::uint32_t> nodes, Span<const std::uint32_t> component,
                       Span<const double> cost) {
  active_.clear();
  next_active_.clear();
  orphans_.clear();
  time_ = 0;
  for (std::size_t i = 0; i < nodes.size; ++i) {
    poll();
    const std::uint32_t v = nodes[i];
    state_.nodes_[v] = {cost[i], cost[i] == 0 ? kFree : kTerminal, 0, 1, cost[i] < 0, cost[i] != 0};
    if (cost[i] != 0) active_.push_back(v);
    for (std::uint64_t a = graph_.first[v]; a < graph_.first[v + 1]; ++a)
      if (component[graph_.head[a]] == component[v]) state_.residual_[a] = graph_.weight[a];
  }
}

void MinimumCut::activate(std::uint32_t node) {
  if (state_.nodes_[node].queued) return;
  state_.nodes_[node].queued = true;
  next_active_.push_back(node);
}

std::uint32_t MinimumCut::grow(std::uint32_t at) {
  const Node node = state_.nodes_[at];
  poll();
  for (std::uint64_t i = graph_.first[at]; i < graph_.first[at + 1]; ++i) {
    const auto arc = static_cast<std::uint32_t>(i);
    const std::uint32_t back = graph_.mate[arc];
    if (!(state_.residual_[node.sink ? back : arc] > 0)) continue;
    const std::uint32_t to = graph_.head[arc];
    Node& other = state_.nodes_[to];
    if (other.parent == kFree) {
      other.sink = node.sink;
      other.parent = back;
      other.stamp = node.stamp;
      other.distance = node.distance + 1;
      activate(to);
    } else if (other.sink != node.sink) {
      return node.sink ? back : arc;
    } else if (other.stamp <= node.stamp && other.distance > node.distance + 1 && other.parent != kTerminal) {
      other.parent = back;  // a shorter way to the terminal
      other.stamp = node.stamp;
      other.distance = node.distance + 1;
    }
  }
  return kFree;
}

void MinimumCut::orphan(std::uint32_t node) {
  state_.nodes_[node].parent = kOrphan;
  orphans_.push_back(node);
}

void MinimumCut::augment(std::uint32_t meeting) {
  ++time_;
  auto& residual = state_.residual_;
  const std::uint32_t ends[2] = {graph_.head[graph_.mate[meeting]], graph_.head[meeting]};
  double bottleneck = residual[meeting];
  for (const std::uint32_t end : ends) {
    std::uint32_t at = end;
    for (; state_.nodes_[at].parent != kTerminal; at = graph_.head[state_.nodes_[at].parent]) {
      poll();
      bottleneck = std::min(bottleneck, from_parent(state_.nodes_[at].parent, state_.nodes_[at].sink));
    }
    bottleneck = std::min(bottleneck, std::fabs(state_.nodes_[at].excess));
  }
  residual[meeting] -= bottleneck;
  residual[graph_.mate[meeting]] += bottleneck;
  for (const std::uint32_t end : ends) {
    std::uint32_t at = end;
    while (state_.nodes_[at].parent != kTerminal) {
      const std::uint32_t arc = state_.nodes_[at].parent, back = graph_.mate[arc];
      const bool sink = state_.nodes_[at].sink;
      residual[sink ? arc : back] -= bottleneck;
      residual[sink ? back : arc] += bottleneck;
      if (!(residual[sink ? arc : back] > 0)) orphan(at);
      at = graph_.head[arc];
    }
    Node& root = state_.nodes_[at];
    root.excess += root.sink ? bottleneck : -bottleneck;
    if (root.sink ? !(root.excess < 0) : !(root.excess > 0)) orphan(at);
  }
}

void MinimumCut::adopt() {
  for (std::size_t i = 0; i < orphans_.size(); ++i) adopt(orphans_[i]);
  orphans_.clear();
}

std::uint32_t MinimumCut::distance_of(std::uint32_t node) {
  std::uint32_t distance = 0;
  for (std::uint32_t at = node;; at = graph_.head[state_.nodes_[at].parent]) {
    poll();
    Node& here = state_.nodes_[at];
    if (here.stamp == time_) {
      distance += here.distance;
      break;
    }
    ++distance;
    if (here.parent == kTerminal) {
      here.stamp = time_;
      here.distance = 1;
      break;
    }
    if (here.parent == kOrphan || here.parent == kFree) return kFree;
  }
  std::uint32_t left = distance;
  for (std::uint32_t at = node; state_.nodes_[at].stamp != time_;
       at = graph_.head[state_.nodes_[at].parent]) {
    state_.nodes_[at].stamp = time_;
    state_.nodes_[at].distance = left--;
  }
  return distance;
}

void MinimumCut::adopt(std::uint32_t orphan) {
  Node& node = state_.nodes_[orphan];
  std::uint32_t best = kFree, least = kFree;
  for (std::uint64_t i = graph_.first[orphan]; i < graph_.first[orphan + 1]; ++i) {
    const auto arc = static_cast<std::uint32_t>(i);
    if (!(from_parent(arc, node.sink) > 0)) continue;
    const Node& other = state_.nodes_[graph_.head[arc]];
    if (other.sink != node.sink || other.parent == kFree) continue;
    const std::uint32_t distance = distance_of(graph_.head[arc]);
    if (distance >= least) continue;
    best = arc;
    least = distance;
  }
  if (best == kFree) {
    disown(orphan);
    return;
  }
  node.parent = best;
  node.stamp = time_;
  node.distance = least + 1;
}

void MinimumCut::disown(std::uint32_t orphan) {
  Node& node = state_.nodes_[orphan];
  for (std::uint64_t i = graph_.first[orphan]; i < graph_.first[orphan + 1]; ++i) {
    const auto arc = static_cast<std::uint32_t>(i);
    const std::uint32_t to = graph_.head[arc], back = graph_.mate[arc];
    if (!(state_.residual_[arc] > 0) && !(state_.residual_[back] > 0))
      continue;  // perhaps of another component
    Node& other = state_.nodes_[to];
    if (other.sink != node.sink || other.parent == kFree) continue;
    if (from_parent(arc, node.sink) > 0) activate(to);
    if (other.parent == back) this->orphan(to);
  }
  node.parent = kFree;
}

}  // namespace pc
