#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "ops/lad/voxel_lattice.h"

namespace pc {

/// Voxels along a ray.
struct VoxelChords {
  static constexpr std::size_t kMost = 32;
  std::size_t count;
  std::array<std::size_t, kMost> voxel;
  std::array<double, kMost> enter, leave;  ///< metres along the ray; without length where enter >= leave
};

/// The voxels and chords of walk_level, a few at a time, in a lattice whose columns are neither raised nor dropped. Which of
/// three planes comes next cannot be foreseen, so the step has no branch that depends on it: the crossings with some planes
/// of each axis are computed ahead and merged as integers, whose order is that of positive numbers.
class LevelWalk {
 public:
  /// Voxels that the ray enters beyond `end` metres are left out.
  LevelWalk(const VoxelLattice& lattice, const LatticeRay& ray, const VoxelBlock& block, double end)
      : axes_{{ray.origin.x, ray.direction.x, lattice.cell.x},
              {ray.origin.y, ray.direction.y, lattice.cell.y},
              {ray.origin.z, ray.direction.z, lattice.cell.z}} {
    if (!enter_block(axes_, block, &at_) || end < at_.enter) return;
    stop_ =
        std::min(std::bit_cast<std::int64_t>(at_.to), std::bit_cast<std::int64_t>(end) + 1);  // next double
    const auto nx = static_cast<std::int64_t>(lattice.nx), layer = static_cast<std::int64_t>(lattice.layer());
    stride_ = {axes_[0].slope > 0 ? 1 : -1, axes_[1].slope > 0 ? nx : -nx,
               axes_[2].slope > 0 ? layer : -layer};
    voxel_ = at_.cell[0] + nx * at_.cell[1] + layer * at_.cell[2];
    more_ = true;
  }

  /// The next voxels; false after the last.
  bool next(VoxelChords* out) {
    if (!more_) return false;
    for (int a = 0; a < 3; ++a) list_crossings(a);
    std::size_t x = 1, y = 1, z = 1, n = 0;  // places of the crossings after the next
    std::int64_t at_x = crossing(0, 0), at_y = crossing(1, 0), at_z = crossing(2, 0);
    std::int64_t voxel = voxel_, least;
    do {
      const std::int64_t next_x = crossing(0, x), next_y = crossing(1, y), next_z = crossing(2, z);
      const std::int64_t xy = at_x < at_y ? at_x : at_y;
      least = at_z < xy ? at_z : xy;
      out->voxel[n] = static_cast<std::size_t>(voxel);
      out->leave[n] = std::bit_cast<double>(least);
      voxel += at_x <= least ? stride_[0] : 0;
      voxel += at_y <= least ? stride_[1] : 0;
      voxel += at_z <= least ? stride_[2] : 0;
      x += at_x <= least, y += at_y <= least, z += at_z <= least;
      at_x = at_x <= least ? next_x : at_x;
      at_y = at_y <= least ? next_y : at_y;
      at_z = at_z <= least ? next_z : at_z;
    } while (++n < VoxelChords::kMost && least < stop_);
    more_ = least < stop_;
    out->enter[0] = at_.enter;
    std::copy_n(out->leave.begin(), n - 1, out->enter.begin() + 1);
    voxel_ = voxel;
    at_.enter = out->leave[n - 1];
    const std::size_t steps[3] = {x - 1, y - 1, z - 1};
    for (int a = 0; a < 3; ++a)
      at_.cell[a] += (axes_[a].slope > 0 ? 1 : -1) * static_cast<std::int64_t>(steps[a]);
    out->count = n;
    return true;
  }

 private:
  std::int64_t crossing(std::size_t axis, std::size_t i) const {
    return std::bit_cast<std::int64_t>(crossings_[axis][i]);
  }
  /// Where the ray leaves the next cells along an axis: a few more than are merged.
  void list_crossings(int a) {
    const RayAxis& axis = axes_[a];
    auto& list = crossings_[static_cast<std::size_t>(a)];
    if (axis.parallel()) {
      list.fill(HUGE_VAL);
      return;
    }
    const double step = axis.slope > 0 ? 1 : -1;
    const double first = static_cast<double>(at_.cell[a] + (axis.slope > 0 ? 1 : 0));
    for (int i = 0; i < static_cast<int>(list.size()); ++i)
      list[static_cast<std::size_t>(i)] = axis.crossing(first + step * i);
  }

  RayAxis axes_[3];
  BlockEntry at_{};
  std::int64_t voxel_ = 0, stop_ = 0;
  std::array<std::int64_t, 3> stride_{};
  bool more_ = false;
  std::array<std::array<double, VoxelChords::kMost + 4>, 3> crossings_;
};

}  // namespace pc
