#pragma once
#include <cstdint>
#include <initializer_list>

#include "core/float_bits.h"
#include "core/random.h"
#include "core/vec3.h"

namespace pc {

/// A number that depends on nothing but the coordinates, every bit of it evenly spread; -0 is 0. Samples by it are those of
/// any order of the points. Coordinates often end in zeros (float32, steps of a scanner), of which the products alone would
/// leave the low bits regular.
inline std::uint64_t position_hash(const Vec3d& p) {
  std::uint64_t mixed = 0;
  for (const double value : {p.x, p.y, p.z}) {
    mixed = (mixed ^ bits_of(value + 0.0)) * 0x9e3779b97f4a7c15ULL;
    mixed ^= mixed >> 32;
  }
  return random_u64(mixed, 0);
}

}  // namespace pc
