#pragma once
#include <cstdint>

#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// Whether times tell the pulses of a static scan apart.
enum class PulseClock : std::uint8_t {
  kUsable,
  kConstant,  ///< every return has the same time, or there are none
  kUntimed,   ///< a return has no finite time
  kRounded,   ///< returns of different pulses share a time
};

/// Returns and their times.
struct TimedRows {
  Span<const Vec3d> positions;    ///< (n) metres
  Span<const double> times_s;     ///< (n)
  Span<const std::uint8_t> skip;  ///< (n) non-zero = no return; empty = all are
  Vec3d origin;                   ///< scanner
};

/// Looks at the returns that share a time: those of one pulse lie in one direction.
///
/// most_angle_rad  returns of one pulse are at most this far apart, seen from the origin, > 0
/// Order    A function of the returns alone, for any thread count.
/// Cost     Two streaming passes and a sort of about a million returns: of more, the times with a small hash, each with all
///          its returns. 40 MB. Cancel within 100 ms.
/// Errors   kInvalidArgument: lengths that differ, an angle that is not positive.
/// Source   contract sessions 14: the clock is rounded if half of the times have more than 15 returns, or if more than 1 % of
///          the times have returns further apart.
PulseClock check_pulse_clock(const TimedRows& rows, double most_angle_rad, OpContext& ctx);

}  // namespace pc
