#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/hit_points.h"
#include "core/op_context.h"
#include "core/qsm.h"
#include "ops/qsm/plant_scale.h"
#include "ops/qsm/volume_intervals.h"

namespace pc {

/// How measured radii become those of the model.
enum class RadiusModel : std::uint8_t {
  kIsotonic,  ///< never growing along a shoot, shrunk where one side was seen (contract skeleton-qsm section 4.4)
  kTapered,  ///< a taper law of the tree and the twig's radius, weighted against each measured radius's standard error
};

struct QsmBuildParams {
  double
      twig_radius_m;  ///< of this year's twigs, > 0; kTreeTwigRadius: in proportion to plants that are no trees
  bool axis_termination;                      ///< an axis may end at a fork of equals
  double fork_symmetry;                       ///< 0..1, ratio of radii from which a fork is one of equals
  double w_growthlength, w_area, w_colinear;  ///< weights of the score of continuation, >= 0
  RadiusModel radius_model;
  /// How far views were moved onto each other (tree_sway), root mean square: what is left of it is part of the intervals.
  double moved_m = 0;
  /// The points are of wood: where they lie on no surface they are twigs that few were measured on, and not leaves.
  bool leafless = false;
};

struct QsmBuildResult {
  Qsm qsm;  ///< empty: no tree was found (reached_count and node_count say why)
  VolumeInterval total{}, stem{}, branches{};  ///< 95 %
  std::uint64_t points_used = 0;               ///< finite points
  std::uint64_t reached_count = 0;             ///< of them, connected with the base
  std::uint64_t node_count = 0;                ///< of the skeleton
  std::vector<std::string> warnings;
  bool radii_known = true;         ///< false: radii of most of the length are guesses
  bool has_intervals = true;       ///< false: they mean nothing
  PlantScale scale{1, {0, 0, 0}};  ///< how the plant was enlarged
  double cluster_share = 0;  ///< of its length that runs through points that lie on no surface of wood, 0..1
};

/// Peak memory of build_qsm in addition to its arguments, result included.
std::uint64_t build_qsm_cost(std::uint64_t point_count);

/// Phases, as they are shown: "Extracting skeleton", "Segmenting shoots", "Fitting cylinders", "Correcting radii",
/// "Resolving shoot ranks".
///
/// Reconstructs one leafless tree as connected cylinders (contract skeleton-qsm section 4).
///
/// Skeleton with two deviations: arcs of one ring are one node (ring_arcs.h), and a surface of fewer points than the rest
/// has a graph of longer edges (sparse_surfaces.h).
///
/// Plants   that span less than 2.5 m are enlarged to kTreeSpan (plant_scale.h), modelled and reduced, as are the errors that are
///          known of trees; logs and stumps, which are as thick as trees, are not.
///
/// points   (n) hits of one tree without ground, metres, z up. Rows that are not finite are left out.
/// Order    The same for any thread count and order of the points.
/// Cost     O(n log n) time, build_qsm_cost; 1 M points 10 s, 10 M 90 s on 2 cores. Cancel within 250 ms.
/// Errors   kInvalidArgument for parameters out of range.
QsmBuildResult build_qsm(HitPoints points, const QsmBuildParams& params, OpContext& ctx);

}  // namespace pc
