#pragma once
#include <cstdint>

#include "core/op_context.h"
#include "core/span.h"
#include "ops/mesh/poisson_surface.h"
#include "spatial/kd_tree.h"

namespace pc::poisson_detail {

/// Drops the vertices that no sample supports ("Support" in poisson.h), their triangles, and vertices without triangles.
/// Returns the number of the former.
///
/// tree     of the samples; spacing by its rows
std::uint64_t trim_unsupported(UnitMesh& mesh, const KdTree& tree, Span<const double> spacing, OpContext& ctx);

}  // namespace pc::poisson_detail
