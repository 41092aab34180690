#include "ops/mesh/delaunay.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

#include "core/error.h"
#include "core/random.h"
#include "support/cancel.h"

namespace pc {
namespace {

using Points = std::vector<Vec3d>;

DelaunayResult mesh_of(const Points& points, int threads = 1) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return delaunay(HitPoints::assume_hits({points.data(), points.size()}), ctx);
}

Points scattered(std::size_t count) {
  Points points;
  for (std::size_t i = 0; i < count; ++i)
    points.push_back(
        {1e7 + 100 * random_unit(3, 3 * i), 100 * random_unit(3, 3 * i + 1), random_unit(3, 3 * i + 2)});
  return points;
}

TEST(Delaunay, TurnsUpAndUsesTheFirstOfPointsAboveEachOther) {
  const Points points{{0, 0, 9}, {1, 0, 1}, {0, 1, 2}, {0, 0, 3}, {1, 1, 4}, {1, 1, 4}};
  const DelaunayResult mesh = mesh_of(points);
  EXPECT_EQ(mesh.repeated_count, 2U);
  ASSERT_EQ(mesh.indices.size(), 6U);
  std::set<std::uint32_t> rows(mesh.indices.view().begin(), mesh.indices.view().end());
  EXPECT_EQ(rows, (std::set<std::uint32_t>{0, 1, 2, 4}));
  for (std::size_t i = 0; i < 6; i += 3) {
    const Vec3d a = points[mesh.indices[i]], b = points[mesh.indices[i + 1]], c = points[mesh.indices[i + 2]];
    EXPECT_GT((b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x), 0);
  }
}

TEST(Delaunay, CoversTheHullTheSameForAnyThreadCount) {
  const Points points = scattered(30'000);
  const DelaunayResult mesh = mesh_of(points), other = mesh_of(points, 3);
  ASSERT_EQ(mesh.indices.size(), other.indices.size());
  double area = 0;
  for (std::size_t i = 0; i < mesh.indices.size(); ++i) ASSERT_EQ(mesh.indices[i], other.indices[i]);
  for (std::size_t i = 0; i < mesh.indices.size(); i += 3) {
    const Vec3d a = points[mesh.indices[i]], b = points[mesh.indices[i + 1]], c = points[mesh.indices[i + 2]];
    area += ((b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x)) / 2;
  }
  EXPECT_NEAR(area, 1e4, 20);
}

/// The triangles as sets of rows.
std::set<std::set<std::uint32_t>> triangles_of(const Points& points) {
  const DelaunayResult mesh = mesh_of(points);
  std::set<std::set<std::uint32_t>> out;
  for (std::size_t i = 0; i < mesh.indices.size(); i += 3)
    out.insert({mesh.indices[i], mesh.indices[i + 1], mesh.indices[i + 2]});
  return out;
}

TEST(Delaunay, FarPointsAndEqualCoordinatesKeepTheOrder) {
  for (const double step : {0.0, 1e-3}) {  // of x; 0: as random numbers are
    Points points, turned;
    for (std::uint64_t i = 0; i < 20'000; ++i) {
      const double x = step == 0 ? random_unit(8, i) : step * static_cast<double>(random_u64(8, i) % 5);
      points.push_back({x, random_unit(9, i), 0});
    }
    points.push_back({1e12, 0.5, 0});  // all others share an interval of x
    for (const Vec3d& p : points) turned.push_back({p.y, -p.x, 0});
    EXPECT_EQ(triangles_of(points), triangles_of(turned)) << step;
  }
}

TEST(Delaunay, HasNoTrianglesForALineAndRefusesWhatIsNoNumber) {
  EXPECT_EQ(mesh_of({}).indices.size(), 0U);
  EXPECT_EQ(mesh_of({{0, 0, 1}, {1, 1, 5}, {2, 2, 2}, {3, 3, 9}}).indices.size(), 0U);
  EXPECT_THROW(mesh_of({{0, std::nan(""), 0}}), Error);
}

TEST(Delaunay, IsCanceledInTime) {
  const Points points = scattered(400'000);
  test::expect_cancel_in_phase("Meshing", [&](OpContext& ctx) {
    delaunay(HitPoints::assume_hits({points.data(), points.size()}), ctx);
  });
}

}  // namespace
}  // namespace pc
