#include "ops/trees/crown_borders.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace pc {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

Column<std::uint32_t> labels(const std::vector<std::uint32_t>& values) {
  Column<std::uint32_t> out(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) out[i] = values[i];
  return out;
}

RasterFrame frame_of(std::uint32_t nx, std::uint32_t ny) {
  RasterFrame frame{};
  frame.nx = nx;
  frame.ny = ny;
  frame.cell = 1;
  return frame;
}

std::vector<double> rises(std::uint32_t nx, const std::vector<double>& heights,
                          const std::vector<std::uint32_t>& crowns, const std::vector<double>& tops) {
  JobControl control;
  OpContext ctx(control);
  return top_rises(frame_of(nx, static_cast<std::uint32_t>(heights.size() / nx)),
                   {heights.data(), heights.size()}, labels(crowns), {tops.data(), tops.size()}, ctx);
}

TEST(CrownBorders, ATopRisesAboveTheHighestPlaceBesideAHigherCrown) {
  // A row: the saddle is the lower of both cells, and the higher crown has none.
  const std::vector<double> row = rises(7, {6, 10, 8, 7, 9, 5, 4}, {1, 1, 1, 2, 2, 3, 3}, {10, 9, 5});
  EXPECT_EQ(row[0], 1);
  EXPECT_DOUBLE_EQ(row[1], 1 - 7.0 / 9);
  EXPECT_DOUBLE_EQ(row[2], 0);  // its top is its side
  // Of two places the higher one, and a corner is a place.
  const std::vector<double> field =
      rises(3, {10, 8, 3, 9, 6, 7, 2, 2, 4}, {1, 1, 0, 1, 1, 2, 0, 0, 2}, {10, 7});
  EXPECT_DOUBLE_EQ(field[1], 0);
  const std::vector<double> corner = rises(2, {8, kNone, kNone, 6}, {1, 0, 0, 2}, {8, 6.5});
  EXPECT_DOUBLE_EQ(corner[1], 1 - 6 / 6.5);
  const std::vector<double> other = rises(2, {kNone, 8, 6, kNone}, {0, 1, 2, 0}, {8, 6.5});
  EXPECT_DOUBLE_EQ(other[1], 1 - 6 / 6.5);
}

TEST(CrownBorders, CrownsApartEqualTopsAndLabelsWithoutACrown) {
  EXPECT_EQ(rises(3, {9, kNone, 8}, {1, 0, 2}, {9, 8}), (std::vector<double>{1, 1}));
  // Of equal tops the first is the higher: only one of them has a saddle.
  EXPECT_EQ(rises(2, {8, 8}, {1, 2}, {8, 8}), (std::vector<double>{1, 0}));
  EXPECT_EQ(rises(2, {8, 4}, {1, 3}, {8, kNone, 5}), (std::vector<double>{1, 1, 1 - 4.0 / 5}));
  EXPECT_EQ(rises(1, {5}, {1}, {5}), (std::vector<double>{1}));
}

}  // namespace
}  // namespace pc
