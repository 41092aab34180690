#pragma once
#include <cstdint>
#include <vector>

#include "ops/lad/voxel_lattice.h"

namespace pc {

/// The slabs that a beam may meet, both included.
struct SlabSpan {
  std::uint8_t first, last;
};

/// A grid cut into slabs along its axis of most cells. Voxels of different slabs are summed up by different threads. The
/// sums do not depend on the cuts: walk_voxels gives a slab the chords of the whole grid.
class BeamSlabs {
 public:
  /// One slab for one thread.
  BeamSlabs(const VoxelLattice& lattice, int threads);

  const std::vector<VoxelBlock>& slabs() const { return slabs_; }
  /// Those that a ray meets between its first voxel at `enter` and `end` metres, perhaps one more at either side.
  SlabSpan span(const LatticeRay& ray, double enter, double end) const;

 private:
  std::uint8_t slab_of(double cell) const;

  std::vector<VoxelBlock> slabs_;
  std::size_t axis_;
  double cell_;  ///< size along the axis
  bool raised_;  ///< the layers of the columns lie at different heights
};

}  // namespace pc
