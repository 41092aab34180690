#include "ops/dem/grid_change.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/error.h"
#include "ops/cloud/half_rows.h"

namespace pc {
namespace {

TEST(GridChange, CountsCellsWithBothValuesAboveTheLimit) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  const double nan = std::nan("");
  const std::vector<double> first{5, 1, nan, 4, 8, 2}, second{4, 0, 3, nan, 10, 2};
  const GridChange change = grid_change({first.data(), 6}, {second.data(), 6}, 2, ctx);
  EXPECT_EQ(change.cells, 2U);  // 5 and 8; 2 is not above 2
  EXPECT_DOUBLE_EQ(change.mean_value, 6.5);
  EXPECT_DOUBLE_EQ(change.mean_change, -0.5);
  EXPECT_DOUBLE_EQ(change.rms_change, std::sqrt(2.5));
  const GridChange none = grid_change({first.data(), 6}, {second.data(), 6}, 9, ctx);
  EXPECT_EQ(none.cells, 0U);
  EXPECT_TRUE(std::isnan(none.mean_change));
  EXPECT_THROW(grid_change({first.data(), 6}, {second.data(), 5}, 0, ctx), Error);
}

TEST(GridJumps, CountsCellsThatDifferByMore) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  const double nan = std::nan("");
  const std::vector<double> first{5, 1, nan, 4, 8, 2}, second{4, 3.5, 3, nan, 10, 2};
  const GridJumps jumps = grid_jumps({first.data(), 6}, {second.data(), 6}, 1, ctx);
  EXPECT_EQ(jumps.cells, 4U);
  EXPECT_EQ(jumps.changed, 2U);  // by 2.5 and 2; 1 is not more than 1
  EXPECT_EQ(jumps.largest, 2.5);
  EXPECT_EQ(jumps.cell, 1U);
  EXPECT_EQ(grid_jumps({first.data(), 0}, {second.data(), 0}, 1, ctx).largest, 0);
  EXPECT_THROW(grid_jumps({first.data(), 6}, {second.data(), 5}, 0, ctx), Error);
}

TEST(HalfRows, DrawsAboutHalfByPosition) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  std::vector<Vec3d> points;
  for (int i = 0; i < 100'000; ++i) points.push_back({i * 0.25, 3.5, 0x1.0p20});
  std::vector<std::uint8_t> skip(points.size());
  for (std::size_t i = 0; i < 100; ++i) skip[i] = 1;
  const auto half = half_rows({points.data(), points.size()}, {skip.data(), skip.size()}, ctx);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < half.size(); ++i) {
    kept += half[i] == 0 ? 1 : 0;
    EXPECT_TRUE(i >= 100 || half[i] == 1);
  }
  EXPECT_NEAR(static_cast<double>(kept) / 99'900, 0.5, 0.01);
  const std::vector<Vec3d> back(points.rbegin(), points.rend());
  const auto other = half_rows({back.data(), back.size()}, {}, ctx);
  for (std::size_t i = 100; i < half.size(); ++i) EXPECT_EQ(other[back.size() - 1 - i], half[i]);
  EXPECT_THROW(half_rows({points.data(), points.size()}, {skip.data(), 5}, ctx), Error);
}

}  // namespace
}  // namespace pc
