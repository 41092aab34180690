#include "ops/lad/beam_rows.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "core/error.h"
#include "core/parallel.h"
#include "ops/cloud/select_hits.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 15;
/// A row of a beam. Others, kSkipMiss and kSkipDeleted, are those of hit_mask.
constexpr std::uint8_t kLeftOut = 4;

}  // namespace

GridFrame::GridFrame(const VoxelBox& grid)
    : cells_(grid),
      rotation_(PlaneRotation::of_degrees(grid.rotation_deg)),
      center_(grid.center),
      half_(grid.size * 0.5) {
  for (const double offset : grid.offsets)
    require(std::isfinite(offset), "grid.column_offsets must be finite");
  lattice_ = {{grid.size.x / grid.nx, grid.size.y / grid.ny, grid.size.z / grid.nz},
              grid.nx,
              grid.ny,
              grid.nz,
              grid.offsets,
              grid.kept,
              0,
              0};
  require(lattice_.cell.x > 0 && lattice_.cell.y > 0 && lattice_.cell.z > 0,
          "the voxels of the grid have no size");
  if (grid.offsets.empty()) return;
  const auto [least, largest] = std::minmax_element(grid.offsets.begin(), grid.offsets.end());
  lattice_.least_offset = *least;
  lattice_.largest_offset = *largest;
}

double GridFrame::diagonal() const { return std::sqrt(dot(lattice_.cell, lattice_.cell)); }

BeamRows::BeamRows(const BeamScan& scan, const GridFrame& frame, OpContext& ctx)
    : scan_(scan), frame_(frame), from_center_(scan.shift - frame.center()) {
  const std::size_t rows = scan.positions.size;
  require(scan.origins.size == 1 || scan.origins.size == rows, "one beam origin per row, or one for all");
  if (rows >= 4294967295U) throw Error(ErrorCode::kUnsupported, "a scan of 4,294,967,295 rows or more");
  require(is_finite(scan.shift), "the shift of a scan must be finite");
  require(scan.timestamps.empty() || (scan.timestamps.size == rows && scan.target_index != nullptr),
          "timestamps must have a value per row, and come with target_index");
  HitMask mask = hit_mask(rows, scan.is_miss, scan.deleted, ctx);
  state_ = std::move(mask.skip);
  counts_.miss_count = mask.miss_count;
  std::atomic<std::uint64_t> unusable{0}, inside{0};
  parallel_for(ctx, rows, kGrain, [&](std::size_t begin, std::size_t end) {
    std::uint64_t lost = 0, hidden = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const Row r = row(i);
      const double length = dot(r.along, r.along);
      if (!is_finite(r.origin) || !(length > 0) || !std::isfinite(length)) {
        state_[i] = kLeftOut;
        ++lost;
      } else if (state_[i] == kSkipDeleted && frame.contains(scan.positions[i] + scan.shift)) {
        state_[i] = kLeftOut;
        ++hidden;
      }
    }
    unusable += lost;
    inside += hidden;
  });
  counts_.unusable_count = unusable;
  counts_.deleted_inside_count = inside;
  groups_ = PulseGroups(rows);
  if (!scan.timestamps.empty()) {
    GroupedPulses grouped = pulse_groups(scan.timestamps, *scan.target_index, ctx);
    groups_ = std::move(grouped.groups);
    counts_.times_repeat = grouped.times_repeat;
    counts_.grouped = !grouped.times_repeat;
  }
  counts_.pulse_count = groups_.size();
}

BeamRows::Row BeamRows::row(std::size_t i) const {
  const Vec3d& origin = scan_.origins[scan_.origins.size == 1 ? 0 : i];
  return {scan_.positions[i] - origin, origin};
}

bool BeamRows::beam(std::size_t pulse, PulseBeam* out) const {
  Row farthest{};
  double largest = 0;
  out->hits = out->misses = 0;
  for (std::size_t place = groups_.begin(pulse); place < groups_.end(pulse); ++place) {
    const std::size_t i = groups_.row(place);
    if (state_[i] == kLeftOut) continue;
    const Row r = row(i);
    const double range = std::sqrt(dot(r.along, r.along));
    if ((state_[i] & kSkipMiss) != 0) {
      ++out->misses;
    } else {
      std::uint32_t at = out->hits++;
      for (; at > 0 && out->ranges[at - 1] > range; --at) out->ranges[at] = out->ranges[at - 1];
      out->ranges[at] = range;
    }
    if (range > largest) {
      largest = range;
      farthest = r;
    }
  }
  if (!(largest > 0)) return false;
  out->ray = {frame_.to_lattice(farthest.origin + from_center_),
              frame_.rotated_back(farthest.along * (1 / largest))};
  return true;
}

}  // namespace pc
