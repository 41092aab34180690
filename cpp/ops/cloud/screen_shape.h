#pragma once
#include <vector>

#include "ops/cloud/region_select.h"

/// Point tests on the canvas, prepared once for many points.
namespace pc::screen_shape {

/// The three rows of P V that a pixel needs.
struct Projector {
  explicit Projector(const ScreenView& screen);
  /// False behind the camera and for NaN.
  bool project(const Vec3d& p, Pixel& pixel) const {
    const double w = row_w[0] * p.x + row_w[1] * p.y + row_w[2] * p.z + row_w[3];
    const double x = row_x[0] * p.x + row_x[1] * p.y + row_x[2] * p.z + row_x[3];
    const double y = row_y[0] * p.x + row_y[1] * p.y + row_y[2] * p.z + row_y[3];
    pixel = {(x / w + 1) / 2 * width, (1 - (y / w + 1) / 2) * height};
    return w > 0;
  }
  double row_x[4], row_y[4], row_w[4];
  double width, height;
};

class Polygon {
 public:
  explicit Polygon(const std::vector<Pixel>& points) : points_(points) {}
  bool holds(const Pixel& p) const;

 private:
  const std::vector<Pixel>& points_;
};

class Squares {
 public:
  explicit Squares(const SquaresRegion& region) : region_(region) {}
  bool holds(const Pixel& p) const;

 private:
  const SquaresRegion& region_;
};

}  // namespace pc::screen_shape
