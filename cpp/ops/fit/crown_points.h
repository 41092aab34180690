#pragma once
#include <cstdint>

#include "core/column.h"
#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// Rows of one tree, and the labels that tell its crown.
struct TreeRows {
  Span<const Vec3d> positions;    ///< (n) metres
  Span<const std::uint8_t> skip;  ///< (n) non-zero = leave out, or empty; not read with an order
  const AnyColumn* order;         ///< rows of all trees, u32 or u64; null = all rows of the cloud
  std::uint64_t first, count;     ///< part of the order; not read without
  const AnyColumn* ground_class;  ///< (n) scalar, 1 = ground; null = not labelled
  const AnyColumn* wood_class;    ///< (n) scalar, 2 = leaf; null = not labelled
  bool leaf_only;                 ///< with wood_class: only leaf points are crown points
};

/// Crown points of a tree and what its other points tell.
struct CrownPoints {
  Vec3d origin;                  ///< what xyz is relative to: the low corner of its box
  BulkVector<Vec3d> xyz;         ///< finite, metres
  Box3d tree_box;                ///< of all finite points of the tree, relative to origin
  double ground_z;               ///< lowest ground point of the tree, relative to origin; NaN = none
  std::uint64_t unusable_count;  ///< points that are not finite or beyond 1e15 m
};

/// Selects the crown points of a tree: with leaf_only its leaf points; else its points that are not ground, if ground is
/// labelled; else all.
///
/// Order    In order of the rows. Does not depend on the thread count.
/// Cost     Two passes over the rows; 24 bytes per crown point.
/// Cancel   Within 50 ms.
/// Errors   kInvalidArgument: a part beyond the end of the order, a row or a label column that does not fit the
///          positions.
/// Source   Contract core section 4.
CrownPoints crown_points(const TreeRows& tree, OpContext& ctx);

}  // namespace pc
