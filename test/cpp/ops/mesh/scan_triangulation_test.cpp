#include "ops/mesh/scan_triangulation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/error.h"
#include "core/random.h"
#include "support/cancel.h"
#include "support/scan_meshes.h"

namespace pc {
namespace {

using test::above;
using test::direction;
using test::triangle_set;
using test::unit;
using Points = std::vector<Vec3d>;

ScanTriangulation mesh_of(const Points& points, const Vec3d& origin = {0, 0, 0}, int threads = 1) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return scan_triangulation(HitPoints::assume_hits({points.data(), points.size()}), origin, ctx);
}

/// Points in random directions that `accept` accepts, 1 to 10 m away.
template <class Accept>
Points scattered(std::size_t count, const Accept& accept) {
  Points points;
  for (std::uint64_t i = 0; points.size() < count; ++i) {
    const Vec3d d = direction(7, i);
    if (accept(d)) points.push_back(d * (1 + 9 * random_unit(8, i)));
  }
  return points;
}

/// Every triangle faces the scanner and has an empty circle smaller than a half sphere; edges are used once each way; edges
/// with one triangle have all directions on the inner side of their great circle.
void expect_delaunay(const Points& points, const Vec3d& origin, const ScanTriangulation& mesh) {
  Points unit_of;
  for (const Vec3d& p : points) unit_of.push_back(unit(p - origin));
  const auto indices = mesh.indices.view();
  for (std::size_t i = 0; i < indices.size; i += 3) {
    const Vec3d &a = unit_of[indices[i]], &b = unit_of[indices[i + 1]], &c = unit_of[indices[i + 2]];
    ASSERT_LT(dot(a, cross(b, c)), 0) << i;  // counter-clockwise seen from the scanner
    for (const Vec3d& d : unit_of) ASSERT_LT(above(a, b, c, d), 1e-12) << i;
  }
  const auto uses = test::edge_uses(indices);
  for (const auto& [edge, count] : uses) {
    ASSERT_EQ(count, 1);
    if (uses.contains({edge.second, edge.first})) continue;
    const Vec3d side = cross(unit_of[edge.second], unit_of[edge.first]);
    for (const Vec3d& d : unit_of) ASSERT_GT(dot(side, d), -1e-12) << edge.first << " " << edge.second;
  }
}

TEST(ScanTriangulation, CubeFromItsMiddle) {
  Points cube;
  for (int i = 0; i < 8; ++i) cube.push_back({1e6 + (i & 1), 2e6 + ((i >> 1) & 1), double((i >> 2) & 1)});
  const ScanTriangulation mesh = mesh_of(cube, {1e6 + 0.5, 2e6 + 0.5, 0.5});
  ASSERT_EQ(mesh.indices.size(), 36U);  // the whole sphere, two triangles per side
  double area = 0;
  for (std::size_t i = 0; i < 36; i += 3) {
    const Vec3d a = cube[mesh.indices[i]],
                n = cross(cube[mesh.indices[i + 1]] - a, cube[mesh.indices[i + 2]] - a);
    area += std::sqrt(dot(n, n)) / 2;
  }
  EXPECT_DOUBLE_EQ(area, 6);
}

TEST(ScanTriangulation, WholeSphereHasEmptyCircles) {
  const Points points = scattered(700, [](const Vec3d&) { return true; });
  const ScanTriangulation mesh = mesh_of(points);
  EXPECT_EQ(mesh.indices.size(), 3 * (2 * points.size() - 4));  // Euler: closed
  expect_delaunay(points, {0, 0, 0}, mesh);
}

TEST(ScanTriangulation, WindowsAcrossSeamAndPolesHaveEmptyCircles) {
  const Vec3d origin{450'000, 5'400'000, 100};
  for (const Vec3d& axis : {Vec3d{0, -1, 0}, Vec3d{-1, 0, 0}, Vec3d{0, 0, 1}, Vec3d{0, 0, -1}}) {
    for (const double reach : {0.9, 0.2, -0.7}) {  // cosine: 26, 78 and 134 degrees around the axis
      Points points = scattered(300, [&](const Vec3d& d) { return dot(d, axis) > reach; });
      for (Vec3d& p : points) p = p + origin;
      const ScanTriangulation mesh = mesh_of(points, origin);
      ASSERT_GT(mesh.indices.size(), 3 * points.size());
      expect_delaunay(points, origin, mesh);
    }
  }
}

TEST(ScanTriangulation, BandAroundTheHorizonClosesOverThePoles) {
  const Points points = scattered(400, [](const Vec3d& d) { return std::fabs(d.z) < 0.4; });
  const ScanTriangulation mesh = mesh_of(points);
  EXPECT_EQ(mesh.indices.size(), 3 * (2 * points.size() - 4));
  expect_delaunay(points, {0, 0, 0}, mesh);
}

TEST(ScanTriangulation, RasterMayStartAnywhere) {
  const auto raster = [](double turn) {
    Points points;
    for (int row = 0; row < 40; ++row)
      for (int column = 0; column < 60; ++column) {
        const auto i = static_cast<std::uint64_t>(60 * row + column);
        const double theta = 0.7 + 0.01 * row + 1e-3 * random_unit(3, i),
                     phi = turn + 0.01 * column + 2e-4 * row;
        points.push_back(
            {5 * std::sin(theta) * std::sin(phi), 5 * std::sin(theta) * std::cos(phi), 5 * std::cos(theta)});
      }
    return points;
  };
  const auto here = triangle_set(mesh_of(raster(0.2)).indices.view());
  EXPECT_EQ(triangle_set(mesh_of(raster(2.9)).indices.view()), here);  // across azimuth 180
  EXPECT_EQ(triangle_set(mesh_of(raster(6.0)).indices.view()), here);  // across azimuth 0
  EXPECT_GT(here.size(), 2U * 39 * 59);  // and small ones at the rim, up to great circles
}

TEST(ScanTriangulation, DoesNotDependOnRangesOrderAndThreads) {
  const Points points = scattered(3000, [](const Vec3d& d) { return d.x > -0.5; });
  Points pushed = points;
  for (std::size_t i = 0; i < pushed.size(); i += 3) pushed[i] = pushed[i] * 4.0;  // exact
  const auto mesh = mesh_of(points);
  EXPECT_EQ(triangle_set(mesh.indices.view()), triangle_set(mesh_of(pushed).indices.view()));
  const Points reversed(points.rbegin(), points.rend());
  auto back = mesh_of(reversed);
  for (std::uint32_t& row : back.indices.view()) row = static_cast<std::uint32_t>(points.size() - 1 - row);
  EXPECT_EQ(triangle_set(mesh.indices.view()), triangle_set(back.indices.view()));
  const auto other = mesh_of(points, {0, 0, 0}, 3);
  ASSERT_EQ(mesh.indices.size(), other.indices.size());
  for (std::size_t i = 0; i < mesh.indices.size(); ++i) ASSERT_EQ(mesh.indices[i], other.indices[i]);
}

TEST(ScanTriangulation, RepeatedDirectionsAndPlacesWithoutDirection) {
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  const Points points{{nan, 0, 0}, {1, 0, 4}, {0, 1, 4},  {0, 0, 0},
                      {-1, -1, 4}, {2, 0, 8}, {0, 4, 16}, {inf, 1, 1}};
  const ScanTriangulation mesh = mesh_of(points);
  EXPECT_EQ(mesh.unusable_count, 3U);
  EXPECT_EQ(mesh.repeated_count, 2U);
  EXPECT_EQ(triangle_set(mesh.indices.view()), (std::set<test::Corners>{{1, 4, 2}}));
}

TEST(ScanTriangulation, TooFewAndDegenerateDirectionsHaveNoTriangles) {
  EXPECT_EQ(mesh_of({}).indices.size(), 0U);
  EXPECT_EQ(mesh_of({{1, 2, 3}}).indices.size(), 0U);
  EXPECT_EQ(mesh_of({{1, 2, 3}, {3, 2, 1}}).indices.size(), 0U);
  EXPECT_EQ(mesh_of(Points(50, {1, 2, 3})).indices.size(), 0U);
  EXPECT_EQ(mesh_of(Points(5, {0, 0, 0})).unusable_count, 5U);
  Points plane;  // through the scanner: its directions are one great circle
  for (int i = 0; i < 40; ++i) plane.push_back({std::cos(0.3 * i), std::sin(0.3 * i), 0});
  EXPECT_EQ(mesh_of(plane).indices.size(), 0U);
  EXPECT_THROW(mesh_of(plane, {std::nan(""), 0, 0}), Error);
}

/// The centres of scan_triangulation.cpp.
Vec3d projection_centre(std::size_t k) {
  const double z = 1 - (2 * static_cast<double>(k) + 0.877) / 64, r = std::sqrt(1 - z * z);
  const double turn = 0.431 + std::acos(-1.0) * (3 - std::sqrt(5.0)) * static_cast<double>(k);
  return {r * std::cos(turn), r * std::sin(turn), z};
}

TEST(ScanTriangulation, PointsAtTheCentresOfTheProjectionAreNoObstacle) {
  Points points = scattered(200, [](const Vec3d&) { return true; });
  for (std::size_t k = 0; k < 63; ++k) points.push_back(projection_centre(k));
  expect_delaunay(points, {0, 0, 0}, mesh_of(points));
  points.push_back(projection_centre(63));
  EXPECT_THROW(mesh_of(points), Error);  // no centre is left
  Points many = scattered(10'000, [](const Vec3d&) { return true; });
  for (std::size_t k = 0; k < 64; ++k)
    if (k != 20)
      many[2 * k + 1] = projection_centre(k);  // the sample sees every second point, and none of these
  EXPECT_EQ(mesh_of(many).indices.size(), 3 * (2 * many.size() - 4));
}

TEST(ScanTriangulation, IsCanceledInTime) {
  const Points points = scattered(400'000, [](const Vec3d&) { return true; });
  test::expect_cancel_in_phase("Triangulating", [&](OpContext& ctx) {
    scan_triangulation(HitPoints::assume_hits({points.data(), points.size()}), {0, 0, 0}, ctx);
  });
}

}  // namespace
}  // namespace pc
