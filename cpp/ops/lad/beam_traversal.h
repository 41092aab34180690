#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/column.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"
#include "ops/mesh/grid_binning.h"

namespace pc {

/// The pulses of one scan, a row per return or miss.
struct BeamScan {
  Span<const Vec3d> positions;         ///< (n) metres; a miss lies anywhere along its beam
  Span<const Vec3d> origins;           ///< (n) beam origin of each row, or (1) for all; frame of positions
  Vec3d shift;                         ///< added to both: then they are in the frame of the grid
  const AnyColumn* is_miss = nullptr;  ///< (n) any scalar type, non-zero = miss, or nullptr
  Span<const std::uint8_t> deleted;    ///< (n) non-zero = deleted, or empty
  Span<const double> timestamps;  ///< (n) seconds: equal times form a pulse; empty = every row is a pulse
  const AnyColumn* target_index = nullptr;  ///< (n) with timestamps: tells the returns of a pulse apart
  const AnyColumn* intensity = nullptr;     ///< (n) any scalar type; nullptr: the rows of a pulse count alike
  double share_scale = 1, share_offset = 0;  ///< intensity * scale + offset = share of the pulse intercepted
  /// With intensity: partly intercepted pulses have a miss, so the returns of the others make up the whole pulse.
  bool partial_misses = false;
};

/// Powers of the chord, 0 to 7, that are summed in every voxel.
constexpr std::size_t kChordMoments = 8;

/// Sums over the beams that reach a voxel: those with a return inside or behind it.
struct VoxelSums {
  /// sum u^m, u = chord / diagonal of a voxel, times the factor of the beam; moment[0] = number of beams.
  std::array<double, kChordMoments> moment;
  double
      transmitted;  ///< sum of the share of a beam's returns behind the voxel, among those in and behind it
  double transmitted_squared;  ///< sum of the squares of these shares
  double hits;                 ///< returns inside
};
constexpr std::size_t kVoxelSumFields = sizeof(VoxelSums) / sizeof(double);

/// Sums over the same beams for the variance, of r, the share of the pulse that reaches the voxel, and i, that intercepted
/// inside.
struct ReachSums {
  double reach_squared, reach_intercepted;  ///< sum r^2, sum r i
};
constexpr std::size_t kReachSumFields = sizeof(ReachSums) / sizeof(double);

/// Bins of the zenith angles 0 .. 90 degrees.
constexpr std::size_t kZenithBins = 1800;

/// What was read of one scan.
struct BeamScanCounts {
  std::uint64_t pulse_count = 0;          ///< beams of the scan
  std::uint64_t miss_count = 0;           ///< misses with a direction
  std::uint64_t unusable_count = 0;       ///< rows not finite, or at their beam origin
  std::uint64_t unusable_miss_count = 0;  ///< of these, misses
  std::uint64_t deleted_inside_count =
      0;                      ///< deleted hits inside the grid: left out, cannot be told from misses
  bool grouped = false;       ///< rows of one time were taken as one pulse
  bool times_repeat = false;  ///< not grouped, because different pulses have the same time
};

struct BeamTraversalResult {
  Column<double> sums;   ///< (cells, kVoxelSumFields) VoxelSums of voxel i + nx (j + ny k)
  Column<double> reach;  ///< (cells, kReachSumFields) ReachSums; empty unless a scan has intensities
  std::vector<std::uint64_t>
      zenith_count;              ///< (kZenithBins) beams that reach the grid, by angle to the vertical
  std::uint64_t beam_count = 0;  ///< beams that reach the grid
  std::vector<BeamScanCounts> scans;
  std::vector<std::string> warnings;  ///< why the CPU summed up what the GPU was asked for
};

/// Sums up the beams of all scans over the voxels that they cross.
///
/// scans    beams of any frame; a row whose position is not finite or at its origin is left out and counted.
///          Returns of a pulse lie on one ray; it runs through the farthest of them. A deleted hit outside the grid
///          counts as a return, one inside is left out.
/// grid     columns may be raised or dropped
/// factors  of the chords of a beam by the bin of its angle to the vertical: (kZenithBins) for all layers, (nz, kZenithBins)
///          for each, > 0; empty = 1. With G of the beam over the greatest one, each beam has its own G (OpticalSums).
/// Shares   Of a scan with intensities, a return stands for its share of the pulse instead of an equal one, and every moment
///          and sum is weighed by r = 1 - the shares before the voxel. A single share may be above 1 (a leaf that faces the
///          beam); the sums are right if the shares are in the mean. Pulses then count to the end of the grid.
/// Order    k-major. The result has the same bits for any number of threads and device: every voxel adds its beams in the order
///          of the scans and their pulses (by time if grouped, else by row).
/// Cost     O(pulses + voxels crossed); 88 bytes per voxel, 104 with intensities; up to 7 bytes per row, 19 where pulses are
///          grouped, 4 more with intensities.
/// Cancel   Within 50 ms; a voxel of a raised column costs as much as any other.
/// Errors   kInvalidArgument: grid out of range, columns of different lengths, factors of another length or not above 0.
///          kUnsupported: 2^32 - 1 rows or more.
/// Source   Contract lad 3.1 and 3.2: equal weight per return; a beam that ended before a voxel does not count there.
///          Pimont et al. 2018 (Remote Sensing of Environment 215) for the sums of the variance. Shares by intensity: own, a
///          ratio estimator (Cochran 1977, Sampling Techniques, chapter 6).
BeamTraversalResult beam_traversal(const std::vector<BeamScan>& scans, const VoxelBox& grid,
                                   Span<const double> factors, OpContext& ctx);
inline BeamTraversalResult beam_traversal(const std::vector<BeamScan>& scans, const VoxelBox& grid,
                                          OpContext& ctx) {
  return beam_traversal(scans, grid, {}, ctx);
}

/// Memory that beam_traversal needs besides its input, bytes.
std::uint64_t beam_traversal_bytes(std::uint64_t rows, std::uint64_t cells);

}  // namespace pc
