#include "ops/cloud/return_numbers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/error.h"
#include "support/columns.h"

namespace pc {
namespace {

using test::column_of;

using Numbers = std::vector<int>;

ReturnNumbers numbers_of(const AnyColumn& index, const AnyColumn& count) {
  JobControl control;
  OpContext ctx(control);
  return return_numbers(index, count, ctx);
}
bool agree(const AnyColumn& index, const AnyColumn& count, const Numbers& number, const Numbers& of) {
  JobControl control;
  OpContext ctx(control);
  return are_return_numbers(index, count, column_of(number), column_of(of), ctx);
}
Numbers numbers(const Column<std::uint8_t>& values) { return {values.view().begin(), values.view().end()}; }

TEST(ReturnNumbers, CountFromOne) {
  const auto count = column_of<std::uint8_t>({1, 2, 2, 3, 3, 3, 0});
  const ReturnNumbers found = numbers_of(column_of<float>({0, 0, 1, 0, 1, 2, 99}), count);
  EXPECT_TRUE(found.usable && !found.as_given);
  EXPECT_EQ(numbers(found.number), (Numbers{1, 1, 2, 1, 2, 3, 1}));
  EXPECT_EQ(numbers(found.count), (Numbers{1, 2, 2, 3, 3, 3, 1}));
  EXPECT_EQ(found.shortened_count, 0U);
  const ReturnNumbers same = numbers_of(column_of<std::int16_t>({1, 1, 2}), column_of<double>({1, 2, 2}));
  EXPECT_TRUE(same.as_given);
  EXPECT_EQ(numbers(same.number), (Numbers{1, 1, 2}));
  const ReturnNumbers missed = numbers_of(column_of<float>({1, 2, 99}), column_of<float>({2, 2, 0}));
  EXPECT_FALSE(missed.as_given);
  EXPECT_EQ(numbers(missed.number), (Numbers{1, 2, 1}));  // an index without returns does not begin the count
}

TEST(ReturnNumbers, AFewZerosBesideOnesAreUnknownReturns) {
  const auto index = column_of<std::uint8_t>({0, 1, 2, 1, 2}),
             count = column_of<std::uint8_t>({2, 2, 2, 2, 2});
  EXPECT_EQ(numbers(numbers_of(index, count).number), (Numbers{1, 1, 2, 1, 2}));
  EXPECT_EQ(numbers(numbers_of(index, count).count), (Numbers{2, 2, 2, 2, 2}));
  EXPECT_TRUE(agree(index, count, {1, 1, 2, 1, 2}, {2, 2, 2, 2, 2}));
}

TEST(ReturnNumbers, LimitsAndWhatIsNoNumber) {
  std::vector<int> index(20), count(20, 20);
  for (int i = 0; i < 20; ++i) index[static_cast<std::size_t>(i)] = i;
  const ReturnNumbers found = numbers_of(column_of(index), column_of(count));
  EXPECT_EQ(found.shortened_count, 20U);
  EXPECT_EQ(found.number[14], 15);
  EXPECT_EQ(found.number[19], 15);
  EXPECT_EQ(found.count[0], 15);
  EXPECT_FALSE(numbers_of(column_of<double>({0, 0.5}), column_of<double>({2, 2})).usable);
  EXPECT_FALSE(numbers_of(column_of<double>({0, -1}), column_of<double>({2, 2})).usable);
  EXPECT_FALSE(numbers_of(column_of<double>({0, 1}), column_of<double>({2, std::nan("")})).usable);
  EXPECT_EQ(numbers_of(column_of<double>({0, 1}), column_of<double>({2, 300})).number.size(), 0U);
  EXPECT_EQ(numbers(numbers_of(column_of<int>({0, 3}), column_of<int>({2, 2})).count), (Numbers{2, 4}));
  EXPECT_EQ(numbers(numbers_of(column_of<int>({0, 0}), column_of<int>({1, 1})).number), (Numbers{1, 1}));
  EXPECT_THROW(numbers_of(column_of<int>({0}), column_of<int>({1, 1})), Error);
}

TEST(ReturnNumbers, OfOtherColumnsAreTold) {
  const auto index = column_of<int>({0, 1, 99}), count = column_of<int>({2, 2, 0});
  EXPECT_TRUE(agree(index, count, {1, 2, 1}, {2, 2, 1}));
  EXPECT_FALSE(agree(index, count, {1, 1, 1}, {2, 2, 1}));
  EXPECT_FALSE(agree(index, count, {1, 2, 1}, {2, 1, 1}));
  // Rows of a scan that counts from 0, without its first returns.
  EXPECT_TRUE(agree(column_of<int>({1, 1}), column_of<int>({2, 2}), {2, 2}, {2, 2}));
  EXPECT_FALSE(agree(column_of<double>({0.5, 1}), column_of<int>({2, 2}), {1, 2}, {2, 2}));
}

}  // namespace
}  // namespace pc
