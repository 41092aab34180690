#pragma once
#include <cstdint>

#include "core/op_context.h"
#include "core/span.h"
#include "ops/mesh/poisson_surface.h"
#include "spatial/kd_tree.h"

namespace pc::poisson_detail {

struct TrimCounts {
  std::uint64_t unsupported_vertices, speck_vertices;
};

/// Drops the vertices that no sample supports, then the specks ("Support" in poisson.h), with their triangles, and last
/// vertices without triangles.
///
/// tree     of the samples; spacing by its rows
TrimCounts trim_unsupported(UnitMesh& mesh, const KdTree& tree, Span<const double> spacing, OpContext& ctx);

}  // namespace pc::poisson_detail
