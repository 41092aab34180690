#pragma once
#include <cstdint>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"
#include "ops/trees/local_position.h"

namespace pc {

/// Node of a point that is not finite.
constexpr std::uint32_t kNoNode = 0xffffffff;

/// A cloud reduced to one point per occupied voxel.
struct VoxelNodes {
  BulkVector<Vec3d> position;          ///< (m) the point nearest to the centre of its voxel
  BulkVector<std::uint32_t> of_point;  ///< (n) node of each point, or kNoNode
};

/// Centre of the bounding box of the finite points; 0 if there are none.
Vec3d box_center(Span<const Vec3d> points, OpContext& ctx);

/// Reduces local positions to voxels of edge `size` metres. One voxel is centred at 0, so that mirrored clouds get
/// mirrored nodes; a point within 1e-6 sizes of a face belongs to the outer voxel.
///
/// points   (n) local positions; rows that are not finite get kNoNode
/// Order    Nodes in Morton order of their voxels: a function of the positions, not of the rows.
/// Cost     O(n) time; 24 bytes per point of scratch.
/// Errors   kInvalidArgument if a point is more than 2^40 voxels away or more than 2^21 planes of voxels are occupied
///          along an axis.
VoxelNodes voxel_nodes(Span<const Vec3d> points, double size, OpContext& ctx);

/// Centre of the voxel that a local position is in.
Vec3d voxel_center(const Vec3d& point, double size);

/// True if `a` represents a voxel better than `b`: nearer to its centre, else nearer to 0 by x, y, z, as in a mirrored
/// cloud.
bool represents_better(const Vec3d& a, const Vec3d& b, const Vec3d& center);

/// Number of nodes that voxel_nodes would give.
std::uint64_t voxel_count(Span<const Vec3d> points, double size, OpContext& ctx);

}  // namespace pc
