#pragma once
#include <vector>

#include "core/column.h"
#include "core/op_context.h"
#include "ops/trees/tree_inventory.h"

namespace pc {

/// How far a scan was moved.
struct ScanMove {
  double scan;            ///< value of scan_index; 0 without
  double x_m, y_m, turn;  ///< mean over its time, of the middle of the stems, and about it, radians
  double most_m;          ///< largest distance of the middle
};

/// What moves the scans of a cloud onto each other.
struct Alignment {
  std::optional<ViewFit> views;  ///< see TreeInventoryResult
  std::vector<StemDrift>
      drifts;  ///< to take from the points, one after the other; none: the scans fit, or nothing tells
  Vec2d middle{0, 0};           ///< of the stems, frame of the results
  std::vector<ScanMove> scans;  ///< ascending
};

/// Finds how the scans of a cloud are to be moved so that its stems stand at one place, at each time. Arguments, cost and errors:
/// tree_inventory, whose list is not made.
Alignment align_scans(const TreeCloud& cloud, const TreeInventoryParams& params, OpContext& ctx);

/// Points without drift, level.
///
/// points      (n) metres, any finite or not
/// shift       added to points: the frame of the drifts
/// scan_index, time_s  (n) scalar, or nullptr
/// Cancel      Within 250 ms.
/// Errors      kInvalidArgument for columns of different lengths.
Column<Vec3d> without_drift(Span<const Vec3d> points, const Vec3d& shift, const AnyColumn* scan_index,
                            const AnyColumn* time_s, const std::vector<StemDrift>& drifts, OpContext& ctx);

}  // namespace pc
