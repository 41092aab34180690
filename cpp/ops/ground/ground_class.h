#pragma once
#include <cstdint>

namespace pc {

/// Values of a ground_class column: contract classification section 1.
enum class GroundClass : std::uint8_t { kGround = 1, kPlant = 2 };

}  // namespace pc
