#pragma once
#include <cstdint>

#include "core/op_context.h"
#include "ops/lad/projection_function.h"

namespace pc {

/// Limits that the triangles of a scan have passed.
struct TriangleLimits {
  double lmax_m;            ///< longest edge, > 0
  double max_aspect_ratio;  ///< largest longest / shortest edge, >= 1
};

/// Bounds of `facing` for leaves of uniform azimuths; those of the reference scans have .81 to 1.06. Fewer triangles tell
/// nothing.
constexpr double kLeastFacing = 0.75, kMostFacing = 1.15;
constexpr std::uint64_t kFewestFacing = 30;
/// Folded triangles as a share of all, above which none is left out: the noise of the ranges then folds the leaves themselves.
/// Scans of leaves without noise have .00 to .19, with noise as large as the distance of their hits .34 and more.
constexpr double kMostFolded = 0.25;

struct TriangulatedProjection : VoxelProjection {
  /// Mean |normal . beam| of the triangles as a share of that for uniform azimuths; 1 without triangles.
  double facing;
  bool
      uniform_azimuths;  ///< G is averaged over the azimuths; false: it is that of the triangles as they stand
  double folded;         ///< folded triangles as a share of all; up to kMostFolded they are left out
};

/// Leaf projection function of every voxel from the triangles that an angular triangulation of scans has left in it, without
/// the bias towards leaves that face the scanner.
///
/// Triangles sample the area of leaves evenly, except that grazing leaves lose theirs: their triangles are long and thin and
/// pass no limit, and most hits of a narrow strip are at its rim; and except that long edges join neighbouring leaves: folded
/// triangles (folded_triangles) are left out. Each other one is therefore weighed by A e / p: its area; e, the mean over its
/// corners of 6 / triangles at the corner (a hit inside a leaf has 6, at its rim fewer); and p, the share
/// of the azimuths of its leaf, its inclination kept, for which its three beams would give a triangle within the limits.
/// G = sum w m / sum w, m the projection of its inclination along its beam, averaged over the azimuths.
///
/// The leaves of a wall or a hedge have no uniform azimuths. Where `facing` is out of its bounds, G is sum A e |n . beam| / sum
/// A e of the triangles as they stand, in all voxels: right for leaves that are all seen, too high where grazed ones drop out.
///
/// triangles  as left by the limits
/// Order      k-major; the same bits for any number of threads. Triangles without area count nowhere.
/// Cost       O(16 triangles + cells); 73 bytes per triangle, 8 per vertex and 24 per cell. Cancel within 50 ms.
/// Errors     kInvalidArgument: those of check_leaf_triangles, grid_binning and folded_triangles, limits out of range.
/// Source     Weighing by inverse probability of detection: Horvitz & Thompson 1952 (J. Am. Stat. Assoc. 47). That hits sample
///            leaf area by its projection: Ross 1981. Own: the replay of each triangle at 16 azimuths, equally spaced from a
///            random first one (random_unit of the triangle), and e.
TriangulatedProjection triangulated_projection(const LeafTriangles& triangles, const TriangleLimits& limits,
                                               const VoxelBox& grid, OpContext& ctx);

}  // namespace pc
