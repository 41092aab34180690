#pragma once
#include <cstdint>
#include <vector>

#include "core/column.h"
#include "core/op_context.h"
#include "core/vec3.h"
#include "ops/trees/stem_drift.h"
#include "ops/trees/tree_inventory.h"

namespace pc {

/// The rows of one tree in the order of the cloud.
struct MeasuredRows {
  std::uint64_t id, first, count;
};

/// The points of one tree.
struct MeasuredPoints {
  std::vector<Vec3d> points;
  std::vector<double> heights;    ///< as points, or empty
  std::vector<ViewStamp> stamps;  ///< as points, or empty
  std::uint64_t nonfinite = 0;

  /// Those of another one beside them.
  void add(const MeasuredPoints& other) {
    points.insert(points.end(), other.points.begin(), other.points.end());
    heights.insert(heights.end(), other.heights.begin(), other.heights.end());
    stamps.insert(stamps.end(), other.stamps.begin(), other.stamps.end());
  }
  ViewedTree viewed() const { return {{points.data(), points.size()}, {stamps.data(), stamps.size()}}; }
};

/// Whether a cloud tells what was measured together.
inline bool has_views(const TreeCloud& cloud) {
  return cloud.scan_index != nullptr || cloud.time_s != nullptr;
}

/// The finite points of a tree, by their position.
///
/// order    rows of the cloud, u32 or u64; those of the tree are a part of it
/// drifts   taken from the points, one after the other
/// Cancel   Within 250 ms.
MeasuredPoints points_of(const TreeCloud& cloud, const AnyColumn& order, const MeasuredRows& tree,
                         const std::vector<StemDrift>& drifts, const OpContext& ctx);

}  // namespace pc
