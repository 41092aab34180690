#include "ops/lad/beam_rows.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numbers>

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
  std::atomic<std::uint64_t> unusable{0}, unusable_misses{0}, inside{0};
  parallel_for(ctx, rows, kGrain, [&](std::size_t begin, std::size_t end) {
    std::uint64_t lost = 0, lost_misses = 0, hidden = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const Row r = row(i);
      const double length = dot(r.along, r.along);
      if (!is_finite(r.origin) || !(length > 0) || !std::isfinite(length)) {
        lost_misses += (state_[i] & kSkipMiss) != 0 ? 1 : 0;
        state_[i] = kLeftOut;
        ++lost;
      } else if (state_[i] == kSkipDeleted && frame.contains(scan.positions[i] + scan.shift)) {
        state_[i] = kLeftOut;
        ++hidden;
      }
    }
    unusable += lost;
    unusable_misses += lost_misses;
    inside += hidden;
  });
  counts_.miss_count = mask.miss_count - unusable_misses;
  counts_.unusable_miss_count = unusable_misses;
  if (shared()) read_shares(ctx);
  counts_.unusable_count += unusable;
  counts_.deleted_inside_count = inside;
  groups_ = PulseGroups(rows);
  if (!scan.timestamps.empty()) {
    GroupedPulses grouped = pulse_groups(scan.timestamps, *scan.target_index, scan.origins, ctx);
    groups_ = std::move(grouped.groups);
    counts_.times_repeat = grouped.times_repeat;
    counts_.grouped = !grouped.times_repeat;
  }
  counts_.pulse_count = groups_.size();
}

/// A hit whose intensity is not a number has no share, so it is left out; below zero it is noise around nothing.
void BeamRows::read_shares(OpContext& ctx) {
  require(scan_.intensity->size() == state_.size(), "intensity must have a value per row");
  require(std::isfinite(scan_.share_scale) && std::isfinite(scan_.share_offset),
          "the scale and the offset of the intensity must be finite");
  shares_ = Column<float>(state_.size());
  std::atomic<std::uint64_t> unknown{0};
  visit_scalar(*scan_.intensity, [&](auto values) {
    parallel_for(ctx, state_.size(), kGrain, [&](std::size_t begin, std::size_t end) {
      std::uint64_t lost = 0;
      for (std::size_t i = begin; i < end; ++i) {
        const double share = static_cast<double>(values[i]) * scan_.share_scale + scan_.share_offset;
        shares_[i] = share < 0 ? 0.0F : static_cast<float>(share);
        if (std::isfinite(shares_[i]) || (state_[i] & (kSkipMiss | kLeftOut)) != 0) continue;
        state_[i] = kLeftOut;
        ++lost;
      }
      unknown += lost;
    });
  });
  counts_.unusable_count += unknown;
}

BeamRows::Row BeamRows::row(std::size_t i) const {
  const Vec3d& origin = scan_.origins[scan_.origins.size == 1 ? 0 : i];
  return {scan_.positions[i] - origin, origin};
}

/// The shares of a pulse that is intercepted as a whole.
void BeamRows::make_whole(PulseBeam* beam) const {
  double sum = 0;
  for (std::uint32_t k = 0; k < beam->hits; ++k) sum += beam->shares[k];
  for (std::uint32_t k = 0; k < beam->hits; ++k)
    beam->shares[k] = sum > 0 ? beam->shares[k] / sum : 1.0 / beam->hits;
}

std::size_t zenith_bin(const Vec3d& direction) {
  const double angle = std::acos(std::min(1.0, std::abs(direction.z)));
  const double bin = angle / (std::numbers::pi / 2) * static_cast<double>(kZenithBins);
  return std::min(kZenithBins - 1, static_cast<std::size_t>(bin));
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
      for (; at > 0 && out->ranges[at - 1] > range; --at) {
        out->ranges[at] = out->ranges[at - 1];
        out->shares[at] = out->shares[at - 1];
      }
      out->ranges[at] = range;
      out->shares[at] = shared() ? static_cast<double>(shares_[i]) : 0;
    }
    if (range > largest) {
      largest = range;
      farthest = r;
    }
  }
  if (!(largest > 0)) return false;
  if (shared() && scan_.partial_misses && out->misses == 0) make_whole(out);
  out->ray = {frame_.to_lattice(farthest.origin + from_center_),
              frame_.rotated_back(farthest.along * (1 / largest))};
  return true;
}

}  // namespace pc
