#include "spatial/predicates.h"

#include <algorithm>
#include <array>
#include <bit>

#include "core/expansion.h"
#include "core/float_bits.h"

namespace pc {

namespace {

constexpr double kEpsilon = 0x1p-53;
/// Of a sum or product of sums of two doubles, times the operations of the longest path.
constexpr double kTwoDoubleError = 0x1p-95;

int sign(double value) { return (value > 0) - (value < 0); }

template <class T>
using Rows2 = std::array<std::array<T, 2>, 3>;
template <class T>
using Rows3 = std::array<std::array<T, 3>, 4>;

template <class T>
T turn(const T& ax, const T& ay, const T& bx, const T& by) {
  return ax * by - bx * ay;
}

template <class T>
T circle_determinant(const Rows2<T>& r) {
  const auto lift = [&](int i) {
    const auto& p = r[static_cast<std::size_t>(i)];
    return p[0] * p[0] + p[1] * p[1];
  };
  const T bc = turn(r[1][0], r[1][1], r[2][0], r[2][1]), ca = turn(r[2][0], r[2][1], r[0][0], r[0][1]),
          ab = turn(r[0][0], r[0][1], r[1][0], r[1][1]);
  return lift(0) * bc + lift(1) * ca + lift(2) * ab;
}

/// Of the first three rows.
template <class T>
T plane_determinant(const Rows3<T>& r) {
  return r[0][2] * turn(r[1][0], r[1][1], r[2][0], r[2][1]) +
         r[1][2] * turn(r[2][0], r[2][1], r[0][0], r[0][1]) +
         r[2][2] * turn(r[0][0], r[0][1], r[1][0], r[1][1]);
}

template <class T>
T sphere_determinant(const Rows3<T>& r) {
  const auto [a, b, c, d] = r;
  const auto lift = [](const std::array<T, 3>& p) { return p[0] * p[0] + p[1] * p[1] + p[2] * p[2]; };
  const T ab = turn(a[0], a[1], b[0], b[1]), bc = turn(b[0], b[1], c[0], c[1]),
          cd = turn(c[0], c[1], d[0], d[1]), da = turn(d[0], d[1], a[0], a[1]),
          ac = turn(a[0], a[1], c[0], c[1]), bd = turn(b[0], b[1], d[0], d[1]);
  const T abc = a[2] * bc - b[2] * ac + c[2] * ab, bcd = b[2] * cd - c[2] * bd + d[2] * bc,
          cda = c[2] * da + d[2] * ac + a[2] * cd, dab = d[2] * ab + a[2] * bd + b[2] * da;
  return (lift(d) * abc - lift(c) * dab) + (lift(b) * cda - lift(a) * bcd);
}

template <class T, std::size_t kRows>
std::array<std::array<T, 3>, 4> rows_of(const std::array<Vec3d, kRows>& points, const Vec3d& origin) {
  Rows3<T> rows{};
  for (std::size_t i = 0; i < kRows; ++i) {
    rows[i] = {T(two_difference(points[i].x, origin.x)), T(two_difference(points[i].y, origin.y)),
               T(two_difference(points[i].z, origin.z))};
  }
  return rows;
}

template <class T>
Rows2<T> rows_of(const std::array<Vec2d, 3>& points, const Vec2d& origin) {
  Rows2<T> rows{};
  for (std::size_t i = 0; i < 3; ++i) {
    rows[i] = {T(two_difference(points[i].x, origin.x)), T(two_difference(points[i].y, origin.y))};
  }
  return rows;
}

/// Exponent of the lowest bit of a finite number; large for 0.
int lowest_exponent(double value) {
  const std::uint64_t bits = bits_of(value) & ~(std::uint64_t{1} << 63);
  if (bits == 0) return 2000;
  constexpr std::uint64_t kFraction = (std::uint64_t{1} << 52) - 1;
  const int exponent = static_cast<int>(bits >> 52);
  const std::uint64_t mantissa = (bits & kFraction) | (exponent == 0 ? 0 : kFraction + 1);
  return std::max(exponent, 1) - 1075 + std::countr_zero(mantissa);
}

/// Whether all entries are doubles and multiples of one unit below `cells` times it: a determinant of degree 2 for
/// cells = 2^50, 3 for 2^32, 4 for 2^24 or 5 for 2^19 stays below 2^104 units, so that sums of two doubles are exact.
template <class Rows>
bool on_lattice(const Rows& rows, double cells) {
  int lowest = 2000;
  double most = 0;
  for (const auto& row : rows) {
    for (const DoubleDouble& entry : row) {
      if (entry.low != 0) return false;
      lowest = std::min(lowest, lowest_exponent(entry.high));
      most = std::max(most, std::fabs(entry.high));
    }
  }
  return most == 0 || most < std::ldexp(cells, lowest);
}

/// Points with at most two values on each axis, as neighbours in a grid of voxels: corners of a box, which get the
/// coordinates 0 and 1. The sign of a volume is that of the corners, and all corners lie on one sphere, so that the most
/// frequent ties of such clouds need no long arithmetic.
template <std::size_t kCount>
bool corners_of_box(std::array<Vec3d, kCount>& points) {
  for (double Vec3d::*const axis : {&Vec3d::x, &Vec3d::y, &Vec3d::z}) {
    double low = points[0].*axis, high = low;
    for (const Vec3d& p : points) {
      low = std::min(low, p.*axis);
      high = std::max(high, p.*axis);
    }
    for (Vec3d& p : points) {
      if (p.*axis != low && p.*axis != high) return false;
      p.*axis = p.*axis == low ? 0 : 1;
    }
  }
  return true;
}

}  // namespace

int exact_orient_2d(const Vec2d& a, const Vec2d& b, const Vec2d& c) {
  const Rows2<DoubleDouble> rows = rows_of<DoubleDouble>({a, b, c}, c);
  if (on_lattice(rows, 0x1p50)) {
    return (two_product(rows[0][0].high, rows[1][1].high) - two_product(rows[1][0].high, rows[0][1].high))
        .sign();
  }
  const Expansion ax(two_difference(a.x, c.x)), ay(two_difference(a.y, c.y)), bx(two_difference(b.x, c.x)),
      by(two_difference(b.y, c.y));
  return turn(ax, ay, bx, by).sign();
}

int exact_in_circle(const Vec2d& a, const Vec2d& b, const Vec2d& c, const Vec2d& d, double most) {
  const auto rows = rows_of<DoubleDouble>({a, b, c}, d);
  const DoubleDouble fine = circle_determinant(rows);
  if (std::fabs(fine.high) > kTwoDoubleError * most || on_lattice(rows, 0x1p24)) return fine.sign();
  return circle_determinant(rows_of<Expansion>({a, b, c}, d)).sign();
}

int orient_3d(const Vec3d& a, const Vec3d& b, const Vec3d& c, const Vec3d& d) {
  const Rows3<double> r{{{a.x - d.x, a.y - d.y, a.z - d.z},
                         {b.x - d.x, b.y - d.y, b.z - d.z},
                         {c.x - d.x, c.y - d.y, c.z - d.z},
                         {}}};
  const double det = plane_determinant(r);
  const auto most_of = [&](std::size_t k) {
    return std::max({std::fabs(r[0][k]), std::fabs(r[1][k]), std::fabs(r[2][k])});
  };
  const double most = 6 * most_of(0) * most_of(1) * most_of(2);
  if (std::fabs(det) > (7 + 56 * kEpsilon) * kEpsilon * most || most == 0) return sign(det);
  std::array<Vec3d, 4> box{a, b, c, d};
  if (corners_of_box(box)) {
    const auto corner = rows_of<DoubleDouble, 3>({box[0], box[1], box[2]}, box[3]);
    return plane_determinant(corner).sign();
  }
  const auto rows = rows_of<DoubleDouble, 3>({a, b, c}, d);
  const DoubleDouble fine = plane_determinant(rows);
  if (std::fabs(fine.high) > kTwoDoubleError * most || on_lattice(rows, 0x1p32)) return fine.sign();
  return plane_determinant(rows_of<Expansion, 3>({a, b, c}, d)).sign();
}

int in_sphere(const Vec3d& a, const Vec3d& b, const Vec3d& c, const Vec3d& d, const Vec3d& e) {
  const Rows3<double> r{{{a.x - e.x, a.y - e.y, a.z - e.z},
                         {b.x - e.x, b.y - e.y, b.z - e.z},
                         {c.x - e.x, c.y - e.y, c.z - e.z},
                         {d.x - e.x, d.y - e.y, d.z - e.z}}};
  const double det = sphere_determinant(r);
  const auto most_of = [&](std::size_t k) {
    return std::max(std::max(std::fabs(r[0][k]), std::fabs(r[1][k])),
                    std::max(std::fabs(r[2][k]), std::fabs(r[3][k])));
  };
  const double mx = most_of(0), my = most_of(1), mz = most_of(2);
  const double most = 24 * mx * my * mz * (mx * mx + my * my + mz * mz);
  if (std::fabs(det) > (16 + 224 * kEpsilon) * kEpsilon * most || most == 0) return sign(det);
  std::array<Vec3d, 5> box{a, b, c, d, e};
  if (corners_of_box(box)) return 0;
  const auto rows = rows_of<DoubleDouble, 4>({a, b, c, d}, e);
  const DoubleDouble fine = sphere_determinant(rows);
  if (std::fabs(fine.high) > kTwoDoubleError * most || on_lattice(rows, 0x1p19)) return fine.sign();
  return sphere_determinant(rows_of<Expansion, 4>({a, b, c, d}, e)).sign();
}

int in_perturbed_sphere(const Vec3d& a, const Vec3d& b, const Vec3d& c, const Vec3d& d, const Vec3d& e) {
  const int side = in_sphere(a, b, c, d, e);
  if (side != 0) return side;
  const std::array<const Vec3d*, 5> given{&a, &b, &c, &d, &e};
  std::array<std::size_t, 5> order{0, 1, 2, 3, 4};
  std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) {
    const Vec3d &p = *given[i], &q = *given[j];
    return p.x != q.x ? p.x > q.x : (p.y != q.y ? p.y > q.y : p.z > q.z);
  });
  // The determinant grows with the height of a corner as the volume with e in the place of that corner does, and falls
  // with the height of e as the volume of the tetrahedron, which is positive.
  for (const std::size_t i : order) {
    if (i == 4) return -1;
    std::array<const Vec3d*, 4> corners{&a, &b, &c, &d};
    corners[i] = &e;
    const int volume = orient_3d(*corners[0], *corners[1], *corners[2], *corners[3]);
    if (volume != 0) return volume;
  }
  return -1;
}

}  // namespace pc
