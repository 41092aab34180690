#pragma once
#include "core/op_context.h"
#include "ops/plant/geometry.h"
#include "ops/plant/prototypes.h"
#include "ops/plant/shapes.h"

namespace pc {

/// Adds coarser meshes of the leaves, flowers and fruits to the end of `prototypes.organs` and names them in
/// OrganPrototype::coarser. Blades are widened, other organs enlarged until their area is that of the full mesh to 0.1 %; the
/// distance between both surfaces is measured at their corners and centroids. Meshes of more than 256 triangles have none.
void add_coarser_organs(const PlantShapes& shapes, PlantPrototypes& prototypes);

/// Makes a plant of fewer triangles: organs within d of their full meshes, corners of tubes within d of the round tube.
///
/// - d is PlantPrototypes::deviation_ratio times the plant's height. If the plant has more triangles than triangle_budget
///   with it, d is doubled, twice at most.
/// - Organs take their coarsest mesh whose distance times their size is at most d; those that may touch the ground or the
///   plant's top keep theirs, so that neither moves.
/// - Tubes get as many sides as their corners need to lie within d of the circle (shoots at least 5, stalks 3). Rings are
///   left out where the axis stays within d and a tenth of the radius, and the radius within 1 %. Rings that may touch the
///   plant's top stay, with their sides.
///
/// Sum of the areas of all blades: to 0.1 %; volumes of tubes: to 1 %. leaf_area_m2, wood_volume_m3 and height_m stay.
/// Order    Depends on this plant alone.
/// Cost     O(rings + organs).
/// Cancel   Within 50 ms.
void simplify_plant(const PlantPrototypes& prototypes, PlantParts& plant, OpContext& ctx);

}  // namespace pc
