#pragma once
#include <cstddef>
#include <cstdint>

#include "core/atomic.h"
#include "core/float_bits.h"
#include "core/host_device.h"
#include "core/vec3.h"
#include "spatial/ball_grid.h"

namespace pc::point_spacing_kernel {

/// A pass over points: a point that is nearer to a sample than the sample's best distance so far lowers that distance.
/// All pointers are of one device.
struct Pass {
  const Vec3d* points;        ///< (count)
  const std::uint64_t* rows;  ///< (count) their rows in the cloud, or nullptr: row = first_row + index
  std::uint64_t first_row;
  const Vec3d* samples;              ///< (sample_count)
  const std::uint64_t* sample_rows;  ///< (sample_count) a sample is not its own neighbour
  std::uint64_t* best_bits;  ///< (sample_count) bits of the best squared distance; ordered like the doubles
  BallGridView grid;         ///< over the samples, radius = best distance at the start of the pass
};

/// Input of pc_cuda: a pass in host memory and the lengths of its arrays.
struct HostPass {
  Pass pass;
  std::uint64_t count;
  std::uint64_t sample_count;
  std::uint64_t filter_words;
  std::uint64_t bucket_count;
  std::uint64_t entry_count;
};

PC_HD inline void offer(const Vec3d& point, std::uint64_t row, std::size_t sample, const Pass& pass) {
  if (pass.sample_rows[sample] == row) return;
  const std::uint64_t bits = bits_of(squared_distance(point, pass.samples[sample]));
  if (bits < relaxed_load(pass.best_bits + sample)) atomic_min(pass.best_bits + sample, bits);
}

/// Compares point i of the pass with the samples whose balls may contain it; `levels` as in for_each_candidate.
PC_HD inline void visit_point(std::size_t i, const Pass& pass, std::uint8_t levels = ball_grid::kAllLevels) {
  const Vec3d point = pass.points[i];
  if (!is_finite(point)) return;
  const std::uint64_t row = pass.rows == nullptr ? pass.first_row + i : pass.rows[i];
  pass.grid.for_each_candidate(
      point, [&](std::uint32_t sample) { offer(point, row, sample, pass); }, levels);
}

}  // namespace pc::point_spacing_kernel
