#pragma once
#include <cmath>
#include <numbers>

namespace pc {

/// A rotation about the vertical axis, counter-clockwise seen from above. Exact for whole quarter turns.
struct PlaneRotation {
  double cosine = 1, sine = 0;

  static PlaneRotation of_degrees(double degrees) {
    const double turn = std::fmod(degrees, 360.0), quarters = turn / 90;
    if (quarters == std::trunc(quarters)) {
      const int quarter = (static_cast<int>(quarters) + 4) % 4;
      return {quarter == 0 ? 1.0 : (quarter == 2 ? -1.0 : 0.0),
              quarter == 1 ? 1.0 : (quarter == 3 ? -1.0 : 0.0)};
    }
    const double radians = turn * (std::numbers::pi / 180);
    return {std::cos(radians), std::sin(radians)};
  }
  /// Coordinates before the rotation of a place (x, y) after it, both from the axis.
  double x_before(double x, double y) const { return cosine * x + sine * y; }
  double y_before(double x, double y) const { return cosine * y - sine * x; }
};

}  // namespace pc
