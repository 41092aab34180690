#pragma once
#include <cstdint>

#include "core/op_context.h"
#include "ops/fit/crown_mesh.h"

namespace pc {

/// One step of Taubin smoothing of a closed mesh: each vertex moves towards the mean of its neighbours (lambda 0.5), then
/// away from it (mu -0.53), which keeps the volume of what is wider than a few edges.
///
/// Order    The same bits every time. Cost O(V + T). Cancel within 50 ms.
/// Source   Taubin 1995, SIGGRAPH, "A signal processing approach to fair surface design".
void smooth_taubin(CrownMesh& mesh, OpContext& ctx);

struct MeshTotals {
  double volume_m3, area_m2;
};
/// Computes the normals of a closed mesh, the means of the triangles weighted by area, (0, 0, 1) where they cancel; and its
/// volume and area.
MeshTotals finish_mesh(CrownMesh& mesh, OpContext& ctx);

/// Whether vertices may leave the box of all. The moves outward overshoot at corners, which makes up for what the moves
/// inward take from the volume there.
enum class SmoothingBox : std::uint8_t { kFree, kKept };

/// Smooths a closed mesh in steps. What is so thin that its volume would change by more than a factor of two stays as it is.
void smooth(CrownMesh& mesh, int steps, SmoothingBox limit, OpContext& ctx);

}  // namespace pc
