#include "ops/mesh/ball_pivoting.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "core/random.h"
#include "support/cancel.h"
#include "support/cpu_time.h"
#include "support/fuzz_runs.h"
#include "support/nasty_surfaces.h"
#include "support/surfaces.h"

namespace pc {
namespace {

using test::Surface;
using test::Topology;

BallPivotingResult roll(const Surface& cloud, const std::vector<double>& radii = {}, int threads = 2,
                        std::uint32_t tile_points = 120'000, bool sides_are_known = false) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return ball_pivoting(HitPoints::assume_hits({cloud.points.data(), cloud.points.size()}),
                       {cloud.normals.data(), cloud.normals.size()}, {radii, tile_points, sides_are_known},
                       ctx);
}

Topology topology(const Surface& cloud, const BallPivotingResult& mesh) {
  return test::topology_of(cloud.points.size(), mesh.indices.view().data, mesh.indices.size());
}

/// Centre of the ball on a triangle, by solving |c - p| = r with the three points: independent of the op's formula.
Vec3d ball_center(const Vec3d& a, const Vec3d& b, const Vec3d& c, double r) {
  const Vec3d u = b - a, v = c - a, n = cross(u, v);
  const double uu = dot(u, u), uv = dot(u, v), vv = dot(v, v), det = uu * vv - uv * uv;
  const double s = vv * (uu - uv) / (2 * det), t = uu * (vv - uv) / (2 * det);
  const Vec3d flat = u * s + v * t;
  return a + flat + n * std::sqrt((r * r - dot(flat, flat)) / dot(n, n));
}

TEST(BallPivoting, EveryTriangleHoldsAnEmptyBallOfOneRadius) {
  const Surface cloud = test::torus(1500, 1, 0.35, {0, 0, 0}, 0.003);
  const BallPivotingResult mesh = roll(cloud);
  ASSERT_EQ(mesh.radii_m.size(), 3U);
  ASSERT_GT(mesh.indices.size() / 3, 2500U);
  EXPECT_LT(mesh.filled_triangle_count, 100U);
  const std::size_t rolled = mesh.indices.size() - 3 * mesh.filled_triangle_count;
  for (std::size_t t = 0; t < rolled; t += 3) {
    const Vec3d &a = cloud.points[mesh.indices[t]], &b = cloud.points[mesh.indices[t + 1]],
                &c = cloud.points[mesh.indices[t + 2]];
    bool some = false;
    for (const double r : mesh.radii_m) {
      const Vec3d center = ball_center(a, b, c, r);
      if (!is_finite(center)) continue;
      double nearest = HUGE_VAL;
      for (const Vec3d& p : cloud.points) nearest = std::min(nearest, std::sqrt(squared_distance(p, center)));
      some = some || nearest > r * (1 - 1e-6);
    }
    ASSERT_TRUE(some) << t;
  }
}

TEST(BallPivoting, MakesOneSurfaceOnTheSideOfTheNormals) {
  for (const Vec3d& at : {Vec3d{0, 0, 0}, Vec3d{500'000, 5'400'000, 300}}) {
    const Surface cloud = test::sphere(20'000, 1, at);
    const BallPivotingResult mesh = roll(cloud);
    const Topology found = topology(cloud, mesh);
    EXPECT_EQ(found.nonmanifold + found.conflicts, 0U);
    EXPECT_EQ(found.components, 1U);
    EXPECT_EQ(found.boundary, 0U);
    EXPECT_EQ(found.euler, 2);
    EXPECT_EQ(mesh.indices.size() / 3, 2 * 20'000U - 4);
    EXPECT_GT(mesh.filled_hole_count, 0U);  // through which the largest of the balls falls
    for (std::size_t t = 0; t < mesh.indices.size(); t += 3) {
      const Vec3d &a = cloud.points[mesh.indices[t]], &b = cloud.points[mesh.indices[t + 1]],
                  &c = cloud.points[mesh.indices[t + 2]];
      ASSERT_GT(dot(cross(b - a, c - a), a - at), 0) << t;
    }
  }
}

TEST(BallPivoting, AGridIsClosedWithoutOverlap) {
  Surface grid;
  for (int y = 0; y < 40; ++y)
    for (int x = 0; x < 50; ++x) {
      grid.points.push_back({0.1 * x, 0.1 * y, 0});
      grid.normals.push_back({0, 0, 1});
    }
  const BallPivotingResult mesh = roll(grid);
  EXPECT_EQ(mesh.indices.size() / 3, 2U * 39 * 49);
  const Topology found = topology(grid, mesh);
  EXPECT_EQ(found.boundary, 2U * (39 + 49));
  EXPECT_EQ(found.nonmanifold + found.conflicts, 0U);
  EXPECT_EQ(found.euler, 1);
}

TEST(BallPivoting, HolesLargerThanTheBallStay) {
  Surface sheet = test::wave(6000, 0.02);
  Surface ring;
  for (std::size_t i = 0; i < sheet.points.size(); ++i) {
    if (std::hypot(sheet.points[i].x, sheet.points[i].y) < 0.4) continue;
    ring.points.push_back(sheet.points[i]);
    ring.normals.push_back(sheet.normals[i]);
  }
  const BallPivotingResult fine = roll(ring);
  for (const std::uint32_t v : fine.indices.view())
    ASSERT_GE(std::hypot(ring.points[v].x, ring.points[v].y), 0.4);
  EXPECT_EQ(topology(ring, roll(ring, {0.06, 0.12})).euler, 0);
  EXPECT_EQ(topology(ring, roll(ring, {0.06, 0.12, 1.5})).euler, 1);
}

TEST(BallPivoting, DuplicatesAndPointsWithoutNormalAreIgnored) {
  Surface cloud = test::sphere(2000, 1, {0, 0, 0});
  const BallPivotingResult once = roll(cloud);
  for (std::size_t i = 0; i < 2000; ++i) {
    cloud.points.push_back(cloud.points[i]);
    cloud.normals.push_back(cloud.normals[i]);
  }
  cloud.points.push_back({0.5, 0.5, 0.5});
  cloud.normals.push_back({0, 0, 0});
  const BallPivotingResult twice = roll(cloud);
  EXPECT_EQ(twice.ignored_count, 2001U);
  EXPECT_EQ(std::vector<std::uint32_t>(once.indices.view().begin(), once.indices.view().end()),
            std::vector<std::uint32_t>(twice.indices.view().begin(), twice.indices.view().end()));
}

/// A square next to one with a sixth of its points, cut into tiles.
TEST(BallPivoting, UnevenCloudsAreCutIntoTilesThatMeet) {
  Surface cloud;
  for (std::size_t i = 0; i < 20'000; ++i) {
    const double x = random_unit(5, 3 * i), side = random_unit(5, 3 * i + 2) < 0.85 ? 0 : 1;
    cloud.points.push_back({x + side, random_unit(5, 3 * i + 1), 0});
    cloud.normals.push_back({0, 0, 1});
  }
  const BallPivotingResult mesh = roll(cloud, {}, 2, 5000), many = roll(cloud, {}, 5, 5000);
  ASSERT_EQ(mesh.tile_count, 4U);
  EXPECT_TRUE(mesh.radii_m.empty());
  const Topology found = topology(cloud, mesh);
  EXPECT_EQ(found.nonmanifold + found.conflicts, 0U);
  double area = 0;
  for (std::size_t t = 0; t < mesh.indices.size(); t += 3) {
    const Vec3d a = cloud.points[mesh.indices[t]];
    area += 0.5 * cross(cloud.points[mesh.indices[t + 1]] - a, cloud.points[mesh.indices[t + 2]] - a).z;
  }
  EXPECT_GT(area, 1.9);  // of 2: gaps at the border, and where the density changes
  EXPECT_LT(area, 2);    // no overlap at the seams
  EXPECT_EQ(std::vector<std::uint32_t>(mesh.indices.view().begin(), mesh.indices.view().end()),
            std::vector<std::uint32_t>(many.indices.view().begin(), many.indices.view().end()));
}

TEST(BallPivoting, TilesOfNoisePointsShareNoEdgeTwice) {
  Surface cloud;
  for (std::size_t i = 0; i < 10'000; ++i) {
    const double x = random_unit(5, 4 * i), side = random_unit(5, 4 * i + 2) < 0.85 ? 0 : 1;
    cloud.points.push_back({x + side, random_unit(5, 4 * i + 1), 0.004 * random_unit(5, 4 * i + 3)});
    cloud.normals.push_back({0, 0, 1});
  }
  const BallPivotingResult mesh = roll(cloud, {}, 2, 2000);
  ASSERT_GE(mesh.tile_count, 4U);
  const Topology found = topology(cloud, mesh);
  EXPECT_EQ(found.nonmanifold + found.conflicts, 0U);
}

TEST(BallPivoting, SameTrianglesForAnyThreadCount) {
  const Surface cloud = test::torus(5000, 1, 0.35, {0, 0, 0}, 0.01);
  const BallPivotingResult one = roll(cloud, {}, 1), many = roll(cloud, {}, 5);
  EXPECT_EQ(std::vector<std::uint32_t>(one.indices.view().begin(), one.indices.view().end()),
            std::vector<std::uint32_t>(many.indices.view().begin(), many.indices.view().end()));
}

TEST(BallPivoting, NastyCloudsGiveManifoldEdgesOrAnError) {
  for (std::uint64_t seed = 0; seed < test::fuzz_runs(2000); ++seed) {
    const Surface cloud = test::nasty_cloud(seed);
    try {
      const std::vector<double> radii =
          seed % 3 == 0 ? std::vector<double>{random_unit(seed, 7), 1 + random_unit(seed, 8)}
                        : std::vector<double>{};
      const Topology found = topology(cloud, roll(cloud, radii, 1 + static_cast<int>(seed % 2)));
      ASSERT_EQ(found.nonmanifold + found.conflicts, 0U) << "seed " << seed;
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), ErrorCode::kInvalidArgument) << "seed " << seed << ": " << error.what();
    }
  }
}

TEST(BallPivoting, EndsSoonAfterACancel) {
  const Surface cloud = test::sphere(150'000, 1, {0, 0, 0});
  for (const char* const phase : {"Sorting points", "Ball pivoting"}) {
    test::expect_cancel_in_phase(phase, [&](OpContext& ctx) {
      // A ball over which all points lie: the slowest search.
      ball_pivoting(HitPoints::assume_hits({cloud.points.data(), cloud.points.size()}),
                    {cloud.normals.data(), cloud.normals.size()}, {{2.0}, 120'000, false}, ctx);
    });
  }
}

TEST(BallPivoting, EndsSoonAfterACancelAmongHoles) {
  const Surface cloud = test::sphere(40'000, 1, {0, 0, 0}, 0.01);  // thousands of holes
  test::expect_cancel_in_phase("Closing small holes", [&](OpContext& ctx) {
    ball_pivoting(HitPoints::assume_hits({cloud.points.data(), cloud.points.size()}),
                  {cloud.normals.data(), cloud.normals.size()}, {{}, 120'000, false}, ctx);
  });
}

/// CPU seconds for 20,000 points on a square, of which 4000 lie in a clump.
double seconds_with_clump(double clump_width) {
  Surface cloud;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    const double side = i % 5 == 0 ? clump_width : 10, at = i % 5 == 0 ? 5 - clump_width / 2 : 0;
    const double x = random_unit(7, 3 * i), y = random_unit(7, 3 * i + 1), z = random_unit(7, 3 * i + 2);
    cloud.points.push_back({at + side * x, at + side * y, 1e-3 * z});
    cloud.normals.push_back({0, 0, 1});
  }
  return test::least_cpu_seconds(3, [&] { EXPECT_GT(roll(cloud, {0.1}, 1).indices.size() / 3, 15'000U); });
}

TEST(BallPivoting, DensePartsOfACloudCostLittle) {
  // Most balls at the points of the clump hold thousands of others. Looking at all of them takes 40 times as long.
  EXPECT_LT(seconds_with_clump(0.01), 5 * seconds_with_clump(10));
}

/// Rows of 200 points on a square of 4 m2, with noise of a tenth of the distance in the row.
Surface rows_on_a_square(double step, std::uint32_t rows) {
  Surface cloud;
  for (std::uint64_t i = 0; i < 200 * std::uint64_t{rows}; ++i) {
    const auto noise = [&](std::uint64_t k) { return 0.1 * step * test::random_normal(5, 3 * i + k); };
    const double x = 2 * static_cast<double>(i % 200) / 199,
                 y = 2 * static_cast<double>(i / 200) / (rows - 1);
    cloud.points.push_back({x + noise(0), y + noise(1), noise(2)});
    cloud.normals.push_back({0, 0, 1});
  }
  return cloud;
}

double area_of(const Surface& cloud, const BallPivotingResult& mesh) {
  double area = 0;
  for (std::size_t t = 0; t < mesh.indices.size(); t += 3) {
    const Vec3d& a = cloud.points[mesh.indices[t]];
    const Vec3d n = cross(cloud.points[mesh.indices[t + 1]] - a, cloud.points[mesh.indices[t + 2]] - a);
    area += std::sqrt(dot(n, n)) / 2;
  }
  return area;
}

TEST(BallPivoting, AutomaticBallsSpanTheGapsBetweenRows) {
  for (const std::uint32_t rows : {200U, 100U, 25U, 20U}) {
    const Surface cloud = rows_on_a_square(0.01, rows);
    const BallPivotingResult mesh = roll(cloud);
    EXPECT_EQ(mesh.radii_m.size(), rows < 50 ? 2U : 3U) << rows;
    EXPECT_NEAR(area_of(cloud, mesh), 4, 0.1) << rows;  // noise adds area
  }
}

/// Two faces so near to each other that the ball that spans the rows of one reaches through the other.
TEST(BallPivoting, KnownSidesKeepTheFacesOfAThinWallApart) {
  Surface wall;
  for (const double side : {-1.0, 1.0}) {
    for (int row = 0; row <= 20; ++row) {
      for (int i = 0; i <= 100; ++i) {
        const double y = 0.02 * (i + random_unit(3, wall.points.size())), z = 0.1 * (row + 0.2 * side);
        wall.points.push_back({0.004 * side, y, z});
        wall.normals.push_back({side, 0, 0});
      }
    }
  }
  const auto area_of = [&](const BallPivotingResult& mesh) {
    double area = 0;
    for (std::size_t t = 0; t < mesh.indices.size(); t += 3) {
      const Vec3d a = wall.points[mesh.indices[t]];
      const Vec3d n = cross(wall.points[mesh.indices[t + 1]] - a, wall.points[mesh.indices[t + 2]] - a);
      EXPECT_GT(dot(n, wall.normals[mesh.indices[t]]), 0);
      area += 0.5 * std::sqrt(dot(n, n));
    }
    return area;
  };
  constexpr double kArea = 2 * 2 * 2;
  const BallPivotingResult apart = roll(wall, {0.06}, 2, 120'000, true), mixed = roll(wall, {0.06});
  EXPECT_NEAR(area_of(apart), kArea, 0.1 * kArea);
  EXPECT_LT(area_of(mixed), 0.8 * kArea);
  EXPECT_EQ(topology(wall, apart).nonmanifold + topology(wall, apart).conflicts, 0U);
}

TEST(BallPivoting, AutomaticBallsOfACrownComeFromTheSpacing) {
  Surface crown;
  for (std::uint64_t i = 0; i < 3000; ++i) {
    // Flat leaves of 0.1 m in a ball of 2 m radius: gaps between them are no gaps of a surface.
    const Vec3d leaf = test::random_direction(8, i / 10) * (2 * std::cbrt(random_unit(9, i / 10)));
    crown.points.push_back(leaf + test::random_direction(10, i) * 0.05);
    crown.normals.push_back(test::random_direction(11, i / 10));
  }
  const BallPivotingResult mesh = roll(crown);
  ASSERT_EQ(mesh.radii_m.size(), 3U);
  EXPECT_DOUBLE_EQ(mesh.radii_m[2], 4 * mesh.radii_m[0]);
}

TEST(BallPivoting, RefusesWrongRadii) {
  const Surface cloud = test::sphere(100, 1, {0, 0, 0});
  for (const std::vector<double>& radii : {std::vector<double>{0},
                                           {-1},
                                           {2, 1},
                                           {1, 1},
                                           {std::nan("")},
                                           {HUGE_VAL},
                                           {1e-14},
                                           std::vector<double>(17, 1)})
    EXPECT_THROW(roll(cloud, radii), Error);
}

}  // namespace
}  // namespace pc
