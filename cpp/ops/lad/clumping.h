#pragma once
#include <cstdint>

#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

struct ClumpingParams {
  Vec3d voxel_size;          ///< of the whole voxels, metres, > 0
  std::uint32_t nx, ny, nz;  ///< of the whole voxels
  std::uint64_t min_beams;   ///< beams that must reach a voxel and each of its eighths, >= 1
  /// The layers of whole voxels that are compared; 0 layers = all.
  std::uint32_t first_layer = 0, layers = 0;
};

/// Leaf area of the same voxels, from themselves and from their eighths.
struct Clumping {
  double whole_m2 = 0, eighths_m2 = 0;
  std::uint64_t voxel_count = 0;  ///< voxels with enough beams in all of their eighths
};

/// How much leaf area whole voxels miss because their leaves are not spread evenly: leaves in clumps hide each other, so the
/// logarithm of the mean transmission of parts is below the mean of their logarithms. Clumps smaller than the eighths stay.
///
/// whole    (cells, kVoxelSumFields) of beam_traversal
/// eighths  the same beams through voxels of half the edges: (2 nx, 2 ny, 2 layers) cells
/// g        as for beer_lambert; the eighths have that of their voxel
/// Order    The same bits for any number of threads. Cost: O(cells), 16 bytes per voxel. Cancel within 50 ms.
/// Errors   kInvalidArgument: lengths or parameters out of range.
/// Source   Lang & Xiang 1986 (Agricultural and Forest Meteorology 37): logarithms averaged over short paths.
Clumping clumping(Span<const double> whole, Span<const double> eighths, Span<const double> g,
                  const ClumpingParams& params, OpContext& ctx);

}  // namespace pc
