#include "ops/qsm/scan_points.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

#include "core/error.h"
#include "support/columns.h"

namespace pc {
namespace {

const std::vector<Vec3d> kPoints{{0, 0, 0}, {1, 0, 0}, {std::nan(""), 0, 0},
                                 {3, 0, 0}, {4, 0, 0}, {1e31, 0, 0}};
const std::vector<std::uint8_t> kSkip{0, 1, 0, 0, 0, 0};

ScanPoints read(ScanSource rows) {
  JobControl control;
  OpContext ctx(control);
  return scan_points(rows, ctx);
}

ScanSource rows_of(const AnyColumn* scan, const AnyColumn* time, std::uint64_t most = 0,
                   std::uint32_t source = 0) {
  return {{kPoints.data(), kPoints.size()},
          {kSkip.data(), kSkip.size()},
          {10, 0, 0},
          scan,
          time,
          most,
          source,
          true};
}

TEST(ScanPointsTest, PointsThatAreUsedKeepTheirScanAndTime) {
  const AnyColumn scan = test::column_of<std::uint16_t>({1, 1, 1, 2, 3, 3});
  const AnyColumn time = test::column_of<double>({0.5, 1.5, 2.5, 3.5, 4.5, 5.5});
  const ScanPoints found = read(rows_of(&scan, &time, 0, 2));
  ASSERT_EQ(found.points.size(), 3U);
  EXPECT_EQ(found.unusable_count, 2U);
  const double source = found.scan[0] - 1;
  EXPECT_GT(source, 0);
  for (const auto& [k, x, number, seconds] :
       {std::tuple{0, 10.0, 1.0, 0.5}, std::tuple{1, 13.0, 2.0, 3.5}, std::tuple{2, 14.0, 3.0, 4.5}}) {
    const auto at = static_cast<std::size_t>(k);
    EXPECT_EQ(found.points[at].x, x);
    EXPECT_EQ(found.scan[at] - source, number);
    EXPECT_EQ(found.time_s[at], seconds);
  }
}

TEST(ScanPointsTest, ASourceWithoutColumnsIsOneScan) {
  const ScanPoints first = read(rows_of(nullptr, nullptr)), second = read(rows_of(nullptr, nullptr, 0, 1));
  EXPECT_EQ(first.scan[0], first.scan[2]);
  EXPECT_NE(first.scan[0], second.scan[0]);
  EXPECT_EQ(first.time_s[1], 0);
}

TEST(ScanPointsTest, StampsAreMadeWhereTheyAreWanted) {
  ScanSource rows = rows_of(nullptr, nullptr);
  rows.stamped = false;
  const ScanPoints found = read(rows);
  EXPECT_EQ(found.points.size(), 3U);
  EXPECT_EQ(found.scan.size() + found.time_s.size(), 0U);
}

TEST(ScanPointsTest, AStrideKeepsAtMostSoMany) {
  const ScanPoints found = read(rows_of(nullptr, nullptr, 2));
  ASSERT_EQ(found.points.size(), 2U);
  EXPECT_EQ(found.points[0].x, 10);
  EXPECT_EQ(found.points[1].x, 14);
  EXPECT_EQ(found.unusable_count, 2U);
}

TEST(ScanPointsTest, RefusesOtherLengths) {
  const AnyColumn few = test::column_of<double>({1, 2});
  EXPECT_THROW(read(rows_of(&few, nullptr)), Error);
  EXPECT_THROW(read(rows_of(nullptr, &few)), Error);
  ScanSource rows = rows_of(nullptr, nullptr);
  rows.skip = {kSkip.data(), 2};
  EXPECT_THROW(read(rows), Error);
  rows = rows_of(nullptr, nullptr);
  rows.shift.x = std::numeric_limits<double>::infinity();
  EXPECT_THROW(read(rows), Error);
}

}  // namespace
}  // namespace pc
