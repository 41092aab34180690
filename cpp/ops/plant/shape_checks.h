#pragma once
#include "ops/plant/shapes.h"

namespace pc {

/// Throw kInvalidArgument for a shape that cannot be built; the message names the shape, the field, its value and range.
void check_leaf_shape(const LeafShape& leaf);
void check_organ_shape(const NamedOrgan& organ);

}  // namespace pc
