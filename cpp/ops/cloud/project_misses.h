#pragma once
#include <cstdint>
#include <optional>

#include "core/column.h"
#include "core/hit_points.h"
#include "core/op_context.h"

namespace pc {

/// Misses are drawn at this many times the distance of the farthest hit.
constexpr double kMissShellFactor = 1.4;
/// A miss nearer to the origin than this has no direction, metres.
constexpr double kMissMinDistance_m = 1e-9;

struct ProjectMissesResult {
  Column<Vec3d> positions;      ///< (kept) in the order of the misses
  double radius_m;              ///< common distance from the origin, metres
  std::uint64_t dropped_count;  ///< misses without a direction: within 1e-9 m of the origin, or not finite
};

/// Radius of the shell that misses are drawn on, metres: 1.4 times the distance from `origin` to the farthest finite
/// hit; 1.0 without hits or if all hits are at the origin. Throws kInvalidArgument if `origin` is not finite. One
/// streaming pass.
double miss_shell_radius(HitPoints hits, const Vec3d& origin, OpContext& ctx);

/// Moves misses to a sphere around the scanner, so that they show their directions without enlarging the view:
/// origin + d / |d| * radius_m, d = miss - origin.
///
/// misses   (n) metres, frame of origin
/// Order    Kept misses follow the input, for any thread count.
/// Cost     Two streaming passes, 24 bytes per miss. Cancel within 50 ms.
/// Errors   kInvalidArgument if origin is not finite or radius_m not finite and positive.
/// Source   contract cloud-import section 13.3.
ProjectMissesResult project_misses(Span<const Vec3d> misses, const Vec3d& origin, double radius_m,
                                   OpContext& ctx);

/// Positions of the misses that are not deleted, in row order, then those that were recovered: on the shell around `origin`
/// if it is given, otherwise their own positions.
///
/// positions  (n) metres; is_miss (nullptr = no misses) and deleted as for hit_mask
/// recovered  (m) metres, misses that are no rows
/// Cost       Up to six streaming passes, at most 48 bytes per row and recovered miss. Cancel within 50 ms.
/// Errors     Those of hit_mask and project_misses.
Column<Vec3d> miss_overlay(Span<const Vec3d> positions, const AnyColumn* is_miss,
                           Span<const std::uint8_t> deleted, Span<const Vec3d> recovered,
                           const std::optional<Vec3d>& origin, OpContext& ctx);

}  // namespace pc
