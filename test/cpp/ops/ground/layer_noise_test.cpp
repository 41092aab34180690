#include "ops/ground/layer_noise.h"

#include <gtest/gtest.h>

#include <cmath>

namespace pc {
namespace {

TEST(LayerNoise, TheLowestOfSomeReturnsLiesAsDeepAsTablesSay) {
  // Harter 1961 (Biometrika 48, 151-165): expected values of normal order statistics.
  for (const auto& [n, depth] :
       {std::pair{2.0, 0.56419}, {5.0, 1.16296}, {10.0, 1.53875}, {25.0, 1.96531}, {100.0, 2.50759}})
    EXPECT_NEAR(expected_depth(n), depth, 0.03) << n;
  EXPECT_EQ(expected_depth(1), 0);
  EXPECT_EQ(expected_depth(0), 0);
}

}  // namespace
}  // namespace pc
