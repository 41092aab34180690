#pragma once
#include <cstdint>

#include "core/op_context.h"
#include "ops/lad/beam_traversal.h"

namespace pc {

/// Energy that leaves send back, of the pulses with a hit in the grid. The unit of energy is what a leaf that fills the beam
/// and faces it sends back: share_scale and share_offset of the scan turn an intensity into it.
struct EnergyBalance {
  std::uint64_t whole_pulses = 0;  ///< without a miss
  double whole_energy = 0;         ///< of their hits
  double partial_energy = 0;       ///< of the hits of pulses with a miss
  std::uint64_t pulses = 0;        ///< with and without
  /// Of these, the ones that send back more than kBright: leaves that face the scanner send 1, noise apart.
  std::uint64_t bright_pulses = 0;
};

constexpr double kBright = 1.25;

/// Order    The same bits for any number of threads.
/// Cost     O(rows); the memory of a scan in beam_traversal. Cancel within 50 ms.
/// Errors   kInvalidArgument: a scan without intensities, columns of different lengths, those of GridFrame.
EnergyBalance energy_balance(const BeamScan& scan, const VoxelBox& grid, OpContext& ctx);

/// Mean cosine at which the rays of partly intercepted pulses meet leaves; the share of such a pulse that a return stands for
/// is its energy divided by this. Wholly intercepted pulses prefer leaves that face the beam, so their cosine, which is known,
/// is above that of all rays, and that of the others below.
///
/// hit_cosine  of all rays that meet leaves, 0 .. 1
/// Result      NaN if the energies contradict hit_cosine: the whole pulses alone send back less than all rays together should
double partial_cosine(const EnergyBalance& balance, double hit_cosine);

}  // namespace pc
