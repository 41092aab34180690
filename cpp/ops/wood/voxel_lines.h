#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// Columns of one number of neighbours, and of all.
constexpr std::uint32_t kLineWidth = 6;
constexpr std::uint32_t kLineColumns = 2 * kLineWidth + 1;

/// The nearest neighbours of a voxel, relative to it, nearest first.
struct Surroundings {
  static constexpr std::size_t kMost = 48;

  double x[kMost], y[kMost], z[kMost], squared[kMost];
  std::size_t count = 0;

  void take(const Vec3d& place, Span<const std::uint64_t> rows, Span<const double> distances,
            Span<const Vec3d> places) {
    count = std::min(rows.size, kMost);
    for (std::size_t j = 0; j < count; ++j) {
      const Vec3d d = places[rows[j]] - place;
      x[j] = d.x, y[j] = d.y, z[j] = d.z;
      squared[j] = distances[j];
    }
  }
};

/// The straightest run of voxels through each voxel: a twig is one even where leaves around it hide it from covariances.
///
/// Search   Directions to the neighbours that are at least kNearest of the farthest one away; each counts the eighths of
///          the diameter that hold a voxel within kTube of its line. The most eighths win, then the most voxels, then the
///          nearer neighbour.
/// Columns  of 16 and of 48 neighbours: eighths over 8, the lower number of the two sides over 4, the longest run of
///          eighths over 8, share of the neighbours in the tube, their root mean square distance from the line over its
///          radius, |z| of the line; then log2 of the points of the voxel.
/// Order    Unchanged by mirroring, by rotation about z and by offsets, to the voxelization.
///
/// points  of the voxel
/// out     (kLineColumns)
void write_lines(const Surroundings& near, std::uint32_t points, float* out);

}  // namespace pc
