#include "ops/trees/high_points.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "core/error.h"

namespace {

using namespace pc;

HighPoints counted(const std::vector<float>& heights, const std::vector<std::uint32_t>& labels) {
  const std::vector<std::uint8_t> has_stem{0, 1};
  JobControl control;
  OpContext ctx(control);
  return high_points({heights.data(), heights.size()}, {labels.data(), labels.size()},
                     {has_stem.data(), has_stem.size()}, ctx);
}

TEST(HighPoints, AreMoreThanTwoMetresAboveKnownGround) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const HighPoints found = counted({1.9F, 2, 2.1F, 30, 40, 50, nan, -5}, {0, 0, 0, 0, 1, 2, 0, 0});
  EXPECT_EQ(found.count, 4);
  EXPECT_EQ(found.of_stems, 1);
  EXPECT_EQ(found.without_tree, 2);
}

TEST(HighPoints, NoneAndMany) {
  EXPECT_EQ(counted({}, {}).count, 0);
  std::vector<std::uint32_t> labels(100'001, 0);
  for (std::size_t i = 0; i < labels.size(); i += 4) labels[i] = 2;
  const HighPoints found = counted(std::vector<float>(labels.size(), 7), labels);
  EXPECT_EQ(found.count, 100'001);
  EXPECT_EQ(found.of_stems, 25'001);
  EXPECT_EQ(found.without_tree, 75'000);
}

TEST(HighPoints, RefusesLengthsThatDiffer) { EXPECT_THROW(counted({1, 2}, {1}), Error); }

}  // namespace
