#pragma once
#include <cmath>
#include <cstdint>

#include "core/float_bits.h"
#include "core/host_device.h"
#include "core/vec3.h"

namespace pc {

/// A symmetric 3 x 3 matrix: covariances, second moments.
struct Symmetric3 {
  double xx, xy, xz, yy, yz, zz;

  /// Adds d d^T.
  PC_HD void add_square(const Vec3d& d) {
    xx += d.x * d.x;
    xy += d.x * d.y;
    xz += d.x * d.z;
    yy += d.y * d.y;
    yz += d.y * d.z;
    zz += d.z * d.z;
  }
};

/// Eigenvalues in ascending order with a unit eigenvector each; the vectors form a right-handed frame.
struct SymmetricEigen3 {
  double value[3];
  Vec3d vector[3];
};

namespace symmetric_eigen_detail {

/// The rotated matrix, and the product of the rotations.
struct Rotated {
  double a[3][3];
  double v[3][3];  ///< columns
};

/// Makes a[p][q] zero. A small element is zeroed without a rotation if it no longer changes the diagonal.
PC_HD inline void rotate(Rotated& m, int p, int q) {
  const double off = m.a[p][q];
  const double size = fabs(off), at_p = fabs(m.a[p][p]), at_q = fabs(m.a[q][q]);
  m.a[p][q] = m.a[q][p] = 0;
  if (at_p + size == at_p && at_q + size == at_q) return;
  const double half = (m.a[q][q] - m.a[p][p]) / (2 * off);
  const double root = sqrt(half * half + 1);  // infinite for a tiny angle: then t is 0
  const double t = half < 0 ? -1 / (root - half) : 1 / (root + half);
  const double c = 1 / sqrt(t * t + 1), s = t * c, tau = s / (1 + c);
  m.a[p][p] -= t * off;
  m.a[q][q] += t * off;
  const int r = 3 - p - q;
  const double rp = m.a[r][p], rq = m.a[r][q];
  m.a[r][p] = m.a[p][r] = rp - s * (rq + tau * rp);
  m.a[r][q] = m.a[q][r] = rq + s * (rp - tau * rq);
  for (int i = 0; i < 3; ++i) {
    const double vp = m.v[i][p], vq = m.v[i][q];
    m.v[i][p] = vp - s * (vq + tau * vp);
    m.v[i][q] = vq + s * (vp - tau * vq);
  }
}

PC_HD inline void order(double& a, double& b, int& i, int& j) {
  if (!(b < a)) return;
  const double value = a;
  const int index = i;
  a = b;
  b = value;
  i = j;
  j = index;
}

/// The same direction with its largest component positive; among equally large ones the first decides.
PC_HD inline Vec3d facing(const Vec3d& v) {
  const double x = fabs(v.x), y = fabs(v.y), z = fabs(v.z);
  const double largest = x >= y && x >= z ? v.x : y >= z ? v.y : v.z;
  return largest < 0 ? Vec3d{-v.x, -v.y, -v.z} : v;
}

}  // namespace symmetric_eigen_detail

/// Eigenvalues and eigenvectors of a symmetric 3 x 3 matrix, with the same bits on host and device.
///
/// m        finite; otherwise the values are NaN and the vectors the axes
/// Order    For equal eigenvalues the vectors are a frame of their space, always the same one. The first two vectors
///          have their largest component positive; the third completes the frame.
/// Accuracy |A v - lambda v| <= 8 eps |A|, | |v| - 1 | and v_i . v_j <= 8 eps, eigenvalues within 8 eps |A| of the exact
///          ones, at any scale of double (eps = 2^-52, |A| the largest absolute eigenvalue): symmetric_eigen_test.cpp.
/// Cost     About 400 operations: + - * / and sqrt; no memory.
/// Source   Cyclic Jacobi (Rutishauser 1966, "The Jacobi method for real symmetric matrices"). Closed forms lose half
///          the digits if eigenvalues are nearly equal, and need a cosine, whose bits differ between devices.
PC_HD inline SymmetricEigen3 symmetric_eigen(const Symmetric3& m) {
  namespace detail = symmetric_eigen_detail;
  constexpr int kMostSweeps = 16;  // 4 to 6 are needed; more would mean no convergence
  double largest = 0;
  bool finite = true;
  const double all[6] = {m.xx, m.xy, m.xz, m.yy, m.yz, m.zz};
  for (const double value : all) {
    finite = finite && value - value == 0;
    largest = fabs(value) > largest ? fabs(value) : largest;
  }
  if (!finite) {
    const double nan =
        m.xx - m.xx + (m.yy - m.yy) + (m.zz - m.zz) + (m.xy - m.xy) + (m.xz - m.xz) + (m.yz - m.yz);
    return {{nan, nan, nan}, {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  }
  // Scaling by a power of two is exact. It brings the largest entry near 1, so that squares neither overflow nor
  // vanish.
  std::uint64_t exponent = bits_of(largest) >> 52;
  exponent = exponent < 1 ? 1 : exponent > 2045 ? 2045 : exponent;
  const double down = double_of((2046 - exponent) << 52), up = double_of(exponent << 52);
  detail::Rotated r{{{m.xx * down, m.xy * down, m.xz * down},
                     {m.xy * down, m.yy * down, m.yz * down},
                     {m.xz * down, m.yz * down, m.zz * down}},
                    {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    if (r.a[0][1] == 0 && r.a[0][2] == 0 && r.a[1][2] == 0) break;
    if (r.a[0][1] != 0) detail::rotate(r, 0, 1);
    if (r.a[0][2] != 0) detail::rotate(r, 0, 2);
    if (r.a[1][2] != 0) detail::rotate(r, 1, 2);
  }
  double value[3] = {r.a[0][0], r.a[1][1], r.a[2][2]};
  int column[3] = {0, 1, 2};
  detail::order(value[0], value[1], column[0], column[1]);
  detail::order(value[1], value[2], column[1], column[2]);
  detail::order(value[0], value[1], column[0], column[1]);
  const auto vector = [&](int i) { return Vec3d{r.v[0][column[i]], r.v[1][column[i]], r.v[2][column[i]]}; };
  const Vec3d a = detail::facing(vector(0)), b = detail::facing(vector(1)), c = vector(2);
  const Vec3d cross{a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
  const bool right_handed = cross.x * c.x + cross.y * c.y + cross.z * c.z > 0;
  return {{value[0] * up, value[1] * up, value[2] * up}, {a, b, right_handed ? c : Vec3d{-c.x, -c.y, -c.z}}};
}

}  // namespace pc
