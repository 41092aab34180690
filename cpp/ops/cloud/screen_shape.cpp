#include "ops/cloud/screen_shape.h"

#include <cmath>

namespace pc::screen_shape {

namespace {

/// One row of the product of two column-major matrices.
void product_row(const ScreenView& screen, int row, double* out) {
  for (int column = 0; column < 4; ++column) {
    out[column] = 0;
    for (int k = 0; k < 4; ++k) out[column] += screen.projection[4 * k + row] * screen.view[4 * column + k];
  }
}

}  // namespace

Projector::Projector(const ScreenView& screen) : width(screen.width_px), height(screen.height_px) {
  product_row(screen, 0, row_x);
  product_row(screen, 1, row_y);
  product_row(screen, 3, row_w);
}

bool Polygon::holds(const Pixel& p) const {
  bool inside = false;
  for (std::size_t i = 0, j = points_.size() - 1; i < points_.size(); j = i++) {
    const Pixel &a = points_[i], &b = points_[j];
    if ((a.y > p.y) != (b.y > p.y) && p.x < (b.x - a.x) * (p.y - a.y) / (b.y - a.y) + a.x) inside = !inside;
  }
  return inside;
}

bool Squares::holds(const Pixel& p) const {
  for (std::size_t i = 0; i < region_.centers.size(); ++i) {
    const double half = region_.half_sizes[i];
    if (std::abs(p.x - region_.centers[i].x) <= half && std::abs(p.y - region_.centers[i].y) <= half)
      return true;
  }
  return false;
}

}  // namespace pc::screen_shape
