#include "ops/registration/point_to_mesh_distance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "ops/cloud/percentile.h"
#include "support/cancel.h"
#include "support/meshes.h"

namespace pc {
namespace {

using test::Mesh;
using test::MeshDraw;

constexpr PointToMeshParams kPlain{{0, 0, 0}, 1, false};

PointToMeshResult measure(const std::vector<Vec3d>& points, const Mesh& mesh,
                          const PointToMeshParams& params = kPlain,
                          const std::vector<std::uint8_t>& skip = {}, int threads = 2) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return point_to_mesh_distance({points.data(), points.size()}, {skip.data(), skip.size()}, mesh.view(),
                                params, ctx);
}

/// The square [0, 1] x [0, 1] at z = 0.
Mesh square() { return {"square", {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}}, {0, 1, 2, 0, 2, 3}}; }

std::vector<Vec3d> sphere_points(std::size_t count, const Vec3d& center) {
  MeshDraw draw(8);
  std::vector<Vec3d> points;
  while (points.size() < count) points.push_back(center + draw.in_cube(6));
  return points;
}

TEST(PointToMeshDistance, ReachesFacesEdgesAndVertices) {
  const auto result =
      measure({{0.5, 0.25, 2}, {-3, 0.5, 4}, {4, 5, 0}, {0.3, 0.7, 0}, {1, 1, -0.5}}, square());
  const std::vector<float> wanted{2, 5, 5, 0, 0.5};
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_FLOAT_EQ(result.distances[i], wanted[i]) << i;
  ASSERT_TRUE(result.spread.has_value());
  EXPECT_EQ(result.point_count, 5U);
  EXPECT_EQ(result.spread->min, 0);
  EXPECT_EQ(result.spread->max, 5);
  EXPECT_DOUBLE_EQ(result.spread->mean, 2.5);
  EXPECT_FALSE(result.sides.has_value());
}

/// The definitions of the contract, over the sorted distances.
TEST(PointToMeshDistance, StatisticsFollowTheirDefinitions) {
  const std::vector<Vec3d> points = sphere_points(30'011, {0, 0, 0});
  const auto result = measure(points, test::sphere(12, {0, 0, 0}, 2));
  ASSERT_TRUE(result.spread.has_value());
  std::vector<double> sorted;
  Box3d box;
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    sorted.push_back(static_cast<double>(result.distances[i]));
    box.add(points[i]);
    sum += sorted.back();
    squares += sorted.back() * sorted.back();
  }
  std::sort(sorted.begin(), sorted.end());
  const auto n = static_cast<double>(points.size());
  const auto& spread = *result.spread;
  EXPECT_NEAR(spread.mean, sum / n, 1e-7);
  EXPECT_NEAR(spread.rmse, std::sqrt(squares / n), 1e-7);
  EXPECT_NEAR(spread.std_deviation, std::sqrt(squares / n - sum * sum / n / n), 1e-7);
  EXPECT_NEAR(spread.min, sorted.front(), 1e-7);
  EXPECT_NEAR(spread.max, sorted.back(), 1e-6);
  const Span<const double> view{sorted.data(), sorted.size()};
  EXPECT_EQ(spread.median, sorted_percentile(view, 0.5));
  EXPECT_EQ(spread.percentile_90, sorted_percentile(view, 0.9));
  EXPECT_EQ(spread.percentile_95, sorted_percentile(view, 0.95));
  EXPECT_EQ(spread.percentile_99, sorted_percentile(view, 0.99));
  const double diagonal = std::sqrt(squared_distance(box.min, box.max));
  const double shares[3] = {0.001, 0.005, 0.01};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_DOUBLE_EQ(spread.band_thresholds_m[i], shares[i] * diagonal);
    const auto within = std::upper_bound(sorted.begin(), sorted.end(), shares[i] * diagonal) - sorted.begin();
    EXPECT_DOUBLE_EQ(spread.points_within_percent[i], 100.0 * static_cast<double>(within) / n);
  }
  std::uint64_t below = 0;
  for (std::size_t bin = 0; bin < DistanceHistogram::kBins; ++bin) {
    below += spread.histogram.counts[bin];
    const double edge = spread.histogram.bin_width_m * static_cast<double>(bin + 1);
    const auto truth = std::lower_bound(sorted.begin(), sorted.end(), edge) - sorted.begin();
    EXPECT_NEAR(static_cast<double>(below), static_cast<double>(truth),
                bin + 1 == DistanceHistogram::kBins ? 1 : 0)
        << bin;
  }
  EXPECT_EQ(below, points.size());
}

TEST(PointToMeshDistance, OnePointAndPointsInOnePlace) {
  const auto one = measure({{0.5, 0.5, 3}}, square());
  ASSERT_TRUE(one.spread.has_value());
  EXPECT_EQ(one.spread->median, 3);
  EXPECT_EQ(one.spread->std_deviation, 0);
  EXPECT_EQ(one.spread->band_thresholds_m[2], 0);
  EXPECT_EQ(one.spread->points_within_percent[2], 0);
  const auto on = measure({{0.5, 0.5, 0}, {0.5, 0.5, 0}}, square());
  EXPECT_EQ(on.spread->max, 0);
  EXPECT_EQ(on.spread->points_within_percent[0], 100) << "at most the threshold";
  EXPECT_EQ(on.spread->histogram.counts[0], 2U);
}

TEST(PointToMeshDistance, LeavesOutSkippedRowsAndNamesTheUnmeasurable) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const auto result = measure({{0.5, 0.5, 1}, {0, 0, 900}, {kNan, 0, 0}, {0.5, 0.5, 3}, {1e16, 0, 0}},
                              square(), kPlain, {0, 1, 0, 0, 0});
  EXPECT_EQ(result.point_count, 2U);
  EXPECT_EQ(result.unmeasured_count, 2U);
  EXPECT_EQ(result.spread->max, 3);
  EXPECT_EQ(result.spread->mean, 2);
  EXPECT_TRUE(std::isnan(result.distances[1]) && std::isnan(result.distances[2]));
  const auto none = measure({{0, 0, 1}}, square(), kPlain, {1});
  EXPECT_EQ(none.point_count, 0U);
  EXPECT_FALSE(none.spread.has_value());
}

TEST(PointToMeshDistance, AStrideMeasuresEverySoManyOfTheKeptPoints) {
  const std::vector<Vec3d> points = sphere_points(10'000, {0, 0, 0});
  std::vector<std::uint8_t> skip;
  for (std::size_t i = 0; i < points.size(); ++i) skip.push_back(i % 3 == 1 ? 1 : 0);
  const auto all = measure(points, square(), kPlain, skip),
             some = measure(points, square(), {{0, 0, 0}, 7, false}, skip);
  std::size_t kept = 0, measured = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (skip[i] != 0) continue;
    const bool wanted = kept++ % 7 == 0;
    measured += wanted ? 1 : 0;
    ASSERT_EQ(std::isnan(some.distances[i]), !wanted) << i;
    ASSERT_TRUE(!wanted || some.distances[i] == all.distances[i]) << i;
  }
  EXPECT_EQ(some.point_count, measured);
}

TEST(PointToMeshDistance, AShiftBringsPointsToTheFrameOfTheMesh) {
  const Vec3d far{4.5e5, 5.4e6, 120};
  const std::vector<Vec3d> points = sphere_points(2000, {0, 0, 0});
  const auto here = measure(points, test::sphere(12, {0, 0, 0}, 2));
  const auto there = measure(points, test::sphere(12, far, 2), {far, 1, false});
  for (std::size_t i = 0; i < points.size(); ++i)
    ASSERT_NEAR(static_cast<double>(here.distances[i]), static_cast<double>(there.distances[i]), 2e-7) << i;
}

TEST(PointToMeshDistance, SidesOfAClosedMesh) {
  const Mesh ball = test::sphere(40, {0, 0, 0}, 2);
  const auto result = measure({{0, 0, 0.1}, {0, 0, 3}, {1.9, 0, 0}}, ball, {{0, 0, 0}, 1, true});
  ASSERT_TRUE(result.sides.has_value());
  EXPECT_TRUE(result.sides->defined);
  EXPECT_LT(result.distances[0], -1.8F);
  EXPECT_FLOAT_EQ(result.distances[1], 1);
  EXPECT_LT(result.distances[2], 0);
  const double sum = static_cast<double>(result.distances[0]) + 1 + static_cast<double>(result.distances[2]);
  EXPECT_NEAR(result.sides->mean, sum / 3, 1e-6);
  EXPECT_GT(result.sides->std_deviation, 1);
  EXPECT_GT(result.spread->min, 0.09) << "the other statistics stay unsigned";
  EXPECT_GT(result.spread->mean, 0.9);
  const auto open = measure({{0.5, 0.5, 1}}, square(), {{0, 0, 0}, 1, true});
  EXPECT_FALSE(open.sides->defined);
  EXPECT_EQ(open.sides->open_edge_count, 4U);
  EXPECT_EQ(open.distances[0], 1);
}

TEST(PointToMeshDistance, IsTheSameForAnyThreadCount) {
  const std::vector<Vec3d> points = sphere_points(20'000, {0, 0, 0});
  const Mesh mesh = test::soup(3000, 6, 0.4, 12);
  const auto one = measure(points, mesh, {{0, 0, 0}, 1, true}, {}, 1),
             three = measure(points, mesh, {{0, 0, 0}, 1, true}, {}, 3);
  EXPECT_EQ(0, std::memcmp(&*one.spread, &*three.spread, sizeof *one.spread));
  for (std::size_t i = 0; i < points.size(); ++i) ASSERT_EQ(one.distances[i], three.distances[i]);
}

TEST(PointToMeshDistance, RefusesAMeshWithoutTriangles) {
  EXPECT_THROW(measure({{0, 0, 0}}, Mesh{"none", {{0, 0, 0}}, {}}), Error);
  EXPECT_THROW(measure({{0, 0, 0}}, square(), kPlain, {0, 1}), Error) << "skip of another length";
  EXPECT_THROW(measure({{0, 0, 0}}, square(), {{0, 0, 0}, 0, false}), Error) << "stride 0";
}

/// Triangles that all share the closest vertex: every query visits every one of them.
TEST(PointToMeshDistance, CancelStopsQueriesInTime) {
  Mesh fan{"fan", {{0, 0, 0}}, {}};
  constexpr std::uint32_t kSides = 100'000;
  for (std::uint32_t i = 0; i < kSides; ++i) {
    const double a = 2 * M_PI * i / kSides;
    fan.vertices.push_back({std::cos(a), std::sin(a), -1});
  }
  for (std::uint32_t i = 0; i < kSides; ++i)
    fan.indices.insert(fan.indices.end(), {0, 1 + i, 1 + (i + 1) % kSides});
  const std::vector<Vec3d> points(200'000, {0, 0, 1});
  const auto run = [&](OpContext& ctx) {
    point_to_mesh_distance({points.data(), points.size()}, {}, fan.view(), kPlain, ctx);
  };
  test::expect_cancel_in_time(run, {"Computing distances", 0, std::chrono::milliseconds(30), 2});
}

}  // namespace
}  // namespace pc
