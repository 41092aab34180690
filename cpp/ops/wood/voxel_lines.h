#pragma once
#include <cstdint>

#include "core/memory.h"
#include "core/op_context.h"
#include "ops/wood/voxel_hierarchy.h"

namespace pc {

/// Columns of one number of neighbours, and of all.
constexpr std::uint32_t kLineWidth = 6;
constexpr std::uint32_t kLineColumns = 2 * kLineWidth + 1;

/// The straightest run of voxels through each voxel: a twig is one even where leaves around it hide it from covariances.
///
/// Search   Directions to the neighbours that are at least kNearest of the farthest one away; each counts the eighths of
///          the diameter that hold a voxel within kTube of its line. The most eighths win, then the most voxels, then the
///          nearer neighbour.
/// Columns  of 16 and of 48 neighbours: eighths over 8, the lower number of the two sides over 4, the longest run of
///          eighths over 8, share of the neighbours in the tube, their root mean square distance from the line over its
///          radius, |z| of the line; then log2 of the points of the voxel.
/// Order    A function of the voxels. Unchanged by mirroring, by rotation about z and by offsets, to the voxelization.
/// Cost     O(m) time; 4 bytes per voxel and column.
/// Cancel   Within 250 ms.
BulkVector<float> voxel_lines(const VoxelCloud& cloud, OpContext& ctx);

}  // namespace pc
