#pragma once
#include <cstdint>

#include "core/vec3.h"
#include "spatial/lattice.h"

namespace pc {

/// What the ground filters measure in a whole cloud. A part of the cloud that is filtered with the frame of the whole gets
/// the labels that it has there, but for its edges: cells lie at the same places, heights are above the same plane, and
/// all thresholds are equal. With the frame of a cloud itself, its labels are those without a frame, bit for bit.
struct GroundFrame {
  double origin_x, origin_y;  ///< where cells begin, metres, frame of the points
  double z_origin;            ///< height of the plane at the origin, metres
  double slope_x, slope_y;    ///< of that plane, the trend of the ground, metres per metre
  double lowest_z;            ///< of the points that are no low outliers, metres
  double point_count;         ///< finite points
  double point_spacing_m;     ///< sqrt(occupied area / points), > 0
  double outlier_cell_m;      ///< cells of find_low_outliers, > 0
  double outlier_layer_m;     ///< thickness of its layer, > 0
  double cell_size;           ///< of ground_auto, metres, > 0
  double roughness_m;         ///< of ground_auto, >= 0
  double typical_returns;     ///< in the lowest metre of a cell (return_layer.h); 0 = too few to tell
  double search_noise_m;      ///< noise that the search for ground allows for; 0 = none
  double noise_m, middle_m;   ///< of the layer of ground returns (layer_noise.h); 0 = not measured
};

/// Errors: kInvalidArgument naming the first value that is not finite or out of range.
void check_frame(const GroundFrame& frame);

/// Cells across the blocks in which find_low_outliers looks for ground that is hidden nearby: about 2 m.
std::uint32_t outlier_block_cells(double cell_m);

/// Cells of surfaces begin at multiples of this many cells, so that coarser levels have the same cells in every part.
constexpr std::uint32_t kFrameBlock = 64;

/// First cell of a part and the number behind its last one, along one axis, in cells of the frame.
/// Errors: kInvalidArgument for points more than 2^30 cells away from the origin.
struct FramedCells {
  std::int64_t first, end;
};
FramedCells framed_cells(double origin, double low, double high, double size, double offset,
                         std::uint32_t block);

/// As lattice_over, with the cells of a frame, or of the box alone if `frame` is null. The first cell is `margin` cells
/// before a multiple of `block` cells.
Lattice lattice_in(const GroundFrame* frame, const Box3d& box, double size, std::uint32_t margin,
                   std::uint32_t block, const LatticePlane& plane);

}  // namespace pc
