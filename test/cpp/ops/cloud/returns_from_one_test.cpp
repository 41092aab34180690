#include "ops/cloud/returns_from_one.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/error.h"
#include "support/columns.h"

namespace pc {
namespace {

using test::column_of;

template <class T>
std::vector<T> from_one(const std::vector<T>& index, const std::vector<int>& count = {}) {
  JobControl control;
  OpContext ctx(control);
  const AnyColumn of = column_of(count);
  const AnyColumn found = returns_from_one(column_of(index), count.empty() ? nullptr : &of, ctx);
  const auto values = found.as<T>();
  return {values.begin(), values.end()};
}
using U8 = std::vector<std::uint8_t>;

TEST(ReturnsFromOne, CountsOneMore) {
  EXPECT_EQ(from_one<std::uint8_t>({0, 1, 2, 0, 99}, {3, 3, 3, 1, 0}), (U8{1, 2, 3, 1, 99}));
  EXPECT_EQ(from_one<float>({0, 1, -1}), (std::vector<float>{1, 2, -1}));
  EXPECT_EQ(from_one<std::uint8_t>({255, 0}), (U8{255, 1}));
}

TEST(ReturnsFromOne, ZeroOfNoReturnsStaysUnknown) {
  EXPECT_EQ(from_one<std::uint8_t>({0, 1, 0}, {0, 2, 2}), (U8{0, 2, 1}));
  EXPECT_EQ(from_one<std::uint8_t>({0, 1}, {0, 0}), (U8{1, 2}));  // counts that tell nothing
}

TEST(ReturnsFromOne, WhatIsNoNumber) {
  EXPECT_TRUE(std::isnan(from_one<double>({std::nan("")})[0]));
  EXPECT_EQ(from_one<std::uint8_t>({}), U8{});
  EXPECT_THROW(from_one<int>({0}, {1, 1}), Error);
}

}  // namespace
}  // namespace pc
