#pragma once
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "core/random.h"
#include "support/nasty_clouds.h"

namespace pc::test {

/// Runs of a test with random clouds: `usual`, or the number in PC_FUZZ_CLOUDS (`npm run fuzz -- trees|surfaces`).
inline std::uint64_t fuzz_runs(std::uint64_t usual) {
  const char* const wanted = std::getenv("PC_FUZZ_CLOUDS");
  return wanted == nullptr ? usual : std::strtoull(wanted, nullptr, 10);
}

/// nasty_clouds::cloud; every fifth one with points that are not finite or 1e7 m away.
inline std::vector<Vec3d> hostile_cloud(std::uint64_t seed, std::size_t most) {
  std::vector<Vec3d> points = nasty_clouds::cloud(seed, most);
  if (seed % 5 != 4) return points;
  constexpr double kOdd[] = {NAN, HUGE_VAL, -HUGE_VAL, 1e7, -1e7};
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::uint64_t random = random_u64(~seed, i);
    if (random % 20 != 0) continue;
    double* const axes[] = {&points[i].x, &points[i].y, &points[i].z};
    *axes[random / 20 % 3] = kOdd[random / 60 % 5];
  }
  return points;
}

}  // namespace pc::test
