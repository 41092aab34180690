#include "ops/fit/prospect.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "core/error.h"
#include "core/random.h"

namespace pc {
namespace {

using prospect_kernel::Interface;
using prospect_kernel::Layer;
using prospect_kernel::Leaf;

Leaf leaf(const Interface& surface, const Layer& layer, double layers) {
  return prospect_kernel::leaf<true>(surface, layer, layers);
}

Interface surface_of(double n) {
  const double inward = interface_transmissivity(90, n);
  return {interface_transmissivity(40, n), inward, inward / (n * n)};
}

/// Fresnel's equations, averaged over the projected solid angle of the cone by Simpson's rule.
double averaged_fresnel(double incidence_deg, double n) {
  const double end = incidence_deg * std::numbers::pi / 180;
  const int steps = 20000;
  double sum = 0, weights = 0;
  for (int i = 0; i <= steps; ++i) {
    const double angle = end * i / steps, sine = std::sin(angle) / n;
    const double cos_in = std::cos(angle), cos_out = std::sqrt(1 - sine * sine);
    const double rs = (cos_in - n * cos_out) / (cos_in + n * cos_out),
                 rp = (n * cos_in - cos_out) / (n * cos_in + cos_out);
    const double weight = (i == 0 || i == steps ? 1 : i % 2 == 1 ? 4 : 2) * std::sin(2 * angle);
    sum += weight * (1 - (rs * rs + rp * rp) / 2);
    weights += weight;
  }
  return sum / weights;
}

TEST(Prospect, InterfacesAverageFresnelsEquations) {
  for (const double n : {1.27, 1.4, 1.53})
    for (const double incidence : {10.0, 40.0, 60.0, 90.0})
      EXPECT_NEAR(interface_transmissivity(incidence, n), averaged_fresnel(incidence, n), 1e-9)
          << n << " " << incidence;
  EXPECT_THROW(interface_transmissivity(40, 1), Error);
  EXPECT_THROW(interface_transmissivity(0, 1.4), Error);
}

/// 2 E3(k) by Simpson's rule over the direction: 2 integral of mu exp(-k / mu).
TEST(Prospect, LayersAverageBeersLaw) {
  for (const double k : {0.01, 0.3, 0.999, 1.0, 1.7, 4.2, 9.0}) {
    const int steps = 100000;
    double sum = 0;
    for (int i = 1; i <= steps; ++i) {
      const double mu = 1.0 * i / steps;
      sum += (i == steps ? 1 : i % 2 == 1 ? 4 : 2) * mu * std::exp(-k / mu);
    }
    EXPECT_NEAR(layer_transmission(k, exponential_integral()).layer.passed, 2 * sum / steps / 3, 1e-9) << k;
  }
}

TEST(Prospect, WhatALayerAbsorbsKeepsItsDigits) {
  const auto of = [](double k) { return layer_transmission(k, exponential_integral()); };
  for (const double k : {1e-300, 1e-20, 1e-12, 1e-9}) {
    EXPECT_NEAR(of(k).layer.absorbed / (2 * k), 1, 1e-7) << k;  // 2 k + k^2 ln k ...
    EXPECT_NEAR(of(k).layer.passed, 1 - of(k).layer.absorbed, 3e-16);
  }
  EXPECT_EQ(of(0).layer.passed, 1);
  EXPECT_EQ(of(0).layer.absorbed, 0);
  EXPECT_EQ(of(1000).layer.passed, 0);
  EXPECT_EQ(of(1000).layer.absorbed, 1);
  for (double k = 1e-3; k < 600; k *= 1.1) {
    const auto layer = of(k);
    EXPECT_NEAR(layer.layer.passed + layer.layer.absorbed, 1, 5e-16);
    EXPECT_GT(layer.layer.passed, 0);
    const double h = k * 1e-4, slope = (of(k + h).layer.passed - of(k - h).layer.passed) / (2 * h);
    EXPECT_NEAR(layer.by_absorption, slope, 2e-8) << k;
  }
}

/// Whole layers put on top of each other one by one, in long double.
struct Stacked {
  long double r, t;
};
Stacked stacked(const Interface& surface, long double tau, int layers) {
  const long double in = surface.incident, t12 = surface.inward, t21 = surface.outward, r21 = 1 - t21;
  const auto plate = [&](long double entering) -> Stacked {
    const long double rest = 1 - r21 * r21 * tau * tau;
    return {1 - entering + entering * t21 * r21 * tau * tau / rest, entering * t21 * tau / rest};
  };
  const Stacked one = plate(t12);
  Stacked below{0, 1};
  for (int i = 1; i < layers; ++i) {
    const long double gap = 1 - one.r * below.r;
    below = {one.r + one.t * one.t * below.r / gap, one.t * below.t / gap};
  }
  const Stacked top = plate(in);
  const long double gap = 1 - one.r * below.r;
  return {top.r + top.t * below.r * one.t / gap, top.t * below.t / gap};
}

TEST(Prospect, WholeLayersAddUpOneByOne) {
  for (const double n : {1.27, 1.4, 1.53})
    for (double k = 1e-14; k < 40; k *= 1.7)
      for (const int layers : {1, 2, 3, 7}) {
        const Layer layer = layer_transmission(k, exponential_integral()).layer;
        const Leaf got = leaf(surface_of(n), layer, layers);
        const Stacked wanted = stacked(surface_of(n), 1 - static_cast<long double>(layer.absorbed), layers);
        ASSERT_NEAR(got.reflectance, static_cast<double>(wanted.r), 1e-13) << n << " " << k << " " << layers;
        ASSERT_NEAR(got.transmittance, static_cast<double>(wanted.t), 1e-13)
            << n << " " << k << " " << layers;
      }
}

TEST(Prospect, WithoutAbsorptionNothingIsLost) {
  for (const double layers : {1.0, 1.0 + 1e-12, 1.5, 2.0, 3.0, 20.0, 100.0})
    for (const double absorbed : {0.0, 1e-300, 1e-18}) {
      const Leaf got = leaf(surface_of(1.45), {1, absorbed}, layers);
      EXPECT_NEAR(got.reflectance + got.transmittance, 1, 1e-14) << layers;
      EXPECT_GT(got.transmittance, 0);
    }
}

/// Both forms of the stack meet, and derivatives are those of the values, on either side of the change.
TEST(Prospect, DerivativesAreThoseOfTheValues) {
  const Interface surface = surface_of(1.42);
  for (double k = 1e-6; k < 20; k *= 1.13)
    for (const double layers : {1.0001, 1.37, 2.2, 3.0, 9.5}) {
      const auto at = [&](double absorption, double n) {
        return leaf(surface, layer_transmission(absorption, exponential_integral()).layer, n);
      };
      const double h = k * (k < 1e-5 ? 1e-2 : k < 1e-3 ? 1e-3 : 1e-4);
      const double slope = layer_transmission(k, exponential_integral()).by_absorption;
      const Leaf got = at(k, layers);
      const auto central = [](double below, double above, double step) {
        return (above - below) / (2 * step);
      };
      const double by_r = got.reflectance_by_tau * slope, by_t = got.transmittance_by_tau * slope;
      ASSERT_NEAR(by_r, central(at(k - h, layers).reflectance, at(k + h, layers).reflectance, h),
                  2e-7 * (1 + std::abs(by_r)))
          << k << " " << layers;
      ASSERT_NEAR(by_t, central(at(k - h, layers).transmittance, at(k + h, layers).transmittance, h),
                  2e-7 * (1 + std::abs(by_t)))
          << k << " " << layers;
      const double d = 5e-5;
      ASSERT_NEAR(got.reflectance_by_layers,
                  central(at(k, layers - d).reflectance, at(k, layers + d).reflectance, d), 1e-8)
          << k << " " << layers;
      ASSERT_NEAR(got.transmittance_by_layers,
                  central(at(k, layers - d).transmittance, at(k, layers + d).transmittance, d), 1e-8)
          << k << " " << layers;
    }
}

TEST(Prospect, OpaqueLeavesReflectTheirSurface) {
  const Interface surface = surface_of(1.45);
  for (const double tau : {0.0, 5e-324, 1e-300, 1e-289, 1e-150, 1e-20})
    for (const double layers : {1.0, 1.01, 2.5}) {
      const Leaf got = leaf(surface, {tau, 1}, layers);
      EXPECT_NEAR(got.reflectance, 1 - surface.incident, 1e-19) << tau;
      for (const double number : {got.transmittance, got.reflectance_by_tau, got.transmittance_by_tau,
                                  got.reflectance_by_layers, got.transmittance_by_layers})
        EXPECT_TRUE(std::isfinite(number)) << tau << " " << layers;
    }
}

LeafSpectrum spectrum_of(const LeafTraits& traits) {
  JobControl control;
  OpContext ctx(control);
  return prospect_spectrum(prospect_model(), traits, ctx);
}

TEST(Prospect, SpectraOfLeaves) {
  const LeafTraits green{1.6, {45, 8, 0.05, 0.015, 0.005, 0.6, 0, 0}};
  const LeafSpectrum got = spectrum_of(green);
  ASSERT_EQ(got.reflectance.size(), kLeafWavelengths);
  for (std::size_t i = 0; i < kLeafWavelengths; ++i) {
    EXPECT_GT(got.reflectance[i], 0.02);
    EXPECT_GT(got.transmittance[i], 0);
    EXPECT_LT(got.reflectance[i] + got.transmittance[i], 1);
  }
  const auto at = [](double nm) { return static_cast<std::size_t>(nm - 400); };
  EXPECT_LT(got.reflectance[at(670)], 0.08);  // chlorophyll
  EXPECT_GT(got.reflectance[at(550)], 1.3 * got.reflectance[at(670)]);
  EXPECT_GT(got.reflectance[at(800)], 0.4);
  EXPECT_LT(got.reflectance[at(1940)], 0.6 * got.reflectance[at(1650)]);  // water
}

TEST(Prospect, TheSameWithoutSlopes) {
  for (const double content : {0.0, 1e-9, 1e-3, 1.0, 40.0})
    for (std::size_t i = 0; i < kLeafWavelengths; i += 7) {
      const LeafTraits leaf{2.3, {content, 0, 0, content / 1e4, 0, 0, 0, 0}};
      const LeafOptics values = prospect_model().values(i, leaf), all = prospect_model().at(i, leaf);
      EXPECT_EQ(values.reflectance, all.reflectance);
      EXPECT_EQ(values.transmittance, all.transmittance);
      EXPECT_EQ(values.reflectance_by_layers, 0);
    }
}

TEST(Prospect, SlopesOfSpectra) {
  const LeafTraits leaf{1.7, {30, 6, 0.1, 0.012, 0.004, 1, 0.001, 0.003}};
  const LeafSpectrum here = spectrum_of(leaf);
  for (std::size_t trait = 0; trait < 1 + kConstituents; ++trait) {
    LeafTraits below = leaf, above = leaf;
    double& low = trait == 0 ? below.layers : below.content[trait - 1];
    double& high = trait == 0 ? above.layers : above.content[trait - 1];
    const double step = 1e-4 * low;
    low -= step;
    high += step;
    const LeafSpectrum a = spectrum_of(below), b = spectrum_of(above);
    double largest = 0;
    for (std::size_t i = 0; i < kLeafWavelengths; ++i) {
      const double scale =
          std::abs(here.reflectance_slope[trait][i]) + std::abs(here.transmittance_slope[trait][i]);
      largest = std::max(largest, scale);
      ASSERT_NEAR(here.reflectance_slope[trait][i], (b.reflectance[i] - a.reflectance[i]) / (2 * step),
                  1e-6 * (1 + scale));
      ASSERT_NEAR(here.transmittance_slope[trait][i], (b.transmittance[i] - a.transmittance[i]) / (2 * step),
                  1e-6 * (1 + scale));
    }
    EXPECT_GT(largest, 1e-4) << trait;
  }
}

TEST(Prospect, RefusesLeavesThatCannotBe) {
  const LeafTraits good{1.5, {}};
  EXPECT_NO_THROW(spectrum_of(good));
  for (const double layers : {0.99, -1.0, 101.0, std::nan("")})
    EXPECT_THROW(spectrum_of({layers, {}}), Error);
  for (const double content : {-1e-9, 2e9, HUGE_VAL, std::nan("")}) {
    LeafTraits bad = good;
    bad.content[kWater] = content;
    EXPECT_THROW(spectrum_of(bad), Error);
  }
  EXPECT_THROW(ProspectModel({{1.4}, {}}, 40), Error);
}

TEST(Prospect, ConstantsAreWhole) {
  const LeafConstants& constants = leaf_constants();
  ASSERT_EQ(constants.refractive_index.size(), kLeafWavelengths);
  for (const double n : constants.refractive_index) EXPECT_TRUE(n > 1.2 && n < 1.6) << n;
  for (const auto& spectrum : constants.absorption) {
    ASSERT_EQ(spectrum.size(), kLeafWavelengths);
    for (const double coefficient : spectrum) EXPECT_GE(coefficient, 0);
  }
  // The first and last row of the published table, and the row of 1940 nm.
  EXPECT_NEAR(constants.refractive_index[0], 1.5115, 4e-5);
  EXPECT_NEAR(constants.absorption[kChlorophyll][0], 6.48815e-2, 1e-5);
  EXPECT_NEAR(constants.absorption[kDryMatter][0], 109.7, 1e-2);
  EXPECT_NEAR(constants.absorption[kWater][1540], 125.6, 1e-2);
  EXPECT_NEAR(constants.absorption[kProtein][1540], 17.2755, 1e-2);
  EXPECT_NEAR(constants.refractive_index[2100], 1.2736, 4e-5);
  EXPECT_NEAR(constants.absorption[kDryMatter][2100], 38.71, 1e-2);
  EXPECT_NEAR(constants.absorption[kCarbonBased][2100], 42.6366, 1e-2);
}

}  // namespace
}  // namespace pc
