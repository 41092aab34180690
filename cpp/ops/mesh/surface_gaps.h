#pragma once
#include <cstdint>
#include <vector>

#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"
#include "spatial/kd_tree.h"

namespace pc {

/// The gap beside a point of a surface.
struct SurfaceGap {
  static constexpr double kNotFlat = -1;  ///< its neighbours lie on no plane
  static constexpr double kOpen = -2;     ///< a border, or a gap wider than its neighbours are far
  std::uint32_t row;
  double
      radius_m;  ///< distance to the farthest corner of the point's Voronoi cell on the plane of its neighbours
};

/// Gaps beside every so many points, at most `most` of them, in the order of the rows: what a ball has to span so that it
/// rests on this point and others all around. The distance to the nearest point says nothing of it where a scanner's rows are
/// much farther apart than the points of a row.
///
/// points   (n) those of the tree
/// Order    Bit-identical for any thread count.
/// Cost     64 neighbours of each, 256 where those are too near; under 1 ms per point.
/// Cancel   Within 50 ms.
/// Source   Own measure: a ball that is smaller than the empty circle around a corner of the Voronoi cell falls through
///          (Bernardini et al. 1999, section 3). Neighbours are flat if the least of the eigenvalues of their covariance is
///          below 5 % of the sum (surface variation, Pauly et al. 2002): 0.1 to 1.6 % in scans of rooms with noise of 2 to
///          5 mm, 8 to 20 % in crowns.
std::vector<SurfaceGap> surface_gaps(const KdTree& tree, Span<const Vec3d> points, std::size_t most,
                                     OpContext& ctx);

/// 90th percentile of the gaps' radii; 0 unless at least half of the samples are flat and a tenth of those have a gap.
double typical_gap(Span<const SurfaceGap> gaps);

}  // namespace pc
