#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "core/random.h"
#include "ops/lad/beam_traversal.h"
#include "support/columns.h"

/// Beams, and slow counterparts of the ops of the leaf area density.
namespace pc::test {

/// A scan and its columns.
struct Pulses {
  std::vector<Vec3d> positions, origins;
  std::vector<std::uint8_t> is_miss, deleted;
  std::vector<double> times;
  std::vector<std::uint8_t> target_index;
  std::shared_ptr<AnyColumn> miss_column, index_column;

  BeamScan scan() {
    miss_column = std::make_shared<AnyColumn>(column_of(is_miss));
    BeamScan scan{
        span_of(positions), span_of(origins), {0, 0, 0}, miss_column.get(), span_of(deleted), {}, nullptr};
    if (!times.empty()) {
      index_column = std::make_shared<AnyColumn>(column_of(target_index));
      scan.timestamps = span_of(times);
      scan.target_index = index_column.get();
    }
    return scan;
  }
  void add(const Vec3d& origin, const Vec3d& point, bool miss) {
    origins.push_back(origin);
    positions.push_back(point);
    is_miss.push_back(miss ? 1 : 0);
  }
};

inline double in_range(std::uint64_t seed, std::uint64_t i, double low, double high) {
  return low + (high - low) * random_unit(seed, i);
}

/// Beams from around a box of 4 x 3 x 2 m at the origin towards places near it; a third are misses.
inline Pulses random_pulses(std::size_t count, std::uint64_t seed) {
  Pulses out;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t at = 8 * i;
    const Vec3d from{in_range(seed, at, -8, 8), in_range(seed, at + 1, -8, 8), in_range(seed, at + 2, -3, 6)};
    const Vec3d through{in_range(seed, at + 3, -2.5, 2.5), in_range(seed, at + 4, -2, 2),
                        in_range(seed, at + 5, -1.5, 1.5)};
    const double reach = in_range(seed, at + 6, 0.6, 1.4);
    const bool miss = random_unit(seed, at + 7) < 1.0 / 3;
    out.add(from, from + (through - from) * (miss ? 50 : reach), miss);
  }
  return out;
}

inline VoxelBox plain_box() { return {{0, 0, 0}, {4, 3, 2}, 8, 5, 4, 0, {}, {}}; }

/// The sums of every voxel by a box test of every beam with every voxel. Every row is a pulse; nothing is deleted. `factors` of
/// the chords for each layer, or none.
inline std::vector<VoxelSums> slow_sums(const Pulses& pulses, const VoxelBox& grid,
                                        const std::vector<double>& factors = {}) {
  const Vec3d cell{grid.size.x / grid.nx, grid.size.y / grid.ny, grid.size.z / grid.nz};
  const double diagonal = std::sqrt(dot(cell, cell)),
               turn = -grid.rotation_deg * 3.14159265358979323846 / 180;
  const auto turned = [&](const Vec3d& v) {
    return Vec3d{std::cos(turn) * v.x - std::sin(turn) * v.y, std::sin(turn) * v.x + std::cos(turn) * v.y,
                 v.z};
  };
  std::vector<VoxelSums> sums(std::size_t{grid.nx} * grid.ny * grid.nz);
  for (std::size_t p = 0; p < pulses.positions.size(); ++p) {
    const Vec3d from = turned(pulses.origins[p] - grid.center),
                to = turned(pulses.positions[p] - grid.center);
    const double range = std::sqrt(squared_distance(from, to));
    const Vec3d along = (to - from) * (1 / range);
    const double zenith_deg =
        std::atan2(std::hypot(along.x, along.y), std::abs(along.z)) * 180 / 3.14159265358979323846;
    const auto bin =
        std::min<std::size_t>(kZenithBins - 1, static_cast<std::size_t>(zenith_deg * kZenithBins / 90));
    for (std::size_t v = 0; v < sums.size(); ++v) {
      const std::size_t column = v % (std::size_t{grid.nx} * grid.ny),
                        k = v / (std::size_t{grid.nx} * grid.ny);
      if (!grid.kept.empty() && grid.kept[column] == 0) continue;
      const double raised = grid.offsets.empty() ? 0 : grid.offsets[column];
      const double low[3] = {static_cast<double>(column % grid.nx) * cell.x - grid.size.x / 2,
                             static_cast<double>(column / grid.nx) * cell.y - grid.size.y / 2,
                             static_cast<double>(k) * cell.z - grid.size.z / 2 + raised};
      const double o[3] = {from.x, from.y, from.z}, d[3] = {along.x, along.y, along.z},
                   c[3] = {cell.x, cell.y, cell.z};
      double enter = 0, leave = HUGE_VAL;
      for (int axis = 0; axis < 3; ++axis) {
        const double a = (low[axis] - o[axis]) / d[axis], b = (low[axis] + c[axis] - o[axis]) / d[axis];
        enter = std::max(enter, std::min(a, b));
        leave = std::min(leave, std::max(a, b));
      }
      if (!(enter < leave)) continue;
      const bool miss = pulses.is_miss[p] != 0;
      const bool inside = !miss && range >= enter && range < leave, behind = miss || range >= leave;
      if (!inside && !behind) continue;
      const double factor = factors.empty() ? 1 : factors[k * kZenithBins + bin];
      for (std::size_t m = 0; m < kChordMoments; ++m)
        sums[v].moment[m] += std::pow(factor * (leave - enter) / diagonal, static_cast<double>(m));
      sums[v].transmitted += behind ? 1 : 0;
      sums[v].transmitted_squared += behind ? 1 : 0;
      sums[v].hits += inside ? 1 : 0;
    }
  }
  return sums;
}

inline std::vector<VoxelSums> sums_of(const BeamTraversalResult& traced) {
  std::vector<VoxelSums> sums(traced.sums.size() / kVoxelSumFields);
  std::memcpy(sums.data(), traced.sums.view().data, sums.size() * sizeof(VoxelSums));
  return sums;
}

inline BeamTraversalResult trace(const std::vector<BeamScan>& scans, const VoxelBox& grid, int threads = 2,
                                 const std::vector<double>& factors = {}) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return beam_traversal(scans, grid, span_of(factors), ctx);
}

}  // namespace pc::test
