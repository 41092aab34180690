#pragma once
#include <cstdint>
#include <vector>

#include "core/op_context.h"
#include "ops/trees/tree_inventory.h"

namespace pc {

/// A circle across a stem.
struct StemCircle {
  std::uint64_t tree;
  Vec3d center, axis;  ///< frame of the results; axis: unit
  double radius_m;
};

/// Where stems stand in one scan against another.
struct ScanOffset {
  double scan_a, scan_b;  ///< values of scan_index, scan_a < scan_b
  std::uint32_t stems;    ///< seen by both
  double x_m, y_m;        ///< medians of b - a
  double spread_m;        ///< 1.48 times the median distance from them, both axes together
};

/// Offsets of fewer stems mean little.
constexpr std::uint32_t kFewestOffsetStems = 3;
/// Of a cloud of more scans no offsets are measured.
constexpr std::size_t kMostScans = 64;

/// Registration of the scans of a cloud by its stems: for each scan the centre of the circle of each stem is fitted, with the radius
/// of the circle given, to the points of the scan within 0.25 m along the axis; then the centres of two scans are compared.
///
/// scan_index  (n) scalar, the scan of each point; 0 counts as a scan; not finite: the point counts nowhere
/// circles     of different trees; their points are those with the id in tree_instance
/// Result      pairs of scans with kFewestOffsetStems common stems, each seen in 15 points and on 80 degrees of the circle; ascending.
///             Nothing for one scan or more than kMostScans.
/// Order       The same for any thread count and order of the rows.
/// Cost        One pass over the rows and O(points near the circles); 40 bytes for each of these. Cancel within 250 ms.
/// Errors      kInvalidArgument for columns of different lengths.
/// Source      Own. Fit: Gauss-Newton of distances with Huber's weights (Huber 1964, Ann. Math. Statist. 35: 73).
std::vector<ScanOffset> scan_offsets(const TreeCloud& cloud, const AnyColumn& scan_index,
                                     const std::vector<StemCircle>& circles, OpContext& ctx);

}  // namespace pc
