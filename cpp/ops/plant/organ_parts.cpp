#include "ops/plant/organ_parts.h"

#include <algorithm>
#include <cmath>

#include "core/random.h"
#include "ops/plant/blade_mesh.h"

namespace pc {
namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr double rad(double deg) { return deg * kPi / 180; }

using Profile = std::array<double, 2>;

/// Catmull-Rom through the profile; at an end on the axis the curve goes on mirrored, so that it meets the axis at a
/// right angle.
Profile profile_at(const std::vector<Profile>& points, double t) {
  const auto last = static_cast<std::ptrdiff_t>(points.size()) - 1;
  const auto at = [&](std::ptrdiff_t k) -> Profile {
    if (k >= 0 && k <= last) return points[static_cast<std::size_t>(k)];
    const Profile& end = k < 0 ? points.front() : points.back();
    const Profile& next = k < 0 ? points[1] : points[points.size() - 2];
    return end[1] == 0 ? Profile{next[0], -next[1]} : Profile{2 * end[0] - next[0], 2 * end[1] - next[1]};
  };
  const auto i = std::min(static_cast<std::ptrdiff_t>(t), last - 1);
  const double f = t - static_cast<double>(i);
  const Profile a = at(i - 1), b = at(i), c = at(i + 1), d = at(i + 2);
  Profile out;
  for (int k = 0; k < 2; ++k)
    out[k] =
        0.5 * (2 * b[k] +
               f * (c[k] - a[k] +
                    f * (2 * a[k] - 5 * b[k] + 4 * c[k] - d[k] + f * (3 * (b[k] - c[k]) + d[k] - a[k]))));
  return out;
}

struct Ring {
  double x, radius;
};

/// Rings by even steps of the curve's parameter; only the ends may lie on the axis.
std::vector<Ring> profile_rings(const BodyShape& body, unsigned count) {
  std::vector<Ring> rings;
  double widest = 0;
  for (const Profile& p : body.profile) widest = std::max(widest, p[1]);
  for (unsigned i = 0; i <= count; ++i) {
    const double t = static_cast<double>(i) / count * static_cast<double>(body.profile.size() - 1);
    const Profile p = i == count ? body.profile.back() : profile_at(body.profile, t);
    const bool is_end = i == 0 || i == count;
    rings.push_back({p[0], is_end ? p[1] : std::max(p[1], 0.02 * widest)});
  }
  return rings;
}

/// Point and direction of an axis that turns by an even rate.
struct BentAxis {
  double rate, origin;
  Vec3d point(double x, double y, double up) const {
    const double s = x - origin, a = rate * s;
    const Vec3d normal{std::sin(a), 0, std::cos(a)};
    Vec3d p{x, 0, 0};
    if (std::abs(rate) > 1e-9) p = {origin + std::sin(a) / rate, 0, -(1 - std::cos(a)) / rate};
    return p + normal * up + Vec3d{0, y, 0};
  }
};

UnitRgb blend(const UnitRgb& a, const UnitRgb& b, double f) {
  UnitRgb out;
  for (int k = 0; k < 3; ++k) out[k] = a[k] + static_cast<float>(f) * (b[k] - a[k]);
  return out;
}

/// One copy of a body, its base where the profile starts.
OrganMesh single_body(const BodyShape& body, double detail) {
  const unsigned count = std::max(2U, static_cast<unsigned>(std::lround(body.rings * detail)));
  const unsigned sides =
      std::max(std::max(3U, 2 * body.ribs), static_cast<unsigned>(std::lround(body.sides * detail)));
  const std::vector<Ring> rings = profile_rings(body, count);
  const double length = rings.back().x - rings.front().x;
  const BentAxis axis{std::abs(length) > 0 ? rad(body.bend_deg) / length : 0, rings.front().x};
  OrganMesh mesh;
  std::vector<std::uint32_t> first(rings.size());
  for (std::size_t i = 0; i < rings.size(); ++i) {
    const Ring& ring = rings[i];
    first[i] = static_cast<std::uint32_t>(mesh.positions.size());
    for (unsigned k = 0; k < (ring.radius > 0 ? sides : 1); ++k) {
      const double a = 2 * kPi * k / sides;
      const double r = ring.radius * (1 - 0.5 * body.rib_depth * (1 - std::cos(body.ribs * a)));
      mesh.add(axis.point(ring.x, r * std::cos(a), r * std::sin(a) * body.flatness));
    }
  }
  const auto add = [&](std::uint32_t a, std::uint32_t b, std::uint32_t c, std::size_t ring) {
    mesh.triangles.push_back({a, b, c});
    mesh.colors.push_back(blend(body.color, body.tip_color, static_cast<double>(ring) / count));
  };
  for (std::size_t i = 0; i + 1 < rings.size(); ++i)
    for (unsigned k = 0; k < sides; ++k) {
      const auto at = [&](std::size_t ring, unsigned side) {
        return rings[ring].radius > 0 ? first[ring] + side % sides : first[ring];
      };
      if (rings[i].radius > 0) add(at(i, k), at(i, k + 1), at(i + 1, k), i);
      if (rings[i + 1].radius > 0) add(at(i, k + 1), at(i + 1, k + 1), at(i + 1, k), i);
    }
  for (const std::size_t end : {std::size_t{0}, rings.size() - 1}) {
    if (body.is_shell || rings[end].radius == 0) continue;
    const std::uint32_t middle = mesh.add(axis.point(rings[end].x, 0, 0));
    for (unsigned k = 0; k < sides; ++k) {
      const std::uint32_t a = first[end] + k, b = first[end] + (k + 1) % sides;
      end == 0 ? add(middle, b, a, end) : add(middle, a, b, end);
    }
  }
  return mesh;
}

double between(const std::array<double, 2>& range, double f) { return range[0] + f * (range[1] - range[0]); }

/// Away from the axis; azimuth 0 is the lower side (-z).
Vec3d radial(double azimuth) { return {0, std::sin(azimuth), -std::cos(azimuth)}; }

/// x to the front, tilted away from the +x axis towards an azimuth; the last is the origin.
std::array<Vec3d, 4> tilted_frame(double tilt, double azimuth, const Vec3d& origin) {
  const Vec3d out = radial(azimuth), axis{1, 0, 0};
  const Vec3d front = axis * std::cos(tilt) + out * std::sin(tilt);
  const Vec3d inner = axis * std::sin(tilt) - out * std::cos(tilt);
  return {front, cross(inner, front), inner, origin};
}

OrganMesh unscaled_organ(const OrganShape& organ, bool is_closed, double detail) {
  constexpr std::array<Vec3d, 4> kSame{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 0, 0}}};
  OrganMesh mesh;
  for (const WhorlShape& whorl : organ.whorls) mesh.append(whorl_mesh(whorl, is_closed, detail), kSame, 1);
  for (const BodyShape& body : organ.bodies)
    if (!(is_closed && body.grows_on_opening)) mesh.append(body_mesh(body, detail), kSame, 1);
  return mesh;
}

double largest_extent(const OrganMesh& mesh) {
  Box3d box;
  for (const Vec3d& p : mesh.positions) box.add(p);
  if (box.empty()) return 0;
  const Vec3d size = box.max - box.min;
  return std::max(size.x, std::max(size.y, size.z));
}

}  // namespace

OrganMesh body_mesh(const BodyShape& body, double detail) {
  const OrganMesh one = single_body(body, detail);
  OrganMesh mesh;
  for (std::uint32_t k = 0; k < body.copies; ++k) {
    const double f = body.copies > 1 ? static_cast<double>(k) / (body.copies - 1) : 0;
    const double azimuth = rad(k * body.divergence_deg + body.jitter_deg * (2 * random_unit(k, 1) - 1));
    const double tilt = rad(between(body.copy_tilt_deg, f) +
                            body.jitter_deg * (2 * random_unit(k, 2) - 1) * (body.copies > 1));
    const double distance = between(body.copy_distance, f);
    const Vec3d place = Vec3d{between(body.copy_position, f), 0, 0} + radial(azimuth) * distance;
    mesh.append(one, tilted_frame(tilt, azimuth, place), between(body.copy_scale, f));
  }
  return mesh;
}

OrganMesh whorl_mesh(const WhorlShape& whorl, bool is_closed, double detail) {
  OrganMesh blade = blade_mesh(whorl.blade, 0, detail);
  blade.colors.assign(blade.triangles.size(), whorl.color);
  OrganMesh mesh;
  const bool is_full = whorl.spread_deg >= 360;
  const double step = whorl.count > 1 ? whorl.spread_deg / (is_full ? whorl.count : whorl.count - 1.0) : 0;
  for (std::uint32_t k = 0; k < whorl.count; ++k) {
    const double azimuth = rad(whorl.azimuth_deg + k * step);
    const Vec3d place = Vec3d{whorl.position, 0, 0} + radial(azimuth) * whorl.distance;
    mesh.append(blade, tilted_frame(rad(is_closed ? whorl.closed_deg : whorl.opening_deg), azimuth, place),
                whorl.length * (is_closed ? whorl.closed_scale : 1));
  }
  return mesh;
}

OrganMesh organ_mesh(const OrganShape& organ, bool is_closed, double detail) {
  OrganMesh mesh = unscaled_organ(organ, is_closed, detail);
  // The size of the closed flower is in proportion to that of the open one.
  const double extent = largest_extent(is_closed ? unscaled_organ(organ, false, detail) : mesh);
  if (extent > 0)
    for (Vec3d& p : mesh.positions) p = p * (1 / extent);
  return mesh;
}

}  // namespace pc
