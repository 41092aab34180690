#pragma once
#include <algorithm>
#include <cmath>

namespace pc {

/// Weighted least squares fit of a plane to points around an origin.
class PlaneFit {
 public:
  struct Plane {
    double height, gu, gv;  ///< at the origin; rise per unit of u and v
    double rise() const { return std::sqrt(gu * gu + gv * gv); }
  };

  void add(double u, double v, double z, double weight) {
    s_ += weight;
    su_ += weight * u;
    sv_ += weight * v;
    suu_ += weight * u * u;
    suv_ += weight * u * v;
    svv_ += weight * v * v;
    // Heights relative to the first: on mountains, differences of a few metres keep their precision.
    if (count_ == 0) z0_ = z;
    const double dz = z - z0_;
    sz_ += weight * dz;
    suz_ += weight * u * dz;
    svz_ += weight * v * dz;
    szz_ += weight * dz * dz;
    ++count_;
  }

  int count() const { return count_; }

  /// The fitted plane. `pull` draws it towards level, in squared units of u and v, so that collinear points and a
  /// single point give a plane too.
  Plane plane(double pull) const {
    const double mu = su_ / s_, mv = sv_ / s_, mz = sz_ / s_;
    const double uu = suu_ - s_ * mu * mu + pull * s_, vv = svv_ - s_ * mv * mv + pull * s_;
    const double uv = suv_ - s_ * mu * mv, uz = suz_ - s_ * mu * mz, vz = svz_ - s_ * mv * mz;
    const double determinant = uu * vv - uv * uv;
    const double gu = (uz * vv - vz * uv) / determinant, gv = (vz * uu - uz * uv) / determinant;
    return {z0_ + mz - gu * mu - gv * mv, gu, gv};
  }

  /// Root mean square distance of the points from a plane.
  double deviation(const Plane& plane) const {
    const double h = plane.height - z0_, gu = plane.gu, gv = plane.gv;
    const double squared = szz_ + s_ * h * h + gu * gu * suu_ + gv * gv * svv_ + 2 * gu * gv * suv_ +
                           2 * h * (gu * su_ + gv * sv_) - 2 * (h * sz_ + gu * suz_ + gv * svz_);
    return std::sqrt(std::max(0.0, squared / s_));
  }

 private:
  double s_ = 0, su_ = 0, sv_ = 0, suu_ = 0, suv_ = 0, svv_ = 0;
  double z0_ = 0, sz_ = 0, suz_ = 0, svz_ = 0, szz_ = 0;
  int count_ = 0;
};

}  // namespace pc
