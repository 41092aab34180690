#pragma once
#include <cstdint>

#include "core/host_device.h"

namespace pc {

/// Counter-based random numbers: a value depends only on (seed, counter), so it is the same on any thread or device.
/// Mixer: SplitMix64 finalizer (Steele, Lea & Flood 2014, "Fast splittable pseudorandom number generators", fig. 16).
PC_HD inline std::uint64_t random_u64(std::uint64_t seed, std::uint64_t counter) {
  std::uint64_t z = seed + (counter + 1) * 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

/// Uniform in [0, 1), 53 bits.
PC_HD inline double random_unit(std::uint64_t seed, std::uint64_t counter) {
  return static_cast<double>(random_u64(seed, counter) >> 11) * 0x1.0p-53;
}

}  // namespace pc
