#include "ops/plant/tube_sections.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "core/random.h"

namespace pc {
namespace {

constexpr double kTurn = 2 * std::numbers::pi;
/// Slopes of slanted rings are rounded to this or half of it, in the tube's own proportions.
constexpr double kRingSlope = 1.0 / 16;
/// In units of kSlopeStep; rings that do not cross (tube.h) stay far below.
constexpr double kMostSlope = 1 << 30;

/// A power of two not above kRingSlope radii per length, in units of kSlopeStep, at least one of them.
double slope_unit(double radius, double length) {
  const double slope = kRingSlope * radius / length;
  return std::max(1.0, std::exp2(std::floor(std::log2(slope / kSlopeStep))));
}

}  // namespace

std::size_t TubeSectionHash::operator()(const TubeSection& s) const {
  const auto word = [](std::int32_t high, std::int32_t low) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(high)) << 32 |
           static_cast<std::uint32_t>(low);
  };
  const std::int32_t kind = s.sides | static_cast<std::int32_t>(s.organ) << 8 | s.is_bark << 16 |
                            s.has_start << 17 | s.has_end << 18;
  return random_u64(word(s.slope_x, s.slope_y), word(s.taper, kind));
}

void TubeSectionWalk::start(const TubeRing& ring, std::uint32_t sides) {
  sides_ = sides, radius_ = ring.radius, center_ = ring.center;
  const double corner = ring.radius * polygon_radius(sides);
  const Vec3d second = cross(ring.tangent, ring.first);
  const double along = dot(ring.tangent, ring.plane);
  const auto slanted = [&](const Vec3d& side) {
    return (side - ring.tangent * (dot(side, ring.plane) / along)) * corner;
  };
  u_ = slanted(ring.first), v_ = slanted(second);
}

PlacedSection TubeSectionWalk::step(const TubeRing& next) {
  const Vec3d axis = next.center - center_;
  const double taper = std::round(std::log(next.radius / radius_) / kTaperStep);
  const double ratio = std::exp(taper * kTaperStep), along = dot(axis, next.plane);
  // The upper ring's directions ratio * u + x * axis and ratio * v + y * axis lie in its plane.
  double x = -ratio * dot(u_, next.plane) / along, y = -ratio * dot(v_, next.plane) / along;
  // Of the polygon's symmetric positions the one in which the slope is nearest to corner 0: fewer kinds.
  const double sector = kTurn / sides_, turn = sector * std::round(std::atan2(y, x) / sector);
  const double c = std::cos(turn), s = std::sin(turn);
  const Vec3d u = u_ * c + v_ * s, v = v_ * c - u_ * s;
  const double turned = x * c + y * s;
  y = y * c - x * s, x = turned;
  const double unit = slope_unit(next.radius, std::sqrt(dot(axis, axis)));
  const auto rounded = [unit](double slope) {
    return std::clamp(std::round(slope / (unit * kSlopeStep)) * unit, -kMostSlope, kMostSlope);
  };
  x = rounded(x), y = rounded(y);
  PlacedSection placed;
  placed.section.taper = static_cast<std::int32_t>(taper);
  placed.section.slope_x = static_cast<std::int32_t>(x),
  placed.section.slope_y = static_cast<std::int32_t>(y);
  placed.section.sides = static_cast<std::uint8_t>(sides_);
  placed.frame = {u, v, axis, center_};
  radius_ *= ratio, center_ = next.center;
  u_ = u * ratio + axis * (x * kSlopeStep), v_ = v * ratio + axis * (y * kSlopeStep);
  return placed;
}

OrganMesh section_mesh(const TubeSection& section, const UnitRgb& color) {
  OrganMesh mesh;
  const std::uint32_t n = section.sides;
  const double ratio = std::exp(section.taper * kTaperStep);
  for (int level = 0; level < 2; ++level)
    for (std::uint32_t k = 0; k < n; ++k) {
      const double c = std::cos(kTurn * k / n), s = std::sin(kTurn * k / n);
      const double z = 1 + kSlopeStep * (section.slope_x * c + section.slope_y * s);
      mesh.add(level == 0 ? Vec3d{c, s, 0} : Vec3d{ratio * c, ratio * s, z});
    }
  for (std::uint32_t k = 1; section.has_start && k + 1 < n; ++k) mesh.triangles.push_back({0, k + 1, k});
  for (std::uint32_t k = 0; k < n; ++k) {
    const std::uint32_t next = k + 1 == n ? 0 : k + 1;
    mesh.triangles.push_back({k, next, n + k});
    mesh.triangles.push_back({next, n + next, n + k});
  }
  for (std::uint32_t k = 1; section.has_end && k + 1 < n; ++k)
    mesh.triangles.push_back({n, n + k, n + k + 1});
  mesh.colors.assign(mesh.triangles.size(), color);
  return mesh;
}

}  // namespace pc
