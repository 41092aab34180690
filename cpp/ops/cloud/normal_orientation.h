#pragma once
#include <cstdint>

#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"
#include "spatial/kd_tree.h"

namespace pc {

/// Gives the normals of neighbours the same side, along a minimum spanning tree of the links to the `neighbors` nearest
/// points, and orients each component by the rule "Outward" of ops/cloud/normals.h. Returns the number of components.
/// A row without a normal, (0, 0, 0), is no part of the graph.
///
/// tree     of `points`
/// normals  (n) unit vectors or (0, 0, 0); their signs are changed
std::uint64_t orient_consistently(const KdTree& tree, Span<const Vec3d> points, Span<Vec3d> normals,
                                  std::uint32_t neighbors, OpContext& ctx);

}  // namespace pc
