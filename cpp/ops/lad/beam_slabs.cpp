#include "ops/lad/beam_slabs.h"

#include <algorithm>
#include <cmath>

namespace pc {

namespace {

constexpr std::uint32_t kSlabsOfThread = 2;  // to share the load
constexpr std::uint32_t kMostSlabs = 256;    // numbers of 8 bits

}  // namespace

BeamSlabs::BeamSlabs(const VoxelLattice& lattice, int threads) : raised_(lattice.offsets.size > 0) {
  const VoxelBlock all{{0, 0, 0}, {lattice.nx, lattice.ny, lattice.nz}};
  axis_ = static_cast<std::size_t>(std::max_element(all.hi, all.hi + 3) - all.hi);
  cell_ = axis_ == 0 ? lattice.cell.x : axis_ == 1 ? lattice.cell.y : lattice.cell.z;
  const std::uint32_t wanted = threads == 1 ? 1U : kSlabsOfThread * static_cast<std::uint32_t>(threads);
  const std::uint32_t count = std::min({wanted, all.hi[axis_], kMostSlabs});
  slabs_.assign(count, all);
  for (std::uint32_t s = 0; s < count; ++s) {
    slabs_[s].lo[axis_] = static_cast<std::uint32_t>(std::uint64_t{all.hi[axis_]} * s / count);
    slabs_[s].hi[axis_] = static_cast<std::uint32_t>(std::uint64_t{all.hi[axis_]} * (s + 1) / count);
  }
}

std::uint8_t BeamSlabs::slab_of(double cell) const {
  std::size_t s = 0;
  while (s + 1 < slabs_.size() && cell >= slabs_[s].hi[axis_]) ++s;
  return static_cast<std::uint8_t>(s);
}

SlabSpan BeamSlabs::span(const LatticeRay& ray, double enter, double end) const {
  const auto last = static_cast<std::uint8_t>(slabs_.size() - 1);
  if (last == 0 || (raised_ && axis_ == 2)) return {0, last};
  const double start = axis_ == 0 ? ray.origin.x : axis_ == 1 ? ray.origin.y : ray.origin.z;
  const double slope = axis_ == 0 ? ray.direction.x : axis_ == 1 ? ray.direction.y : ray.direction.z;
  const double from = (start + slope * enter) / cell_;
  const double to = std::isfinite(end) ? (start + slope * end) / cell_ : slope < 0 ? -HUGE_VAL : HUGE_VAL;
  // One cell more at either side: places are rounded.
  return {slab_of(std::min(from, to) - 1), slab_of(std::max(from, to) + 1)};
}

}  // namespace pc
