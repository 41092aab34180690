#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/op_context.h"
#include "core/span.h"
#include "ops/fit/least_squares.h"
#include "ops/fit/prospect.h"

namespace pc {

/// Parameters of a leaf inversion: N, the contents by Constituent, then the calibration scale * R + offset.
inline constexpr std::size_t kCalibrationScale = 1 + kConstituents, kCalibrationOffset = 2 + kConstituents,
                             kLeafParameters = 3 + kConstituents;
using LeafParameters = std::array<double, kLeafParameters>;
constexpr std::size_t parameter_of(Constituent constituent) { return 1 + constituent; }

struct LeafParameterRange {
  double lower, upper, prior_mean, prior_sd;  ///< the first start is the prior mean
};
/// The ranges of docs/leaf-optics.md, by parameter.
const std::array<LeafParameterRange, kLeafParameters>& leaf_parameter_ranges();

/// Sum of scale^2 rho((r / scale)^2) over the residuals r of a spectrum, weight * (model - measured), and of the
/// prior, strength * (parameter - mean) / sd.
struct LeafObjective {
  const ProspectModel& model;
  std::vector<std::uint32_t> index;      ///< (n) wavelengths used, from 0 at 400 nm
  std::vector<double> measured, weight;  ///< (n)
  double prior_strength;
  std::array<bool, kLeafParameters> is_free;
  Loss loss;
  double loss_scale;  ///< not read for kLinear
};

/// d(model)/d(parameter) at one wavelength, calibration included; `value` is the model.
struct LeafRow {
  double value;
  LeafParameters slope;
};
LeafRow leaf_row(const ProspectModel& model, std::size_t index, const LeafParameters& at);

struct LeafSolution {
  LeafParameters parameters;
  double cost;
  bool converged;
};

/// Minimises an objective inside the ranges (levenberg_marquardt.h) from a start inside them; what is not free keeps its
/// value.
///
/// Cost     10 to 20 evaluations of the objective, 0.4 ms each for a whole spectrum; at most max_evaluations.
/// Cancel   Between evaluations.
LeafSolution solve_leaf(const LeafObjective& objective, const LeafParameters& start,
                        std::size_t max_evaluations, OpContext& ctx);

using LeafMatrix = std::array<LeafParameters, kLeafParameters>;

/// Sum of factor * slope * slope' over the wavelengths of an objective; whole matrix.
LeafMatrix leaf_products(const LeafObjective& objective, const LeafParameters& at, Span<const double> factor);

/// Curvature of a loss in a residual r, at least a quarter of its weight: rho' + 2 z rho''.
double loss_curvature(Loss loss, double loss_scale, double r);

/// Inverse of a symmetric positive definite matrix over the free parameters; the other rows are zero.
/// Errors   kInternal if it is not positive definite.
LeafMatrix inverse_over(const LeafMatrix& matrix, const std::array<bool, kLeafParameters>& is_free);

}  // namespace pc
