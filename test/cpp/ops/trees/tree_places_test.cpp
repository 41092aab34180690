#include "ops/trees/tree_places.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "core/random.h"
#include "support/columns.h"

namespace pc::test {
namespace {

class TreePlaces : public testing::Test {
 protected:
  /// A crown of 3 m radius around (x, y).
  void add_crown(double x, double y, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      const double r = 3 * std::sqrt(random_unit(1, next_++)),
                   angle = 2 * std::numbers::pi * random_unit(1, next_++);
      points_.push_back({x + r * std::cos(angle), y + r * std::sin(angle), 8 * random_unit(1, next_++)});
    }
  }
  double strip() { return widest_empty_strip(span_of(points_), ctx_); }

  std::vector<Vec3d> points_;
  std::uint64_t next_ = 0;
  JobControl control_;
  OpContext ctx_{control_};
};

TEST_F(TreePlaces, ACrownHasNone) {
  add_crown(4e6, 5e6, 50'000);
  EXPECT_EQ(strip(), 0);
}

TEST_F(TreePlaces, TwoCrownsAreApartInAnyDirection) {
  for (int turn = 0; turn < 12; ++turn) {
    points_.clear();
    const double angle = turn * std::numbers::pi / 12 + 0.1;
    add_crown(0, 0, 30'000);
    add_crown(20 * std::cos(angle), 20 * std::sin(angle), 5'000);
    EXPECT_LE(strip(), 14);
    EXPECT_GE(strip(), 20 * std::cos(std::numbers::pi / 16) - 6 - 0.5) << turn;
  }
}

TEST_F(TreePlaces, StraysArePartOfNoPlaceAndBridgeNone) {
  add_crown(0, 0, 30'000);
  points_.push_back({500, 0, 5});
  EXPECT_EQ(strip(), 0);
  add_crown(20, 0, 30'000);
  EXPECT_GE(strip(), 13);
  points_.insert(points_.begin() + 1, {10, 0, 5});  // not in the sample
  EXPECT_GE(strip(), 13);
}

TEST_F(TreePlaces, FewEqualAndFarPoints) {
  EXPECT_EQ(strip(), 0);
  points_.assign(9, {1, 2, 3});
  points_[4] = {100, 2, 3};
  EXPECT_EQ(strip(), 0);
  points_.assign(10, {1, 2, 3});
  EXPECT_EQ(strip(), 0);
  points_[9] = {1e7, -1e7, 3};
  EXPECT_NEAR(strip(), std::sqrt(2.0) * 1e7, 1e4);
}

TEST_F(TreePlaces, ACanceledRunThrows) {
  add_crown(0, 0, 100);
  control_.cancel_requested = true;
  EXPECT_EQ(code_of([&] { strip(); }), ErrorCode::kCanceled);
}

}  // namespace
}  // namespace pc::test
