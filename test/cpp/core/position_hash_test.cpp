#include "core/position_hash.h"

#include <gtest/gtest.h>

#include <array>

namespace {

/// Of any coordinates, an eighth of the points has each of the eight remainders.
TEST(PositionHash, LowBitsOfRegularCoordinatesAreEven) {
  for (const double step : {1.0, 0.001, 0x1.0p-16, 0.1}) {
    std::array<int, 8> found{};
    std::array<int, 8> found_along_z{};
    constexpr int kEdge = 24;
    for (int i = 0; i < kEdge * kEdge * kEdge; ++i) {
      const pc::Vec3d p{step * (i % kEdge), step * (i / kEdge % kEdge), step * (i / kEdge / kEdge)};
      ++found[pc::position_hash(p) % 8];
      ++found_along_z[pc::position_hash({1.5, 2.5, step * i}) % 8];
    }
    const double even = kEdge * kEdge * kEdge / 8.0;
    for (int k = 0; k < 8; ++k) {
      EXPECT_NEAR(found[k] / even, 1, 0.1) << step;
      EXPECT_NEAR(found_along_z[k] / even, 1, 0.1) << step;
    }
  }
}

TEST(PositionHash, NegativeZeroIsZero) {
  EXPECT_EQ(pc::position_hash({-0.0, 1, -0.0}), pc::position_hash({0, 1, 0}));
}

}  // namespace
