#pragma once
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "ops/skeleton/level_set_skeleton.h"

namespace pc::test {

inline SkeletonParams skeleton_params() {
  return {true, 20, 2.0, 0.05, 20, 0.02, 60, true, 30, true, 0.1, true, 2, true};
}

/// What is wrong with a skeleton as one tree with places; empty = nothing.
inline std::string tree_fault(const Skeleton& s) {
  if (s.failure != SkeletonFailure::kNone)
    return s.points.empty() && s.edges.empty() && s.blocks.empty() ? "" : "a failure with a skeleton";
  if (s.points.empty()) return "no nodes";
  if (s.edges.size() + 1 != s.points.size()) return "edges are not one fewer than nodes";
  if (s.branch_orders.size() != s.points.size()) return "an order is missing";
  std::vector<std::uint32_t> parent(s.points.size(), kNoBlock);
  for (const auto& [from, to] : s.edges) {
    if (from >= s.points.size() || to >= s.points.size()) return "an edge to nowhere";
    if (parent[to] != kNoBlock) return "two parents";
    parent[to] = from;
  }
  std::size_t roots = 0;
  for (std::size_t i = 0; i < parent.size(); ++i) {
    roots += parent[i] == kNoBlock ? 1 : 0;
    std::uint32_t up = static_cast<std::uint32_t>(i);
    for (std::size_t steps = 0; parent[up] != kNoBlock; up = parent[up])
      if (++steps > parent.size()) return "a cycle";
    if (parent[i] != kNoBlock && s.branch_orders[parent[i]] < s.branch_orders[i]) return "an order falls";
  }
  if (roots != 1) return "not one root";
  for (const Vec3d& p : s.points)
    if (!is_finite(p)) return "a place is not finite";
  std::uint64_t members = 0;
  for (const SkeletonBlock& block : s.blocks) members += block.num_points;
  if (members > s.reached || s.blocks.size() != s.blocks_after) return "wrong counts";
  return "";
}

}  // namespace pc::test
