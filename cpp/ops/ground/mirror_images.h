#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "core/column.h"
#include "core/hit_points.h"
#include "core/op_context.h"

namespace pc {

/// A level surface that mirrors, and what it showed.
struct Mirror {
  double z;                         ///< of the surface, metres; within about 0.1 m
  std::uint64_t image_count;        ///< points that are images
  double depth_m;                   ///< how far the deepest of them lies below the surface
  std::array<double, 2> low, high;  ///< x and y between which they lie
};

struct MirrorImages {
  Column<std::uint8_t> is_image;  ///< (n) 1 = the point is an image
  std::vector<Mirror> mirrors;    ///< from the lowest to the highest
};

/// Finds the points that a level mirror shows: still water, wet or polished floors. A beam that meets such a surface obliquely goes on
/// to what stands beyond, and is measured as far below the surface as that is above. Below a hole in the ground, or below a bank, such
/// images are the lowest points, and any terrain goes down to them.
///
/// In squares of 10 m (at multiples of 10 m) with at least 2,000 points, with voxels of 0.2 x 0.2 x 0.1 m, a level is a mirror if 75 % of the voxels
/// more than 0.3 m below it have something as far above it, within a voxel. Not counted are columns with something 0.1 to
/// 0.3 m above or below it, as walls and stems pass through any level, and voxels that have something there 1 m beside them
/// on all four sides, too: floors and ceilings of rooms face each other everywhere. At least 100 must be left, and in each of
/// the four directions 20 % fewer of them must have something there: dense crowns face the ground by chance.
/// The mirrors of squares that differ by at most 0.2 m are one. It must have a rim: of the lowest voxels of its columns
/// that are no images, at least 50, and a tenth of those below it, lie 0.1 m below to 0.5 m above it, and at most 0.3
/// times as many more than 0.3 m below; others hang in the air, as between a forest floor and the crowns.
///
/// Images are looked for in its squares, in those around them, and on around squares with 20 voxels at least 0.1 m below it of
/// which 80 % have something as far above. In squares with 70 % (or fewer voxels), and 80 % with their neighbours, all points
/// so low are images, down to 51 m; elsewhere those where 60 % have within 0.5 m. Points with x or y beyond 1e11 m are none.
///
/// points   hits, metres, z up
/// Order    The same for any order of the points and thread count.
/// Cost     Four passes over the points, 4 bytes each, and some 2 ms per square that is full of points.
/// Cancel   Within 100 ms for any input.
/// Source   Own; Yun & Sim, "Reflection removal for large-scale 3D point clouds", CVPR 2018, ask for the counterpart of a
///          virtual point behind a pane of glass as well.
MirrorImages mirror_images(HitPoints points, OpContext& ctx);

}  // namespace pc
