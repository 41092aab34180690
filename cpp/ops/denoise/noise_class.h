#pragma once
#include <cstdint>

namespace pc {

/// Values of the column noise_class (contract classification section 3).
constexpr std::uint8_t kClean = 1;
constexpr std::uint8_t kNoise = 2;

}  // namespace pc
