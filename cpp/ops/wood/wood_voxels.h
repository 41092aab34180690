#pragma once
#include "core/hit_points.h"
#include "core/op_context.h"
#include "ops/wood/wood_points.h"

namespace pc {

/// Fills `out.place` with the means of voxels, and `out.voxel_m`; `out.origin` is given.
void voxel_means(HitPoints points, const WoodVoxels& voxels, WoodPoints& out, OpContext& ctx);

}  // namespace pc
