#pragma once
#include <vector>

#include "core/column.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"
#include "ops/dem/scan_heights.h"

namespace pc {

/// How high a scan lies above the mean of those that it can be compared with.
struct ScanLift {
  double scan;  ///< value of scan_index
  double z_m;
};

/// Heights of the scans that explain the differences of the ground in pairs of them best: least squares, weighed by their common
/// cells; of scans that are joined by pairs the mean is 0. Nothing if no pair differs by more than 1 cm, and by more than four
/// standard errors of its median.
std::vector<ScanLift> scan_lifts(const std::vector<ScanHeight>& pairs);

/// The same of the ground of a cloud: of its ground points, then three times of all points within 6 cm of the ground that these
/// have once they are lowered.
///
/// positions   (n) metres
/// skip        (n) non-zero = leave out, or empty
/// ground_class, scan_index  (n) scalar; ground is 1
/// Result      Ascending scans; nothing for one scan, more than kMostComparedScans, or without common ground
/// Order, cost, cancel  scan_heights; four times, one byte per row and 12 per block of 0.5 m more.
/// Errors      kInvalidArgument for columns of different lengths.
std::vector<ScanLift> scan_lifts(Span<const Vec3d> positions, Span<const std::uint8_t> skip,
                                 const AnyColumn& ground_class, const AnyColumn& scan_index, OpContext& ctx);

/// Moves scans whose ground is a layer of its own (ground_layers) onto that of the others, and tells by how much. Of two layers that of fewer
/// points is moved, with the scans of which four fifths of at least 100 points lie in it; then the next, up to eight.
///
/// positions  (n) metres; some are moved if it is cancelled
/// skip, scan_index  as in ground_layers
/// Result     Ascending scans that were moved.
std::vector<ScanLift> take_layers(Span<Vec3d> positions, Span<const std::uint8_t> skip,
                                  const AnyColumn& scan_index, OpContext& ctx);

/// Of scans that were lowered twice.
std::vector<ScanLift> joined_lifts(const std::vector<ScanLift>& a, const std::vector<ScanLift>& b);

/// Lowers the points of each scan by its lift; scan_index (n) scalar. Cancel within 250 ms; some points are lowered then.
void take_lifts(Span<Vec3d> points, const AnyColumn& scan_index, const std::vector<ScanLift>& lifts,
                OpContext& ctx);

}  // namespace pc
