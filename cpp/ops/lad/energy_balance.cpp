#include "ops/lad/energy_balance.h"

#include <cmath>
#include <limits>
#include <vector>

#include "core/error.h"
#include "core/parallel.h"
#include "ops/lad/beam_rows.h"

namespace pc {

namespace {

constexpr std::size_t kPulseGrain = std::size_t{1} << 12;

/// Whether a place of the frame lies in a voxel of a kept column.
bool in_voxel(const VoxelLattice& lattice, const Vec3d& place) {
  const double i = std::floor(place.x / lattice.cell.x), j = std::floor(place.y / lattice.cell.y);
  if (!(i >= 0 && i < lattice.nx && j >= 0 && j < lattice.ny)) return false;
  const std::size_t column = lattice.column(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j));
  const double z = place.z - lattice.offset(column);
  return lattice.is_kept(column) && z >= 0 && z < lattice.nz * lattice.cell.z;
}

void add(const VoxelLattice& lattice, const PulseBeam& beam, EnergyBalance* sum) {
  double energy = 0;
  bool inside = false;
  for (std::uint32_t k = 0; k < beam.hits; ++k) {
    energy += beam.shares[k];
    inside = inside || in_voxel(lattice, beam.ray.origin + beam.ray.direction * beam.ranges[k]);
  }
  if (!inside) return;
  ++sum->pulses;
  if (energy > kBright) ++sum->bright_pulses;
  if (beam.misses > 0) {
    sum->partial_energy += energy;
  } else {
    ++sum->whole_pulses;
    sum->whole_energy += energy;
  }
}

}  // namespace

EnergyBalance energy_balance(const BeamScan& scan, const VoxelBox& grid, OpContext& ctx) {
  require(scan.intensity != nullptr, "the scan has no intensities");
  BeamScan plain = scan;
  plain.partial_misses = false;  // energies as they are
  const GridFrame frame(grid);
  const BeamRows rows(plain, frame, ctx);
  std::vector<EnergyBalance> blocks((rows.size() + kPulseGrain - 1) / kPulseGrain);
  ctx.begin_phase("Balancing energies", rows.size());
  parallel_for(ctx, rows.size(), kPulseGrain, [&](std::size_t begin, std::size_t end) {
    PulseBeam beam;
    for (std::size_t pulse = begin; pulse < end; ++pulse)
      if (rows.beam(pulse, &beam)) add(frame.lattice(), beam, &blocks[begin / kPulseGrain]);
  });
  EnergyBalance out;
  for (const EnergyBalance& block : blocks) {
    out.whole_pulses += block.whole_pulses;
    out.whole_energy += block.whole_energy;
    out.partial_energy += block.partial_energy;
    out.pulses += block.pulses;
    out.bright_pulses += block.bright_pulses;
  }
  return out;
}

double partial_cosine(const EnergyBalance& balance, double hit_cosine) {
  // Rays: whole_pulses + partial_energy / cosine. All their energy = hit_cosine of all their rays.
  if (!(balance.partial_energy > 0)) return hit_cosine;
  const double rest =
      balance.whole_energy + balance.partial_energy - hit_cosine * static_cast<double>(balance.whole_pulses);
  return rest > 0 ? hit_cosine * balance.partial_energy / rest : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace pc
