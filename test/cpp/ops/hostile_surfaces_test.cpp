// Clouds and meshes that break inexact geometry, through the ops on surfaces that have no such test of their own: an answer
// that keeps its promises or an error that says why, never a crash, a hang or a number that is none.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "ops/fit/crown_shapes.h"
#include "ops/mesh/delaunay.h"
#include "ops/mesh/mesh_cleanup.h"
#include "ops/mesh/rasterize.h"
#include "ops/mesh/scan_triangulation.h"
#include "ops/registration/icp.h"
#include "ops/registration/point_to_mesh_distance.h"
#include "spatial/bvh_queries.h"
#include "spatial/predicates.h"
#include "support/fuzz_runs.h"
#include "support/meshes.h"

namespace pc {
namespace {

using Points = std::vector<Vec3d>;

Span<const Vec3d> span_of(const Points& points) { return {points.data(), points.size()}; }

/// Runs `op`; returns whether it gave an answer. Refusals have to be of the input.
template <class Op>
bool answers(std::uint64_t seed, const Op& op) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 1);
  try {
    op(ctx);
    return true;
  } catch (const Error& error) {
    EXPECT_TRUE(error.code() == ErrorCode::kInvalidArgument || error.code() == ErrorCode::kUnsupported)
        << "seed " << seed << ": " << error.what();
    return false;
  }
}

/// Triangles between any of the points of a hostile cloud: slivers, repeated corners, edges of many triangles.
test::Mesh hostile_mesh(std::uint64_t seed) {
  test::Mesh mesh{"hostile", test::hostile_cloud(seed, 40), {}};
  const std::uint64_t count = mesh.vertices.empty() ? 0 : random_u64(seed + 3, 0) % 60;
  for (std::uint64_t i = 0; i < 3 * count; ++i)
    mesh.indices.push_back(static_cast<std::uint32_t>(random_u64(seed + 3, i + 1) % mesh.vertices.size()));
  return mesh;
}

TEST(HostileSurfaces, TerrainOfAnyCloud) {
  std::size_t made = 0;
  const std::uint64_t runs = test::fuzz_runs(400);
  for (std::uint64_t seed = 0; seed < runs; ++seed) {
    const Points points = test::hostile_cloud(seed, 200);
    made += answers(seed, [&](OpContext& ctx) {
      const DelaunayResult found = delaunay(HitPoints::assume_hits(span_of(points)), ctx);
      for (std::size_t i = 0; i < found.indices.size(); i += 3) {
        const auto at = [&](std::size_t k) {
          const Vec3d& p = points.at(found.indices[i + k]);
          return Vec2d{exact_coordinate(p.x), exact_coordinate(p.y)};
        };
        ASSERT_GT(orient_2d(at(0), at(1), at(2)), 0) << seed;
      }
    });
  }
  EXPECT_GT(made, runs / 2);
}

TEST(HostileSurfaces, ScansOfAnyCloud) {
  std::size_t triangles = 0;
  for (std::uint64_t seed = 0; seed < test::fuzz_runs(400); ++seed) {
    const Points points = test::hostile_cloud(seed, 200);
    const Vec3d origin = points.empty() || seed % 3 == 0 ? Vec3d{0, 0, 0} : points[0];
    answers(seed, [&](OpContext& ctx) {
      const ScanTriangulation found =
          scan_triangulation(HitPoints::assume_hits(span_of(points)), origin, ctx);
      for (const std::uint32_t row : found.indices.view()) ASSERT_LT(row, points.size()) << seed;
      triangles += found.indices.size() / 3;
    });
  }
  EXPECT_GT(triangles, 1000U);
}

TEST(HostileSurfaces, CleanedMeshesHaveNoCrowdedEdge) {
  std::size_t made = 0;
  const std::uint64_t runs = test::fuzz_runs(400);
  for (std::uint64_t seed = 0; seed < runs; ++seed) {
    const test::Mesh mesh = hostile_mesh(seed);
    const auto cleaned = [&](OpContext& ctx) {
      const CleanMesh found = mesh_cleanup(mesh.view().vertices, mesh.view().indices, ctx);
      std::map<std::pair<std::uint32_t, std::uint32_t>, int> edges;
      for (std::size_t i = 0; i < found.indices.size(); i += 3)
        for (std::size_t k = 0; k < 3; ++k) {
          ASSERT_LT(found.indices[i + k], found.vertices.size()) << seed;
          ASSERT_EQ((++edges[{found.indices[i + k], found.indices[i + (k + 1) % 3]}]), 1) << seed;
        }
    };
    made += answers(seed, cleaned);
  }
  EXPECT_GT(made, runs / 2);
}

TEST(HostileSurfaces, DistancesToAnyMesh) {
  std::size_t made = 0;
  const std::uint64_t runs = test::fuzz_runs(400);
  for (std::uint64_t seed = 0; seed < runs; ++seed) {
    const test::Mesh mesh = hostile_mesh(seed);
    const Points points = test::hostile_cloud(seed + 1, 60);
    made += answers(seed, [&](OpContext& ctx) {
      const PointToMeshResult found = point_to_mesh_distance(span_of(points), {}, mesh.view(),
                                                             {{0, 0, 0}, 1 + seed % 3, seed % 2 == 0}, ctx);
      ASSERT_EQ(found.distances.size(), points.size()) << seed;
      ASSERT_TRUE(!found.spread || (found.spread->min >= 0 && std::isfinite(found.spread->mean))) << seed;
    });
  }
  EXPECT_GT(made, runs / 3);
}

TEST(HostileSurfaces, RaysIntoAnyMesh) {
  std::size_t hit_count = 0;
  const BvhQueries* const all[] = {&portable_bvh_queries(), avx2_bvh_queries(), avx512_bvh_queries()};
  for (std::uint64_t seed = 0; seed < test::fuzz_runs(400); ++seed) {
    const test::Mesh mesh = hostile_mesh(seed);
    answers(seed, [&](OpContext& ctx) {
      const Bvh tree(mesh.view(), ctx);
      std::vector<Ray> rays;
      const Points from = test::hostile_cloud(seed + 2, 40);
      for (std::size_t i = 0; i < from.size(); ++i) {
        const std::size_t t = 3 * (i % std::max<std::size_t>(1, tree.triangles().size));
        const auto at = [&](std::size_t k) { return mesh.vertices.at(mesh.indices.at(t + k)); };
        const Vec3d aim = mesh.indices.empty() ? from[0] : (at(0) + at(1) + at(2)) * (1.0 / 3);
        rays.push_back({from[i], i % 3 == 0 ? from[i] * -1 : aim - from[i], 0, i % 4 == 0 ? 1.0 : 1e9});
      }
      std::vector<RayHit> first;
      for (const BvhQueries* const queries : all) {
        if (queries == nullptr) continue;
        std::vector<RayHit> hits(rays.size());
        queries->first_hits(tree.view(), rays.data(), rays.size(), hits.data());
        if (first.empty()) first = hits;
        for (std::size_t i = 0; i < hits.size(); ++i)
          ASSERT_EQ(hits[i].triangle, first[i].triangle) << seed << " ray " << i;
      }
      for (const RayHit& hit : first) hit_count += hit.triangle != bvh::kNone ? 1 : 0;
    });
  }
  EXPECT_GT(hit_count, 500U);
}

TEST(HostileSurfaces, PicturesOfAnyMesh) {
  const auto number = [](double value) { return static_cast<float>(value); };
  std::size_t drawn = 0;
  for (std::uint64_t seed = 0; seed < test::fuzz_runs(400); ++seed) {
    const test::Mesh mesh = hostile_mesh(seed);
    std::vector<float> vertices;
    for (const Vec3d& p : mesh.vertices)
      vertices.insert(vertices.end(), {number(p.x), number(p.y), number(p.z)});
    const PaintedMesh view{
        {vertices.data(), vertices.size()}, {mesh.indices.data(), mesh.indices.size()}, {}, {}, {}, {}, {}};
    const RasterCamera camera{
        {1, 0, 0, 0, 0, 0, -1, 0, 0, 1, 0, 3}, seed % 2 == 0, 10, seed % 2 == 0 ? 0.01 : 0, 40, 30};
    answers(seed, [&](OpContext& ctx) {
      const MeshPicture picture =
          rasterize_mesh(view, camera, {{0, 0, -1}, 0.2, false, {255, 255, 255, 255}}, 1 + seed % 2, ctx);
      for (std::size_t i = 0; i < picture.triangles.size(); ++i) {
        const bool seen = picture.triangles[i] != kNoTriangle;
        ASSERT_TRUE(!seen || picture.triangles[i] < mesh.indices.size() / 3) << seed;
        ASSERT_EQ(seen, std::isfinite(picture.depth[i])) << seed;
        drawn += seen ? 1 : 0;
      }
    });
  }
  EXPECT_GT(drawn, 1000U);
}

TEST(HostileSurfaces, MotionsBetweenAnyClouds) {
  constexpr IcpMethod kMethods[] = {IcpMethod::kPointToPoint, IcpMethod::kPointToPlane, IcpMethod::kGicp};
  const std::uint64_t runs = test::fuzz_runs(150);
  std::size_t made = 0;
  for (std::uint64_t seed = 0; seed < runs; ++seed) {
    const Points fixed = test::hostile_cloud(seed, 120), moving = test::hostile_cloud(seed + seed % 2, 120);
    const IcpParams params{kMethods[seed % 3],
                           seed % 4 == 0 ? IcpInitial::kAuto : IcpInitial::kCentroid,
                           std::nullopt,
                           std::nullopt,
                           1e-9,
                           30};
    made += answers(seed, [&](OpContext& ctx) {
      IcpRegistration registration({span_of(fixed), {}, {0, 0, 0}, 1}, {span_of(moving), {}, {0, 0, 0}, 1},
                                   params, ctx);
      while (!registration.advance(10, ctx).finished) {
      }
      const IcpResult found = registration.result(ctx);
      for (const Vec3d& row : found.pose.rows) ASSERT_NEAR(dot(row, row), 1, 1e-9) << seed;
      ASSERT_TRUE(is_finite(found.pose.translation)) << seed;
      ASSERT_TRUE(std::isfinite(found.rmse_m) && found.fitness >= 0 && found.fitness <= 1) << seed;
      ASSERT_TRUE(found.surface.agreement >= 0 && found.surface.agreement <= 1) << seed;
    });
  }
  EXPECT_GT(made, runs / 3);
}

TEST(HostileSurfaces, CrownsOfAnyCloud) {
  constexpr std::array<std::optional<CrownShape>, 4> kShapes{CrownShape::kEllipsoid, CrownShape::kPrism,
                                                             CrownShape::kCone, std::nullopt};
  const std::uint64_t runs = test::fuzz_runs(400);
  std::size_t made = 0;
  for (std::uint64_t seed = 0; seed < runs; ++seed) {
    const Points points = test::hostile_cloud(seed, 120);
    const TreeRows tree{span_of(points), {}, nullptr, 0, 0, nullptr, nullptr, false};
    made += answers(seed, [&](OpContext& ctx) {
      const CrownFit found = fit_crown(
          tree,
          {kShapes[seed / 3 % 4], 0.25 * static_cast<double>(seed % 3), {0, 0, 0}, std::nullopt, 10'000},
          ctx);
      if (!found.crown) return;
      ASSERT_TRUE(std::isfinite(found.crown->volume_m3) && found.crown->volume_m3 >= 0) << seed;
      ASSERT_TRUE(std::isfinite(found.crown->surface_area_m2)) << seed;
      for (const Vec3d& vertex : found.crown->mesh.vertices) ASSERT_TRUE(is_finite(vertex)) << seed;
      for (const std::uint32_t vertex : found.crown->mesh.triangles)
        ASSERT_LT(vertex, found.crown->mesh.vertices.size()) << seed;
    });
  }
  EXPECT_GT(made, runs / 3);
}

}  // namespace
}  // namespace pc
