#pragma once
#include <cstdint>

#include "ops/plant/organ_mesh.h"

namespace pc {

/// Mesh of a blade of length 1 along its midrib, base at the origin, upper side +z where it is flat.
///
/// variant  chooses the phase of the waves and the place and size of the buckle
/// detail   factor for the divisions, 1 = those of the shape
/// Area     That of the flat outline, but for the chords at its margin, when the blade is only folded or bent; cupped,
///          waved and twisted ones differ: take it from the mesh.
OrganMesh blade_mesh(const BladeShape& blade, std::uint32_t variant, double detail);

}  // namespace pc
