#pragma once
#include <algorithm>
#include <cmath>

#include "core/span.h"
#include "spatial/predicates.h"

namespace pc {

/// Points across a stem as two groups along the direction in which they spread most.
struct PointColumns {
  double rms_m = HUGE_VAL;      ///< of the points about the mean of their group
  double gap_m = 0;             ///< between the means
  double all_rms_m = HUGE_VAL;  ///< of all points about their mean
};

/// The two groups with the least squares within; without four points all is infinite, and nothing a column.
///
/// points   (n) seen along the columns, metres
/// Cost     O(n log n).
/// Source   Fisher 1958, J. Am. Stat. Assoc. 53: 789 (grouping on a line).
PointColumns point_columns(Span<const Vec2d> points);

/// Whether they are one column of points or two, as a scan has on a thin stem: hardly wider than noise, and apart. Circles of any
/// radius pass through them, and the one that fits best is that along which noise has spread them. A part of a circle of 60
/// degrees and more is no such groups, as their rms is a third of their distance; nor is it one column, which is far narrower
/// than the circle.
///
/// noise_m  of the points about the circle; where they lie along it this says nothing: a scanner's is taken to be 3 mm at least
/// radius   of the circle, metres
inline bool are_columns(const PointColumns& columns, double noise_m, double radius) {
  constexpr double kNoises = 2.5, kLeastNoise = 0.003, kApart = 4, kNarrow = 0.25;
  const double noise = std::isfinite(noise_m) ? std::max(kLeastNoise, noise_m) : kLeastNoise;
  return (columns.rms_m < kNoises * noise && columns.gap_m > kApart * columns.rms_m) ||
         columns.all_rms_m < std::min(kNoises * noise, kNarrow * radius);
}

}  // namespace pc
