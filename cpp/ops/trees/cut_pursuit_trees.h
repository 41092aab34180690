#pragma once
#include <cstdint>
#include <optional>

#include "core/column.h"
#include "core/hit_points.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// Clouds with fewer finite points are rejected.
constexpr std::uint64_t kFewestTreePoints = 10;
/// Most neighbours that a parameter may ask for.
constexpr std::uint32_t kMaxTreeNeighbors = 1000;

/// Names and meanings as published; all numbers finite.
struct CutPursuitTreesParams {
  double reg_strength1;            ///< stage 1: cost of a cut edge, >= 0
  std::uint32_t min_nn1;           ///< stage 1: neighbours of a node, 1 .. kMaxTreeNeighbors
  double decimate_res1;            ///< stage 1: voxel, metres, > 0
  double reg_strength2;            ///< stage 2: cost of a cut edge, >= 0
  std::uint32_t min_nn2;           ///< stage 2: neighbours of a node and of a segment, 1 .. kMaxTreeNeighbors
  double decimate_res2;            ///< stage 2: voxel, metres, > 0
  double max_gap;                  ///< stage 2: segments at least this far apart are not grouped, metres, > 0
  double rel_height_length_ratio;  ///< stage 3: rise of a group over its neighbours by its length, >= 0
  double vertical_weight;          ///< stage 3: weight of the overlap in height, >= 0
  std::uint32_t min_nn3;           ///< stage 3: groups compared with each, 1 .. kMaxTreeNeighbors
  double score_candidate_thresh;   ///< stage 3: least share of the best score of a tree to merge with, 0 .. 1
  double
      init_stem_rel_length_thresh;  ///< stage 3: long groups are longer than this times their neighbours' median
  double max_outlier_gap;  ///< vegetation this far from the rest is no part of the same tree, metres, > 0
  std::optional<Vec3d> voxel_origin;  ///< where voxels of tiles meet: cut_pursuit_origin of the whole cloud
};

struct CutPursuitTreesResult {
  Column<std::uint32_t> tree_instance;  ///< (n) 0 = none, else 1 .. tree_count
  std::uint64_t tree_count;             ///< with seeds their number
  std::uint64_t node_count;             ///< voxels of stage 1
  std::uint64_t stage1_count;           ///< segments after stage 1
  std::uint64_t stage2_count;           ///< segments after stage 2
  double decimate_res1,
      decimate_res2;      ///< voxels used; not those asked for where a retry after a collapse helped
  bool stage1_collapsed;  ///< one segment came out of the first try of stage 1
};

/// Individual trees in a cloud of vegetation: segments of a graph of neighbours, grouped in plan, merged by similarity.
///
/// points   (n) metres, any one Cartesian frame, z up; vegetation only: the caller leaves ground out. Rows that are not
///          finite get 0.
/// seeds    (s) one place per tree, same frame; empty = find the trees. With seeds exactly s trees, tree k + 1 of seed
///          k, which is empty if there are more seeds than segments; vegetation further than max_outlier_gap from any
///          tree with a seed gets 0.
/// Stages   segment nodes (cut_pursuit.h), group segments (segment_groups.h), merge groups (segment_similarity.h) or give
///          them to seeds (tree_seeds.h). Parts of a tree at least max_outlier_gap apart become trees of their own.
/// Numbers  Without seeds by x, then y, of the trees' lowest nodes.
/// Collapse If one segment comes out of at least 1000 nodes, voxels of 0.9, 1.11, 0.8, 1.25 and 0.72 times the size are
///          tried in turn; the first that gives more counts.
/// Order    Labels follow the input; the result does not depend on threads nor on the order of the points. An offset of
///          the cloud or its mirror image change it only by rounding.
/// Cost     cut_pursuit_trees_bytes; 0.6M points of a plot in 0.57M voxels: 5 s of one core.
/// Cancel   Within 250 ms for all allowed parameters; no partial result.
/// Errors   kInvalidArgument for parameters outside the ranges above, fewer than kFewestTreePoints finite points, seeds
///          that are not finite, voxels too small for the cloud.
/// Source   Xi & Hopkinson 2022, Remote Sens. 14, 6116, and the parameters of the authors' programs; section 4 of contract
///          classification for seeds and retries.
CutPursuitTreesResult cut_pursuit_trees(HitPoints points, Span<const Vec3d> seeds,
                                        const CutPursuitTreesParams& params, OpContext& ctx);

/// Where the voxels of a cloud meet: the centre of its bounding box.
Vec3d cut_pursuit_origin(HitPoints points, OpContext& ctx);

/// Exact number of nodes of stage 1: voxels of edge `decimate_res1` with a finite point. O(n) time, 40 bytes per point.
/// Errors   kInvalidArgument if decimate_res1 is not finite and positive.
std::uint64_t cut_pursuit_node_count(HitPoints points, double decimate_res1, OpContext& ctx);

/// Upper estimate of the scratch memory of cut_pursuit_trees.
std::uint64_t cut_pursuit_trees_bytes(std::uint64_t points, std::uint64_t nodes,
                                      const CutPursuitTreesParams& params);

}  // namespace pc
