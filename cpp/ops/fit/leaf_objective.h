#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/op_context.h"
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

/// rho(z) of a squared residual z in units of the squared scale.
enum class RobustLoss : std::uint8_t {
  kLinear,  ///< z
  kSoftL1,  ///< 2 (sqrt(1 + z) - 1)
  kHuber,   ///< z up to 1, then 2 sqrt(z) - 1
  kCauchy,  ///< ln(1 + z)
  kArctan   ///< arctan z
};

/// Half the sum of scale^2 rho((r / scale)^2) over the residuals r of a spectrum, weight * (model - measured), and of the
/// prior, strength * (parameter - mean) / sd.
struct LeafObjective {
  const ProspectModel& model;
  std::vector<std::uint32_t> index;      ///< (n) wavelengths used, from 0 at 400 nm
  std::vector<double> measured, weight;  ///< (n)
  double prior_strength;
  std::array<bool, kLeafParameters> is_free;
  RobustLoss loss;
  double loss_scale;  ///< not read for kLinear
};

/// An objective near a place: gradient, and curvature for a descent (Gauss-Newton, at least a quarter of the curvature of
/// the weighted least squares that bound the loss from above). Rows and columns of parameters that are not free are zero.
struct LeafQuadratic {
  double cost = 0;
  LeafParameters gradient{};
  std::array<LeafParameters, kLeafParameters> curvature{};  ///< lower triangle
};
LeafQuadratic leaf_quadratic(const LeafObjective& objective, const LeafParameters& at);

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

/// Minimises an objective inside the ranges from a start inside them.
///
/// Order    The same bits every time.
/// Cost     10 to 30 evaluations of the objective, 0.3 ms each for a whole spectrum; at most max_evaluations.
/// Cancel   Between evaluations.
/// Source   Levenberg-Marquardt with the damping of Nielsen 1999, IMM-REP-1999-05, scaled by the largest curvature seen
///          (Moré 1978); variables that a step takes beyond a bound stop there and the others are solved again. Curvature
///          of robust losses: Triggs et al. 2000, section 4.3.
LeafSolution solve_leaf(const LeafObjective& objective, const LeafParameters& start, int max_evaluations,
                        OpContext& ctx);

/// Inverse of a symmetric positive definite matrix over the free parameters; other rows are zero. Lower triangle in, full
/// matrix out. Errors: kInternal if it is not positive definite.
using LeafMatrix = std::array<LeafParameters, kLeafParameters>;
LeafMatrix inverse_over(const LeafMatrix& lower, const std::array<bool, kLeafParameters>& is_free);

/// Derivatives of a robust loss at z: rho', and rho' + 2 z rho'' but at least a quarter of rho'.
struct LossSlopes {
  double value, weight, curvature;
};
LossSlopes loss_slopes(RobustLoss loss, double z);

}  // namespace pc
