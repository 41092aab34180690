#include "core/float_bits.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace pc {
namespace {

template <class T>
std::vector<T> ascending() {
  using Limits = std::numeric_limits<T>;
  return {-Limits::infinity(),  Limits::lowest(), -1, -Limits::min(), -Limits::denorm_min(), T{-0.0}, T{0.0},
          Limits::denorm_min(), Limits::min(),    1,  Limits::max(),  Limits::infinity()};
}

TEST(FloatBits, OrderAsTheNumbersDo) {
  const auto floats = ascending<float>();
  const auto doubles = ascending<double>();
  for (std::size_t i = 1; i < floats.size(); ++i) {
    EXPECT_LT(ordered_bits(floats[i - 1]), ordered_bits(floats[i])) << i;
    EXPECT_LT(ordered_bits(doubles[i - 1]), ordered_bits(doubles[i])) << i;
  }
  for (const float value : floats) EXPECT_LT(ordered_bits(value), kAboveAllFloats);
}

TEST(FloatBits, KeysComeBackToTheSameBits) {
  auto floats = ascending<float>();
  auto doubles = ascending<double>();
  floats.push_back(std::numeric_limits<float>::quiet_NaN());
  doubles.push_back(std::numeric_limits<double>::quiet_NaN());
  for (const float value : floats) {
    EXPECT_EQ(bits_of(float_of_ordered(ordered_bits(value))), bits_of(value));
    EXPECT_EQ(bits_of(float_of(bits_of(value))), bits_of(value));
  }
  for (const double value : doubles) {
    EXPECT_EQ(bits_of(double_of_ordered(ordered_bits(value))), bits_of(value));
    EXPECT_EQ(bits_of(double_of(bits_of(value))), bits_of(value));
  }
}

TEST(FloatBits, TheKeyAboveAllIsNoNumber) { EXPECT_TRUE(std::isnan(float_of_ordered(kAboveAllFloats))); }

}  // namespace
}  // namespace pc
