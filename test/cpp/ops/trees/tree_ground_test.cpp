#include "ops/trees/tree_ground.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "core/random.h"
#include "support/columns.h"

namespace pc::test {
namespace {

/// Points and their heights above a ground of slope .2 at 300 m, with noise of a centimetre in the heights.
class GroundOfATree : public testing::Test {
 protected:
  void add(double x, double y) {
    const double ground = 300 + 0.2 * x, height = 0.5 * random_unit(1, next_++);
    const double noise = 0.02 * (random_unit(1, next_++) - 0.5);
    points_.push_back({x, y, ground + height});
    heights_.push_back(height + noise);
  }
  double at_origin() {
    const TreeGround ground(span_of(points_), span_of(heights_), none_, ctx_);
    const TreeGround::Answer answer = ground.at({0, 0});
    EXPECT_EQ(answer.source, GroundSource::kHeightAboveGround);
    return answer.z;
  }

  std::vector<Vec3d> points_;
  std::vector<double> heights_;
  std::uint64_t next_ = 0;
  GroundHeights none_;
  JobControl control_;
  OpContext ctx_{control_};
};

TEST_F(GroundOfATree, IsAPlaneThroughTheGroundAroundThePlace) {
  for (int i = 0; i < 200; ++i) {
    const double turn = 2 * std::numbers::pi * random_unit(2, static_cast<std::uint64_t>(i));
    add(0.15 * std::cos(turn), 0.15 * std::sin(turn));
  }
  EXPECT_NEAR(at_origin(), 300, 0.005);
}

TEST_F(GroundOfATree, HalfAStemIsEnough) {
  for (int i = 0; i < 40; ++i) {
    const double turn = std::numbers::pi * random_unit(2, static_cast<std::uint64_t>(i));
    add(0.15 * std::cos(turn), 0.15 * std::sin(turn));
  }
  EXPECT_NEAR(at_origin(), 300, 0.01);
}

TEST_F(GroundOfATree, AScanLineBesideThePlaceGivesNoPlane) {
  for (int i = 0; i < 30; ++i) {
    const auto step = static_cast<std::uint64_t>(i);
    add(0.3 + 1e-5 * random_unit(3, step), 0.4 * random_unit(4, step) - 0.2);
  }
  EXPECT_NEAR(at_origin(), 300.06, 0.02);
}

/// Ground points in the middle of cells of 0.5 m, of those that `holds`.
template <class Holds>
GroundHeights cells_where(const Vec2d& from, Holds&& holds, OpContext& ctx) {
  GroundHeights cells;
  for (int j = -9; j < 9; ++j)
    for (int i = -9; i < 9; ++i) {
      const double x = 0.5 * i + 0.25, y = 0.5 * j + 0.25;
      if (!holds(x, y)) continue;
      for (int repeat = 0; repeat < 3; ++repeat) cells.add({from.x + x, from.y + y, 7}, ctx);
    }
  cells.finish(ctx);
  return cells;
}

TEST(GroundHeights, ShareAroundAPlace) {
  JobControl control;
  OpContext ctx(control);
  const double nan = std::nan("");
  for (const Vec2d at : {Vec2d{0, 0}, Vec2d{0.3, -0.45}, Vec2d{-1.13, 0.71}}) {
    for (const Vec2d from : {Vec2d{0, 0}, Vec2d{-1e7, 3e7}}) {
      const auto share = [&](auto&& holds) {
        return cells_where(from, holds, ctx).share_around({from.x + at.x, from.y + at.y});
      };
      const auto within = [&](double x, double y) { return std::hypot(x - at.x, y - at.y) <= 2; };
      EXPECT_EQ(share([](double, double) { return true; }), 1);
      EXPECT_EQ(share([&](double x, double y) { return !within(x, y); }), 0) << "ground farther away";
      double held = 0, all = 0;
      for (int j = -9; j < 9; ++j)
        for (int i = -9; i < 9; ++i) {
          const double x = 0.5 * i + 0.25, y = 0.5 * j + 0.25;
          all += within(x, y) ? 1 : 0;
          held += within(x, y) && x < 0 ? 1 : 0;
        }
      EXPECT_DOUBLE_EQ(share([](double x, double) { return x < 0; }), held / all);
    }
  }
  EXPECT_TRUE(std::isnan(GroundHeights().share_around({0, 0})));
  EXPECT_TRUE(std::isnan(cells_where(
                             {0, 0}, [](double, double) { return true; }, ctx)
                             .share_around({nan, 0})));
}

/// A round crown of 2 m on a slope of 45 degrees: 1.4 m downhill of its apex the height above ground is .83 m greater.
TEST(TreeGround, OnASlopeTheTopIsTheApex) {
  std::vector<Vec3d> points;
  std::vector<double> heights;
  for (std::uint64_t i = 0; i < 4000; ++i) {
    const double x = 4 * random_unit(7, i) - 2, y = 4 * random_unit(8, i) - 2, rest = 4 - x * x - y * y;
    if (rest < 0) continue;
    points.push_back({x, y, 310 + std::sqrt(rest)});
    heights.push_back(points.back().z - (300 + x));
  }
  JobControl control;
  OpContext ctx(control);
  const GroundHeights none;
  const TreeGround ground(span_of(points), span_of(heights), none, ctx);
  ASSERT_TRUE(ground.top());
  EXPECT_LT(std::hypot(ground.top()->x, ground.top()->y), 0.2);
  points.push_back({5, 5, 320});  // where no ground is known
  heights.push_back(std::nan(""));
  EXPECT_LT(TreeGround(span_of(points), span_of(heights), none, ctx).top()->x, 0.2);
  const std::vector<double> unknown(points.size(), std::nan(""));
  EXPECT_FALSE(TreeGround(span_of(points), span_of(unknown), none, ctx).top());
  EXPECT_FALSE(TreeGround(span_of(points), {}, none, ctx).top());
}

}  // namespace
}  // namespace pc::test
