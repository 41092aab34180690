#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/host_device.h"
#include "core/vec3.h"

/// Directions of the pulses of a scan, in the frame of the scanner. Bearings (phi) are clockwise from +y seen from above,
/// zenith angles (theta) are from +z: direction = (sin theta sin phi, sin theta cos phi, cos theta).
namespace pc {

namespace scan_pattern {

constexpr double kPi = 3.14159265358979323846;
constexpr std::size_t kMaxPrisms = 8;

enum class Kind : std::uint8_t { kRaster, kSpinningMultibeam, kRisley };

}  // namespace scan_pattern

/// A wedge of glass that turns about the axis of the beam (+y).
struct RisleyPrism {
  double wedge_angle_rad;
  double refractive_index;
  double rotor_rate_hz;  ///< turns per second; the sign gives the sense: positive from +x to +z
  double phase_rad;      ///< at the first pulse
};

/// A pattern whose counts and steps are known. Pulse p of a raster or multibeam scan belongs to row p % row_count and
/// column p / row_count: the rows of a column are fired first. The scanner turns meanwhile, so that row i of column j has
/// the bearing phi_first_rad + (j + i / row_count) phi_step_rad.
struct ScanPattern {
  scan_pattern::Kind kind;
  std::uint32_t row_count;  ///< raster, multibeam: rows or channels; Risley: 1
  std::uint64_t pulse_count;
  double theta_first_rad, theta_step_rad;  ///< raster
  double phi_first_rad, phi_step_rad;      ///< raster, multibeam
  const double* channel_theta_rad;         ///< multibeam: (row_count) zenith angles
  RisleyPrism prisms[scan_pattern::kMaxPrisms];
  std::uint32_t prism_count;
  double index_outside;  ///< Risley: of the air
  double pulse_rate_hz;  ///< Risley: pulse p is fired at p / pulse_rate_hz

  PC_HD std::uint64_t row_of(std::uint64_t pulse) const { return pulse % row_count; }
  PC_HD std::uint64_t column_of(std::uint64_t pulse) const { return pulse / row_count; }
};

namespace scan_pattern {

/// Bearing of a direction, radians clockwise from +y; zenith angle, radians from +z. Inverse of direction_of.
PC_HD inline double bearing_of(const Vec3d& direction) { return std::atan2(direction.x, direction.y); }
PC_HD inline double zenith_of(const Vec3d& direction) {
  const double level = std::sqrt(direction.x * direction.x + direction.y * direction.y);
  return std::atan2(level, direction.z);
}

PC_HD inline Vec3d direction_of(double theta_rad, double phi_rad) {
  const double level = std::sin(theta_rad);
  return {level * std::sin(phi_rad), level * std::cos(phi_rad), std::cos(theta_rad)};
}

PC_HD inline double row_theta(const ScanPattern& pattern, std::uint64_t row) {
  if (pattern.kind == Kind::kSpinningMultibeam) return pattern.channel_theta_rad[row];
  return pattern.theta_first_rad + static_cast<double>(row) * pattern.theta_step_rad;
}

PC_HD inline double pulse_phi(const ScanPattern& pattern, std::uint64_t row, std::uint64_t column) {
  const double drift = static_cast<double>(row) / pattern.row_count;
  return pattern.phi_first_rad + (static_cast<double>(column) + drift) * pattern.phi_step_rad;
}

/// Direction d (unit) after a face with unit normal m, dot(d, m) > 0, from index `from` to index `to`. Zero if the light
/// is reflected totally.
/// Source  Snell's law in vector form: Glassner, An introduction to ray tracing, 1989, ch. 2.
PC_HD inline Vec3d refracted(const Vec3d& d, const Vec3d& m, double from, double to) {
  const double ratio = from / to, along = dot(d, m);
  const double rest = 1 - ratio * ratio * (1 - along * along);
  if (!(rest >= 0)) return {0, 0, 0};
  return d * ratio + m * (std::sqrt(rest) - ratio * along);
}

/// Direction of a Risley pulse at `seconds` after the first one. Light runs along +y into the first prism; the first prism
/// has its oblique face behind, the second before, and so on in turn: oblique faces look at each other. The thick side
/// of a prism, to which it bends the light, lies at the angle 2 pi rate t + phase from +x towards +z. Zero if a face
/// reflects the light totally.
/// Source  Marshall, Risley prism scan patterns, Proc. SPIE 3787, 1999; here with exact refraction at each face.
PC_HD inline Vec3d risley_direction(const ScanPattern& pattern, double seconds) {
  Vec3d d{0, 1, 0};
  for (std::uint32_t k = 0; k < pattern.prism_count; ++k) {
    const RisleyPrism& prism = pattern.prisms[k];
    const double turns = prism.rotor_rate_hz * seconds;
    const double angle = 2 * kPi * (turns - std::floor(turns)) + prism.phase_rad;
    const bool behind = k % 2 == 0;
    // The normal of the oblique face, pointing onwards, leans away from the thick side if the face lies behind.
    const double lean = (behind ? -1 : 1) * std::sin(prism.wedge_angle_rad);
    const Vec3d oblique{lean * std::cos(angle), std::cos(prism.wedge_angle_rad), lean * std::sin(angle)};
    const Vec3d level{0, 1, 0};
    const double outside = pattern.index_outside, inside = prism.refractive_index;
    d = refracted(d, behind ? level : oblique, outside, inside);
    d = refracted(d, behind ? oblique : level, inside, outside);
  }
  return d;
}

/// Unit direction of a pulse in the frame of the scanner.
PC_HD inline Vec3d pulse_direction(const ScanPattern& pattern, std::uint64_t pulse) {
  if (pattern.kind == Kind::kRisley)
    return risley_direction(pattern, static_cast<double>(pulse) / pattern.pulse_rate_hz);
  const std::uint64_t row = pattern.row_of(pulse);
  return direction_of(row_theta(pattern, row), pulse_phi(pattern, row, pattern.column_of(pulse)));
}

/// Step between `count` values from `first` to `last`, both included.
PC_HD inline double step_between(double first, double last, std::uint64_t count) {
  return count > 1 ? (last - first) / static_cast<double>(count - 1) : 0;
}

}  // namespace scan_pattern

}  // namespace pc
