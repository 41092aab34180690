#pragma once
#include <cstdint>
#include <vector>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "ops/trees/cut_pursuit_graph.h"

namespace pc {

/// State of minimum cuts over the components of one graph. Components have no node in common, so several threads may cut
/// different ones at the same time.
class CutState {
 public:
  explicit CutState(const CutGraph& graph)
      : graph_(graph), residual_(graph.head.size()), nodes_(graph.nodes()) {}

  const CutGraph& graph() const { return graph_; }
  /// Closes the arcs between nodes with different `component` numbers, in both directions: needed before components that
  /// were one are cut. O(arcs).
  void separate(Span<const std::uint32_t> component, OpContext& ctx);
  /// Side of a node in the last cut of its component.
  bool on_second_side(std::uint32_t node) const { return nodes_[node].sink; }

 private:
  friend class MinimumCut;
  struct Node {
    double excess;                  ///< > 0: capacity left from the source, < 0: to the sink
    std::uint32_t parent;           ///< arc to the parent in its tree, or one of the marks below
    std::uint32_t stamp, distance;  ///< the distance to the terminal was right at that time
    bool sink, queued;
  };
  const CutGraph& graph_;
  BulkVector<double> residual_;
  BulkVector<Node> nodes_;
};

/// Minimum cut of one component by two search trees.
///
/// Cost     In practice close to linear in the arcs; polls the context every few thousand steps.
/// Source   Boykov & Kolmogorov 2004, IEEE PAMI 26: 1124, sections 3.2.1 to 3.2.3, with the marks of distance and time
///          of section 3.2.3 of Kolmogorov's thesis (2003).
class MinimumCut {
 public:
  MinimumCut(CutState& state, OpContext& ctx) : graph_(state.graph_), state_(state), ctx_(ctx) {}

  /// Cuts the arcs between nodes with the same `component` number, after CutState::separate of these numbers. Node i of `nodes` pays cost[i] more on the second side
  /// than on the first. Returns whether both sides hold nodes.
  bool solve(Span<const std::uint32_t> nodes, Span<const std::uint32_t> component, Span<const double> cost);

 private:
  using Node = CutState::Node;
  static constexpr std::uint32_t kFree = 0xffffffff, kTerminal = 0xfffffffe, kOrphan = 0xfffffffd;

  void start(Span<const std::uint32_t> nodes, Span<const std::uint32_t> component, Span<const double> cost);
  /// The arc from the first to the second tree that was found while node `at` grew, or kFree.
  std::uint32_t grow(std::uint32_t at);
  void augment(std::uint32_t meeting);
  void adopt();
  void adopt(std::uint32_t orphan);
  void disown(std::uint32_t orphan);
  /// Distance of a node to its terminal, or kFree if it has lost it.
  std::uint32_t distance_of(std::uint32_t node);
  void activate(std::uint32_t node);
  void orphan(std::uint32_t node);
  /// Capacity left from the parent at the end of `arc` to the arc's own node (first tree), or the other way round.
  double from_parent(std::uint32_t arc, bool sink) const {
    return state_.residual_[sink ? arc : graph_.mate[arc]];
  }
  void poll() {
    if (++steps_ % 4096 == 0) ctx_.checkpoint();
  }

  const CutGraph& graph_;
  CutState& state_;
  OpContext& ctx_;
  std::vector<std::uint32_t> active_, next_active_, orphans_;
  std::uint32_t time_ = 0;
  std::uint64_t steps_ = 0;
};

}  // namespace pc
