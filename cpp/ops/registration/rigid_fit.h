#pragma once
#include <cstddef>

#include "core/vec3.h"
#include "ops/registration/rigid_transform.h"

namespace pc {

/// Weighted pairs of points, summed up for the motion that fits them best. The sums are about the first pair, so
/// coordinates far from the origin cost no precision.
class RigidFit {
 public:
  void add(const Vec3d& moving, const Vec3d& fixed, double weight);

  /// The motion of the moving onto the fixed points with the least sum of weighted squared distances: a rotation, never
  /// a mirror. Where the points fix no rotation (fewer than three, or on a line) it is one of the best ones.
  ///
  /// Source   Horn 1987, "Closed-form solution of absolute orientation using unit quaternions".
  RigidTransform motion() const;
  double weight() const { return weight_; }

 private:
  Vec3d moving_origin_{0, 0, 0}, fixed_origin_{0, 0, 0};
  Vec3d moving_{0, 0, 0}, fixed_{0, 0, 0};          ///< weighted sums
  Vec3d rows_[3]{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};  ///< weighted sum of moving fixed^T
  double weight_ = 0;
  bool begun_ = false;
};

}  // namespace pc
