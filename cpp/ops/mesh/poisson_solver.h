#pragma once
#include <vector>

#include "core/op_context.h"
#include "ops/mesh/poisson_octree.h"

namespace pc::poisson_detail {

/// Computes the function whose gradient matches the field of normals, with values near 0 at the samples: Level::value of
/// every level, coarse to fine. The function is the trilinear interpolation in the leaves and continuous: a vertex that is
/// not surrounded by cells of its level keeps the value of the level above.
///
/// point_weight  weight of the values at the samples against the gradients
/// Source        Kazhdan & Hoppe 2013, "Screened Poisson surface reconstruction", sections 4.1 to 4.3, with trilinear
///               elements at the vertices. Each level solves for a correction of the level above by conjugate gradients
///               (Jacobi preconditioner); screening weight per unit of area: point_weight times the cells along the side at the
///               level, at most at the one that suits the sample. The field of normals is
///               trilinear too: each sample is spread over the corners of its cell at splat_depth, shared between the two
///               nearest levels, and smoothed there once. Every level sees the whole field: that of finer levels is
///               integrated there and handed up. Spreading it anew at every level instead (a wider field at coarse levels)
///               leaves the finer ones corrections that reach beyond their cells: ten times the error on a plane.
void solve(std::vector<Level>& levels, const Samples& samples, double point_weight, OpContext& ctx);

/// Value of the solution at a sample in cell `cell` of the level.
double value_at(const Level& level, std::size_t cell, const Vec3d& place);

}  // namespace pc::poisson_detail
