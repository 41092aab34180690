#include "ops/cloud/coordinate_step.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/random.h"
#include "support/columns.h"

namespace pc::test {
namespace {

/// Points in a square of `edge` metres, rounded to `step` (0 = not) and moved by `shift`.
std::vector<Vec3d> square(std::size_t count, double edge, double step, double shift = 0) {
  std::vector<Vec3d> points(count);
  const auto at = [&](std::uint64_t i) {
    const double value = edge * random_unit(7, i);
    return shift + (step > 0 ? step * std::round(value / step) : value);
  };
  for (std::size_t i = 0; i < count; ++i) points[i] = {at(3 * i), at(3 * i + 1), at(3 * i + 2)};
  return points;
}

class CoordinateStep : public testing::Test {
 protected:
  double step(const std::vector<Vec3d>& points, const std::vector<std::uint8_t>& skip = {}) {
    return coordinate_step(span_of(points), span_of(skip), ctx);
  }
  JobControl control;
  OpContext ctx{control};
};

TEST_F(CoordinateStep, IsThatOfTheRounding) {
  for (const double wanted : {0.1, 0.05, 0.01, 0.03048}) {
    EXPECT_NEAR(step(square(50'000, 50, wanted)), wanted, 1e-9);
    EXPECT_NEAR(step(square(50'000, 50, wanted, 4e6)), wanted, 1e-6) << "far from the origin";
  }
}

TEST_F(CoordinateStep, ArithmeticMakesNoStep) {
  std::vector<Vec3d> points = square(50'000, 50, 0.1);
  for (std::size_t i = 0; i < points.size(); i += 2) points[i].x += 2e-8;
  EXPECT_NEAR(step(points), 0.1, 1e-7);
}

TEST_F(CoordinateStep, IsTinyWithoutRounding) {
  EXPECT_LT(step(square(50'000, 50, 0)), 1e-4);
  EXPECT_LT(step(square(1'000, 100, 0)), 0.01);
  EXPECT_LT(step(square(10'000, 5'000, 0)), 0.005);
}

TEST_F(CoordinateStep, FewOrEqualPointsHaveNone) {
  EXPECT_EQ(step({}), 0);
  EXPECT_EQ(step(square(999, 50, 0.1)), 0);
  EXPECT_EQ(step(std::vector<Vec3d>(5'000, {1, 2, 3})), 0);
}

TEST_F(CoordinateStep, SkippedAndNonFiniteRowsDoNotCount) {
  std::vector<Vec3d> points = square(4'000, 50, 0.1);
  std::vector<std::uint8_t> skip(points.size(), 0);
  for (std::size_t i = 0; i < points.size(); i += 2) {
    points[i].x += 0.037;
    skip[i] = 1;
  }
  points[1].y = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NEAR(step(points, skip), 0.1, 1e-9);
  EXPECT_LT(step(points), 0.04);
}

TEST_F(CoordinateStep, ACanceledRunThrows) {
  control.cancel_requested = true;
  EXPECT_EQ(code_of([&] { step(square(2'000, 50, 0)); }), ErrorCode::kCanceled);
}

}  // namespace
}  // namespace pc::test
