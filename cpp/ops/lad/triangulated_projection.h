#pragma once
#include <cstdint>
#include <vector>

#include "core/op_context.h"
#include "ops/lad/triangle_sight.h"

namespace pc {

/// Bounds of `facing` and `sideways` for leaves of uniform azimuths. Fewer triangles tell nothing.
constexpr double kLeastFacing = 0.75, kMostFacing = 1.15, kMostSideways = 0.45;
constexpr std::uint64_t kFewestFacing = 30;

/// How far G of triangles may be off. Scatters are the variance of G as a part of its square for leaves of 1 m2 each, whose
/// inclinations are by chance what they are and of which some are seen: times the area of a leaf they are those of its leaves.
struct ProjectionError {
  Column<double> scatter;  ///< (cells) 0 where G is 0
  double of_all = 0;       ///< of the shares of all voxels together
  double bias = 0;         ///< standard error common to all voxels, as a part of G
  double spread = 0;       ///< variance of the mean projections of the inclinations as a part of G^2
};

/// Least standard error common to all voxels, and what it has of that part of G that comes from the Beta distribution alone: from known
/// leaves (docs/accuracy.md, cubes and trees).
constexpr double kLeastBias = 0.02, kBiasOfSupposed = 0.3;

struct TriangulatedProjection : VoxelProjection {
  /// Mean |normal . beam| of the triangles that tell inclinations as a share of that for uniform azimuths; 1 without any.
  double facing = 1;
  /// Mean part of their normals, towards the scanner, that is level and across the beam, as a share of its mean size for
  /// uniform azimuths, which have 0.
  double sideways = 0;
  bool uniform_azimuths = true;  ///< false: G is that of the triangles as they stand
  double folded = 0;             ///< folded triangles as a share of all; up to kMostFolded they are left out
  /// Triangles that tell inclinations. 0 if there is none, or if all meet their leaves so squarely that hardly any other leaf would
  /// tell: the hits are too far apart for the limits, and G means nothing.
  std::uint64_t telling_count = 0;
  /// Median distance of neighbouring beams where they meet leaves, metres, of the triangles that tell inclinations; 0 without any.
  double spacing_m = 0;
  /// Part of the leaf area at inclinations that the beams hardly see: taken from a Beta distribution.
  double hardly_seen = 0;
  /// For beams with each their own G: that of a beam is beam_factors at its bin (kZenithBins) times beam_g of the voxel. No factor is
  /// above 1. Empty without uniform azimuths.
  std::vector<double> beam_factors;
  Column<double> beam_g;  ///< (cells)
  ProjectionError error;
};

/// Leaf projection function of every voxel from the triangles that an angular triangulation of scans has left in it, without
/// the bias towards leaves that face the scanner.
///
/// Triangles sample the area of leaves evenly, except that grazing leaves lose theirs: their triangles are long and thin and
/// pass no limit, and most hits of a narrow strip are at its rim; and except that long edges join neighbouring leaves: folded
/// triangles (folded_triangles) are left out. Each other one has the area A e, e the mean over its corners of 6 / triangles at the
/// corner (a hit inside a leaf has 6, at its rim fewer).
///
/// For each triangle there is a cosine c between beam and normal from which its beams give a triangle within the limits however
/// the leaf is turned. Triangles that meet their leaf at c and above tell the inclinations of leaves: which share of the azimuths a leaf
/// of each inclination would be seen at so is known (fit_inclinations), by beams of each angle to the vertical and each c. Those of a
/// voxel are its own, as far as it sees them, else those of all voxels (inclinations_of_part). G is their projection, averaged over
/// azimuths and over the beams of the triangles.
///
/// The leaves of a wall or a hedge have no uniform azimuths. Where `facing` or `sideways` is out of its bounds, G is sum A e |n . beam| / sum
/// A e of the triangles as they stand, in all voxels: right for leaves that are all seen, too high where grazed ones drop out.
///
/// triangles  as left by the limits
/// Order      k-major; the same bits for any number of threads. Triangles without area count nowhere.
/// Cost       O(32 triangles + cells), and 50 ms; 61 bytes per triangle, 8 per vertex and 32 per cell. Cancel within 50 ms.
/// Errors     kInvalidArgument: those of check_leaf_triangles, grid_binning and folded_triangles, limits out of range.
/// Source     That hits sample leaf area by its projection: Ross 1981. Inclinations: fit_inclinations. Own: c, and e.
TriangulatedProjection triangulated_projection(const LeafTriangles& triangles, const TriangleLimits& limits,
                                               const VoxelBox& grid, OpContext& ctx);

}  // namespace pc
