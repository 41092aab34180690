#pragma once
#include <array>

#include "core/plant_structure.h"
#include "core/vec3.h"

namespace pc {

/// Quantile of the Beta(a, b) distribution at u in 0..1: the x in 0..1 with I_x(a, b) = u, to about 1e-12.
/// Source: continued fraction of the incomplete beta function, DLMF 8.17.22, by Lentz's method; bisection and Newton.
double beta_quantile(double u, double a, double b);

/// Inclination of the blade with the number u, degrees: 90 BetaInv(u; nu, mu). Mean 90 nu / (mu + nu).
double steered_inclination_deg(const LeafInclination& law, double u);

/// Rotates a blade rigidly about its base so that `normal`, folded to the upper side, gets the inclination `target_deg`
/// and keeps its azimuth; about the blade's width axis when the normal is vertical.
///
/// frame   x, y, z axes and origin of the blade; the axes are rotated in place
/// normal  of the blade in the same frame as the axes, any length above 0
void steer_blade(std::array<Vec3d, 4>& frame, const Vec3d& normal, double target_deg);

/// Rotates v about a unit axis.
Vec3d rotated(const Vec3d& v, const Vec3d& axis, double angle_rad);

}  // namespace pc
