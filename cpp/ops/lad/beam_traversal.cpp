#include "ops/lad/beam_traversal.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <numbers>

#include "core/error.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "ops/lad/beam_rows.h"

namespace pc {

namespace {

/// A pulse may pass thousands of dropped columns before its first voxel.
constexpr std::size_t kPulseGrain = 1024;
/// Pulses and voxels between two looks at the cancel flag.
constexpr std::size_t kPollPulses = 256;
constexpr std::size_t kPollVoxels = std::size_t{1} << 12;  // each may be the first in a page of memory
/// The returns of a beam, from voxel to voxel along it.
class ReturnCursor {
 public:
  explicit ReturnCursor(const PulseBeam& beam) : beam_(beam) {}
  struct Shares {
    std::uint32_t inside, behind;
  };
  /// Of the voxel between two distances; calls must go along the beam.
  Shares at(double enter, double leave) {
    while (next_ < beam_.hits && beam_.ranges[next_] < enter) ++next_;
    std::uint32_t behind = next_;
    while (behind < beam_.hits && beam_.ranges[behind] < leave) ++behind;
    return {behind - next_, beam_.hits - behind + beam_.misses};
  }

 private:
  const PulseBeam& beam_;
  std::uint32_t next_ = 0;
};

/// The pulses of a scan that reach the grid.
struct EnteringPulses {
  BulkVector<std::uint32_t> pulses;
  std::vector<std::uint64_t> zenith_count;
};

VoxelBlock whole(const VoxelLattice& g) { return {{0, 0, 0}, {g.nx, g.ny, g.nz}}; }

bool reaches(const VoxelLattice& lattice, const PulseBeam& beam) {
  bool found = false;
  ReturnCursor returns(beam);
  walk_voxels(lattice, beam.ray, whole(lattice), [&](std::size_t, std::uint32_t, double enter, double leave) {
    const auto [inside, behind] = returns.at(enter, leave);
    found = inside + behind > 0;
    return false;  // a beam that ends before its first voxel ends before all
  });
  return found;
}

std::size_t zenith_bin(const Vec3d& direction) {
  const double angle = std::acos(std::min(1.0, std::abs(direction.z)));
  const double bin = angle / (std::numbers::pi / 2) * static_cast<double>(kZenithBins);
  return std::min(kZenithBins - 1, static_cast<std::size_t>(bin));
}

EnteringPulses entering(const BeamRows& rows, const VoxelLattice& lattice, OpContext& ctx) {
  const std::size_t blocks = (rows.size() + kPulseGrain - 1) / kPulseGrain;
  ctx.begin_phase("Tracing beams", rows.size());
  EnteringPulses out{BulkVector<std::uint32_t>(rows.size()), std::vector<std::uint64_t>(kZenithBins, 0)};
  std::vector<std::uint32_t> found(blocks, 0);
  std::vector<std::vector<std::uint64_t>> counts(static_cast<std::size_t>(ctx.threads()),
                                                 std::vector<std::uint64_t>(kZenithBins, 0));
  parallel_for_worker(ctx, rows.size(), kPulseGrain, [&](std::size_t begin, std::size_t end, int worker) {
    std::size_t to = begin;
    PulseBeam beam;
    for (std::size_t pulse = begin; pulse < end; ++pulse) {
      if (!rows.beam(pulse, &beam) || !reaches(lattice, beam)) continue;
      out.pulses[to++] = static_cast<std::uint32_t>(pulse);
      ++counts[static_cast<std::size_t>(worker)][zenith_bin(beam.ray.direction)];
    }
    found[begin / kPulseGrain] = static_cast<std::uint32_t>(to - begin);
  });
  std::size_t to = 0;
  for (std::size_t block = 0; block < blocks; ++block) {
    std::copy_n(out.pulses.data() + block * kPulseGrain, found[block], out.pulses.data() + to);
    to += found[block];
  }
  out.pulses.resize(to);
  for (const auto& one : counts) {
    for (std::size_t bin = 0; bin < kZenithBins; ++bin) out.zenith_count[bin] += one[bin];
  }
  return out;
}

/// Cuts a grid into slabs along its axis of most cells. Voxels of different slabs are summed up by different threads. The
/// sums do not depend on the cuts: walk_voxels gives a slab the chords of the whole grid.
std::vector<VoxelBlock> slabs_of(const VoxelLattice& lattice, int threads) {
  const VoxelBlock all = whole(lattice);
  const std::size_t axis = static_cast<std::size_t>(std::max_element(all.hi, all.hi + 3) - all.hi);
  const std::uint32_t wanted =
      threads == 1 ? 1U : 2U * static_cast<std::uint32_t>(threads);  // two: to share the load
  const std::uint32_t count = std::min(wanted, all.hi[axis]);
  std::vector<VoxelBlock> slabs(count, all);
  for (std::uint32_t s = 0; s < count; ++s) {
    slabs[s].lo[axis] = static_cast<std::uint32_t>(std::uint64_t{all.hi[axis]} * s / count);
    slabs[s].hi[axis] = static_cast<std::uint32_t>(std::uint64_t{all.hi[axis]} * (s + 1) / count);
  }
  return slabs;
}

void add(VoxelSums& sums, double u, double transmitted, std::uint32_t inside) {
  double power = 1;
  for (double& moment : sums.moment) {
    moment += power;
    power *= u;
  }
  sums.transmitted += transmitted;
  sums.transmitted_squared += transmitted * transmitted;
  sums.hits += inside;
}

/// Adds the pulses of one scan to the voxels of a slab.
void add_pulses(const BeamRows& rows, const EnteringPulses& entered, const GridFrame& frame,
                const VoxelBlock& slab, VoxelSums* sums, OpContext& ctx) {
  const VoxelLattice& lattice = frame.lattice();
  const double per_diagonal = 1 / frame.diagonal();
  PulseBeam beam;
  std::size_t voxels = 0;
  for (std::size_t n = 0; n < entered.pulses.size(); ++n) {
    if (n % kPollPulses == 0) ctx.checkpoint(), ctx.advance(std::min(kPollPulses, entered.pulses.size() - n));
    rows.beam(entered.pulses[n], &beam);
    ReturnCursor returns(beam);
    walk_voxels(lattice, beam.ray, slab,
                [&](std::size_t column, std::uint32_t k, double enter, double leave) {
                  if (++voxels % kPollVoxels == 0) ctx.checkpoint();
                  const auto [inside, behind] = returns.at(enter, leave);
                  const std::uint32_t reach = inside + behind;
                  if (reach == 0) return false;
                  add(sums[column + k * lattice.layer()], (leave - enter) * per_diagonal,
                      static_cast<double>(behind) / reach, inside);
                  return true;
                });
  }
}

}  // namespace

BeamTraversalResult beam_traversal(const std::vector<BeamScan>& scans, const VoxelBox& grid, OpContext& ctx) {
  const GridFrame frame(grid);
  const std::vector<VoxelBlock> slabs = slabs_of(frame.lattice(), ctx.threads());
  BeamTraversalResult out{Column<double>(checked_bytes(frame.cells(), kVoxelSumFields)),
                          std::vector<std::uint64_t>(kZenithBins, 0),
                          0,
                          {}};
  auto* const sums = reinterpret_cast<VoxelSums*>(out.sums.view().data);
  std::deque<BeamRows> rows;
  std::deque<EnteringPulses> entered;
  for (const BeamScan& scan : scans) {
    rows.emplace_back(scan, frame, ctx);
    entered.push_back(entering(rows.back(), frame.lattice(), ctx));
    out.scans.push_back(rows.back().counts());
    out.beam_count += entered.back().pulses.size();
    for (std::size_t bin = 0; bin < kZenithBins; ++bin)
      out.zenith_count[bin] += entered.back().zenith_count[bin];
  }
  ctx.begin_phase("Summing up voxels", out.beam_count * slabs.size());
  parallel_for(ctx, slabs.size(), 1, [&](std::size_t begin, std::size_t) {
    for (std::size_t scan = 0; scan < scans.size(); ++scan)
      add_pulses(rows[scan], entered[scan], frame, slabs[begin], sums, ctx);
  });
  return out;
}

std::uint64_t beam_traversal_bytes(std::uint64_t rows, std::uint64_t cells) {
  constexpr std::uint64_t kPerRow =
      1 + 4 + 8 + 16;  // state, entering pulse, groups, keys while they are sorted
  return rows * kPerRow + cells * sizeof(VoxelSums);
}

}  // namespace pc
