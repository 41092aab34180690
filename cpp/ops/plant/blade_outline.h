#pragma once
#include <vector>

#include "core/vec3.h"
#include "ops/plant/shapes.h"

namespace pc {

/// The outline of a flat blade of length 1 in its own plane: x along the midrib, y to the left of it.
struct OutlinePoint {
  double x, y;
};

/// Half width of a pinnate blade at x in 0..1: c x^a (1 - x)^b with the largest value width_ratio / 2.
double pinnate_half_width(const BladeShape& blade, double x);
/// Area of the flat pinnate blade in closed form: width_ratio B(a + 1, b + 1) / max(x^a (1 - x)^b).
double pinnate_area(const BladeShape& blade);

/// Left half of a polar outline from the tip round to the last corner: `subdivisions` steps between two corners.
std::vector<OutlinePoint> polar_half_outline(const BladeShape& blade, unsigned subdivisions);

/// Extent of the flat blade; what its texture spans.
struct OutlineBox {
  double x_min, x_max, half_width;
};
OutlineBox outline_box(const BladeShape& blade);

/// The whole outline as a closed polygon, counter-clockwise; `points` corners in all, about.
std::vector<OutlinePoint> blade_outline(const BladeShape& blade, unsigned points);

}  // namespace pc
