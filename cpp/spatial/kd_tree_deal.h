#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"
#include "spatial/kd_tree_view.h"

namespace pc::kd_tree {

/// From so many points on, the first splits of a tree are dealt.
constexpr std::size_t kLeastDealt = std::size_t{1} << 19;

/// A node of the upper part of a tree.
struct DealtNode {
  std::uint64_t begin, end;  ///< of its items
  std::uint32_t left;        ///< its first child, which the second one follows; 0 = not split yet
};

struct Dealt {
  BulkVector<Item> items;        ///< of the finite points; those of a node are consecutive
  std::vector<DealtNode> nodes;  ///< [0] is the root, parents before children
};

/// Splits the finite points of a large cloud into parts of about `part_points` in two passes over them by all threads: level by
/// level, one thread would split the whole, two its halves, and so on. The splits are medians of a sample, along the longest
/// sides of its boxes. A node is left whole where a child would get less than 1/16 of its points.
///
/// points   (n) metres; pays from kLeastDealt on
/// Order    A function of the points, for any thread count; points of a part in the order of their rows.
/// Cost     O(n log(n / part_points)); 2 bytes a point besides the items.
/// Cancel   Within 50 ms.
/// Source   Frazer & McKellar 1970, JACM 17, "Samplesort", with the splits of a k-d tree for its splitters.
Dealt deal(Span<const Vec3d> points, std::size_t part_points, OpContext& ctx);

}  // namespace pc::kd_tree
