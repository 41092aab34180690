#pragma once
#include <cmath>
#include <numbers>
#include <vector>

#include "core/random.h"
#include "ops/fit/prospect_inversion.h"

namespace pc::test {

/// A leaf in the middle of the ranges; number > 0: another one, away from its bounds.
inline LeafParameters leaf_of(LeafModelKind kind, std::uint64_t number) {
  LeafParameters leaf{1.7, 38, 9, 0.1, 0.013, 0.006, 1.2, 0, 0, 1, 0};
  if (kind == LeafModelKind::kPro) {
    leaf[parameter_of(kDryMatter)] = 0;
    leaf[parameter_of(kProtein)] = 0.0015;
    leaf[parameter_of(kCarbonBased)] = 0.006;
  }
  for (std::size_t i = 0; i < 1 + kConstituents && number > 0; ++i)
    leaf[i] *= 0.6 + 0.8 * random_unit(7, number * 16 + i);
  leaf[0] = std::max(leaf[0], 1.15);
  return leaf;
}

/// Its reflectance at every nanometre with normal noise of a standard deviation (Box-Muller).
inline LeafMeasurement measured_leaf(const LeafParameters& leaf, double noise_sd, std::uint64_t seed) {
  LeafMeasurement out;
  for (std::uint32_t i = 0; i < kLeafWavelengths; ++i) {
    const double radius = std::sqrt(-2 * std::log(1 - random_unit(seed, 2 * i)));
    const double noise = radius * std::cos(2 * std::numbers::pi * random_unit(seed, 2 * i + 1));
    out.index.push_back(i);
    out.reflectance.push_back(leaf_row(prospect_model(), i, leaf).value + noise_sd * noise);
  }
  return out;
}

}  // namespace pc::test
