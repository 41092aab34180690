#include "ops/lad/element_gain.h"

#include <gtest/gtest.h>

#include <limits>

#include "core/error.h"

namespace pc {
namespace {

double gain_of(double width, const Vec3d& size) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 1);
  return element_gain(width, size, ctx);
}

TEST(ElementGain, IsThatOfLeavesDrawnByAnotherProgram) {
  // numpy: 200,000 discs of 196 pieces each, uniform normals, at random in and around a cube.
  for (const auto& [width, gain] :
       {std::pair{0.25, 1.0140}, {0.357, 1.0271}, {0.5, 1.0498}, {0.714, 1.0933}, {1.0, 1.1668}})
    EXPECT_NEAR(gain_of(width, {1, 1, 1}), gain, 0.004) << width;
}

TEST(ElementGain, IsThatOfTheRatioAndOfThePointsOne) {
  EXPECT_NEAR(gain_of(0.05, {0.1, 0.1, 0.1}), gain_of(0.5, {1, 1, 1}), 1e-12);
  EXPECT_EQ(gain_of(0, {1, 1, 1}), 1);
  EXPECT_LT(gain_of(0.01, {1, 1, 1}), 1.0001);
  EXPECT_LT(gain_of(0.5, {1, 1, 2}), gain_of(0.5, {1, 1, 1}));
}

TEST(ElementGain, RefusesWhatIsNoLeafInAVoxel) {
  EXPECT_THROW(gain_of(1.001, {1, 2, 2}), Error);
  EXPECT_THROW(gain_of(-0.1, {1, 1, 1}), Error);
  EXPECT_THROW(gain_of(0.1, {1, 0, 1}), Error);
  EXPECT_THROW(gain_of(0.1, {1, std::numeric_limits<double>::infinity(), 1}), Error);
  EXPECT_THROW(gain_of(std::numeric_limits<double>::quiet_NaN(), {1, 1, 1}), Error);
}

}  // namespace
}  // namespace pc
