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
  Span<const Vec3d> positions;    ///< (n) metres
  Span<const std::uint8_t> skip;  ///< (n) non-zero = leave out, or empty; not read with an order
  const AnyColumn* order;         ///< rows of all trees, u32 or u64; null = all rows
  std::uint64_t first, count;     ///< the tree's part of the order; not read without
  Vec3d offset;                   ///< added to the positions: the frame of the model
  std::uint64_t max_points;       ///< thinned to these; 0 = all
};

struct TreeModel {
  QsmBuildResult built;               ///< of the thinned points
  std::optional<QsmMetrics> metrics;  ///< nothing without cylinders
  std::uint64_t point_count = 0;      ///< rows of the tree, finite or not
  double voxel_m = 0;                 ///< NaN where not thinned
};

/// Gathers the points of one tree, thins them, builds its model and measures it.
///
/// Order    That of build_qsm: rows, threads and the order of points do not matter.
/// Cost     Of thin_points and build_qsm.
/// Cancel   Within 250 ms.
/// Errors   kInvalidArgument for fewer than kLeastModelPoints finite points, for an order that does not fit, and of
///          build_qsm.
TreeModel tree_model(const ModelRows& rows, const QsmBuildParams& params, OpContext& ctx);

/// Memory of tree_model, bytes.
std::uint64_t tree_model_cost(std::uint64_t point_count, std::uint64_t max_points);

}  // namespace pc
