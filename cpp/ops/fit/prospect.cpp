#include "ops/fit/prospect.h"

#include <cmath>
#include <numbers>

#include "core/error.h"

namespace pc {

namespace {

/// The closed form has no value for parallel light, which the limit of a thin cone replaces; callers use 40 and 90.
double transmissivity(double sine_squared, double n2) {
  const double np = n2 + 1, nm = n2 - 1, n = std::sqrt(n2);
  const double a = (n + 1) * (n + 1) / 2, k = -nm * nm / 4;
  const double b2 = sine_squared - np / 2;
  const double b1 = sine_squared < 1 ? std::sqrt(b2 * b2 + k) : 0;
  const double b = b1 - b2, np3 = np * np * np, ca = 2 * np * a - nm * nm, cb = 2 * np * b - nm * nm;
  const double perpendicular =
      k * k / 6 * (1 / (b * b * b) - 1 / (a * a * a)) + k * (1 / b - 1 / a) - (b - a) / 2;
  const double parallel = -2 * n2 * (b - a) / (np * np) - 2 * n2 * np * std::log(b / a) / (nm * nm) +
                          n2 / 2 * (1 / b - 1 / a) +
                          16 * n2 * n2 * (n2 * n2 + 1) * std::log(cb / ca) / (np3 * nm * nm) +
                          16 * n2 * n2 * n2 * (1 / cb - 1 / ca) / np3;
  return (perpendicular + parallel) / (2 * sine_squared);
}

}  // namespace

double interface_transmissivity(double incidence_deg, double refractive_index) {
  require(incidence_deg > 0 && incidence_deg <= 90, "incidence must be above 0 and at most 90 degrees");
  require(refractive_index > 1 && refractive_index < 100, "refractive index must be above 1");
  const double sine = std::sin(incidence_deg * std::numbers::pi / 180);
  return transmissivity(incidence_deg < 90 ? sine * sine : 1, refractive_index * refractive_index);
}

LayerTransmission layer_transmission(double absorption, const ExponentialIntegral& integral) {
  const double k = absorption;
  if (!(k > 0)) return {{1, 0}, -2};
  const double lost = k < 1 ? -std::expm1(-k) : 1 - std::exp(-k), kept = 1 - lost;
  const double exp_minus_k = k < 1 ? kept : std::exp(-k);
  const double ke1 = k * integral.e1(k, exp_minus_k), passed = exp_minus_k - k * (exp_minus_k - ke1);
  // Far into absorption the difference above has no digits left; 2 E3 lies between these bounds (DLMF 8.19.21).
  const double least = 2 * exp_minus_k / (k + 3), most = 2 * exp_minus_k / (k + 2);
  const double tau = passed < least ? least : passed > most ? most : passed;
  return {{tau, lost + k * (exp_minus_k - ke1)}, -2 * (exp_minus_k - ke1)};
}

ProspectModel::ProspectModel(const LeafConstants& constants, double incidence_deg)
    : surface_(kLeafWavelengths), absorption_(kLeafWavelengths), integral_(exponential_integral()) {
  const auto whole = [](const std::vector<double>& spectrum) { return spectrum.size() == kLeafWavelengths; };
  require(whole(constants.refractive_index), "a spectrum of leaf constants must have 2101 values");
  for (const auto& spectrum : constants.absorption)
    require(whole(spectrum), "a spectrum of leaf constants must have 2101 values");
  for (std::size_t i = 0; i < kLeafWavelengths; ++i) {
    const double n = constants.refractive_index[i], inward = interface_transmissivity(90, n);
    surface_[i] = {interface_transmissivity(incidence_deg, n), inward, inward / (n * n)};
    for (std::size_t c = 0; c < kConstituents; ++c) absorption_[i][c] = constants.absorption[c][i];
  }
}

template <bool kSlopes>
LeafOptics ProspectModel::optics(std::size_t index, const LeafTraits& leaf) const {
  double total = 0;
  for (std::size_t c = 0; c < kConstituents; ++c) total += leaf.content[c] * absorption_[index][c];
  const double k = total / leaf.layers;
  const LayerTransmission inside = layer_transmission(k, integral_);
  const prospect_kernel::Leaf out =
      prospect_kernel::leaf<kSlopes>(surface_[index], inside.layer, leaf.layers);
  const double by_total = inside.by_absorption / leaf.layers, by_layers = -k * by_total;
  return {out.reflectance,
          out.transmittance,
          out.reflectance_by_tau * by_total,
          out.transmittance_by_tau * by_total,
          out.reflectance_by_layers + out.reflectance_by_tau * by_layers,
          out.transmittance_by_layers + out.transmittance_by_tau * by_layers};
}

LeafOptics ProspectModel::at(std::size_t index, const LeafTraits& leaf) const {
  return optics<true>(index, leaf);
}
LeafOptics ProspectModel::values(std::size_t index, const LeafTraits& leaf) const {
  return optics<false>(index, leaf);
}

const ProspectModel& prospect_model() {
  static const ProspectModel model(leaf_constants(), kLeafIncidence_deg);
  return model;
}

LeafSpectrum prospect_spectrum(const ProspectModel& model, const LeafTraits& leaf, OpContext& ctx) {
  require(leaf.layers >= 1 && leaf.layers <= 100, "N must be from 1 to 100");
  for (const double content : leaf.content)
    require(content >= 0 && content <= 1e9, "contents of a leaf must be from 0 to 1e9");
  ctx.begin_phase("Computing leaf optics", kLeafWavelengths);
  LeafSpectrum spectrum;
  for (std::size_t i = 0; i < kLeafWavelengths; ++i) {
    const LeafOptics optics = model.at(i, leaf);
    spectrum.reflectance.push_back(optics.reflectance);
    spectrum.transmittance.push_back(optics.transmittance);
    spectrum.reflectance_slope[0].push_back(optics.reflectance_by_layers);
    spectrum.transmittance_slope[0].push_back(optics.transmittance_by_layers);
    for (std::size_t c = 0; c < kConstituents; ++c) {
      const double coefficient = model.absorption(i)[c];
      spectrum.reflectance_slope[1 + c].push_back(optics.reflectance_by_absorption * coefficient);
      spectrum.transmittance_slope[1 + c].push_back(optics.transmittance_by_absorption * coefficient);
    }
  }
  ctx.advance(kLeafWavelengths);
  return spectrum;
}

}  // namespace pc
