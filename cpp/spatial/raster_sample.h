#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/span.h"
#include "spatial/raster.h"

namespace pc {

/// A raster without voids as a continuous surface: bilinear between cell centres; beyond the outermost centres, the
/// value of the nearest one.
class RasterSample {
 public:
  /// values  (frame.cells()) row 0 at the lowest y
  RasterSample(const RasterFrame& frame, Span<const double> values) : frame_(frame), values_(values) {}

  double at(double x, double y) const {
    const Between u = between((x - frame_.min_x) / frame_.cell, frame_.nx);
    const Between v = between((y - frame_.min_y) / frame_.cell, frame_.ny);
    const double* const low = values_.data + v.low * frame_.nx;
    const double* const high = values_.data + v.high * frame_.nx;
    return lerp(lerp(low[u.low], low[u.high], u.weight), lerp(high[u.low], high[u.high], u.weight), v.weight);
  }

 private:
  /// The two of `count` cell centres around a coordinate, and the weight of the second.
  struct Between {
    std::size_t low, high;
    double weight;
  };
  static Between between(double cells, std::uint32_t count) {
    const double at = std::clamp(cells - 0.5, 0.0, static_cast<double>(count - 1));
    const auto low = static_cast<std::size_t>(at);
    return {low, std::min<std::size_t>(low + 1, count - 1), at - static_cast<double>(low)};
  }
  static double lerp(double a, double b, double weight) { return a + weight * (b - a); }

  RasterFrame frame_;
  Span<const double> values_;
};

}  // namespace pc
