#pragma once
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/op_context.h"
#include "ops/registration/icp_pairs.h"
#include "ops/registration/rigid_transform.h"

namespace pc {

enum class IcpMethod : std::uint8_t { kPointToPoint, kPointToPlane, kGicp };

/// Units of the six unknowns of a step, all metres: turn about `center` times `radius_m`, then shift.
struct IcpFrame {
  Vec3d center;     ///< mean of the moving points
  double radius_m;  ///< their root mean square distance from it; 1 if that is 0
};
IcpFrame icp_frame(const IcpLevel& moving, OpContext& ctx);

/// Root mean square distance between where two poses put the moving points, taken as spread evenly about their middle, metres.
inline double rms_apart(const RigidTransform& a, const RigidTransform& b, const IcpFrame& frame) {
  return std::sqrt(squared_distance(a(frame.center), b(frame.center)) +
                   squared_rotation_distance(a, b) / 3 * frame.radius_m * frame.radius_m);
}

/// Normal equations H x = -g of one Gauss-Newton step.
struct IcpSystem {
  std::array<double, 21> h;  ///< rows of the lower triangle
  std::array<double, 6> g;
  double squared;            ///< distances of the moving points to their partners, squared and summed
  std::uint64_t pair_count;  ///< moving points with a partner
  std::uint64_t equations;   ///< pairs with a residual, of both directions
};

/// Median of the residuals of all pairs, metres; negative if there is none. A residual is the distance of a pair, its
/// part along the normal of the point that was found, or the plane-to-plane distance, which equals the latter where
/// normals agree.
double median_residual(const IcpScale& scale, const RigidTransform& pose, IcpMethod method,
                       const IcpPairs& pairs, OpContext& ctx);

/// Sums the normal equations over the pairs, each weighted 1 / (1 + (residual / scale_m)^2).
///
/// frame    of the moving points at the pose
/// Order    The same bits for any thread count: sums of fixed blocks, added in block order.
/// Source   Point to plane: Chen & Medioni 1992; a pair counts by how well its normals agree (icp_system.cpp), so that
///          foliage does not outvote surfaces. Plane to plane: Segal, Haehnel & Thrun 2009, eq. 2 with their epsilon of
///          0.001. Weight: Cauchy. Both directions: points of either side look for a partner, which
///          lowers the error of the turn by 16 to 56 % (docs/accuracy.md, registration).
IcpSystem icp_system(const IcpScale& scale, const RigidTransform& pose, IcpMethod method,
                     const IcpPairs& pairs, const IcpFrame& frame, double scale_m, OpContext& ctx);

/// The motion that solves a system, without the directions that the pairs do not fix.
struct IcpMotion {
  RigidTransform motion;
  double length_m;  ///< how far it moves the points, in the units of IcpFrame; before the bound
};

/// Solves the system in its eigenvectors. Directions whose eigenvalue is below 1e-4 of the largest are left alone
/// (Zhang, Kaess & Singh 2016). A motion longer than longest_m is shortened to it.
IcpMotion icp_motion(const IcpSystem& system, const IcpFrame& frame, double longest_m);

}  // namespace pc
