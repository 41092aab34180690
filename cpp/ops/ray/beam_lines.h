#pragma once
#include <cstdint>
#include <vector>

#include "core/column.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// Returns of a scan, deleted ones included.
struct ReturnRows {
  Span<const Vec3d> positions;  ///< (n) metres
  Span<const Vec3d> origins;    ///< (n) beam origin of each row, or (1) for all; frame of positions
  Span<const double> times_s;   ///< (n) equal times form a pulse
  const AnyColumn* target_index = nullptr;  ///< (n) number of the return in its pulse, any scalar type
  const AnyColumn* is_miss = nullptr;       ///< (n) any scalar type, non-zero = no return; nullptr = all are
};

/// The line through the first and the last return of a pulse, on which its beam must begin.
struct BeamLine {
  Vec3d first, last;
  Vec3d origin;  ///< where the beam is said to begin
  double time_s;
};

/// Lines of about 20,000 pulses whose returns are 0.3 m and more apart, taken by their times.
///
/// Order    By time; the same for any order of the rows and any number of threads.
/// Cost     Five streaming passes and a sort of the rows taken; one byte per row, 32 MB. Cancel within 50 ms. Rows of one time whose target_index repeats,
///          of more than 64 returns, or with origins 1 cm apart, are no pulse. If more than one in ten are none, the times are
///          not those of pulses, and there are no lines.
/// Errors   kInvalidArgument: lengths differ.
std::vector<BeamLine> beam_lines(const ReturnRows& rows, OpContext& ctx);

/// How well the lines fit the origins.
struct OriginFit {
  std::uint64_t line_count = 0;
  double off_m = 0;          ///< median distance of the first return from the line origin - last return
  Vec3d shift{};             ///< of all origins: they then fit the lines best
  double shift_error_m = 0;  ///< standard error of its length
  double shifted_off_m = 0;  ///< the median then
};

/// The place from which the beams come by the returns of pulses that have several, relative to that stated. Noise of the ranges
/// lies along the lines and does not matter.
///
/// Minimises the sum of the distances of the first returns from the lines shifted origin - last return, first absolute ones
/// (which half of the lines, if they are wrong, do not spoil), then Tukey's biweight of these; directions in which the lines do
/// not tell the place (all are parallel) have no shift.
/// Cost     O(lines), 50 iterations.
/// Source   Lines of several returns that meet in the sensor: Gatziolis and McGaughey 2019, Remote Sensing 11:2258,
///          "Reconstructing aircraft trajectories from multi-return airborne laser-scanning data". The fit is our own.
OriginFit origin_fit(Span<const BeamLine> lines, OpContext& ctx);

/// How well the lines fit the poses of a trajectory on another clock.
struct ClockFit {
  double clock_s = 0;  ///< to be added to the times of the pulses
  double off_m =
      0;  ///< median distance as in OriginFit then; NaN if no clock has half of the lines within the poses
  double moved_m = 0;  ///< median distance between the origins before and then
};

/// Looks for the clock within 120 s for which the lines fit the trajectory best, to 1 ms.
///
/// poses, lever_arm, shift  as of trajectory_join
/// Cost     Some 600 times 2000 lines. Cancel within 50 ms.
/// Errors   kInvalidArgument: as trajectory_join.
ClockFit clock_fit(Span<const BeamLine> lines, Span<const double> poses, const Vec3d& lever_arm,
                   const Vec3d& shift, OpContext& ctx);

}  // namespace pc
