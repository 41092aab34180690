#pragma once
#include <cstdint>

namespace pc {

/// A point with integer coordinates, 0 <= u, v < 2^22.
struct LatticePoint {
  std::int32_t u, v;

  friend bool operator==(const LatticePoint& a, const LatticePoint& b) { return a.u == b.u && a.v == b.v; }
};

/// Twice the signed area of the triangle a b c; positive = counter-clockwise. Exact.
inline std::int64_t lattice_orient(const LatticePoint& a, const LatticePoint& b, const LatticePoint& c) {
  return static_cast<std::int64_t>(b.u - a.u) * (c.v - a.v) -
         static_cast<std::int64_t>(b.v - a.v) * (c.u - a.u);
}

/// Positive if d lies inside the circle through a, b, c (counter-clockwise), negative if outside, 0 if on it. Exact.
int lattice_in_circle(const LatticePoint& a, const LatticePoint& b, const LatticePoint& c,
                      const LatticePoint& d);

}  // namespace pc
