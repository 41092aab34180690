#pragma once
#include <cstdint>
#include <vector>

#include "core/op_context.h"
#include "ops/trees/stem_layer.h"

namespace pc {

/// Where the layer has upright surfaces, by cells seen from above. Part of detect_stems.
struct StemSurfaces {
  BulkVector<std::uint8_t> upright;  ///< (cells) 1 = most cubes of the cell lie on an upright surface
  BulkVector<std::uint8_t> full;     ///< (cells) 1 = the cell and its neighbours have points at most heights
};

/// Looks at cubes of 5 cm with their 26 neighbours: on a surface their points are flat, and the normal is level where the
/// surface is upright. Leaves and twigs are not flat at this size.
///
/// height   of the layer, metres
/// Cost     O(points) time; 56 bytes per cube with points.
StemSurfaces stem_surfaces(const StemLayer& layer, double height, OpContext& ctx);

}  // namespace pc
