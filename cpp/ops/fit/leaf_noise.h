#pragma once
#include <cstddef>
#include <vector>

#include "core/span.h"

namespace pc {

/// Noise of a measured spectrum, from what a fitted model leaves over: variance = constant + relative * R^2.
struct LeafNoise {
  double constant, relative;
  /// Residuals of neighbouring wavelengths that are alike, as of a smoothed or interpolated spectrum or of a model that
  /// misses a band, carry less information: this is the number of wavelengths that count as one, >= 1.
  double correlated_count;

  double variance(double reflectance) const { return constant + relative * reflectance * reflectance; }
};

/// residual         (n) of the fit, in the order of the wavelengths
/// reflectance      (n) of the fitted model
/// parameter_count  fitted, below n
/// Order    The same bits every time.
/// Cost     O(n) for independent residuals, up to O(n^2 / 4) for correlated ones (n <= 2101: 1 ms).
/// Source   Variance: weighted least squares of the squared residuals, each at most 16 times its expectation, with
///          neither part negative (Carroll & Ruppert 1988, Transformation and Weighting in Regression, section 3.3).
///          Correlation: 1 + 2 sum of the autocorrelations up to the first below 2 / sqrt(n) (Box & Jenkins 1970).
LeafNoise leaf_noise(Span<const double> residual, Span<const double> reflectance,
                     std::size_t parameter_count);

}  // namespace pc
