#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/column.h"
#include "ops/denoise/noise_class.h"

namespace pc {

struct NoiseResult {
  Column<std::uint8_t> noise_class;  ///< (n) kClean or kNoise per point, input order
  std::uint64_t flagged_count;       ///< kNoise entries
  std::uint64_t non_finite_count;    ///< of these, points with a coordinate that is not finite
  std::vector<std::string> warnings;
};

}  // namespace pc
