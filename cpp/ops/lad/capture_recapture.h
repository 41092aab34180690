#pragma once
#include <cstdint>
#include <vector>

#include "core/op_context.h"
#include "core/span.h"
#include "ops/lad/scanner_view.h"

namespace pc {

struct CaptureRecaptureParams {
  Span<const double> g;     ///< leaf projection function: one value, or (nz) one per layer of the grid; > 0
  double range_noise_m;     ///< standard deviation of the ranges, >= 0
  double leaf_width_m = 0;  ///< >= 0; 0 = unknown: leaves may be as wide as beams lie apart
};

struct CaptureRecaptureResult {
  std::vector<double> seen_by_m2;     ///< (scans) leaf area that exactly 1, 2, .. scanners see
  double seen_m2 = 0;                 ///< their sum
  double leaf_area_m2 = 0;            ///< with what none sees; NaN if no place is seen by two
  double lower_m2 = 0, upper_m2 = 0;  ///< 95 %, from the scanners left out in turn; NaN with fewer than three
  std::uint64_t hit_count = 0;        ///< hits on leaves in the grid
  double spacing_m = 0;               ///< mean distance of these hits to the next beam; 0 without hits
  /// Of the pairs of a hit and another scanner that sees its place, the share where that has a hit within two distances of the
  /// beams and three times the noise, over the same share of pairs of a hit and a beam beside it, which edges of leaves make
  /// smaller, too. NaN without pairs. Small: scans lie beside each other, or leaves moved between them.
  double agreement = 0;
};

/// Leaf area in a grid from the hits themselves: what several scanners see of it tells what none of them sees.
///
/// A hit stands for the leaf area A = r^2 w / G, r its range and w the solid angle of its beam. Another scanner sees the place
/// if its nearest beam gets as far as the plane of the leaf there, to within the distance of its beams, at most half the width
/// of a leaf, and three times the noise. The area is shared among the n scanners that see it, A / n. What none sees is (m - 1) / m f1^2 / (2 f2), f1 and f2
/// the areas that exactly one and two of m scanners see.
///
/// scans    at least two, static, single returns, with their misses; a hit outside the grid only hides
/// Order    The same bits for any number of threads and any order of the rows.
/// Cost     O(hits scans log beams); scanner_view_bytes of all scans, scanner_view_scratch_bytes of the largest.
/// Cancel   Within 50 ms.
/// Errors   kInvalidArgument: fewer than two scans, G or noise out of range, those of ScannerView.
/// Source   Shares by inverse number of detections: Horvitz & Thompson 1952 (J. Am. Stat. Assoc. 47). Unseen area: lower
///          bound of Chao 1987 (Biometrics 43) with m occasions. Interval: jackknife of Tukey over the scanners, Student's
///          t with m - 1 degrees of freedom. Own: that they apply to areas of leaves.
CaptureRecaptureResult capture_recapture(const std::vector<ViewedScan>& scans, const VoxelBox& grid,
                                         const CaptureRecaptureParams& params, OpContext& ctx);

/// Memory that capture_recapture needs besides its input, bytes; `rows` of each scan.
std::uint64_t capture_recapture_bytes(const std::vector<std::uint64_t>& rows);

}  // namespace pc
