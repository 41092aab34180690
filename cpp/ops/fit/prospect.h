#pragma once
#include <array>
#include <cstddef>
#include <vector>

#include "core/exponential_integral.h"
#include "core/op_context.h"
#include "core/span.h"
#include "ops/fit/leaf_constants.h"
#include "ops/fit/prospect_kernel.h"

namespace pc {

/// Half-angle of the cone of light that falls on a leaf, degrees, for which the constants were calibrated.
inline constexpr double kLeafIncidence_deg = 40;

/// A leaf to the model.
struct LeafTraits {
  double layers;                              ///< structure N, >= 1
  std::array<double, kConstituents> content;  ///< by Constituent, in its unit, >= 0
};

/// Optics of a leaf at one wavelength, and their derivatives.
struct LeafOptics {
  double reflectance, transmittance;
  /// By the total absorption sum(content * coefficient), at constant N.
  double reflectance_by_absorption, transmittance_by_absorption;
  double reflectance_by_layers, transmittance_by_layers;
};

/// Share of light that a plane surface lets into a medium, averaged over a cone.
///
/// incidence_deg      half-angle of the cone, 0 < incidence_deg <= 90
/// refractive_index   > 1
/// Source   Stern 1964, Appl. Opt. 3, 111; Allen 1973, Appl. Opt. 12, 2448.
double interface_transmissivity(double incidence_deg, double refractive_index);

/// Diffuse light through a layer of absorption k >= 0 (Jacquemoud & Baret 1990, eq. 15), and the derivative of tau.
struct LayerTransmission {
  prospect_kernel::Layer layer;
  double by_absorption;  ///< -2 E2(k)
};
LayerTransmission layer_transmission(double absorption, const ExponentialIntegral& integral);

/// PROSPECT-D and PROSPECT-PRO: reflectance and transmittance of a leaf from its content.
///
/// Order    The same bits every time; within 1e-12 of the exact plate model, also without absorption and under total
///          absorption.
/// Cost     Below 0.1 us for each wavelength.
/// Source   Feret et al. 2017, 2021 as in leaf_constants.h; prospect_kernel.h.
class ProspectModel {
 public:
  /// Errors   kInvalidArgument for spectra of another length.
  ProspectModel(const LeafConstants& constants, double incidence_deg);

  /// index  of the wavelength, from 0 at 400 nm to 2100
  LeafOptics at(std::size_t index, const LeafTraits& leaf) const;
  /// The same without derivatives, which are 0.
  LeafOptics values(std::size_t index, const LeafTraits& leaf) const;
  /// Coefficients by Constituent.
  const std::array<double, kConstituents>& absorption(std::size_t index) const { return absorption_[index]; }

 private:
  template <bool kSlopes>
  LeafOptics optics(std::size_t index, const LeafTraits& leaf) const;

  std::vector<prospect_kernel::Interface> surface_;
  std::vector<std::array<double, kConstituents>> absorption_;
  const ExponentialIntegral& integral_;
};

/// The model with the constants that ship with the program.
const ProspectModel& prospect_model();

struct LeafSpectrum {
  std::vector<double> reflectance, transmittance;  ///< (2101), 0..1
  /// (2101) derivatives by N and by each content, by its unit.
  std::array<std::vector<double>, 1 + kConstituents> reflectance_slope, transmittance_slope;
};

/// Reflectance and transmittance of a leaf from 400 to 2500 nm.
///
/// Cancel   Within 1 ms.
/// Errors   kInvalidArgument for layers outside 1..100 and contents outside 0..1e9.
LeafSpectrum prospect_spectrum(const ProspectModel& model, const LeafTraits& leaf, OpContext& ctx);

}  // namespace pc
