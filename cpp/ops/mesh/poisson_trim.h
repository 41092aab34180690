#pragma once
#include <cstdint>

#include "core/op_context.h"
#include "core/span.h"
#include "ops/mesh/poisson_surface.h"
#include "spatial/kd_tree.h"

namespace pc::poisson_detail {

/// The samples that a surface was made of.
struct SampleTree {
  const KdTree& tree;
  Span<const Vec3d> place;     ///< by the rows of the tree
  Span<const double> spacing;  ///< distance to the kSupportNeighbors-th neighbour
};

struct TrimCounts {
  std::uint64_t unsupported_vertices, speck_vertices;
};

/// Drops the vertices that no sample supports, moves borders back, then drops the specks ("Support" in poisson.h), with their
/// triangles, and vertices without triangles; last the shards that touch the rest in vertices alone.
TrimCounts trim_unsupported(UnitMesh& mesh, const SampleTree& samples, OpContext& ctx);

}  // namespace pc::poisson_detail
