#pragma once
#include <array>
#include <cmath>

#include "core/double_double.h"
#include "core/vec3.h"

/// Circumscribed spheres of tetrahedra and triangles, compared with a radius.
namespace pc::circumradius {

template <class T>
using Row = std::array<T, 3>;

/// What |numerator|^2 <= 4 determinant^2 alpha^2 is, for the sphere through a, b, c and the origin with the radius
/// |numerator| / (2 |determinant|).
template <class T>
struct Sphere {
  Row<T> numerator;
  T determinant;
};

template <class T>
Row<T> cross(const Row<T>& a, const Row<T>& b) {
  return {a[1] * b[2] - b[1] * a[2], a[2] * b[0] - b[2] * a[0], a[0] * b[1] - b[0] * a[1]};
}
template <class T>
T dot(const Row<T>& a, const Row<T>& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

template <class T>
Sphere<T> sphere_of(const std::array<Row<T>, 3>& r) {
  const Row<T> bc = cross(r[1], r[2]), ca = cross(r[2], r[0]), ab = cross(r[0], r[1]);
  const T a = dot(r[0], r[0]), b = dot(r[1], r[1]), c = dot(r[2], r[2]);
  Sphere<T> out;
  for (std::size_t k = 0; k < 3; ++k) out.numerator[k] = a * bc[k] + b * ca[k] + c * ab[k];
  out.determinant = dot(r[0], bc);
  return out;
}

inline double value(double x) { return x; }
inline double value(const DoubleDouble& x) { return x.value(); }

/// 1: the radius is at most alpha, -1: it is larger, 0: errors up to `epsilon` times the sums of absolute products leave
/// it open.
template <class T>
int compare(const std::array<Row<T>, 3>& rows, double alpha_squared, double epsilon) {
  Row<double> most{0, 0, 0};
  for (const auto& row : rows)
    for (std::size_t k = 0; k < 3; ++k) most[k] = std::fmax(most[k], std::fabs(value(row[k])));
  const double squared = most[0] * most[0] + most[1] * most[1] + most[2] * most[2];
  const Sphere<T> sphere = sphere_of(rows);
  const double determinant = std::fabs(value(sphere.determinant));
  const double of_determinant = 6 * epsilon * most[0] * most[1] * most[2];
  T size = dot(sphere.numerator, sphere.numerator);
  double of_size = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    const double error = 6 * epsilon * squared * most[(k + 1) % 3] * most[(k + 2) % 3];
    of_size += (2 * std::fabs(value(sphere.numerator[k])) + error) * error;
  }
  of_size += epsilon * value(size);
  const T limit = sphere.determinant * sphere.determinant * T(4 * alpha_squared);
  const double of_limit =
      4 * alpha_squared * (2 * determinant + of_determinant) * of_determinant + epsilon * value(limit);
  const double difference = value(limit - size);
  if (std::fabs(difference) <= of_size + of_limit) return 0;
  return difference > 0 ? 1 : -1;
}

/// Whether the sphere through four points has a radius of at most sqrt(alpha_squared).
inline bool within(const Vec3d& a, const Vec3d& b, const Vec3d& c, const Vec3d& d, double alpha_squared) {
  const auto row = [&](const Vec3d& p) { return Row<double>{p.x - d.x, p.y - d.y, p.z - d.z}; };
  const int rough = compare<double>({row(a), row(b), row(c)}, alpha_squared, 0x1p-48);
  if (rough != 0) return rough > 0;
  const auto fine = [&](const Vec3d& p) {
    return Row<DoubleDouble>{two_difference(p.x, d.x), two_difference(p.y, d.y), two_difference(p.z, d.z)};
  };
  return compare<DoubleDouble>({fine(a), fine(b), fine(c)}, alpha_squared, 0x1p-95) >= 0;  // a tie is within
}

/// The smallest sphere through three points.
struct Circle {
  Vec3d center;
  double squared_radius;  ///< infinite for points on a line
};
inline Circle circle_of(const Vec3d& p, const Vec3d& q, const Vec3d& r) {
  const Row<double> a{p.x - r.x, p.y - r.y, p.z - r.z}, b{q.x - r.x, q.y - r.y, q.z - r.z};
  const Row<double> n = cross(a, b);
  const double area = dot(n, n), aa = dot(a, a), bb = dot(b, b);
  if (area == 0) return {r, HUGE_VAL};
  const Row<double> v{aa * b[0] - bb * a[0], aa * b[1] - bb * a[1], aa * b[2] - bb * a[2]};
  const Row<double> offset = cross(v, n);
  const double scale = 1 / (2 * area);
  const Vec3d center{offset[0] * scale, offset[1] * scale, offset[2] * scale};
  return {r + center, squared_distance(center, {0, 0, 0})};
}

}  // namespace pc::circumradius
