#include "spatial/ball_footprint.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/random.h"
#include "support/spacing_clouds.h"

namespace pc {
namespace {

struct Balls {
  std::vector<Vec3d> centers;
  std::vector<double> squared_radius;

  BallGrid grid() const {
    JobControl control;
    OpContext ctx(control);
    return {{centers.data(), centers.size()}, {squared_radius.data(), squared_radius.size()}, ctx};
  }
  BallFootprint footprint() const {
    JobControl control;
    OpContext ctx(control);
    const BallGrid levels = grid();
    return {{centers.data(), centers.size()},
            {squared_radius.data(), squared_radius.size()},
            levels.levels(),
            ctx};
  }
};

TEST(BallFootprint, CoversEveryPointOfEveryBall) {
  for (const auto& cloud : test::spacing_clouds(400, 11)) {
    // Neighbours alone, and balls that reach to any other point.
    for (const std::size_t stride : {std::size_t{1}, std::size_t{7}}) {
      Balls balls;
      for (const Vec3d& p : cloud.points) {
        if (is_finite(p)) balls.centers.push_back(p);
      }
      for (std::size_t i = 0; i < balls.centers.size(); ++i) {
        const Vec3d& other = balls.centers[(i * stride + 1) % balls.centers.size()];
        balls.squared_radius.push_back(std::nextafter(squared_distance(balls.centers[i], other), HUGE_VAL));
      }
      const BallFootprint footprint = balls.footprint();
      const BallGrid grid = balls.grid();
      for (const Vec3d& p : balls.centers) {
        for (std::size_t b = 0; b < balls.centers.size(); ++b) {
          if (!(squared_distance(p, balls.centers[b]) < balls.squared_radius[b])) continue;
          const int level = grid.levels()[b];
          const std::uint8_t bit = level < 0 ? 1 : ball_grid::level_bit(static_cast<std::uint32_t>(level));
          ASSERT_NE(footprint.levels(p) & bit, 0) << cloud.name << " ball " << b;
        }
      }
    }
  }
}

TEST(BallFootprint, CoversTheBallsToTheirEnds) {
  Balls balls;
  for (int i = 0; i < 2000; ++i) {
    const auto at = [&](int k) { return 50 * random_unit(5, static_cast<std::uint64_t>(4 * i + k)); };
    balls.centers.push_back({5e6 + at(0), at(1), at(2)});
    balls.squared_radius.push_back(std::pow(0.02 * at(3), 2));
  }
  const BallFootprint footprint = balls.footprint();
  for (std::size_t b = 0; b < balls.centers.size(); ++b) {
    const double r = std::sqrt(balls.squared_radius[b]) * (1 - 1e-12);
    const Vec3d ends[] = {{r, 0, 0}, {-r, 0, 0}, {0, r, 0}, {0, -r, 0}, {0, 0, r}, {0, 0, -r}};
    for (const Vec3d& end : ends) ASSERT_NE(footprint.levels(balls.centers[b] + end), 0) << b;
  }
}

TEST(BallFootprint, LeavesMostOfTheGapsOut) {
  Balls balls;
  for (int i = 0; i < 20'000; ++i) {
    const auto at = [&](int k) { return 1000 * random_unit(3, static_cast<std::uint64_t>(2 * i + k)); };
    balls.centers.push_back({at(0), at(1), 5});
    balls.squared_radius.push_back(0.25);
  }
  const BallFootprint footprint = balls.footprint();
  int covered = 0;
  for (int i = 0; i < 100'000; ++i) {
    const auto at = [&](int k) { return 1000 * random_unit(4, static_cast<std::uint64_t>(2 * i + k)); };
    covered += footprint.levels({at(0), at(1), 5}) != 0 ? 1 : 0;
  }
  EXPECT_LT(covered, 11'000);  // the boxes of the balls take 2 % of the area, with the cells they touch 10 %
  EXPECT_EQ(footprint.levels({500, 500, 7}), 0);
  EXPECT_EQ(footprint.levels({-10, 500, 0}), 0);
  EXPECT_EQ(footprint.levels({1e300, -1e300, 0}), 0);
}

TEST(BallFootprint, NamesTheLevelsOfTheBalls) {
  Balls balls;  // radii of 4^-5 to 4^4 m: more levels than bits
  for (int i = 0; i < 10; ++i) {
    balls.centers.push_back({i * 1000.0, i * 1000.0, i * 1000.0});
    balls.squared_radius.push_back(std::pow(16.0, i - 5));
  }
  const BallFootprint footprint = balls.footprint();
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(footprint.levels(balls.centers[static_cast<std::size_t>(i)]), 1 << std::min(9 - i, 7)) << i;
}

TEST(BallFootprint, NothingIsLeftOutWhereItCannotTell) {
  const double infinite = std::numeric_limits<double>::infinity();
  EXPECT_EQ((Balls{{{0, 0, 0}}, {infinite}}.footprint().levels({1e9, 0, 0})), ball_grid::kAllLevels);
  EXPECT_EQ((Balls{{}, {}}.footprint().levels({0, 0, 0})), ball_grid::kAllLevels);
  EXPECT_EQ((Balls{{{0, 0, 0}}, {0}}.footprint().levels({0, 0, 0})), ball_grid::kAllLevels);
  Balls many;
  for (int i = 0; i < 1000; ++i) {
    many.centers.push_back({i * 0.001, 0, 0});
    many.squared_radius.push_back(100);
  }
  EXPECT_EQ(many.footprint().levels({100, 0, 0}),
            ball_grid::kAllLevels);  // every ball covers the whole bitmap
}

}  // namespace
}  // namespace pc
