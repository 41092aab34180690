#pragma once
#include <cstdint>

#include "core/column.h"

namespace pc {

/// Values of the column noise_class (contract classification section 3).
constexpr std::uint8_t kClean = 1;
constexpr std::uint8_t kNoise = 2;

struct NoiseResult {
  Column<std::uint8_t> noise_class;  ///< (n) kClean or kNoise per point, input order
  std::uint64_t flagged_count;       ///< kNoise entries
  std::uint64_t non_finite_count;    ///< of those, points with a coordinate that is no finite number
};

}  // namespace pc
