#pragma once
#include <cstdint>

#include "core/op_context.h"
#include "core/span.h"
#include "ops/denoise/beam_origins.h"
#include "spatial/kd_tree.h"

namespace pc {

/// Angles are in steps: multiples of the angle between neighbouring beams. A slope is the difference of two ranges over
/// the distance of the two points across the beam.
struct MixedPixelParams {
  double max_spacing_m;  ///< points where beams are farther apart are not judged, metres, finite and > 0
  double support_steps;  ///< a surface at a point has another point within this angle, 0 < .. <= kMostSteps
  double support_slope;  ///< and within this slope; finite and > 0
  double edge_steps;     ///< largest angle to the near and the far surface, 0 < .. <= kMostSteps
  double edge_depth_m;  ///< least difference of their ranges, metres: above the noise of ranges; finite, >= 0
  std::uint32_t edge_support;  ///< points that support a point of these surfaces, 0 .. 16
  double line_steps;  ///< a line through a point has another point within this angle, 0 < .. <= kMostSteps
  double line_slope;  ///< and within this slope; finite, >= 0
  double line_tolerance;  ///< relative error of the slopes on a line, finite, >= 0
  double
      inconsistent_share;  ///< of points that contradict the origins: more, and no point is labelled; 0 .. 1
};

/// Largest angle in MixedPixelParams: limits the points per search.
constexpr double kMostSteps = 4;

struct MixedPixelResult {
  double step_rad = 0;               ///< median angle between neighbouring beams; 0 = not measurable
  double inconsistent_share = 0;     ///< of sampled points that contradict the origins
  bool consistent = false;           ///< false: the origins do not explain the points, none was labelled
  bool moving = false;               ///< the origins are those of a moving scanner: none was labelled
  std::uint64_t unknown_count = 0;   ///< points without a finite origin: never labelled
  std::uint64_t coarse_count = 0;    ///< points where beams are more than max_spacing_m apart: never labelled
  std::uint64_t labelled_count = 0;  ///< points labelled noise here that were not noise before
};

/// Mixed pixels: a beam that grazes the edge of a near thing and also meets a far one gives a point between them, in the
/// air. Such points trail behind edges, along the beams. A point is one if
///
/// Support   no point lies within `support_steps` of its beam and within `support_slope`: no surface and no twig goes
///           through it, unless seen at grazing incidence, below atan(1 / support_slope);
/// Line      nor do two points on one line with it, one of them within `edge_steps`: a twig along the beam;
/// Edge      within `edge_steps` there are a nearer and a farther point, beyond `support_slope` both, each with at least
///           `edge_support` points that support it: two surfaces that the scan resolves, `edge_depth_m` apart at least;
/// Echo      no other point lies on its own beam: a scanner that tells echoes apart has measured both.
///
/// Step      The angle between neighbouring beams is the median of the distance to the second nearest point of the same
///           scan over the range, of samples, per origin. Points are of the same scan if their origins are within a
///           tenth of the range. With more than 256 origins among the samples the scanner moved, and no point is
///           labelled: from above, stems and twigs along the beams look the same.
/// Spacing   A thing thinner than the distance of the beams is hit by single beams and looks the same too: where they
///           are more than `max_spacing_m` apart, no point is labelled.
/// Origins   True origins explain the points: beams less than 0.3 steps apart, which are not one, rarely end more than
///           10 steps apart. If the share of clean samples with such a clean neighbour exceeds `inconsistent_share` (origins of
///           another cloud, the placeholder of a file of several scans, beams bent by a later registration), no point
///           is labelled.
///
/// tree     of the points; labels by row, NoiseClass. Only clean points are labelled noise.
/// Order    Labels follow the input; the result does not depend on threads (bit-identical).
/// Cost     O(n log n) with a few dozen distances a point, and a search along the beam for the few points without
///          support. Clouds of points on lines, where most have none, take up to 15 times as long: no search of
///          surroundings visits more than 512 leaves. Below this bound the time of a cloud whose density falls with the
///          distance grows as n^1.6. 4 bytes per leaf of scratch.
/// Cancel   Within 250 ms for all allowed parameters; labels are then undefined.
/// Errors   kInvalidArgument for parameters out of range.
/// Source   Own. That a mixed pixel lies between a nearer and a farther surface: Hebert & Krotkov 1992. The incidence
///          angle of the surface through a point and its neighbours: Tang, Huber & Akinci 2007, who compare edge and
///          normal based tests. The line and the check of the origins are ours.
MixedPixelResult label_mixed_pixels(const KdTree& tree, const BeamOrigins& origins,
                                    const MixedPixelParams& params, Span<std::uint8_t> labels,
                                    OpContext& ctx);

}  // namespace pc
