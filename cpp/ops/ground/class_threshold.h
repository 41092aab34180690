#pragma once
#include <cstdint>

#include "core/op_context.h"
#include "core/span.h"

namespace pc {

/// How a class threshold was determined.
enum class ThresholdMethod : std::uint8_t {
  kManual,    ///< the caller's value, as requested
  kKnee,      ///< measured: the gap above the layer of ground returns
  kTail,      ///< measured: no gap, the height where the layer has thinned out
  kFallback,  ///< neither found, or too few points: the caller's value
};

const char* to_string(ThresholdMethod method);

struct ClassThreshold {
  double value_m;
  ThresholdMethod method;
};

/// Measures how far the layer of ground returns reaches above a settled cloth.
///
/// heights      (n) metres above the cloth; NaN = none
/// ignored      (n) non-zero = left out, or empty = none
/// resolution_m cell size of the cloth, > 0
/// fallback_m   result if the heights show no threshold
/// Order    Does not depend on threads.
/// Cost     Two streaming passes. Cancel within 50 ms.
/// Source   contract classification section 2, table of the automatic threshold: bins of clip(resolution / 10, 0.002,
///          0.10) from the lowest height, at most 4000; the fullest bin within max(2 resolution, 0.25) of 0 is the
///          ground mode; half width = distance to where the layer falls below half of it; the knee is a local minimum
///          of the smoothed counts, at most 50 % of the peak, not undercut for 3 smoothing spans, after which the
///          counts rise to 1.25 times its value; otherwise the first smoothed bin below 1 % of the peak;
///          clip(max(knee, mode + half width), 0.02, 5).
ClassThreshold measure_class_threshold(Span<const float> heights, Span<const std::uint8_t> ignored,
                                       double resolution_m, double fallback_m, OpContext& ctx);

}  // namespace pc
