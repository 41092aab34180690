#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/op_context.h"
#include "ops/denoise/beam_origins.h"
#include "spatial/kd_tree.h"

namespace pc::beams {

/// The angle between neighbouring beams of each scan, radians.
class BeamSteps {
 public:
  struct Scan {
    Vec3d origin;
    double step;
  };
  BeamSteps(double median, std::vector<Scan> scans, bool moving)
      : median_(median), scans_(std::move(scans)), moving_(moving) {}

  /// Of all beams together; 0 if not measurable.
  double median() const { return median_; }
  /// True for more origins than scans have.
  bool moving() const { return moving_; }
  /// The median for an origin with few samples.
  double of(const Vec3d& origin) const {
    const auto at = std::lower_bound(
        scans_.begin(), scans_.end(), origin,
        [](const Scan& scan, const Vec3d& wanted) { return is_before(scan.origin, wanted); });
    return at != scans_.end() && at->origin == origin ? at->step : median_;
  }
  static bool is_before(const Vec3d& a, const Vec3d& b) {
    return a.x != b.x ? a.x < b.x : (a.y != b.y ? a.y < b.y : a.z < b.z);
  }

 private:
  double median_;
  std::vector<Scan> scans_;  ///< sorted by origin
  bool moving_;
};

/// Measures it at some 2000 to 4000 points, chosen by their coordinates.
BeamSteps measure_steps(const KdTree& tree, const BeamOrigins& origins, OpContext& ctx);

/// The share of as many points beside whose beam another of the same scan ends at a clearly different range. Points
/// labelled noise (by row) do not count: they are not where a beam has met something.
double inconsistent_share(const KdTree& tree, const BeamOrigins& origins, const BeamSteps& steps,
                          Span<const std::uint8_t> labels, OpContext& ctx);

}  // namespace pc::beams
