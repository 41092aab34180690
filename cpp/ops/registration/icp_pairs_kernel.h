#pragma once
#include <cmath>
#include <cstdint>

#include "core/host_device.h"
#include "core/vec3.h"
#include "spatial/kd_tree_view.h"

/// The nearest points of the other side of a registration: one body for the CPU and CUDA.
namespace pc::icp_pairs_kernel {

constexpr std::uint32_t kNone = ~std::uint32_t{0};

/// A rigid motion without std::array, which CUDA cannot index.
struct Motion {
  Vec3d x, y, z, shift;  ///< rows of the rotation; metres

  PC_HD Vec3d operator()(const Vec3d& p) const { return Vec3d{dot(x, p), dot(y, p), dot(z, p)} + shift; }
};

/// One side: its tree, which is empty if no query looks for its points, and its points by slot of the tree.
struct Side {
  KdTreeView tree;
  const Vec3d* points;
};

/// What a pass found out about a query: its nearest point, kNone where there is none within the limit, and a distance from the
/// place of the query then within which there is no other point.
struct Known {
  std::uint32_t slot = kNone;
  float clear_m = 0;  ///< 0 = nothing is known
};

/// The nearest point so far, among equally near ones the one with the lowest row, and how near all others may be.
struct Nearest {
  double best;                         ///< squared distance; at first the limit, inclusive
  double others = kd_tree::kInfinity;  ///< no point but the nearest one has a lower squared distance
  std::uint64_t row = ~std::uint64_t{0};
  std::uint32_t slot = kNone;

  PC_HD bool wants(double squared, std::uint64_t other) {
    if (squared < best || (squared == best && other < row)) return true;
    others = squared < others ? squared : others;
    return false;
  }
  PC_HD void take(double squared, std::uint64_t other, std::uint64_t at) {
    if (slot != kNone) others = best < others ? best : others;
    best = squared;
    row = other;
    slot = static_cast<std::uint32_t>(at);
  }
};

/// Both motions of a pose.
struct Motions {
  Motion pose, back;  ///< moving to fixed, and its inverse
};

/// All queries of a pose: the moving points, then the fixed ones.
struct Queries {
  Side fixed, moving;
  std::uint64_t moving_count;
  Motions motions;
  double squared_limit;

  PC_HD bool of_moving(std::uint64_t i) const { return i < moving_count; }
  PC_HD const Side& other_side(std::uint64_t i) const { return of_moving(i) ? fixed : moving; }
  /// Where query i is at a pose, in the frame of the other side.
  PC_HD Vec3d place(std::uint64_t i, const Motions& at) const {
    return of_moving(i) ? at.pose(moving.points[i]) : at.back(fixed.points[i - moving_count]);
  }
};

/// Tells the nearest point of a query that is at `p` now and was at `before`, if it must be the same as then: however the others
/// lie, that one is nearer. `known` then holds for p.
PC_HD inline bool is_known(const Queries& queries, const Side& other, const Vec3d& p, const Vec3d& before,
                           Known& known, Nearest& nearest) {
  constexpr double kRounding = 1e-6;  // far above that of the distances and of a float
  constexpr float kLeast = 1e-30F;    // floats keep their precision above
  const double moved = std::sqrt(squared_distance(p, before));
  const double clear = (static_cast<double>(known.clear_m) - moved * (1 + kRounding)) * (1 - kRounding);
  const double squared =
      known.slot == kNone ? queries.squared_limit : squared_distance(p, other.points[known.slot]);
  if (!(clear > static_cast<double>(kLeast) && squared < clear * clear * (1 - kRounding))) return false;
  known.clear_m = static_cast<float>(clear);
  if (known.slot != kNone && squared <= queries.squared_limit) nearest.take(squared, 0, known.slot);
  return true;
}

/// Finds the nearest point of query i. `known` is of the pass at the pose `earlier`, and is brought to this one. A point known to
/// be near (kNone: no such point) bounds the search; the bound is inclusive, so that point itself is found again. The result is
/// the same for any `known` and `also_known`.
///
/// Source  Points whose nearest one cannot have changed are not searched for: Greenspan & Godin 2001, "A nearest neighbor method
///         for efficient ICP", 3DIM.
PC_HD inline Nearest find_pair(const Queries& queries, std::uint64_t i, const Motions& earlier, Known& known,
                               std::uint32_t also_known) {
  const Side& other = queries.other_side(i);
  const Vec3d p = queries.place(i, queries.motions);
  Nearest nearest{queries.squared_limit};
  if (known.clear_m > 0 && is_known(queries, other, p, queries.place(i, earlier), known, nearest))
    return nearest;
  const std::uint32_t slots[] = {known.slot, also_known};
  for (const std::uint32_t slot : slots) {
    if (slot == kNone) continue;
    const double squared = squared_distance(p, other.points[slot]);
    nearest.best = squared < nearest.best ? squared : nearest.best;
  }
  other.tree.find_nearest(p, kd_tree::kNoRow, nearest);
  known = {nearest.slot, static_cast<float>(std::sqrt(nearest.others) * (1 - 1e-6))};
  return nearest;
}

/// The squared distance to the partner, infinite without one.
PC_HD inline double squared_of(const Nearest& nearest) {
  return nearest.slot == kNone ? kd_tree::kInfinity : nearest.best;
}

/// A side in host memory.
struct HostSide {
  HostKdTree tree;  ///< empty if no query looks for points of this side
  const Vec3d* points;
  std::uint64_t point_count;
};

/// What pc_cuda keeps of a registration: its sides, and what the last pass found out about each query.
struct HostSides {
  HostSide fixed, moving;
};

/// Input of pc_cuda: queries of a pose over sides that it has. Output: the partners of the first `count`.
struct HostPass {
  Queries queries;  ///< its trees and points are not used
  std::uint64_t count;
  std::uint32_t* slot;  ///< (count)
  double* squared;      ///< (count) square metres
};

}  // namespace pc::icp_pairs_kernel
