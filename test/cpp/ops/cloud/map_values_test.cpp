#include "ops/cloud/map_values.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace pc {
namespace {

AnyColumn mapped(const std::vector<double>& values, const std::vector<double>& from,
                 const std::vector<double>& to) {
  Column<double> column(values.size());
  std::copy(values.begin(), values.end(), column.view().begin());
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  return map_values(AnyColumn(std::move(column)), {from.data(), from.size()}, {to.data(), to.size()}, ctx);
}

TEST(MapValues, ReplacesWhatIsListedAndNothingElse) {
  const AnyColumn narrow = mapped({3, 0, 2.5, std::nan(""), -1, 7, 3}, {-1, 2, 3}, {9, 4, 65535});
  ASSERT_EQ(narrow.dtype(), DType::kU16);
  const auto found = narrow.as<std::uint16_t>();
  EXPECT_EQ(std::vector<int>(found.begin(), found.end()), (std::vector<int>{65535, 0, 4, 0, 9, 0, 65535}));
  const AnyColumn wide = mapped({1, 2}, {2}, {4294967295.0});
  ASSERT_EQ(wide.dtype(), DType::kU32);
  EXPECT_EQ(wide.as<std::uint32_t>()[1], 4294967295U);
  EXPECT_EQ(mapped({}, {}, {}).size(), 0U);
}

TEST(MapValues, RefusesListsThatAreNoMap) {
  EXPECT_THROW(mapped({1}, {1, 2}, {1}), Error);
  EXPECT_THROW(mapped({1}, {2, 1}, {1, 2}), Error);
  EXPECT_THROW(mapped({1}, {1, 1}, {1, 2}), Error);
  EXPECT_THROW(mapped({1}, {std::nan("")}, {1}), Error);
  EXPECT_THROW(mapped({1}, {0.5}, {1}), Error);
  for (const double number : {-1.0, 0.5, 4294967296.0, std::nan("")})
    EXPECT_THROW(mapped({1}, {1}, {number}), Error);
}

}  // namespace
}  // namespace pc
