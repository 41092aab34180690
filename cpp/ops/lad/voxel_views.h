#pragma once
#include <cstdint>
#include <vector>

#include "core/column.h"
#include "core/op_context.h"
#include "ops/lad/beam_traversal.h"

namespace pc {

/// How the scanners see a voxel.
struct VoxelView {
  /// Mean over pairs of beams of the covariance of |normal . beam| as a part of its variance, for leaves with normals in any direction: 1 if
  /// all beams are parallel, near 0 from many sides.
  double alignment;
  /// Mean square of the density of the pulses in the voxel over the square of its mean: 1 if they are evenly spread.
  double crowding;
  /// Pulses that would reach the voxel if nothing hid it; 0 = unknown.
  double pulses;
};
constexpr std::size_t kVoxelViewFields = sizeof(VoxelView) / sizeof(double);

/// Views of every voxel, by the places of the scanners and the directions of their pulses.
///
/// The pulses of a scanner that stands still are spread over the sphere by the shares of their zenith angles (180 bins) times those of
/// their azimuths (72 bins), which is exact for a raster about a vertical axis. One that moves counts with 64 of its beam origins: it tells
/// the alignment alone.
///
/// scans    rows of the same beam origin (to a millimetre) are one scanner; those of a list with up to 256 origins are so many. Of the
///          returns of pulses those count whose target_index is the least of the list.
/// Order    (cells, kVoxelViewFields) VoxelView, k-major; the same bits for any number of threads. Dropped columns are 0.
/// Rows     Of a list of more than 2^18, about so many are taken at random.
/// Cost     O(cells scanners), 20 ms per list; 27 times that per cell where a voxel is a tenth as wide as it is far, 512 times near the axis of
///          a scanner (within five widths). 24 bytes per cell.
/// Cancel   Within 50 ms.
/// Errors   kInvalidArgument: those of VoxelCells, columns of different lengths.
/// Source   Own. Covariance of the projections of leaves of any direction: 2 / (3 pi) (sin t + (pi/2 - t) cos t) - 1/4 for beams at an
///          angle t, taken as linear in cos^2 t.
Column<double> voxel_views(const std::vector<BeamScan>& scans, const VoxelBox& grid, OpContext& ctx);

}  // namespace pc
