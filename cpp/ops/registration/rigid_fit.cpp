#include "ops/registration/rigid_fit.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "ops/registration/symmetric_eigen6.h"

namespace pc {

namespace {

RigidTransform rotation_of(const std::array<double, 6>& q) {
  const double w = q[0], x = q[1], y = q[2], z = q[3];
  RigidTransform out;
  out.rows = {{{w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)},
               {2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)},
               {2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z}}};
  return orthonormal(out);
}

}  // namespace

void RigidFit::add(const Vec3d& moving, const Vec3d& fixed, double weight) {
  if (!begun_) {
    moving_origin_ = moving;
    fixed_origin_ = fixed;
    begun_ = true;
  }
  const Vec3d m = moving - moving_origin_, f = fixed - fixed_origin_;
  moving_ = moving_ + m * weight;
  fixed_ = fixed_ + f * weight;
  rows_[0] = rows_[0] + f * (weight * m.x);
  rows_[1] = rows_[1] + f * (weight * m.y);
  rows_[2] = rows_[2] + f * (weight * m.z);
  weight_ += weight;
}

RigidTransform RigidFit::motion() const {
  if (!(weight_ > 0)) return {};
  const Vec3d m = moving_ * (1 / weight_), f = fixed_ * (1 / weight_);
  const Vec3d x = rows_[0] - f * moving_.x, y = rows_[1] - f * moving_.y, z = rows_[2] - f * moving_.z;
  // Rows of the lower triangle of Horn's matrix. The two unknowns beyond the quaternion have the lowest eigenvalue.
  double size = 0;
  for (const Vec3d& row : {x, y, z})
    size = std::max({size, std::abs(row.x), std::abs(row.y), std::abs(row.z)});
  if (!(size > 0)) {
    RigidTransform shift;
    shift.translation = fixed_origin_ + f - moving_origin_ - m;
    return shift;
  }
  const double low = -10 * size;
  const SymmetricEigen6 eigen = symmetric_eigen6({x.x + y.y + z.z,  //
                                                  y.z - z.y,
                                                  x.x - y.y - z.z,
                                                  z.x - x.z,
                                                  x.y + y.x,
                                                  y.y - x.x - z.z,
                                                  x.y - y.x,
                                                  z.x + x.z,
                                                  y.z + z.y,
                                                  z.z - x.x - y.y,
                                                  0,
                                                  0,
                                                  0,
                                                  0,
                                                  low,
                                                  0,
                                                  0,
                                                  0,
                                                  0,
                                                  0,
                                                  low});
  RigidTransform out = rotation_of(eigen.vector[5]);
  out.translation = fixed_origin_ + f - out.rotate(moving_origin_ + m);
  return out;
}

}  // namespace pc
