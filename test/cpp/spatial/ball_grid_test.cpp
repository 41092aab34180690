#include "spatial/ball_grid.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "support/spacing_clouds.h"

namespace pc {
namespace {

std::set<std::uint32_t> candidates(const BallGrid& grid, const Vec3d& p) {
  std::set<std::uint32_t> found;
  grid.view().for_each_candidate(p, [&](std::uint32_t ball) { found.insert(ball); });
  return found;
}

TEST(BallGrid, FindsEveryBallThatContainsAPoint) {
  JobControl control;
  OpContext ctx(control);
  for (const auto& cloud : test::spacing_clouds(400, 11)) {
    std::vector<Vec3d> centers;
    for (const Vec3d& p : cloud.points) {
      if (is_finite(p)) centers.push_back(p);
    }
    std::vector<double> radius;
    for (std::size_t i = 0; i < centers.size(); ++i) {
      // The exact distance to some other point and a little more: points sit on the edge of the balls.
      const double d2 = squared_distance(centers[i], centers[(i * 7 + 1) % centers.size()]);
      radius.push_back(std::nextafter(d2, std::numeric_limits<double>::infinity()));
    }
    const BallGrid grid({centers.data(), centers.size()}, {radius.data(), radius.size()}, ctx);
    for (const Vec3d& p : centers) {
      const auto found = candidates(grid, p);
      for (std::uint32_t b = 0; b < centers.size(); ++b) {
        if (!(squared_distance(p, centers[b]) < radius[b])) continue;
        ASSERT_TRUE(found.count(b) == 1) << cloud.name << " ball " << b;
      }
    }
  }
}

TEST(BallGrid, LeavesFarBallsOut) {
  JobControl control;
  OpContext ctx(control);
  std::vector<Vec3d> centers;
  std::vector<double> radius;
  for (int i = 0; i < 1000; ++i) {
    centers.push_back({i * 100.0, 0, 0});
    radius.push_back(1.0);
  }
  const BallGrid grid({centers.data(), centers.size()}, {radius.data(), radius.size()}, ctx);
  EXPECT_LE(grid.entry_count(), 8000U);
  for (const Vec3d& p : centers) EXPECT_EQ(candidates(grid, p).size(), 1U) << p.x;
  EXPECT_TRUE(candidates(grid, {50, 0, 0}).empty());
}

TEST(BallGrid, EmptyAndUnboundedBalls) {
  JobControl control;
  OpContext ctx(control);
  const std::vector<Vec3d> centers{{0, 0, 0}, {5, 5, 5}};
  const std::vector<double> radius{0.0, std::numeric_limits<double>::infinity()};
  const BallGrid grid({centers.data(), 2}, {radius.data(), 2}, ctx);
  EXPECT_EQ(candidates(grid, {0, 0, 0}), std::set<std::uint32_t>{1});
  EXPECT_EQ(candidates(grid, {-1e300, 1e300, 0}), std::set<std::uint32_t>{1});
  const BallGrid none({nullptr, 0}, {nullptr, 0}, ctx);
  EXPECT_TRUE(candidates(none, {0, 0, 0}).empty());
}

}  // namespace
}  // namespace pc
