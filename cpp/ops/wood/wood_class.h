#pragma once
#include <cstdint>

namespace pc {

/// Values of the column wood_class (contract classification section 1).
constexpr std::uint8_t kWood = 1;
constexpr std::uint8_t kLeaf = 2;

}  // namespace pc
