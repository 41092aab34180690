#pragma once
#include <cstdint>
#include <optional>

#include "core/column.h"
#include "core/op_context.h"
#include "core/span.h"
#include "ops/qsm/build_qsm.h"
#include "ops/qsm/qsm_metrics.h"

namespace pc {

/// Fewer points are no tree.
constexpr std::uint64_t kLeastModelPoints = 50;

/// Rows of a cloud that are one tree without ground and leaves.
struct ModelRows {
  Span<const Vec3d> positions;            ///< (n) metres
  Span<const std::uint8_t> skip;          ///< (n) non-zero = leave out, or empty; not read with an order
  const AnyColumn* order;                 ///< rows of all trees, u32 or u64; null = all rows
  std::uint64_t first, count;             ///< the tree's part of the order; not read without
  Vec3d offset;                           ///< added to the positions: the frame of the model
  std::uint64_t max_points;               ///< thinned to these; 0 = all
  const AnyColumn* scan_index = nullptr;  ///< (n) number of the scan of each point, or null
  const AnyColumn* time_s = nullptr;      ///< (n) when each was measured, seconds, or null
  bool align_scans = true;                ///< false: views that do not fit each other stay where they are
  const AnyColumn* height_above_ground = nullptr;  ///< (n) metres; 0 or not finite = unknown; or null
  bool leafless = false;                           ///< the points are labelled as wood (QsmBuildParams)
};

/// Whether the views of a tree fit each other: one scan, or one visit of a scanner that is carried, is a view.
struct TreeViewFit {
  std::size_t views;
  double spread_m;  ///< root mean square of the shifts of its points from the mean of the views
  double
      scatter_m;  ///< of the points about branches that each view has for itself: robust standard deviation
  double together_m;  ///< about the same branches in all views
  bool sways;         ///< views show the tree at different places
  bool aligned;       ///< the model is of points without these shifts
};

struct TreeModel {
  QsmBuildResult built;               ///< of the thinned points
  std::optional<QsmMetrics> metrics;  ///< nothing without cylinders
  std::uint64_t point_count = 0;      ///< rows of the tree, finite or not
  double voxel_m = 0;                 ///< NaN where not thinned
  std::optional<TreeViewFit> views;   ///< nothing with fewer than two
  double base_gap_m = 0;              ///< of draw_to_ground
};

/// Gathers the points of one tree, thins them, builds its model and measures it.
///
/// Views    A tree that wind moved while it was scanned is at another place in each scan, and branches become too thick. Where the
///          first model shows it (tree_sway), each view is moved onto the mean of all, by a shift that is smooth along the
///          branches, and the model is built again, at most three times. Trees that stood still keep their first model, and those whose
///          points are as far from any surface of wood after that.
/// Ground   Where heights are known, the stem is drawn out to the ground (draw_to_ground): its level is the median of z less
///          height over the points up to 0.1 m above the lowest one.
/// Order    That of build_qsm: rows, threads and the order of points do not matter.
/// Cost     Of thin_points, build_qsm and tree_sway, up to four times for a tree that moved.
/// Cancel   Within 250 ms.
/// Errors   kInvalidArgument for fewer than kLeastModelPoints finite points, for an order that does not fit, and of
///          build_qsm.
TreeModel tree_model(const ModelRows& rows, const QsmBuildParams& params, OpContext& ctx);

/// Whether views can lie so far apart: that scatters the points of all views about their branches, in simulated winds by an eighth
/// of it to a third. A still tree of 723 points was moved by 26 times its scatter, made up where few points hold the shifts.
bool is_plausible(const TreeViewFit& views);

/// Whether moving the views made more of a model: its radii are measured, or more of it lies on surfaces of wood.
bool is_clearer(const QsmBuildResult& first, const QsmBuildResult& moved);

/// Memory of tree_model, bytes. has_views: with scan_index or time_s.
std::uint64_t tree_model_cost(std::uint64_t point_count, std::uint64_t max_points, bool has_views);

}  // namespace pc
