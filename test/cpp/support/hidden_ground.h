#pragma once
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/random.h"
#include "support/ground_clouds.h"

/// Ground as a scanner that is carried through a thicket sees it.
namespace pc::test {

struct HiddenGround {
  GroundCloud cloud;
  std::vector<double> above;  ///< of each point, metres above the ground
};

inline double hidden_ground_height(double x, double y) {
  return 0.1 * x + 0.15 * std::sin(0.9 * x) * std::cos(0.7 * y);
}

/// `side` x `side` metres with 250 returns per square metre: of paths 1 m wide, 5 m apart, every return is ground; in the
/// thicket between them one of `hidden` is, and the others lie in plants of up to 0.9 m,
/// above the part `clear` of their height.
inline HiddenGround hidden_ground(double side, std::uint64_t hidden, double clear) {
  HiddenGround scene;
  const auto count = static_cast<std::uint64_t>(250 * side * side);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto next = [&](std::uint64_t k) { return random_unit(12, 6 * i + k); };
    const double x = side * next(0), y = side * next(1);
    const double noise = 0.015 * std::sqrt(-2 * std::log(1 - next(2))) * std::cos(2 * M_PI * next(3));
    const double plant = 0.4 + 0.5 * std::abs(std::sin(1.3 * x) * std::sin(1.7 * y));
    const bool ground = std::fmod(x, 5) < 1 || i % hidden == 0;
    const double above = ground ? noise : plant * (clear + (1 - clear) * std::sqrt(next(4)));
    scene.cloud.push_back({x, y, hidden_ground_height(x, y) + above});
    scene.above.push_back(above);
  }
  return scene;
}

}  // namespace pc::test
