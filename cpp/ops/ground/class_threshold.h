#pragma once
#include <cstdint>

#include "core/op_context.h"
#include "core/span.h"

namespace pc {

/// How a class threshold was determined.
enum class ThresholdMethod : std::uint8_t {
  kManual,    ///< the caller's value, as requested
  kKnee,      ///< measured: where the layer has thinned out to the level of the gap above it
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
///          0.10), at most 4000; the fullest bin within near = max(2 resolution, 0.25) of 0 is the ground mode; half
///          width = distance to where the layer falls below half of it; the knee is a local minimum of the smoothed
///          counts, at most 50 % of the peak, not undercut for 3 smoothing spans, after which the counts rise to 1.25
///          times its value; clip(max(top, mode + half width), 0.02, 5). Own: top is where the counts, interpolated
///          between bins, have fallen to the floor plus 1 % of the peak above it; the floor is the count at the knee,
///          or 0 without one. The place of the lowest count in a flat gap is chance: .3 mm of noise moved the knee by
///          up to 76 %. A layer that reaches higher than 4 near shows no threshold.
ClassThreshold measure_class_threshold(Span<const float> heights, Span<const std::uint8_t> ignored,
                                       double resolution_m, double fallback_m, OpContext& ctx);

}  // namespace pc
