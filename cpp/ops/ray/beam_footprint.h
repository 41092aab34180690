#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/host_device.h"
#include "core/random.h"
#include "core/vec3.h"

/// Sub-rays across the beam of a pulse.
namespace pc::beam_footprint {

constexpr double kTurn = 6.283185307179586;
/// Golden angle, radians: 2 pi (1 - 1 / golden ratio); and the reciprocal of the plastic number, in turns.
constexpr double kGoldenAngle = 2.399963229728653, kPlasticTurn = 0.7548776662466927;
/// Share of the energy in the tail that is cut off.
constexpr double kTail = 1e-3;
/// Random numbers of a pulse: counters kPerPulse pulse + k.
constexpr std::uint64_t kPerPulse = 8;

/// Two unit vectors that make a right-handed system with the unit vector d.
/// Source  Duff et al., Building an orthonormal basis, revisited, JCGT 6(1), 2017.
struct Across {
  Vec3d a, b;
  PC_HD explicit Across(const Vec3d& d) {
    const double sign = d.z < 0 ? -1.0 : 1.0, f = -1 / (sign + d.z), g = d.x * d.y * f;
    a = {1 + sign * d.x * d.x * f, sign * g, -sign * d.x};
    b = {g, sign + d.y * d.y * f, -d.y};
  }
};

/// A beam whose energy inside the angle t from its axis is 1 - exp(-2 (t / divergence)^2), and inside the distance r from
/// the centre of the exit aperture 1 - exp(-2 (r / exit radius)^2): both are 1 / e^2 radii.
struct Beam {
  double divergence_rad, exit_radius_m;
  std::uint32_t ray_count;  ///< >= 1; ray 0 runs along the axis from the centre
  double tail;              ///< share of the energy that is cut off, kTail to 0.5

  /// All rays are one.
  PC_HD bool ideal() const { return ray_count == 1 || (divergence_rad == 0 && exit_radius_m == 0); }
};

/// Numbers of ray k that are the same for all pulses.
struct RayTurn {
  double golden_cos, golden_sin, plastic_cos, plastic_sin;
  double reversed;  ///< van der Corput sequence in base 2

  PC_HD static RayTurn of(std::uint32_t k) {
    const double golden = k * kGoldenAngle,
                 plastic = kTurn * (k * kPlasticTurn - std::floor(k * kPlasticTurn));
    std::uint32_t bits = k;
    bits = (bits >> 16) | (bits << 16);
    bits = ((bits & 0xff00ff00U) >> 8) | ((bits & 0x00ff00ffU) << 8);
    bits = ((bits & 0xf0f0f0f0U) >> 4) | ((bits & 0x0f0f0f0fU) << 4);
    bits = ((bits & 0xccccccccU) >> 2) | ((bits & 0x33333333U) << 2);
    bits = ((bits & 0xaaaaaaaaU) >> 1) | ((bits & 0x55555555U) << 1);
    return {std::cos(golden), std::sin(golden), std::cos(plastic), std::sin(plastic), bits * 0x1.0p-32};
  }
};

/// Random numbers of a pulse.
struct PulseTurn {
  double shift, aperture_shift;  ///< of the strata, 0..1
  double cos, sin, aperture_cos, aperture_sin;

  PC_HD static PulseTurn of(std::uint64_t seed, std::uint64_t pulse) {
    const std::uint64_t first = kPerPulse * pulse;
    const double turn = kTurn * random_unit(seed, first + 2), aperture = kTurn * random_unit(seed, first + 3);
    return {random_unit(seed, first), random_unit(seed, first + 1), std::cos(turn),
            std::sin(turn),           std::cos(aperture),           std::sin(aperture)};
  }
};

struct BeamRay {
  Vec3d start;      ///< from the centre of the exit aperture, metres
  Vec3d direction;  ///< unit
};

/// Radius, in units of the 1 / e^2 radius, inside which the share u of the energy lies.
PC_HD inline double radius_of(double share) { return std::sqrt(-0.5 * std::log(1 - share)); }

struct Turn {
  double sin, cos;
};
/// Of an angle >= 0. Of small ones, which beams have, by the first terms of the series: the next one is below 1e-18.
PC_HD inline Turn turn_of(double angle) {
  if (angle > 0.02) return {std::sin(angle), std::cos(angle)};
  const double square = angle * angle;
  return {angle * (1 - square * (1.0 / 6) * (1 - square * (1.0 / 20) * (1 - square * (1.0 / 42)))),
          1 - square * 0.5 * (1 - square * (1.0 / 12) * (1 - square * (1.0 / 30)))};
}

/// Ray k of a pulse with unit direction d. Each ray but the first stands for the same energy: the k-th has its angle in
/// the k-th of equal shares of the energy, with one random shift for all of them, and follows the one before it by the golden
/// angle; start points are shifted van der Corput numbers. Over the pulses every ray is distributed as the energy is.
/// Source  Vogel, A better way to construct the sunflower head, 1979; randomly shifted points: Cranley & Patterson 1976.
PC_HD inline BeamRay beam_ray(const Beam& beam, const Vec3d& d, const Across& across, std::uint32_t k,
                              const RayTurn& ray, const PulseTurn& pulse) {
  if (k == 0) return {{0, 0, 0}, d};
  const double kept = 1 - beam.tail;
  BeamRay out{{0, 0, 0}, d};
  if (beam.divergence_rad > 0) {
    const double share = (k - 1 + pulse.shift) / (beam.ray_count - 1);
    const Turn turn = turn_of(beam.divergence_rad * radius_of(kept * share));
    const double ca = ray.golden_cos * pulse.cos - ray.golden_sin * pulse.sin,
                 sa = ray.golden_sin * pulse.cos + ray.golden_cos * pulse.sin;
    out.direction = d * turn.cos + across.a * (turn.sin * ca) + across.b * (turn.sin * sa);
  }
  if (beam.exit_radius_m > 0) {
    const double turned = ray.reversed + pulse.aperture_shift;
    const double radius = beam.exit_radius_m * radius_of(kept * (turned - std::floor(turned)));
    const double ca = ray.plastic_cos * pulse.aperture_cos - ray.plastic_sin * pulse.aperture_sin,
                 sa = ray.plastic_sin * pulse.aperture_cos + ray.plastic_cos * pulse.aperture_sin;
    out.start = across.a * (radius * ca) + across.b * (radius * sa);
  }
  return out;
}

/// Two independent normal deviates of mean 0 and deviation 1.
/// Source  Box & Muller 1958.
struct NormalPair {
  double a, b;
  PC_HD static NormalPair of(std::uint64_t seed, std::uint64_t counter) {
    const double size = std::sqrt(-2 * std::log1p(-random_unit(seed, counter)));
    const double turn = kTurn * random_unit(seed, counter + 1);
    return {size * std::cos(turn), size * std::sin(turn)};
  }
};

/// The direction off by a normal deviate of `deviation_rad` along each of two axes across it.
PC_HD inline Vec3d jittered(const Vec3d& d, double deviation_rad, std::uint64_t seed, std::uint64_t pulse) {
  const NormalPair off = NormalPair::of(seed, kPerPulse * pulse + 4);
  const Across across(d);
  const Vec3d p =
      d + across.a * (std::tan(deviation_rad * off.a)) + across.b * (std::tan(deviation_rad * off.b));
  return p * (1 / std::sqrt(dot(p, p)));
}

}  // namespace pc::beam_footprint
