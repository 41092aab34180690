#pragma once
#include <cstdint>

#include "core/op_context.h"
#include "ops/mesh/poisson_border.h"
#include "ops/mesh/poisson_surface.h"

namespace pc::poisson_detail {

struct TrimCounts {
  std::uint64_t unsupported_vertices, speck_vertices;
};

/// Cuts the surface at its borders (poisson_border.h), then drops the shards that this cuts off and the specks ("Support" in
/// poisson.h), with their triangles.
TrimCounts trim_unsupported(UnitMesh& mesh, const SampleTree& samples, OpContext& ctx);

}  // namespace pc::poisson_detail
