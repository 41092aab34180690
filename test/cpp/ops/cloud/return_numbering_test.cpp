#include "ops/cloud/return_numbering.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/error.h"
#include "support/columns.h"

namespace pc {
namespace {

using Values = std::vector<double>;

using test::column_of;

ReturnNumbering numbering(const Values& index, const Values& count = {},
                          const std::vector<std::uint8_t>& skip = {}) {
  JobControl control;
  OpContext ctx(control);
  const AnyColumn of = column_of(count);
  return return_numbering(column_of(index), count.empty() ? nullptr : &of, {skip.data(), skip.size()}, ctx);
}

void expect_first(const ReturnNumbering& found, double first, std::uint64_t count,
                  std::uint64_t unknown = 0) {
  ASSERT_TRUE(found.first.has_value());
  EXPECT_EQ(*found.first, first);
  EXPECT_EQ(found.first_count, count);
  EXPECT_EQ(found.unknown_count, unknown);
  EXPECT_EQ(found.from_zero(), first == 0);
}

TEST(ReturnNumbering, TheLowestNumberIsTheFirstReturn) {
  expect_first(numbering({0, 0, 1, 99}, {1, 2, 2, 0}), 0, 2);
  expect_first(numbering({1, 2, 1}), 1, 2);
  expect_first(numbering({3, 2, 3, 2}, {3, 3, 3, 3}), 2, 2);  // rows without their first returns
  expect_first(numbering({0, 0}), 0, 2);
  EXPECT_FALSE(numbering({0, 0}, {0, 0}).first.has_value());  // no row is known to be a return
}

TEST(ReturnNumbering, AFewZerosBesideOnesAreUnknownReturns) {
  expect_first(numbering({0, 1, 2, 1, 2, 1}, {2, 2, 2, 2, 2, 1}), 1, 3, 1);
  expect_first(numbering({0, 1, 1}), 1, 2, 1);
  // Counted from 0: no row reaches its count, though first returns are the fewer.
  expect_first(numbering({0, 1, 1, 1}, {2, 2, 2, 2}), 0, 1);
  expect_first(numbering({0, 0, 1, 2, 1}, {2, 1, 2, 2, 2}), 0, 2);
}

TEST(ReturnNumbering, ZeroOfNoReturnsIsUnknownHoweverManyThereAre) {
  expect_first(numbering({0, 0, 0, 1, 2}, {0, 0, 0, 2, 2}), 1, 1, 3);
  expect_first(numbering({0, 0, 0, 1, 2}, {0, 0, 1, 2, 3}), 0, 3);
  expect_first(numbering({0, 0, 1}, {0, 0, 0}), 0, 2);  // counts that tell nothing
}

TEST(ReturnNumbering, WhatIsNoNumberAndWhatIsLeftOut) {
  const double nan = std::nan(""), infinite = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(numbering({}).first.has_value());
  EXPECT_FALSE(numbering({nan, infinite, -infinite, -1, 99}, {nan, 1, 1, 1, 99}).first.has_value());
  expect_first(numbering({-1, 1.2, 2, 0.4}), 0, 1);
  expect_first(numbering({0, 1, 2}, {2, 2, 2}, {1, 0, 0}), 1, 1);
  EXPECT_THROW(numbering({0}, {1, 2}), Error);
  EXPECT_THROW(numbering({0}, {1}, {0, 0}), Error);
}

}  // namespace
}  // namespace pc
