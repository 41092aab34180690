#pragma once
#include "ops/plant/prototypes.h"
#include "ops/plant/shapes.h"
#include "ops/plant/species.h"

namespace pc {

/// Throw kInvalidArgument for a shape that cannot be built; the message names the shape, the field, its value and range.
void check_leaf_shape(const LeafShape& leaf);
void check_organ_shape(const NamedOrgan& organ);

/// Throws kInvalidArgument for a shape that a shoot type names and the species lacks, and for an area coefficient more than
/// 1 % off the area of its blade: girth follows the coefficient, the mesh the blade.
void check_named_shapes(const PlantSpecies& species, const PlantPrototypes& prototypes);

}  // namespace pc
