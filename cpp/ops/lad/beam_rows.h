#pragma once
#include <array>
#include <cstdint>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/plane_rotation.h"
#include "ops/lad/beam_sums_kernel.h"
#include "ops/lad/beam_traversal.h"
#include "ops/lad/pulse_groups.h"
#include "ops/lad/voxel_lattice.h"
#include "ops/mesh/voxel_cells.h"

namespace pc {

/// A grid prepared for traversal, with the rotation from the world to its lattice. Refers to the box, which must outlive
/// it.
class GridFrame {
 public:
  /// Errors: kInvalidArgument for sizes, counts and lists out of range.
  explicit GridFrame(const VoxelBox& grid);

  const VoxelLattice& lattice() const { return lattice_; }
  std::size_t cells() const { return lattice_.layer() * lattice_.nz; }
  double diagonal() const;
  /// From the centre of the grid to the lower corner of the lattice, and rotated back.
  Vec3d to_lattice(const Vec3d& from_center) const {
    return {rotation_.x_before(from_center.x, from_center.y) + half_.x,
            rotation_.y_before(from_center.x, from_center.y) + half_.y, from_center.z + half_.z};
  }
  Vec3d rotated_back(const Vec3d& v) const {
    return {rotation_.x_before(v.x, v.y), rotation_.y_before(v.x, v.y), v.z};
  }
  const Vec3d& center() const { return center_; }
  /// Whether a place of the world lies in a voxel of a kept column.
  bool contains(const Vec3d& place) const { return cells_.cell_of(place).has_value(); }

 private:
  VoxelCells cells_;
  VoxelLattice lattice_{};
  PlaneRotation rotation_;
  Vec3d center_, half_;
};

/// A pulse on its ray.
struct PulseBeam {
  LatticeRay ray;
  std::array<double, kMostReturns> ranges;  ///< of its hits, ascending, metres
  std::array<double, kMostReturns> shares;  ///< of the pulse, of the same hits; with intensities
  std::uint32_t hits, misses;

  beam_sums_kernel::Beam view() const { return {ray, ranges.data(), shares.data(), hits, misses}; }
};

/// The bin of a direction's angle to the vertical, of kZenithBins.
std::size_t zenith_bin(const Vec3d& direction);

/// The rows of a scan as beams in the frame of a grid.
class BeamRows {
 public:
  /// Errors: kInvalidArgument for columns of different lengths.
  BeamRows(const BeamScan& scan, const GridFrame& frame, OpContext& ctx);

  std::size_t size() const { return groups_.size(); }
  const BeamScanCounts& counts() const { return counts_; }
  /// False for a pulse without usable rows.
  bool beam(std::size_t pulse, PulseBeam* out) const;
  /// Returns have a share of their pulse.
  bool shared() const { return scan_.intensity != nullptr; }
  /// A pulse without a miss is intercepted as a whole.
  bool partial_misses() const { return scan_.partial_misses; }

 private:
  struct Row {
    Vec3d along;  ///< from the beam origin to the point
    Vec3d origin;
  };
  Row row(std::size_t i) const;
  void read_shares(OpContext& ctx);
  void make_whole(PulseBeam* beam) const;

  const BeamScan& scan_;
  const GridFrame& frame_;
  Vec3d from_center_;  ///< shift - centre of the grid
  Column<std::uint8_t> state_;
  Column<float> shares_;  // with intensities
  PulseGroups groups_{0};
  BeamScanCounts counts_;
};

}  // namespace pc
