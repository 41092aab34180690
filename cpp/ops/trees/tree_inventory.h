#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/column.h"
#include "core/op_context.h"
#include "core/vec3.h"
#include "ops/trees/competition.h"
#include "ops/trees/crown_cover.h"
#include "ops/trees/crown_measures.h"
#include "ops/trees/expected_drop.h"
#include "ops/trees/layer_motion.h"
#include "ops/trees/plot_boundary.h"
#include "ops/trees/ribbed_foot.h"
#include "ops/trees/stem_curve.h"
#include "ops/trees/stem_drift.h"
#include "ops/trees/tree_stem.h"

namespace pc {

/// A cloud whose points carry the id of their tree.
struct TreeCloud {
  Span<const Vec3d> positions;            ///< (n) metres, z up
  Vec3d shift;                            ///< added to positions: the frame of the results
  Span<const std::uint8_t> skip;          ///< (n) non-zero = leave out, or empty
  const AnyColumn* tree_instance;         ///< (n) scalar; rounded; ids are above 0
  const AnyColumn* height_above_ground;   ///< (n) scalar, metres; 0 or not finite = unknown; or nullptr
  const AnyColumn* ground_class;          ///< (n) scalar, 1 = ground; or nullptr
  const AnyColumn* scan_index = nullptr;  ///< (n) scalar, the scan of each point; or nullptr
  const AnyColumn* time_s = nullptr;      ///< (n) scalar, when it was measured, seconds; or nullptr
};

struct TreeInventoryParams {
  StemParams stem;  ///< to its seed the tree's id is added
  ThickStemParams thick;
  CrownMeasureParams crown;
  std::uint64_t min_points;                            ///< trees with fewer points are skipped
  std::optional<std::vector<std::uint64_t>> tree_ids;  ///< to measure; nothing = all trees, and the stand
  bool align_scans;                                    ///< measure without drift
  double most_view_spread_m;  ///< of views that fit; above it those of each stem are moved
  double competition_radius_m, least_distance_m;              ///< see CompetitionParams
  double cover_cell_m, most_cover_cells, most_overlap_pairs;  ///< see CrownCoverParams
};

struct MeasuredTree {
  std::uint64_t id;
  std::uint64_t point_count;  ///< hits with a finite position
  bool too_few_points;        ///< fewer than 3: nothing else is set
  Box3d box;
  Stem stem;
  double dbh_sigma_m;  ///< standard error of the diameter at breast height; NaN without one
  double height_m;     ///< of the highest point above the ground at the stem's base
  double
      height_drop_m;  ///< by how much it would be lower, in the mean, with every second point: expected_drop
  double top_shared =
      0;  ///< share of the points about its highest one that belong to other trees: shared_tops.h
  /// How much lower the highest point is that does not stand alone: stray_top.h; NaN = unknown.
  double stray_top_m = 0;
  double ground_share;  ///< of the cells around its stem, see GroundHeights::share_around; NaN = unknown
  double strip_m;       ///< widest empty strip between two parts of the tree, see tree_places.h
  double flat_share =
      0;  ///< of its points on flat surfaces, see flat_trees.h; NaN = unknown, of fewer than 10 points
  bool flat = false;  ///< a wall, a roof, a vehicle: no tree
  bool wire = false;  ///< of a power line, and without a circle at breast height: no tree, see flat_trees.h
  bool scattered = false;  ///< drops of rain, snow or fog, without a circle: no tree, see scattered_tree.h
  bool no_crown = false;   ///< a circle at breast height, but next to nothing beside the stem, as of a post
  bool at_wall = false;    ///< a circle at breast height, but a wall beside it: stems_at_walls.h
  double bare_scatter_m = 0;       ///< of the best sections of its stem, see covered_stem.h; NaN = unknown
  bool covered = false;            ///< no circle at breast height, as leaves cover the stem there
  std::uint64_t same_stem_as = 0;  ///< the tree in whose place its circle was; 0 = none
  std::uint64_t image_of = 0;      ///< the tree that a mirror shows in its place: mirrored_trees.h; 0 = none
  std::uint64_t repeat_of = 0;     ///< the tree that stands here once more: repeated_trees.h; 0 = none
  std::uint64_t part_of = 0;       ///< the tree that it was measured with: divided_stems.h; 0 = none
  std::optional<RibbedFoot> foot;  ///< what widens the stem at breast height
  CrownMeasures crown;

  /// No tree, or not one of its own: it is in no value of the stand.
  bool is_none() const {
    return flat || wire || scattered || image_of != 0 || repeat_of != 0 || part_of != 0;
  }
};

/// Takes the diameter from a tree, and all that is known of its stem; none of its sections is ok any more.
inline void forget_stem(MeasuredTree& tree) {
  tree.stem.breast_height.reset();
  tree.dbh_sigma_m = std::nan("");
  tree.foot.reset();
  tree.no_crown = tree.covered = false;
  for (StemSection& section : tree.stem.curve) section.ok = false;
}

/// A tree that is not in the list, and why.
struct SkippedTree {
  double id;  ///< exact below 2^53; larger values of tree_instance are no ids
  std::uint64_t point_count;
  std::string reason;  ///< a sentence part for the user
  bool small;          ///< fewer than min_points
};

struct StandMeasures {
  PlotBoundary plot;
  double
      unseen_share;  ///< of the plot, see unseen_ground.h; NaN = unknown, or the plot is not that of the ground
  CrownCover cover;
  double crown_area_sum_m2;
  Competition competition;  ///< one entry per tree of the list
};

/// Whether the views of the stems fit each other.
struct ViewFit {
  std::uint32_t stems;  ///< seen by two or more views, each with 15 points of the circle at breast height
  double spread_m;      ///< see DriftFit; of the points as they lie
  double rest_m;
  bool drifts;   ///< more than views that fit
  bool aligned;  ///< the trees were measured with the views moved by the drift
};

/// Scans of which some lie beside the others, as the stems show that are seen twice.
struct ScanLayers {
  LayerMotion motion;
  std::uint32_t joined;  ///< trees measured with their layers moved together
  bool joins;            ///< whether layers were to be joined
};

struct TreeInventoryResult {
  std::vector<MeasuredTree> trees;   ///< ascending id
  std::vector<SkippedTree> skipped;  ///< ascending id
  std::optional<ViewFit>
      views;  ///< nothing without scan_index and time_s, and with fewer than kFewestCheckedStems
  std::optional<StandMeasures> stand;  ///< nothing with tree_ids, and without a measured tree
  std::optional<ScanLayers> layers;    ///< nothing where scans fit, and where they drift
  std::vector<StemDrift> drifts;       ///< taken from the points, one after the other, if aligned
  std::uint64_t nonfinite_count;       ///< rows of trees without a finite position
};

/// Measures every tree of a cloud, then the stand.
///
/// Flat     What lies on flat surfaces from kFlatTree on and has no well seen stem of 1 m radius is no tree: it has no circle at
///          breast height, its sections are not ok, and its hull does not cover the stand.
/// Scattered A "tree" without a circle whose points are far apart (scattered_tree.h) is drops or insects, and in no value of the stand.
/// Covered  A stem that ivy covers at breast height (covered_stem.h) has no circle there, and its sections within leaves are not ok.
/// Low      A tree without a diameter at breast height, or with breast height below the heights at which stems are looked for, is
///          measured at its trunk if that is seen: low_trunk. With such a breast height it has no other diameter, and its views
///          tell nothing of drift.
/// Same     A tree whose circle at breast height is in the place of a better known one (same_stems.h) has none, and its sections
///          are not ok.
/// Images   A tree that glass shows of another one (mirrored_trees.h) has no circle, its sections are not ok, and it is in no value of the
///          stand.
/// Repeats  A tree that stands a second time in the cloud (repeated_trees.h), likewise.
/// Views    Where the scans drift by more than most_view_spread_m, and more than noise explains, as stems show that took no part in the fit (drift_check.h), the trees are measured again with
///          their points moved by the drift, if align_scans: all to where the mean of the views has them.
///          Where hardly a stem has views by times, scans are views.
/// Layers   Where no drift is known and stems are seen twice, all by one motion (stem_layers.h, layer_motion.h), the trees are measured
///          again with the layers of their stems moved together, if align_scans and six of ten such stems show that motion; a tree
///          without a diameter by the circle that both layers have in common, if that is well seen. Trees that stand in the stem of
///          another one (divided_stems.h) are parts of it: they are measured with it, and in no value of the stand.
/// Memory   The rows are ordered by tree once (4 or 8 bytes per row of a tree); after that each thread holds the points of
///          one tree. The ground grid, the plot's hulls and its cells are summed up row by row.
/// Failure  A tree that cannot be measured is skipped with its reason, whatever it is.
/// Order    The same bits for any thread count and order of the rows, whether the columns lie in memory or in files.
/// Cost     See tree_inventory_bytes; O(n log n) time.
/// Cancel   Within 250 ms.
/// Errors   kInvalidArgument for lengths that differ, lengths that are not above 0 and those of categorical_split.
/// Source   contract inventory sections 1 to 4.
TreeInventoryResult tree_inventory(const TreeCloud& cloud, const TreeInventoryParams& params, OpContext& ctx);

/// Memory for an inventory besides its columns, bytes.
///
/// rows     of trees
/// largest  number of points of the largest tree
double tree_inventory_bytes(std::uint64_t rows, std::uint64_t largest, int threads);

}  // namespace pc
