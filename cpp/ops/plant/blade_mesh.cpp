#include "ops/plant/blade_mesh.h"

#include <algorithm>
#include <cmath>

#include "core/random.h"
#include "ops/plant/blade_outline.h"

namespace pc {
namespace {

constexpr double kPi = 3.14159265358979323846;
/// Length of midrib over which a blade buckles, relative to the blade.
constexpr double kBuckleLength = 0.05;

struct MidribPoint {
  Vec3d point, tangent, normal;
};

/// The midrib as a curve in the x-z plane, tabulated by arc length.
class Midrib {
 public:
  Midrib(const BladeShape& blade, std::uint32_t variant, double x_max) : step_(x_max / kSteps) {
    const double u = random_unit(variant, 1), v = random_unit(variant, 2);
    const double buckle =
        blade.buckle_position[0] + u * (blade.buckle_position[1] - blade.buckle_position[0]);
    const double buckle_deg = blade.buckle_deg[0] + v * (blade.buckle_deg[1] - blade.buckle_deg[0]);
    const auto turn = [&](double x) {
      const double b = std::clamp((x - buckle) / kBuckleLength + 0.5, 0.0, 1.0);
      return (blade.bend_deg * std::pow(std::max(0.0, x), blade.bend_exponent) +
              buckle_deg * b * b * (3 - 2 * b)) *
             kPi / 180;
    };
    double x = 0, z = 0;
    for (unsigned i = 0; i <= kSteps; ++i) {
      turn_[i] = turn(i * step_);
      x_[i] = x, z_[i] = z;
      const double middle = turn((i + 0.5) * step_);
      x += step_ * std::cos(middle);
      z -= step_ * std::sin(middle);
    }
  }
  /// Straight on before the base.
  MidribPoint at(double s) const {
    if (s <= 0) return {{s, 0, 0}, {1, 0, 0}, {0, 0, 1}};
    const double q = s / step_;
    const auto i = static_cast<unsigned>(std::min(q, kSteps - 1.0));
    const double f = q - i, a = turn_[i] + f * (turn_[i + 1] - turn_[i]);
    return {{x_[i] + f * (x_[i + 1] - x_[i]), 0, z_[i] + f * (z_[i + 1] - z_[i])},
            {std::cos(a), 0, -std::sin(a)},
            {std::sin(a), 0, std::cos(a)}};
  }

 private:
  static constexpr unsigned kSteps = 256;
  double step_;
  double turn_[kSteps + 1], x_[kSteps + 1], z_[kSteps + 1];
};

/// Bends the flat blade (x along the midrib, y across) into space.
class Surface {
 public:
  Surface(const BladeShape& blade, std::uint32_t variant, const OutlineBox& box)
      : blade_(blade), midrib_(blade, variant, box.x_max), half_width_(box.half_width) {
    phase_ = 2 * kPi * random_unit(variant, 3);
  }
  Vec3d at(double x, double y) const {
    const MidribPoint m = midrib_.at(x);
    const double s = std::abs(y), fold = blade_.fold_deg * kPi / 180;
    const double k = half_width_ > 0 ? blade_.cup_deg * kPi / 180 / half_width_ : 0;
    double across = s * std::cos(fold), up = s * std::sin(fold);
    if (std::abs(k) > 1e-9) {
      across = (std::sin(fold + k * s) - std::sin(fold)) / k;
      up = (std::cos(fold) - std::cos(fold + k * s)) / k;
    }
    if (half_width_ > 0) {
      const double w = s / half_width_;
      up += blade_.wave_amplitude * w * w *
            std::sin(2 * kPi * blade_.wave_count * x + phase_ + (y < 0 ? 0.6 * kPi : 0));
    }
    if (y < 0) across = -across;
    const double twist = blade_.twist_deg * kPi / 180 * std::max(0.0, x);
    const double c = std::cos(twist), t = std::sin(twist);
    return m.point + Vec3d{0, 1, 0} * (across * c - up * t) + m.normal * (across * t + up * c);
  }

 private:
  const BladeShape& blade_;
  Midrib midrib_;
  double half_width_, phase_ = 0;
};

unsigned divided(std::uint32_t divisions, double detail, unsigned least) {
  return std::max(least, static_cast<unsigned>(std::lround(divisions * detail)));
}

/// Adds vertices of the flat blade with their place in the texture.
class BladeBuilder {
 public:
  BladeBuilder(const BladeShape& blade, std::uint32_t variant)
      : box_(outline_box(blade)), surface_(blade, variant, box_) {}
  std::uint32_t add(double x, double y) {
    mesh.uvs.push_back(
        {static_cast<float>(std::clamp(0.5 + 0.5 * y / box_.half_width, 0.0, 1.0)),
         static_cast<float>(std::clamp((box_.x_max - x) / (box_.x_max - box_.x_min), 0.0, 1.0))});
    return mesh.add(surface_.at(x, y));
  }
  void triangle(std::uint32_t a, std::uint32_t b, std::uint32_t c) { mesh.triangles.push_back({a, b, c}); }
  /// The corners counter-clockwise; cut along the diagonal that keeps the left and right half alike.
  void quad(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d, bool is_left) {
    if (is_left) {
      triangle(a, b, c), triangle(a, c, d);
    } else {
      triangle(a, b, d), triangle(b, c, d);
    }
  }
  OrganMesh mesh;

 private:
  OutlineBox box_;
  Surface surface_;
};

OrganMesh pinnate_mesh(const BladeShape& blade, std::uint32_t variant, double detail) {
  const unsigned n = divided(blade.length_divisions, detail, 3),
                 m = divided(blade.width_divisions, detail, 1);
  BladeBuilder builder(blade, variant);
  const std::uint32_t base = builder.add(0, 0);
  const unsigned row = 2 * m + 1;
  for (unsigned i = 1; i < n; ++i) {  // denser at both ends, where the outline turns
    const double even = static_cast<double>(i) / n, x = 0.5 * even + 0.25 * (1 - std::cos(kPi * even));
    const double w = pinnate_half_width(blade, x);
    for (unsigned j = 0; j < row; ++j) builder.add(x, w * (static_cast<double>(j) - m) / m);
  }
  const std::uint32_t tip = builder.add(1, 0);
  const auto at = [&](unsigned i, unsigned j) { return base + 1 + (i - 1) * row + j; };
  for (unsigned j = 0; j + 1 < row; ++j) {
    builder.triangle(base, at(1, j), at(1, j + 1));
    for (unsigned i = 1; i + 1 < n; ++i)
      builder.quad(at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1), j >= m);
    builder.triangle(at(n - 1, j), tip, at(n - 1, j + 1));
  }
  return std::move(builder.mesh);
}

OrganMesh polar_mesh(const BladeShape& blade, std::uint32_t variant, double detail) {
  const auto spans = static_cast<unsigned>(blade.outline.size() - 1);
  const unsigned per_span = std::max(1U, divided(blade.length_divisions, detail, 1) / spans);
  const unsigned rings = divided(blade.width_divisions, detail, 1);
  const std::vector<OutlinePoint> half = polar_half_outline(blade, per_span);
  std::vector<OutlinePoint> rays;  // clockwise corner to counter-clockwise corner
  for (std::size_t i = half.size(); i-- > 1;) rays.push_back({half[i].x, -half[i].y});
  rays.insert(rays.end(), half.begin(), half.end());
  BladeBuilder builder(blade, variant);
  const std::uint32_t base = builder.add(0, 0);
  for (const OutlinePoint& ray : rays)
    for (unsigned r = 1; r <= rings; ++r) builder.add(ray.x * r / rings, ray.y * r / rings);
  const auto at = [&](std::size_t ray, unsigned ring) {
    return base + static_cast<std::uint32_t>(ray) * rings + ring;
  };
  for (std::size_t i = 0; i + 1 < rays.size(); ++i) {
    builder.triangle(base, at(i, 1), at(i + 1, 1));
    for (unsigned r = 1; r < rings; ++r)
      builder.quad(at(i, r), at(i, r + 1), at(i + 1, r + 1), at(i + 1, r), i + 1 >= half.size());
  }
  return std::move(builder.mesh);
}

/// A spindle: closed, round, thickest at a third of its length.
OrganMesh needle_mesh(const BladeShape& blade, double detail) {
  const unsigned n = divided(blade.length_divisions, detail, 2),
                 sides = divided(blade.width_divisions, detail, 3);
  OrganMesh mesh;
  const std::uint32_t base = mesh.add({0, 0, 0});
  for (unsigned i = 1; i < n; ++i) {
    const double x = static_cast<double>(i) / n, r = pinnate_half_width(blade, x);
    for (unsigned k = 0; k < sides; ++k) {
      const double a = 2 * kPi * k / sides;
      mesh.add({x, r * std::cos(a), r * std::sin(a)});
    }
  }
  const std::uint32_t tip = mesh.add({1, 0, 0});
  const auto at = [&](unsigned i, unsigned k) { return base + 1 + (i - 1) * sides + k % sides; };
  for (unsigned k = 0; k < sides; ++k) {
    mesh.triangles.push_back({base, at(1, k + 1), at(1, k)});
    for (unsigned i = 1; i + 1 < n; ++i) {
      mesh.triangles.push_back({at(i, k), at(i, k + 1), at(i + 1, k)});
      mesh.triangles.push_back({at(i, k + 1), at(i + 1, k + 1), at(i + 1, k)});
    }
    mesh.triangles.push_back({at(n - 1, k), at(n - 1, k + 1), tip});
  }
  return mesh;
}

}  // namespace

OrganMesh blade_mesh(const BladeShape& blade, std::uint32_t variant, double detail) {
  switch (blade.form) {
    case BladeForm::kPolar:
      return polar_mesh(blade, variant, detail);
    case BladeForm::kNeedle:
      return needle_mesh(blade, detail);
    case BladeForm::kPinnate:
      break;
  }
  return pinnate_mesh(blade, variant, detail);
}

}  // namespace pc
