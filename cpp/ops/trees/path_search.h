#pragma once
#include <cstdint>
#include <vector>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"
#include "ops/trees/path_constants.h"
#include "ops/trees/path_graph.h"

namespace pc {

constexpr std::uint32_t kNoRoot = ~std::uint32_t{0};

/// Where paths start.
struct PathStart {
  std::uint32_t node;
  std::uint32_t root;  ///< name of the start, < kNoRoot
  double cost;         ///< of the path before its first step
};

/// The cheapest path to each node.
struct Paths {
  struct Direction {
    float x, y, z;
  };
  BulkVector<double> cost;          ///< (m) infinite = none
  BulkVector<std::uint32_t> root;   ///< (m) kNoRoot = none
  BulkVector<Direction> direction;  ///< (m) unit or zero: in which the path comes, with its memory

  explicit Paths(std::size_t nodes);
  bool reach(std::uint32_t node) const { return root[node] != kNoRoot; }
};

/// Cheapest paths from `starts` over the graph (Dijkstra 1959), the next starts ahead of nothing but their cost: nodes
/// that have a path already keep it unless they find a cheaper one. Equal costs go to the lower root, then node.
///
/// Step     length^exponent (1 + turn_cost (1 - cos) / 2) (1 + scatter_cost scatter), cos of the angle between the step
///          and the direction of the path, scatter the larger one of both nodes
/// Starts   of a node with several: the cheapest, then the lowest root. Their direction is up.
/// Cost     O(m neighbours log m) time.
void find_paths(const PathGraph& graph, Span<const Vec3d> nodes, std::vector<PathStart> starts,
                const PathConstants& constants, Paths& paths, OpContext& ctx);

/// Gives the nodes without a path one over a step of at most most_gap_m from the nodes that have one, in rounds: each
/// starts from what the one before reached. Ends when a round reaches nothing, or after 12.
void reach_islands(const PathGraph& graph, Span<const Vec3d> nodes, const PathConstants& constants,
                   Paths& paths, OpContext& ctx);

}  // namespace pc
