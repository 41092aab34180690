#pragma once
#include <vector>

#include "core/memory.h"
#include "core/op_context.h"
#include "ops/registration/icp_system.h"
#include "ops/registration/rigid_transform.h"

namespace pc {

/// A pose after its refinement, and how much of the moving side agrees with the fixed one there.
struct JudgedPose {
  RigidTransform pose;
  double agreement;  ///< 0 .. 1
};

/// Refines and compares poses of two thinned clouds.
///
/// Agreement  Sum over the moving points whose nearest fixed point is within 1.5 voxels and has a normal within 30 degrees:
///            weight times 1 - (distance to its plane / half a voxel)^2, if positive. The weight of a point is inverse
///            to the share of points whose normals are within 15 degrees of its own, so that ground or a wall, which fits
///            on itself in many poses, does not outvote what is on it. Weights add up to 1.
/// Order      Bit-identical for any thread count.
/// Cancel     Within 250 ms.
class PoseJudge {
 public:
  /// scale: of finite points with normals; must outlive the judge. voxel_m: distance of neighbouring points, > 0.
  PoseJudge(const IcpScale& scale, double voxel_m, OpContext& ctx);

  /// Point-to-plane iterations while the limit narrows from 4 to 1.5 voxels, and the agreement after them.
  JudgedPose refined(const RigidTransform& pose, OpContext& ctx) const;
  /// Root mean square distance between where two poses put the moving points, voxels.
  double apart(const RigidTransform& a, const RigidTransform& b) const;

 private:
  double agreement(const RigidTransform& pose, OpContext& ctx) const;

  const IcpScale& scale_;
  double voxel_m_;
  IcpFrame frame_;
  BulkVector<double> weight_;  ///< by slot of the moving side
};

}  // namespace pc
