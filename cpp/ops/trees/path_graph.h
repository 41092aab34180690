#pragma once
#include <cstdint>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"
#include "spatial/kd_tree.h"

namespace pc {

/// Nodes and their neighbours, in both directions: each node lists those that it is near to and those near to it.
struct PathGraph {
  BulkVector<std::uint64_t> first;     ///< (m + 1)
  BulkVector<std::uint32_t> neighbor;  ///< each once within a node
  BulkVector<float> scatter;  ///< (m) least by largest variance of the neighbourhood, 0 (line, plane) to 1

  std::size_t size() const { return first.empty() ? 0 : first.size() - 1; }
  Span<const std::uint32_t> of(std::uint32_t node) const {
    return neighbor.view().subspan(first[node], first[node + 1] - first[node]);
  }
};

/// Joins every node to its `neighbors` nearest ones within `most_gap_m`.
///
/// Cost   O(m neighbors) time, 8 bytes per neighbour while it runs, about 1.3 times as many neighbours as asked for.
PathGraph path_graph(Span<const Vec3d> nodes, std::uint32_t neighbors, double most_gap_m, OpContext& ctx);

}  // namespace pc
