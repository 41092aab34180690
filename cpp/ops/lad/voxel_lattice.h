#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/host_device.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// A half-open block of voxels, [lo, hi) along each axis.
struct VoxelBlock {
  std::uint32_t lo[3], hi[3];
};

/// A ray in the frame of a lattice: from `origin` along the unit vector `direction`, both from the lattice's lower corner.
struct LatticeRay {
  Vec3d origin, direction;
};

/// Voxels whose columns may be raised, seen from their unrotated lower corner. Voxel (i, j, k) has number
/// i + nx (j + ny k); in z it begins at k cell.z + offset(i, j).
struct VoxelLattice {
  Vec3d cell;  ///< metres, > 0
  std::uint32_t nx, ny, nz;
  Span<const double> offsets;     ///< (ny, nx) metres, or empty
  Span<const std::uint8_t> kept;  ///< (ny, nx) 0 = the column is dropped, or empty
  double least_offset, largest_offset;

  PC_HD std::size_t column(std::uint32_t i, std::uint32_t j) const {
    return static_cast<std::size_t>(j) * nx + i;
  }
  PC_HD double offset(std::size_t column_index) const {
    return offsets.size == 0 ? 0.0 : offsets.data[column_index];
  }
  PC_HD bool is_kept(std::size_t column_index) const {
    return kept.size == 0 || kept.data[column_index] != 0;
  }
  PC_HD std::size_t layer() const { return static_cast<std::size_t>(nx) * ny; }
};

/// One axis of a ray. plane(i) is where the ray crosses the lower face of cell i: a function of i alone, so that a walk
/// that begins inside the lattice meets the same chords as one that crosses all of it.
struct RayAxis {
  double start, slope, inverse, step;

  PC_HD RayAxis(double start_m, double direction, double cell)
      : start(start_m), slope(direction), inverse(1 / direction), step(cell) {}
  /// Below this the ray stays within a nanometre of a plane over a kilometre.
  PC_HD bool parallel() const { return slope < 1e-12 && slope > -1e-12; }
  PC_HD double plane(std::int64_t i) const { return crossing(static_cast<double>(i)); }
  /// plane of a whole number.
  PC_HD double crossing(double i) const { return (i * step - start) * inverse; }
  /// Where the ray enters and leaves cells [lo, hi): an empty interval (1, 0) if it passes beside them.
  PC_HD void range(std::int64_t lo, std::int64_t hi, double* enter, double* leave) const {
    if (parallel()) {
      const bool inside = start >= static_cast<double>(lo) * step && start < static_cast<double>(hi) * step;
      *enter = inside ? -HUGE_VAL : 1;
      *leave = inside ? HUGE_VAL : 0;
      return;
    }
    *enter = plane(slope > 0 ? lo : hi);
    *leave = plane(slope > 0 ? hi : lo);
  }
  PC_HD double leave_of(std::int64_t i) const { return parallel() ? HUGE_VAL : plane(slope > 0 ? i + 1 : i); }
  PC_HD double enter_of(std::int64_t i) const {
    return parallel() ? -HUGE_VAL : plane(slope > 0 ? i : i + 1);
  }
  /// The cell of [lo, hi) that the ray is in at t: its enter_of <= t < leave_of.
  PC_HD std::int64_t cell_at(double t, std::int64_t lo, std::int64_t hi) const {
    const double place = parallel() ? start / step : (start + t * slope) / step;
    std::int64_t i = place >= static_cast<double>(hi)
                         ? hi - 1
                         : (place < static_cast<double>(lo) ? lo : static_cast<std::int64_t>(place));
    if (parallel()) return i;
    const std::int64_t forward = slope > 0 ? 1 : -1;
    while (leave_of(i) <= t && i + forward >= lo && i + forward < hi) i += forward;
    while (enter_of(i) > t && i - forward >= lo && i - forward < hi) i -= forward;
    return i;
  }
};

/// The voxel that a ray is in where it enters a block, and the border beyond which it is outside.
struct BlockEntry {
  std::int64_t cell[3];
  double enter;  ///< of the voxel, or 0 if the ray begins inside
  double to;
};

/// False if the ray passes beside the block. For columns that are not raised.
PC_HD inline bool enter_block(const RayAxis (&axes)[3], const VoxelBlock& block, BlockEntry* out) {
  double from = 0, to = HUGE_VAL;
  for (int a = 0; a < 3; ++a) {
    double enter, leave;
    axes[a].range(block.lo[a], block.hi[a], &enter, &leave);
    from = enter > from ? enter : from;
    to = leave < to ? leave : to;
  }
  if (!(from < to)) return false;
  out->enter = 0;
  out->to = to;
  for (int a = 0; a < 3; ++a) {
    out->cell[a] = axes[a].cell_at(from, block.lo[a], block.hi[a]);
    const double in = axes[a].enter_of(out->cell[a]);
    out->enter = in > out->enter ? in : out->enter;
  }
  return true;
}

/// The cells that a ray meets along one axis, from one of them on.
struct AxisSteps {
  double start, inverse, size;
  std::int64_t cell, step, ahead, end;  ///< `ahead` of a cell is the face that the ray leaves it by
  double leave;                         ///< where the ray leaves the cell

  PC_HD AxisSteps(const RayAxis& axis, std::int64_t from, std::int64_t lo, std::int64_t hi)
      : start(axis.start),
        inverse(axis.inverse),
        size(axis.step),
        cell(from),
        step(axis.slope > 0 ? 1 : -1),
        ahead(axis.slope > 0 ? 1 : 0),
        end(axis.slope > 0 ? hi : lo - 1),
        leave(axis.leave_of(from)) {}
  /// The next cell; false at the end. Not for rays that are parallel to the axis.
  PC_HD bool advance() {
    cell += step;
    leave = (static_cast<double>(cell + ahead) * size - start) * inverse;
    return cell != end;
  }
};

/// walk_voxels of columns that are not raised: one step per plane that the ray crosses. The chords have the same bits as
/// those of the walk over columns.
template <class Visit>
PC_HD bool walk_level(const VoxelLattice& lattice, const LatticeRay& ray, const VoxelBlock& block,
                      Visit&& visit) {
  const RayAxis axes[3] = {{ray.origin.x, ray.direction.x, lattice.cell.x},
                           {ray.origin.y, ray.direction.y, lattice.cell.y},
                           {ray.origin.z, ray.direction.z, lattice.cell.z}};
  BlockEntry entry;
  if (!enter_block(axes, block, &entry)) return true;
  double enter = entry.enter;
  AxisSteps x(axes[0], entry.cell[0], block.lo[0], block.hi[0]),
      y(axes[1], entry.cell[1], block.lo[1], block.hi[1]),
      z(axes[2], entry.cell[2], block.lo[2], block.hi[2]);
  for (;;) {
    const double xy = x.leave < y.leave ? x.leave : y.leave;
    const double leave = z.leave < xy ? z.leave : xy;
    const std::size_t column =
        lattice.column(static_cast<std::uint32_t>(x.cell), static_cast<std::uint32_t>(y.cell));
    if (enter < leave && lattice.is_kept(column) &&
        !visit(column, static_cast<std::uint32_t>(z.cell), enter, leave))
      return false;
    if (!(leave < entry.to)) return true;
    if (x.leave <= leave && !x.advance()) return true;
    if (y.leave <= leave && !y.advance()) return true;
    if (z.leave <= leave && !z.advance()) return true;
    enter = leave;
  }
}

/// Calls visit(column, k, enter, leave) for every voxel of `block` that a ray from t = 0 crosses on a chord of positive
/// length, in the order of the ray; enter and leave are metres along it. Stops when visit returns false.
///
/// Source   Amanatides & Woo 1987, "A fast voxel traversal algorithm", over columns and then over the layers of each;
///          crossings are computed from the plane's number instead of being summed up.
template <class Visit>
PC_HD bool walk_voxels(const VoxelLattice& lattice, const LatticeRay& ray, const VoxelBlock& block,
                       Visit&& visit) {
  if (lattice.offsets.size == 0) return walk_level(lattice, ray, block, visit);
  const RayAxis x(ray.origin.x, ray.direction.x, lattice.cell.x);
  const RayAxis y(ray.origin.y, ray.direction.y, lattice.cell.y);
  double from = 0, to = HUGE_VAL;
  const auto clip = [&](double enter, double leave) {
    from = enter > from ? enter : from;
    to = leave < to ? leave : to;
  };
  double enter, leave;
  x.range(block.lo[0], block.hi[0], &enter, &leave), clip(enter, leave);
  y.range(block.lo[1], block.hi[1], &enter, &leave), clip(enter, leave);
  // Only culls, so a margin does no harm: the layers of each column are clipped below.
  const double margin = 1e-3 * lattice.cell.z;
  const double low = block.lo[2] * lattice.cell.z + lattice.least_offset - margin;
  const double high = block.hi[2] * lattice.cell.z + lattice.largest_offset + margin;
  RayAxis z(ray.origin.z - low, ray.direction.z, lattice.cell.z);
  const double height = high - low;
  if (z.parallel()) {
    if (z.start < 0 || z.start > height) return true;
  } else {
    const double bottom = -z.start * z.inverse, top = (height - z.start) * z.inverse;
    clip(bottom < top ? bottom : top, bottom < top ? top : bottom);
  }
  if (!(from < to)) return true;
  std::int64_t i = x.cell_at(from, block.lo[0], block.hi[0]), j = y.cell_at(from, block.lo[1], block.hi[1]);
  for (double t = from; t < to;) {
    const double leave_x = x.leave_of(i), leave_y = y.leave_of(j);
    const double next = leave_x < leave_y ? leave_x : leave_y;
    const std::size_t column = lattice.column(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j));
    const double enter_x = x.enter_of(i), enter_y = y.enter_of(j);
    double begin = enter_x > enter_y ? enter_x : enter_y;
    begin = begin > 0 ? begin : 0;
    if (begin < next && lattice.is_kept(column)) {
      z.start = ray.origin.z - lattice.offset(column);
      double top, bottom;
      z.range(block.lo[2], block.hi[2], &bottom, &top);
      const double first = bottom > begin ? bottom : begin, last = top < next ? top : next;
      if (first < last) {
        for (std::int64_t k = z.cell_at(first, block.lo[2], block.hi[2]);;) {
          const double in = z.enter_of(k), out = z.leave_of(k);
          const double a = in > begin ? in : begin, b = out < next ? out : next;
          if (a < b && !visit(column, static_cast<std::uint32_t>(k), a, b)) return false;
          if (out >= last) break;
          k += ray.direction.z > 0 ? 1 : -1;
          if (k < block.lo[2] || k >= block.hi[2]) break;
        }
      }
    }
    if (!(next < to)) break;
    if (leave_x <= leave_y) i += ray.direction.x > 0 ? 1 : -1;
    if (leave_y <= leave_x) j += ray.direction.y > 0 ? 1 : -1;
    if (i < block.lo[0] || i >= block.hi[0] || j < block.lo[1] || j >= block.hi[1]) break;
    t = next;
  }
  return true;
}

}  // namespace pc
