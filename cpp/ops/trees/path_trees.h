#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "core/column.h"
#include "core/hit_points.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"
#include "ops/trees/high_points.h"
#include "ops/trees/path_constants.h"
#include "ops/trees/trunk_layer.h"

namespace pc {

/// What a tree of path_trees was grown from.
enum class TreeOrigin : std::uint8_t {
  kSeed,   ///< a seed of the caller
  kStem,   ///< a stem in the layer of the trunks
  kBase,   ///< plants that reach the ground without a stem in sight: understorey
  kCrown,  ///< the top of a crown without a path to any stem or to the ground
};

struct PathTree {
  Vec3d base;       ///< middle of the nodes where its paths start; of kCrown the top; frame of the points
  double height_m;  ///< greatest mean height of a node above the ground; NaN = no height is known
  std::uint64_t point_count;
  TreeOrigin origin;
};

/// Plants below carpet_height_m that cover the ground further than a plant is wide: no trees.
struct LowCarpet {
  double area_m2;
  std::uint64_t point_count;
};

struct PathTreesResult {
  Column<std::uint32_t> tree_instance;  ///< (n) 0 = none, else 1 .. trees.size(), input order
  std::vector<PathTree> trees;          ///< tree k + 1; with seeds one per seed, a tree may be empty
  double node_m;                        ///< edge of the voxels that became nodes
  std::uint64_t node_count;
  HighPoints high;   ///< the stem is known of trees of a seed or a stem
  LowCarpet carpet;  ///< 0 with seeds
};

struct PathTreesParams {
  double node_m;                ///< edge of the voxels, metres, > 0: path_node_size
  std::optional<Vec3d> origin;  ///< a corner of the voxels; none = the middle of the points' box
  PathConstants constants;      ///< kPathConstants; others only to measure their influence
  TrunkLayer trunks{1, 2};      ///< where stems are looked for: trunk_layer
};

/// Individual trees in a cloud of vegetation: every point belongs to the tree with the cheapest path to it.
///
/// Nodes    The points of a voxel are one node. Nodes are joined to their nearest ones within a largest gap.
/// Stems    Paths start at the seeds, or at the stems that detect_stems finds in the layer of the trunks, and at plants near the
///          ground that rise above a least height without such a stem. What looks like a stem but is not seen near the
///          ground is taken for a limb where a tree reaches it without a large gap.
///          Among low trees, so is what begins above the trunks (tell_limbs).
/// Carpets  Plants without a stem that touch each other further than widest_base_m are divided by their summits; what stays
///          below carpet_height_m there is no tree.
/// Paths    A step costs the square of its length, so paths keep to what is dense and avoid gaps; more if it turns
///          back from the direction in which the path came from the stem, and more among scattered points. Crowns part
///          where the paths of two stems cost the same.
/// Islands  Parts without a path join the tree that is nearest within the largest gap. Of what is left, tops of the
///          canopy become trees.
///
/// points   (n) metres, any one Cartesian frame, z up; vegetation only: the caller leaves ground out. Rows that are not
///          finite get 0.
/// heights  (n) above the ground, metres; NaN = unknown, such rows take the tree of their surroundings
/// seeds    (s) one place per tree, same frame; empty = find the trees. With seeds exactly s trees, tree k + 1 of seed k,
///          and no others.
/// Numbers  Without seeds by the x, then y, of the base.
/// Order    Labels follow the input; the result does not depend on threads nor on the order of the points.
/// Cost     path_trees_bytes of memory.
/// Cancel   Within 250 ms for any input; no partial result.
/// Errors   kInvalidArgument for lengths that differ, node_m that is not finite and positive, an origin or seeds that are
///          not finite, 2^32 points or more, and what detect_stems refuses (points in the layer of the trunks that span more
///          than 1e8 m).
/// Source   Cheapest paths with a cost above linear and a preference against gravity: Livny et al. 2010, ACM Trans.
///          Graph. 29(6) 151; Lowe & Stepanas 2021, IEEE Access 9 (RayCloudTools). Competition of stems for crowns by
///          paths: Tao et al. 2015, ISPRS J. 110: 66, here without its scaling by diameter, which did not help. Turning
///          and the order of sources: own.
PathTreesResult path_trees(HitPoints points, Span<const float> heights, Span<const Vec3d> seeds,
                           const PathTreesParams& params, OpContext& ctx);

/// The edge of voxels for path_trees: constants.finest_node_m, or larger where it would give more than
/// constants.most_nodes nodes. O(n) time a try, few tries. The same for any order of the points.
double path_node_size(HitPoints points, const PathConstants& constants, OpContext& ctx);

/// Upper estimate of the scratch memory of path_trees.
std::uint64_t path_trees_bytes(std::uint64_t points, const PathConstants& constants);

}  // namespace pc
