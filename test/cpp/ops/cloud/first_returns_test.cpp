#include "ops/cloud/first_returns.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/error.h"
#include "support/columns.h"

namespace pc {
namespace {

using test::column_of;

FirstReturns first_of(const AnyColumn& index, const AnyColumn& count,
                      const std::vector<std::uint8_t>& skip = {}) {
  JobControl control;
  OpContext ctx(control);
  return first_returns(index, count, {skip.data(), skip.size()}, ctx);
}
std::vector<int> skipped(const FirstReturns& found) {
  return {found.skip.view().begin(), found.skip.view().end()};
}

TEST(FirstReturns, CountFromZeroOrOne) {
  const auto counts = column_of<std::uint8_t>({1, 2, 2, 3, 3, 3});
  const FirstReturns zero = first_of(column_of<float>({0, 0, 1, 0, 1, 99}), counts);
  EXPECT_TRUE(zero.is_multi_return);
  EXPECT_EQ(skipped(zero), (std::vector<int>{0, 0, 1, 0, 1, 1}));
  EXPECT_EQ(zero.dropped_count, 3U);
  EXPECT_EQ(skipped(first_of(column_of<std::int16_t>({1, 1, 2, 1, 2, 3}), counts)),
            (std::vector<int>{0, 0, 1, 0, 1, 1}));
}

TEST(FirstReturns, AFewZerosBesideOnesAreUnknownReturnsAndKept) {
  const auto index = column_of<std::uint8_t>({0, 1, 2, 1, 2, 1}),
             counts = column_of<std::uint8_t>({0, 2, 2, 2, 2, 1});
  EXPECT_EQ(skipped(first_of(index, counts)), (std::vector<int>{0, 0, 1, 0, 1, 0}));
  // Counted from 0: no row reaches its count, though first returns are the fewer.
  const auto lost = column_of<std::uint8_t>({0, 1, 1, 1}), of = column_of<std::uint8_t>({2, 2, 2, 2});
  EXPECT_EQ(skipped(first_of(lost, of)), (std::vector<int>{0, 1, 1, 1}));
}

TEST(FirstReturns, PulsesWithoutTheirFirstReturnsKeepTheLowestNumber) {
  const auto count = column_of<std::uint8_t>({3, 3, 3});
  EXPECT_EQ(skipped(first_of(column_of<std::uint8_t>({2, 3, 2}), count)), (std::vector<int>{0, 1, 0}));
}

TEST(FirstReturns, RowsLeftOutBeforeDoNotCount) {
  const auto index = column_of<double>({0, 1, 2, 1, std::nan("")}),
             count = column_of<double>({1, 2, 2, 1, 1});
  const FirstReturns some = first_of(index, count, {1, 0, 0, 0, 0});
  EXPECT_EQ(skipped(some), (std::vector<int>{1, 0, 1, 0, 1}));  // without row 0 the numbers begin at 1
  EXPECT_EQ(some.dropped_count, 2U);
  const FirstReturns single = first_of(index, count, {0, 1, 1, 0, 0});  // no pulse with two returns is left
  EXPECT_FALSE(single.is_multi_return);
  EXPECT_EQ(single.skip.size(), 0U);
}

TEST(FirstReturns, RefusesOtherLengths) {
  EXPECT_THROW(first_of(column_of<float>({0}), column_of<float>({1, 2})), Error);
  EXPECT_THROW(first_of(column_of<float>({0}), column_of<float>({1}), {0, 0}), Error);
  EXPECT_FALSE(first_of(column_of<float>({}), column_of<float>({})).is_multi_return);
}

}  // namespace
}  // namespace pc
