#pragma once
#include <cstdint>
#include <optional>

#include "core/column.h"
#include "core/hit_points.h"
#include "core/op_context.h"

namespace pc {

/// Misses are drawn at this many times the distance of the farthest hit.
constexpr double kMissShellFactor = 1.4;
/// A miss nearer to the origin has no direction, metres.
constexpr double kMissMinDistance_m = 1e-9;

struct ProjectMissesResult {
  Column<Vec3d> positions;      ///< (kept) in the order of the misses
  double radius_m;              ///< distance of all of them from the origin
  std::uint64_t dropped_count;  ///< misses without a direction: within 1e-9 m of the origin, or not finite
};

/// Radius of the shell that misses are drawn on: 1.4 times the farthest finite hit from `origin`; 1.0 without
/// hits, or when no hit is away from the origin. metres; `origin` finite, else kInvalidArgument. One
/// streaming pass.
double miss_shell_radius(HitPoints hits, const Vec3d& origin, OpContext& ctx);

/// Moves misses to a sphere around the scanner, so that they show directions without stretching the view:
/// origin + d / |d| * radius_m, d = miss - origin.
///
/// misses   (n) metres, frame of origin
/// Order    Kept misses follow the input, whatever the thread count.
/// Cost     Two streaming passes, 24 bytes a miss. Cancel within 50 ms.
/// Errors   kInvalidArgument when origin is not finite or radius_m not finite and positive.
/// Source   contract cloud-import section 13.3.
ProjectMissesResult project_misses(Span<const Vec3d> misses, const Vec3d& origin, double radius_m,
                                   OpContext& ctx);

/// Positions of the misses that are not deleted, in row order: on the shell around `origin` when it is given, else where
/// they are.
///
/// positions  (n) metres; is_miss and deleted as for hit_mask
/// Cost       Up to six streaming passes, 48 bytes a row at most. Cancel within 50 ms.
/// Errors     those of hit_mask and project_misses.
Column<Vec3d> miss_overlay(Span<const Vec3d> positions, const AnyColumn& is_miss,
                           Span<const std::uint8_t> deleted, const std::optional<Vec3d>& origin,
                           OpContext& ctx);

}  // namespace pc
