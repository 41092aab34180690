#pragma once
#include <cstdint>
#include <optional>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// Positions in a frame of their own, in an order that depends on the positions alone.
struct SortedPoints {
  Vec3d origin;             ///< lowest x, y and z of all: position = origin + point
  BulkVector<Vec3d> point;  ///< (m) by x, y, z
  std::uint64_t non_finite = 0;
};

/// The finite rows that `skip` does not mark, by position. Cost: 56 bytes per point while it runs.
SortedPoints sorted_points(Span<const Vec3d> positions, Span<const std::uint8_t> skip, OpContext& ctx);

/// Points and the neighbours that each has: those that it asks for, and those that ask for it.
struct HopGraph {
  BulkVector<Vec3d> point;          ///< (m) neighbouring points close together
  std::uint32_t width = 0;          ///< most neighbours that a point asks for
  BulkVector<std::uint32_t> asked;  ///< (m * width) per point its neighbours, then unused
  BulkVector<std::uint16_t> asked_count;
  BulkVector<std::uint64_t> first_back;  ///< (m + 1)
  BulkVector<std::uint32_t> back;        ///< points that ask for one that does not ask for them

  std::size_t size() const { return point.size(); }
  Span<const std::uint32_t> asked_by(std::uint32_t node) const {
    return {asked.data() + std::size_t{node} * width, asked_count[node]};
  }
  template <class Visit>
  void for_each_neighbor(std::uint32_t node, const Visit& visit) const {
    for (const std::uint32_t other : asked_by(node)) visit(other);
    for (std::uint64_t i = first_back[node]; i < first_back[node + 1]; ++i) visit(back[i]);
  }
};

/// Joins every point to its `neighbors` nearest others within `radius_m`. `points` are released once they are copied.
///
/// Order  The nodes are in the order of a KdTree over `points`; among equally near points the first ones count.
/// Cost   O(m (log m + neighbors)) time; 100 + 8 neighbors bytes per point at most while it runs.
HopGraph hop_graph(BulkVector<Vec3d> points, std::uint32_t neighbors, double radius_m, OpContext& ctx);

/// 2.5 times the mean distance from 500 evenly spaced points to their nearest others; none if that is not positive.
std::optional<double> automatic_radius(Span<const Vec3d> points, OpContext& ctx);

}  // namespace pc
