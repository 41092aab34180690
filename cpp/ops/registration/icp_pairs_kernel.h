#pragma once
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

/// The nearest point so far; among equally near ones the one with the lowest row.
struct Nearest {
  double best;  ///< squared distance; at first the limit, inclusive
  std::uint64_t row = ~std::uint64_t{0};
  std::uint32_t slot = kNone;

  PC_HD bool wants(double squared, std::uint64_t other) const {
    return squared < best || (squared == best && other < row);
  }
  PC_HD void take(double squared, std::uint64_t other, std::uint64_t at) {
    best = squared;
    row = other;
    slot = static_cast<std::uint32_t>(at);
  }
};

/// All queries of a pose: the moving points, then the fixed ones.
struct Queries {
  Side fixed, moving;
  std::uint64_t moving_count;
  Motion pose, back;  ///< moving to fixed, and its inverse
  double squared_limit;
};

/// Of query i. A point known to be near bounds the search; the bound is inclusive, so that point itself is found again, and
/// the result is the same for any `known` and `also_known` (kNone: no such point).
PC_HD inline Nearest find_pair(const Queries& queries, std::uint64_t i, std::uint32_t known,
                               std::uint32_t also_known) {
  const bool forward = i < queries.moving_count;
  const Side& other = forward ? queries.fixed : queries.moving;
  const Vec3d p = forward ? queries.pose(queries.moving.points[i])
                          : queries.back(queries.fixed.points[i - queries.moving_count]);
  Nearest nearest{queries.squared_limit};
  const std::uint32_t slots[] = {known, also_known};
  for (const std::uint32_t slot : slots) {
    if (slot == kNone) continue;
    const double squared = squared_distance(p, other.points[slot]);
    nearest.best = squared < nearest.best ? squared : nearest.best;
  }
  other.tree.find_nearest(p, kd_tree::kNoRow, nearest);
  return nearest;
}

/// The partner of query i and its squared distance, infinite without one. `slot` is a point known to be near, or kNone.
PC_HD inline void write_pair(const Queries& queries, std::uint64_t i, std::uint32_t& slot, double& squared) {
  const Nearest nearest = find_pair(queries, i, slot, kNone);
  slot = nearest.slot;
  squared = nearest.slot == kNone ? kd_tree::kInfinity : nearest.best;
}

/// A side in host memory.
struct HostSide {
  HostKdTree tree;  ///< empty if no query looks for points of this side
  const Vec3d* points;
  std::uint64_t point_count;
};

/// What pc_cuda keeps of a registration: its sides, and the last partner of each query.
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
