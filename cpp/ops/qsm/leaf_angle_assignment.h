#pragma once
#include <cstdint>
#include <vector>

#include "core/op_context.h"
#include "core/span.h"
#include "ops/mesh/voxel_cells.h"
#include "ops/qsm/leaf_angle_targets.h"
#include "ops/qsm/leaf_placement.h"

namespace pc {

struct LeafAngleParams {
  std::uint64_t seed;
  std::uint64_t max_cell_leaves;  ///< leaves of a cell that are turned; 0 = all
};

struct LeafAngleResult {
  std::uint64_t adjusted_count = 0;  ///< leaves turned
  std::uint64_t cell_count = 0;      ///< cells with leaves and a target
  std::uint64_t untouched_count =
      0;  ///< leaves outside of the grid, in dropped columns and in cells without a target
  std::uint64_t capped_count = 0;  ///< leaves left as they were because their cell has too many
};

/// Normals drawn from a target, unit vectors of the upper half: entry i depends on the seed, the cell and i alone.
std::vector<Vec3d> draw_leaf_normals(const LeafAngleTarget& target, std::size_t count, std::uint64_t seed);

/// Turns leaves so that their angles in each cell follow the cell's target, with the least total rotation.
///
/// The leaves whose base lies in a cell get normals drawn from its target, one each: the assignment of these to the current
/// normals, both turned upward, with the smallest sum of chords is exact (linear_assignment.h). Each leaf is then rotated
/// about its base by the rotation that takes its normal to the new one along the shortest way (a half-turn about a
/// perpendicular for opposite ones), and its directions are made orthonormal again.
///
/// leaves   turned in place.
/// targets  at most one per cell; a cell outside of the grid has no leaves.
/// Order    The result does not depend on threads.
/// Cost     O(n^3) time per cell of n leaves at worst, O(n) memory; cells in parallel. leaf_angle_bytes.
/// Cancel   Within 250 ms; the leaves are then undefined.
/// Errors   kInvalidArgument for two targets of a cell and values out of range.
/// Source   Contract skeleton-qsm 8.2. Gamma variates: Marsaglia & Tsang 2000, "A simple method for generating gamma
///          variables", with their section 6 for shapes below 1; normal variates: Box & Muller 1958.
LeafAngleResult leaf_angle_assignment(std::vector<Leaf>& leaves, const std::vector<LeafAngleTarget>& targets,
                                      const VoxelBox& grid, const LeafAngleParams& params, OpContext& ctx);

/// Memory of leaf_angle_assignment, bytes.
std::uint64_t leaf_angle_bytes(std::uint64_t leaf_count, std::uint64_t target_count);

}  // namespace pc
