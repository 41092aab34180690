#pragma once
#include <cmath>

#include "core/host_device.h"

/// The plate model at one wavelength, without its exponential integral.
///
/// Source   Allen et al. 1969, J. Opt. Soc. Am. 59, 1376 (one plate) and Stokes 1862 (a stack of them), as put together by
///          Jacquemoud & Baret 1990, Remote Sens. Environ. 34, 75. Deviations, equal but without their cancellations: the
///          light that a plate absorbs is t12 (1 - tau) / (1 - r21 tau), not 1 - r - t; the stack is written with
///          sinh x = D / 2r and sinh y = D / 2t (a = exp x, b = exp y), which has a limit without absorption, D = 0.
namespace pc::prospect_kernel {

/// Shares of light that pass the surface of a leaf at one wavelength.
struct Interface {
  double incident;  ///< from the cone of incidence into the leaf
  double inward;    ///< diffuse, into the leaf
  double outward;   ///< diffuse, out of the leaf
};

/// Diffuse light through the inside of one layer.
struct Layer {
  double passed;    ///< tau = 2 E3(k)
  double absorbed;  ///< 1 - tau, to full relative precision
};

/// Result, and its derivatives by tau and by the number of layers at constant tau, 0 unless asked for.
struct Leaf {
  double reflectance, transmittance;
  double reflectance_by_tau, transmittance_by_tau;
  double reflectance_by_layers, transmittance_by_layers;
};

/// One plate in diffuse light, with derivatives by tau ("_d").
struct Plate {
  double tau_out, tau_out_d;  ///< through, once inside
  double back, back_d;        ///< returned to the entry, once inside
  double r, r_d, t, t_d;      ///< reflectance and transmittance
  double square, square_d;    ///< D^2
  double per_r, per_t;        ///< 1 / r, 1 / t
};

PC_HD inline Plate plate(const Interface& surface, const Layer& layer) {
  const double inside = 1 - surface.outward, tau = layer.passed;  // inner reflectivity
  const double q = inside * tau, per_rest = 1 / ((1 - q) * (1 + q)), per_gap = (1 + q) * per_rest;
  Plate p{};
  p.tau_out = surface.outward * tau * per_rest;
  p.tau_out_d = surface.outward * (1 + q * q) * per_rest * per_rest;
  p.back = q * p.tau_out;
  p.back_d = inside * (p.tau_out + tau * p.tau_out_d);
  p.t = surface.inward * p.tau_out;
  p.t_d = surface.inward * p.tau_out_d;
  p.r = 1 - surface.inward + surface.inward * p.back;
  p.r_d = surface.inward * p.back_d;
  p.per_r = 1 / p.r;
  p.per_t = 1 / p.t;
  const double lost = surface.inward * layer.absorbed * per_gap;
  const double lost_d = -surface.inward * surface.outward * per_gap * per_gap;
  const double u = 1 + p.r + p.t, v = 1 + p.r - p.t, w = 1 - p.r + p.t;
  const double uvw_d = (p.r_d + p.t_d) * v * w + u * (p.r_d - p.t_d) * w + u * v * (p.t_d - p.r_d);
  p.square = u * v * w * lost;
  p.square_d = uvw_d * lost + u * v * w * lost_d;
  return p;
}

/// Reflectance and transmittance of a stack of m plates, with derivatives by tau ("_d") and by m ("_m").
struct Stack {
  double r, t, r_d, t_d, r_m, t_m;
};

struct Slope {
  double value, slope;
};

template <int N>
PC_HD inline Slope power_series(const double (&terms)[N], double z) {
  Slope sum{terms[N - 1], 0};
  for (int i = N - 2; i >= 0; --i) sum = {sum.value * z + terms[i], sum.slope * z + sum.value};
  return sum;
}

/// sinh(sqrt z) / sqrt z, 0 <= z <= 1.
PC_HD inline Slope sinh_ratio(double z) {
  constexpr double kTerms[] = {1,
                               1. / 6,
                               1. / 120,
                               1. / 5040,
                               1. / 362880,
                               1. / 39916800,
                               1. / 6227020800,
                               1. / 1307674368000,
                               1. / 355687428096000,
                               1. / 121645100408832000};
  return power_series(kTerms, z);
}

/// asinh(sqrt z) / sqrt z, 0 <= z <= 0.01.
PC_HD inline Slope asinh_ratio(double z) {
  constexpr double kTerms[] = {1,           -1. / 6,      3. / 40,       -5. / 112,     35. / 1152,
                               -63. / 2816, 231. / 13312, -143. / 10240, 6435. / 557056};
  return power_series(kTerms, z);
}

/// For plates that absorb next to nothing: x = D X and y = D Y with X and Y analytic in D^2.
template <bool kSlopes>
PC_HD inline Stack clear_stack(const Plate& p, double m) {
  const double half_r = p.per_r / 2, half_t = p.per_t / 2;
  const double zx = p.square * half_r * half_r, zy = p.square * half_t * half_t;
  const Slope ax = asinh_ratio(zx), ay = asinh_ratio(zy);
  const double x = ax.value * half_r, y = ay.value * half_t, my = m * y, whole = x + my;
  const Slope part = sinh_ratio(my * my * p.square), all = sinh_ratio(whole * whole * p.square);
  const double top = my * part.value, per_bottom = 1 / (whole * all.value);
  Stack s{};
  s.r = top * per_bottom;
  s.t = half_r * per_bottom;
  if constexpr (kSlopes) {
    const double zx_d = p.square_d * half_r * half_r - 2 * zx * p.r_d * p.per_r;
    const double zy_d = p.square_d * half_t * half_t - 2 * zy * p.t_d * p.per_t;
    const double x_d = ax.slope * zx_d * half_r - x * p.r_d * p.per_r;
    const double y_d = ay.slope * zy_d * half_t - y * p.t_d * p.per_t, whole_d = x_d + m * y_d;
    const double part_d = part.slope * (2 * my * m * y_d * p.square + my * my * p.square_d);
    const double all_d = all.slope * (2 * whole * whole_d * p.square + whole * whole * p.square_d);
    const double top_d = m * y_d * part.value + my * part_d;
    const double bottom_d = whole_d * all.value + whole * all_d;
    const double top_m = y * part.value + my * part.slope * 2 * my * y * p.square;
    const double bottom_m = y * all.value + whole * all.slope * 2 * whole * y * p.square;
    s.r_d = (top_d - s.r * bottom_d) * per_bottom;
    s.r_m = (top_m - s.r * bottom_m) * per_bottom;
    s.t_d = -s.t * (p.r_d * p.per_r + bottom_d * per_bottom);
    s.t_m = -s.t * bottom_m * per_bottom;
  }
  return s;
}

template <bool kSlopes>
PC_HD inline Stack absorbing_stack(const Plate& p, double m) {
  const double d = std::sqrt(p.square), apart = (p.r - p.t) * (p.r + p.t);
  const double cosh_x2 = 1 + apart, cosh_y2 = 1 - apart;  // 2 r cosh x and 2 t cosh y
  const double ex = 2 * p.r / (cosh_x2 + d);              // exp(-x)
  const double y = std::log((cosh_y2 + d) * (p.per_t / 2));
  const double ey = std::exp(-m * y);
  const double both = ex * ey, per_rest = 1 / ((1 - both) * (1 + both));
  Stack s{};
  s.r = ex * (1 - ey) * (1 + ey) * per_rest;
  s.t = ey * (1 - ex) * (1 + ex) * per_rest;
  if constexpr (kSlopes) {
    const double d_d = p.square_d / (2 * d), x_d = (d_d - d * p.r_d * p.per_r) / cosh_x2;
    const double y_d = m * (d_d - d * (p.t_d * p.per_t)) / cosh_y2;
    const double coth = (1 + both * both) * per_rest, cosech = 2 * both * per_rest;  // of x + m y
    s.r_d = -s.r * coth * x_d + s.t * cosech * y_d;
    s.t_d = s.r * cosech * x_d - s.t * coth * y_d;
    s.r_m = s.t * cosech * y;
    s.t_m = -s.t * coth * y;
  }
  return s;
}

/// A leaf of `layers` layers, a real number >= 1. Without slopes in two thirds of the time.
template <bool kSlopes>
PC_HD inline Leaf leaf(const Interface& surface, const Layer& layer, double layers) {
  constexpr double kOpaque = 1e-290;  // below, the derivatives leave the range of the numbers
  if (layer.passed < kOpaque) return {1 - surface.incident, 0, 0, 0, 0, 0};
  const Plate p = plate(surface, layer);
  const double m = layers - 1, per_least = p.per_r > p.per_t ? p.per_r : p.per_t;
  const double z = p.square / 4 * per_least * per_least;  // sinh^2 of the larger of x and y
  const bool is_clear = z < 0.01 && z * layers * layers < 0.25;
  const Stack s = is_clear ? clear_stack<kSlopes>(p, m) : absorbing_stack<kSlopes>(p, m);
  const double per_gap = 1 / (1 - s.r * p.r);
  const double in = surface.incident, through = in * p.tau_out, returned = through * s.r * p.t * per_gap;
  Leaf out{};
  out.reflectance = 1 - in + in * p.back + returned;
  out.transmittance = through * s.t * per_gap;
  if constexpr (kSlopes) {
    const double gap_d = -(s.r_d * p.r + s.r * p.r_d), gap_m = -s.r_m * p.r, through_d = in * p.tau_out_d;
    out.reflectance_by_tau =
        in * p.back_d +
        (through_d * s.r * p.t + through * (s.r_d * p.t + s.r * p.t_d) - returned * gap_d) * per_gap;
    out.reflectance_by_layers = (through * p.t * s.r_m - returned * gap_m) * per_gap;
    out.transmittance_by_tau = (through_d * s.t + through * s.t_d - out.transmittance * gap_d) * per_gap;
    out.transmittance_by_layers = (through * s.t_m - out.transmittance * gap_m) * per_gap;
  }
  return out;
}

}  // namespace pc::prospect_kernel
