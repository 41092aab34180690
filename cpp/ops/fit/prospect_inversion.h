#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "core/op_context.h"
#include "core/span.h"
#include "ops/fit/leaf_objective.h"

namespace pc {

enum class LeafModelKind : std::uint8_t {
  kD,   ///< dry matter
  kPro  ///< protein and other carbon instead of dry matter
};

/// Weight of a wavelength in the full inversion: 1, times `visible` from visible_min_nm to visible_max_nm, plus
/// `feature` times the bells at green and red edge, plus `violet` times the bell at violet.
struct LeafWeights {
  double visible, visible_min_nm, visible_max_nm;
  double green_nm, red_edge_nm, violet_nm;
  double window_sigma_nm;  ///< standard deviation of a bell, > 0
  double feature, violet;
};

struct FullInversionParams {
  LeafWeights weights;
  Loss loss;
  double loss_scale;  ///< > 0
  bool
      visible_first;  ///< fit up to 750 nm before the whole spectrum, water and dry matter at their prior means
};

/// A measured reflectance on the wavelengths of the model.
struct LeafMeasurement {
  std::vector<std::uint32_t> index;  ///< from 0 at 400 nm, ascending
  std::vector<double> reflectance;
};

/// Interpolates a spectrum linearly to every nanometre of the model that lies between two of its wavelengths.
///
/// wavelengths_nm, reflectance   (n) in any order
/// Errors   kInvalidArgument for lists of unequal length, values that are not finite, reflectances outside -0.1..1.2,
///          repeated wavelengths, and fewer than 20 nanometres or 10 values from 400 to 2500 nm.
LeafMeasurement leaf_measurement(Span<const double> wavelengths_nm, Span<const double> reflectance);

struct LeafEstimate {
  LeafParameters value;
  /// Of each fitted parameter; NaN for the others. See the inversions for what it covers.
  LeafParameters standard_error;
  std::array<bool, kLeafParameters> is_fitted;
  /// Share of the variance of the prior that the spectrum leaves, 0..1; the full inversion: 0.
  LeafParameters prior_share;
  std::vector<double> fitted;  ///< reflectance of the model at the wavelengths of the measurement
  double noise_sd;             ///< standard deviation of the residuals
  double correlated_count;     ///< LeafNoise
  bool converged;
};

/// The inversion of the endpoint's contract: weighted robust least squares with a prior of fixed strength, by several
/// starts. The standard error is that of the noise alone; the pull of the prior is not in it.
///
/// start_count  >= 1; the first from the prior means, the others from 0.85 to 1.15 times these
/// Order        The same bits every time, for any number of threads.
/// Cost         2 to 5 ms a start.
/// Cancel       Within 10 ms.
/// Errors       kInvalidArgument for weights, scales and starts that are not finite or out of their range.
/// Source       Huber 1967 (sandwich covariance).
LeafEstimate full_inversion(const ProspectModel& model, const LeafMeasurement& spectrum, LeafModelKind kind,
                            const FullInversionParams& params, bool calibrate, std::uint32_t start_count,
                            OpContext& ctx);

/// Most probable leaf: residuals in units of the noise that they show themselves, and the prior as it stands.
/// The standard error is that of the posterior. Cost 2 to 10 ms; otherwise as full_inversion.
///
/// Source  Carroll & Ruppert 1988, section 2.2 (weights from residuals, two rounds).
LeafEstimate likelihood_inversion(const ProspectModel& model, const LeafMeasurement& spectrum,
                                  LeafModelKind kind, bool calibrate, std::uint32_t start_count,
                                  OpContext& ctx);

/// Each trait from the wavelengths that show it, one window after another: N, water and dry matter from 1700 to 2400 nm,
/// anthocyanins and brown pigment from 400 to 800, carotenoids from 520 to 560, chlorophyll from 700 to 720; PRO: protein
/// from 2100 to 2139 and 2160 to 2179, other carbon from 1480 to 2399 in nine windows.
/// Errors  kInvalidArgument if a window has fewer than 5 wavelengths.
/// Source  Feret et al. 2019, Remote Sens. Environ. 231, 110959 (water, dry matter); Spafford et al. 2021, Remote Sens.
///         Environ. 252, 112176 (pigments); Feret et al. 2021 (PRO). There brown pigment is given; here it is fitted.
LeafEstimate windowed_inversion(const ProspectModel& model, const LeafMeasurement& spectrum,
                                LeafModelKind kind, std::uint32_t start_count, OpContext& ctx);

enum class LeafInversion : std::uint8_t { kFull, kLikelihood, kWindowed };

struct LeafFitParams {
  LeafInversion inversion;
  LeafModelKind kind;
  bool calibrate;             ///< not with kWindowed
  std::uint32_t start_count;  ///< 1..10000
  FullInversionParams full;   ///< read by kFull alone
};

struct LeafFit {
  LeafEstimate estimate;
  /// Beside the full inversion: that of the likelihood without calibration, to compare.
  std::optional<LeafEstimate> likelihood;
};

/// One of the inversions.
LeafFit invert_leaf(const ProspectModel& model, const LeafMeasurement& spectrum, const LeafFitParams& params,
                    OpContext& ctx);

}  // namespace pc
