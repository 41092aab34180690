#include "ops/trees/align_scans.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/error.h"

namespace pc {
namespace {

template <class T>
AnyColumn column(const std::vector<T>& values) {
  Column<T> out(values.size());
  std::copy(values.begin(), values.end(), out.view().begin());
  return AnyColumn(std::move(out));
}

std::vector<Vec3d> moved(const std::vector<Vec3d>& points, const Vec3d& shift, const AnyColumn* scan,
                         const AnyColumn* time, const std::vector<StemDrift>& drifts) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  const Column<Vec3d> out = without_drift({points.data(), points.size()}, shift, scan, time, drifts, ctx);
  return {out.view().begin(), out.view().end()};
}

/// Scan 1 moves by 1 m per 10 s along x; scan 2 is turned by a right angle about (5, 5).
const StemDrift kDrift({5, 5}, {{1, {{0, {0, 0}, 0}, {10, {1, 0}, 0}}}, {2, {{0, {0, 0}, 0.01}}}});

TEST(WithoutDrift, TakesWhatTheScanHasAtTheTime) {
  const AnyColumn scan = column<std::uint8_t>({1, 1, 1, 2, 3}), time = column<double>({0, 5, 20, 7, 7});
  const std::vector<Vec3d> points{{1, 2, 3}, {1, 2, 3}, {1, 2, 3}, {1, 2, 3}, {1, 2, 3}};
  const auto found = moved(points, {4, 3, 0}, &scan, &time, {kDrift});
  EXPECT_EQ(found[0].x, 1);
  EXPECT_DOUBLE_EQ(found[1].x, 0.5);
  EXPECT_DOUBLE_EQ(found[2].x, 0);  // after the last knot
  EXPECT_DOUBLE_EQ(found[3].x, 1);  // at (5, 5) of the true world: the middle does not turn
  EXPECT_EQ(found[4].x, 1);         // a scan without stems
  for (const Vec3d& p : found) EXPECT_EQ(p.z, 3);
  const auto beside =
      moved({{3, 2, 0}}, {4, 3, 0}, nullptr, nullptr, {StemDrift({5, 5}, {{0, {{0, {0, 0}, 0.01}}}})});
  EXPECT_DOUBLE_EQ(beside[0].y, 2 - 0.02);
}

/// What a scan has without a time, or at one that no clock tells, is moved by its first.
TEST(WithoutDrift, PointsWithoutTimesMoveWithTheirScan) {
  const AnyColumn scan = column<double>({2, 2, 2}), time = column<double>({0, std::nan(""), 1e15});
  const auto found = moved({{1, 2, 3}, {1, 2, 3}, {1, 2, 3}}, {0, 0, 0}, &scan, &time, {kDrift});
  EXPECT_EQ(found[1], found[0]);
  EXPECT_EQ(found[2], found[0]);
  EXPECT_NE(found[0], (Vec3d{1, 2, 3}));
}

TEST(WithoutDrift, OneAfterTheOther) {
  const StemDrift one({0, 0}, {{0, {{0, {0.25, 0}, 0}}}}), two({0, 0}, {{0, {{0, {0, -0.5}, 0}}}});
  const auto found = moved({{1, 1, 1}}, {0, 0, 0}, nullptr, nullptr, {one, two});
  EXPECT_EQ(found[0].x, 0.75);
  EXPECT_EQ(found[0].y, 1.5);
}

TEST(WithoutDrift, KeepsWhatIsNotFiniteAndRefusesOtherLengths) {
  const AnyColumn scan = column<double>({1, std::nan("")}), time = column<double>({5, 5});
  const auto found = moved({{std::nan(""), HUGE_VAL, 0}, {1, 1, 1}}, {0, 0, 0}, &scan, &time, {kDrift});
  EXPECT_TRUE(std::isnan(found[0].x));
  EXPECT_EQ(found[1].x, 1);
  EXPECT_THROW(moved({{0, 0, 0}}, {0, 0, 0}, &scan, nullptr, {kDrift}), Error);
}

}  // namespace
}  // namespace pc
