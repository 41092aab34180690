#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/host_device.h"
#include "ops/lad/voxel_lattice.h"

/// Beams in the voxels of a lattice: one body for the CPU and CUDA.
namespace pc::beam_sums_kernel {

/// Numbers of a voxel: VoxelSums and ReachSums as lists, which CUDA can index.
constexpr std::size_t kSums = 11, kReachSums = 2, kMoments = 8;

/// A pulse on its ray, with its hits in ascending order.
struct Beam {
  LatticeRay ray;
  const double* ranges;  ///< (hits) metres
  const double* shares;  ///< (hits) of the pulse; of scans with intensities
  std::uint32_t hits, misses;
};

/// A beam in a voxel.
struct BeamPart {
  std::size_t cell;
  double u, reach,
      inside;  ///< chord / diagonal; shares of the pulse that reach the voxel and that end inside
  double transmitted;
  std::uint32_t hits;
};

/// How the returns of a scan count.
struct Rules {
  bool by_shares;       ///< by their share of the pulse, else alike
  bool partial_misses;  ///< BeamScan::partial_misses
};

/// A lattice, and factors of the chords by layer and angle to the vertical.
struct Grid {
  VoxelLattice lattice;
  double per_diagonal;         ///< 1 / diagonal of a voxel
  const double* factors;       ///< nullptr = 1
  std::size_t factors_stride;  ///< from layer to layer; 0 = the same in all
};

/// The returns of a beam that count alike, from voxel to voxel along it.
class ReturnCursor {
 public:
  PC_HD explicit ReturnCursor(const Beam& beam) : beam_(beam) {}
  struct Shares {
    std::uint32_t inside, behind;
    double coming;  ///< distance of the first hit behind, or infinite
  };
  /// Of the voxel between two distances; calls must go along the beam.
  PC_HD Shares at(double enter, double leave) {
    while (next_ < beam_.hits && beam_.ranges[next_] < enter) ++next_;
    std::uint32_t behind = next_;
    while (behind < beam_.hits && beam_.ranges[behind] < leave) ++behind;
    return {behind - next_, beam_.hits - behind + beam_.misses,
            behind < beam_.hits ? beam_.ranges[behind] : HUGE_VAL};
  }

 private:
  const Beam& beam_;
  std::uint32_t next_ = 0;
};

/// The shares of the pulse along a beam.
class ShareCursor {
 public:
  PC_HD explicit ShareCursor(const Beam& beam) : beam_(beam) {}
  struct Shares {
    double reach, inside;
    std::uint32_t hits;
  };
  /// Of the voxel between two distances; calls must go along the beam.
  PC_HD Shares at(double enter, double leave) {
    for (; next_ < beam_.hits && beam_.ranges[next_] < enter; ++next_) before_ += beam_.shares[next_];
    double inside = 0;
    std::uint32_t behind = next_;
    for (; behind < beam_.hits && beam_.ranges[behind] < leave; ++behind) inside += beam_.shares[behind];
    return {1 - before_, inside, behind - next_};
  }

 private:
  const Beam& beam_;
  std::uint32_t next_ = 0;
  double before_ = 0;
};

/// Calls push(BeamPart) for the voxels of a block that a beam reaches, along it. `factor`: of its angle in the lowest layer.
template <class Push>
PC_HD void for_each_part(const Grid& grid, const VoxelBlock& block, const Rules& rules, const Beam& beam,
                         const double* factor, Push&& push) {
  const auto chord = [&](std::uint32_t k, double enter, double leave) {
    const double u = (leave - enter) * grid.per_diagonal;
    return factor == nullptr ? u : u * factor[k * grid.factors_stride];
  };
  const std::size_t layer = grid.lattice.layer();
  if (!rules.by_shares) {
    ReturnCursor returns(beam);
    walk_voxels(
        grid.lattice, beam.ray, block, [&](std::size_t column, std::uint32_t k, double enter, double leave) {
          const ReturnCursor::Shares shares = returns.at(enter, leave);
          const std::uint32_t inside = shares.inside, reach = inside + shares.behind;
          if (reach == 0) return false;
          const double transmitted = inside == 0 ? 1 : static_cast<double>(shares.behind) / reach;
          push(BeamPart{column + k * layer, chord(k, enter, leave), 1, 1 - transmitted, transmitted, inside});
          return true;
        });
    return;
  }
  ShareCursor shares(beam);
  const double last = beam.hits > 0 ? beam.ranges[beam.hits - 1] : 0;
  const bool ends = rules.partial_misses && beam.misses == 0;
  walk_voxels(grid.lattice, beam.ray, block,
              [&](std::size_t column, std::uint32_t k, double enter, double leave) {
                if (ends && last < enter) return false;
                const ShareCursor::Shares at = shares.at(enter, leave);
                push(BeamPart{column + k * layer, chord(k, enter, leave), at.reach, at.inside,
                              at.reach - at.inside, at.hits});
                return true;
              });
}

/// Adds a beam to the sums of a voxel.
PC_HD inline void add(double* sums, double u, double transmitted, std::uint32_t inside, double reach) {
  // Powers by pairs: shorter chains of products than one by one.
  const double square = u * u, cube = square * u, fourth = square * square;
  const double powers[kMoments] = {1, u, square, cube, fourth, fourth * u, fourth * square, fourth * cube};
  for (std::size_t m = 0; m < kMoments; ++m) sums[m] += reach * powers[m];
  sums[kMoments] += transmitted;
  sums[kMoments + 1] += transmitted * transmitted;
  sums[kMoments + 2] += inside;
}
PC_HD inline void add(double* sums, double* reach_sums, const BeamPart& part) {
  add(sums, part.u, part.transmitted, part.hits, part.reach);
  if (reach_sums == nullptr) return;
  reach_sums[0] += part.reach * part.reach;
  reach_sums[1] += part.reach * part.inside;
}

/// Beams of one scan, in their order.
struct BeamList {
  Rules rules;
  const LatticeRay* rays;          ///< (n)
  const std::uint32_t* misses;     ///< (n)
  const std::uint32_t* zenith;     ///< (n) places of their angles in the factors of a layer
  const std::uint32_t* first_hit;  ///< (n + 1)
  const double* ranges;            ///< (hits)
  const double* shares;            ///< (hits), or nullptr

  PC_HD Beam beam(std::size_t i) const {
    const std::uint32_t first = first_hit[i];
    return {rays[i], ranges + first, shares == nullptr ? nullptr : shares + first, first_hit[i + 1] - first,
            misses[i]};
  }
};

/// Calls push(BeamPart) for the voxels that beam i reaches.
template <class Push>
PC_HD void for_each_part(const Grid& grid, const BeamList& beams, std::size_t i, Push&& push) {
  const VoxelBlock whole{{0, 0, 0}, {grid.lattice.nx, grid.lattice.ny, grid.lattice.nz}};
  const double* const factor = grid.factors == nullptr ? nullptr : grid.factors + beams.zenith[i];
  for_each_part(grid, whole, beams.rules, beams.beam(i), factor, push);
}

/// A grid in host memory, as pc_cuda copies it.
struct HostGrid {
  Grid grid;
  std::uint64_t factor_count;
  bool with_reach;  ///< ReachSums are wanted
};

/// Beams in host memory.
struct HostBeams {
  BeamList list;
  std::uint64_t count, hit_count;
};

/// Voxels whose sums are wanted, and room for them.
struct HostCells {
  const std::uint32_t* cells;  ///< (count), or nullptr: the first `count` voxels
  std::uint64_t count;
  double* sums;   ///< (count, kSums)
  double* reach;  ///< (count, kReachSums), or nullptr
};

}  // namespace pc::beam_sums_kernel
