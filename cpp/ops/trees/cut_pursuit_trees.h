#pragma once
#include <cstdint>

#include "core/column.h"
#include "core/hit_points.h"
#include "core/op_context.h"

namespace pc {

/// Clouds with fewer finite points are rejected.
constexpr std::uint64_t kFewestTreePoints = 10;
/// Most neighbours that a parameter may ask for.
constexpr std::uint32_t kMaxTreeNeighbors = 1000;

/// Names and meanings as published; all numbers finite.
struct CutPursuitTreesParams {
  double reg_strength1;                ///< stage 1: cost of a cut edge, >= 0
  std::uint32_t min_nn1;               ///< stage 1: neighbours of a node, 1 .. kMaxTreeNeighbors
  double decimate_res1;                ///< stage 1: voxel, metres, > 0
  double reg_strength2;                ///< stage 2: cost of a cut edge, >= 0
  std::uint32_t min_nn2;               ///< stage 2: neighbours of a node and of a segment
  double decimate_res2;                ///< stage 2: voxel, metres, > 0
  double max_gap;                      ///< stages 2 and 3: segments further apart are not joined, metres, > 0
  double rel_height_length_ratio;      ///< stage 3: rise of a segment over its neighbours by its length, >= 0
  double vertical_weight;              ///< stage 3: weight of the overlap in height, >= 0
  std::uint32_t min_nn3;               ///< stage 3: neighbours of a segment
  double score_candidate_thresh;       ///< stage 3: least share of the best score of a segment that is joined to
  double init_stem_rel_length_thresh;  ///< stage 3: length of a stem by the median length of segments
  double max_outlier_gap;              ///< stage 3: points further than this from their segment are left out, metres
};

struct CutPursuitTreesResult {
  Column<std::uint32_t> tree_instance;  ///< (n) 0 = none, else 1 .. tree_count
  std::uint64_t tree_count;             ///< with seeds their number
  std::uint64_t node_count;             ///< voxels of stage 1
  std::uint64_t stage1_count;           ///< segments after stage 1
  std::uint64_t stage2_count;           ///< segments after stage 2
  double decimate_res1, decimate_res2;  ///< voxels used; others than asked for only after stage1_collapsed
  bool stage1_collapsed;                ///< one segment came out of the first try of stage 1
};

/// Individual trees in a cloud of vegetation, by the similarity of cut-pursuit segments.
///
/// points   (n) metres, any one Cartesian frame, z up; vegetation only: the caller leaves ground out. Rows that are not
///          finite get 0.
/// seeds    (s) one place per tree, same frame; empty = find the trees. With seeds exactly s trees, tree k + 1 of seed
///          k; a tree may be empty where there are more seeds than segments.
/// Numbers  Without seeds by the least x, then y, of the trees' lowest nodes.
/// Order    Labels follow the input; the result does not depend on threads nor on the order of the points.
/// Cost     cut_pursuit_trees_bytes; 0.6M points of a plot: 6 s of CPU.
/// Cancel   Within 250 ms for all allowed parameters; no partial result.
/// Errors   kInvalidArgument for parameters outside the ranges above, fewer than kFewestTreePoints finite points, seeds
///          that are not finite.
/// Source   Xi & Hopkinson 2022, Remote Sens. 14, 6116.
CutPursuitTreesResult cut_pursuit_trees(HitPoints points, Span<const Vec3d> seeds,
                                        const CutPursuitTreesParams& params, OpContext& ctx);

/// Exact number of nodes of stage 1: voxels of edge `decimate_res1` with a finite point. O(n) time and memory.
/// Errors   kInvalidArgument if decimate_res1 is not finite and positive.
std::uint64_t cut_pursuit_node_count(HitPoints points, double decimate_res1, OpContext& ctx);

/// Upper estimate of the scratch memory of cut_pursuit_trees.
std::uint64_t cut_pursuit_trees_bytes(std::uint64_t points, std::uint64_t nodes,
                                      const CutPursuitTreesParams& params);

}  // namespace pc
