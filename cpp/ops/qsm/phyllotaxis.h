#pragma once
#include <array>
#include <cstdint>

#include "core/op_context.h"
#include "core/qsm.h"

namespace pc {

/// Divergence angles that are told apart, degrees, in the order in which ties are decided.
inline constexpr std::array<double, 5> kDivergenceAngles{137.5, 180, 144, 150, 90};

struct PhyllotaxisResult {
  double angle_deg = 137.5;        ///< one of kDivergenceAngles
  double confidence = 0;           ///< 0..1, score of that angle; 0 = nothing was measured
  std::uint64_t parent_count = 0;  ///< shoots with at least two usable child shoots
  std::uint64_t step_count = 0;    ///< steps from one child shoot of a parent to the next
  std::array<double, 5> score{};   ///< 0..1 for each angle
  std::array<double, 5>
      log_support{};  ///< log-likelihood of the steps for each angle, minus that of uniform azimuths
};

/// Estimates the divergence angle of leaves from the azimuths of branches, which grew from their buds.
///
/// The azimuth of a child shoot is that of the axis of its first cylinder about the axis of the cylinder it leaves from
/// (azimuth_frame.h). The children of a shoot are taken in order from base to tip. The step from one to the next is j times
/// the divergence angle, where j - 1 buds between them did not break; a spiral turns left or right, one way per shoot.
/// Opposite and decussate leaves sit in pairs of unknown order: their steps are any multiple of 180 or 90 degrees. The
/// likelihood of all steps (wrapped normal errors, one in 20 of any azimuth; scatter and share of broken buds are those
/// that fit best) decides; 137.5 is preferred to 144 and 150 unless one is 20 times as likely.
///
/// qsm      a checked model (qsm_checks.h); children of a shoot are those whose parent_shoot_id it is.
/// Order    The result does not depend on the order of shoots and cylinders, nor on threads, up to rounding.
/// Cost     O(n log n) time, about 100 bytes a cylinder.
/// Cancel   Within 250 ms.
/// Errors   None; without a shoot with two usable children the confidence is 0.
/// Source   Contract skeleton-qsm 6, with a deviation: there the azimuths modulo the angle decide. An azimuth is known
///          modulo 360 degrees, so this finds only angles that divide 360: on exact spirals of 137.5, 144 and 150 degrees
///          their resultant is that of random azimuths (test/cpp/ops/qsm/phyllotaxis_test.cpp).
///          score = 1 - exp(-log_support / steps): 0 = no better than random azimuths.
PhyllotaxisResult phyllotaxis(const Qsm& qsm, OpContext& ctx);

}  // namespace pc
