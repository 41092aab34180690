#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "spatial/bvh_queries.h"
#include "support/meshes.h"

namespace pc {
namespace {

using test::hard_meshes;
using test::Mesh;
using test::MeshDraw;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

Bvh tree_of(const Mesh& mesh) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  return Bvh(mesh.view(), ctx);
}

struct Tracer {
  std::string name;
  const BvhQueries* queries;
};

std::vector<Tracer> tracers() {
  std::vector<Tracer> all{{"portable", &portable_bvh_queries()}};
  if (avx2_bvh_queries() != nullptr) all.push_back({"AVX2", avx2_bvh_queries()});
  if (avx512_bvh_queries() != nullptr) all.push_back({"AVX-512", avx512_bvh_queries()});
  return all;
}

/// Bundles of neighbouring rays towards corners, edges and inner points of the mesh: 40 rays each, from one place or from
/// places side by side, some bundles along an axis, exactly or nearly.
std::vector<Ray> bundles(const Mesh& mesh, std::size_t count) {
  Box3d box;
  for (const Vec3d& vertex : mesh.vertices) box.add(vertex);
  const Vec3d size = box.max - box.min + Vec3d{0.1, 0.1, 0.1};
  MeshDraw draw(31);
  std::vector<Ray> rays;
  for (std::size_t i = 0; i < count; ++i) {
    Vec3d from =
        box.min - size * 0.25 + Vec3d{draw.unit() * size.x, draw.unit() * size.y, draw.unit() * size.z} * 1.5;
    const auto corner = [&](std::size_t k) {
      return mesh.vertices[mesh.indices[(i * 7 % mesh.view().triangle_count()) * 3 + k]];
    };
    if (i % 10 == 7)  // in the triangle's plane
      from = corner(0) + (corner(1) - corner(0)) * (9 * draw.unit()) +
             (corner(2) - corner(0)) * (9 * draw.unit());
    const double width = std::pow(10.0, -static_cast<double>(i % 7));
    for (int k = 0; k < 40; ++k) {
      const double u = draw.unit(), v = k % 3 == 0 ? 1 - u : (k % 3 == 1 ? 0 : draw.unit() * (1 - u));
      Vec3d along = corner(0) * (1 - u - v) + corner(1) * u + corner(2) * v - from;
      if (i % 4 == 0) along = along + draw.in_cube(width * std::sqrt(dot(along, along)));
      if (i % 4 == 1) along = {i % 8 == 1 ? 2.0 : -2.0, k % 5 == 0 ? 1e-9 : 0.0, k % 7 == 0 ? -1e-300 : -0.0};
      if (i % 4 == 2) along = Vec3d{0, 0, -1} + draw.in_cube(width);
      const Vec3d start =
          i % 3 == 0 || i % 10 == 7 ? from : from + draw.in_cube(width * std::sqrt(dot(size, size)) * 0.1);
      rays.push_back({start, along, i % 5 == 0 ? 0.3 : 0, i % 6 == 0 ? 1.2 : 1e9});
    }
  }
  return rays;
}

/// Each ray alone, in plain C++.
std::vector<RayHit> alone(const Bvh& tree, const std::vector<Ray>& rays) {
  std::vector<RayHit> hits(rays.size());
  for (std::size_t i = 0; i < rays.size(); ++i)
    portable_bvh_queries().first_hits(tree.view(), &rays[i], 1, &hits[i]);
  return hits;
}

void expect_same(const Bvh& tree, const std::vector<Ray>& rays, const std::string& name,
                 std::size_t& hit_count) {
  const std::vector<RayHit> truth = alone(tree, rays);
  for (const Tracer& tracer : tracers()) {
    std::vector<RayHit> hits(rays.size());
    std::vector<std::uint8_t> any(rays.size());
    tracer.queries->first_hits(tree.view(), rays.data(), rays.size(), hits.data());
    tracer.queries->any_hits(tree.view(), rays.data(), rays.size(), any.data());
    for (std::size_t i = 0; i < rays.size(); ++i) {
      const bool hit = truth[i].triangle != bvh::kNone;
      hit_count += hit ? 1 : 0;
      ASSERT_EQ(hits[i].triangle, truth[i].triangle) << name << ", " << tracer.name << ", ray " << i;
      ASSERT_EQ(any[i], hit ? 1 : 0) << name << ", " << tracer.name << ", ray " << i;
      if (!hit) continue;
      ASSERT_EQ(hits[i].t, truth[i].t) << name << ", " << tracer.name << ", ray " << i;
      ASSERT_EQ(hits[i].u, truth[i].u) << name << ", " << tracer.name << ", ray " << i;
      ASSERT_EQ(hits[i].v, truth[i].v) << name << ", " << tracer.name << ", ray " << i;
    }
  }
}

TEST(RayPacket, HitsAreThoseOfEachRayAlone) {
  for (const Vec3d offset : {Vec3d{0, 0, 0}, Vec3d{1e7, -1e7, 500}}) {
    std::size_t hit_count = 0;
    for (const Mesh& mesh : hard_meshes(offset)) {
      const Bvh tree = tree_of(mesh);
      expect_same(tree, bundles(mesh, 60), mesh.name, hit_count);
    }
    EXPECT_GT(hit_count, 10'000U);
  }
}

/// A flat grid in the plane of the rays, at their height, and one that they run along.
TEST(RayPacket, RaysInThePlanesOfTrianglesAndBoxes) {
  Mesh mesh{"grid", {}, {}};
  for (int i = 0; i < 20; ++i)
    for (int j = 0; j < 20; ++j) {
      mesh.add({i * 1.0, j * 1.0, 0}, {i + 1.0, j * 1.0, 0}, {i + 1.0, j + 1.0, 0});
      mesh.add({i * 1.0, 10, j * 1.0 - 10}, {i + 1.0, 10, j * 1.0 - 10}, {i + 1.0, 10, j - 9.0});
    }
  const Bvh tree = tree_of(mesh);
  std::vector<Ray> rays;
  for (int i = 0; i < 960; ++i) {  // bundles of 16, one ray of each exactly on edges
    const double beside = (i % 16 - 5) * 0.001, at = i / 48 * 1.0;
    if (i / 16 % 3 == 0) rays.push_back({{at + beside, -5, 0}, {0, 1, 0}, 0, 1e9});
    if (i / 16 % 3 == 1) rays.push_back({{at + beside, at / 2, 30}, {0, 0, -1}, 0, kInfinity});
    if (i / 16 % 3 == 2) rays.push_back({{at + beside, 10, 30}, {0, 0, -3}, 0, 1e9});
  }
  std::size_t hit_count = 0;
  expect_same(tree, rays, "grid", hit_count);
  EXPECT_GT(hit_count, 300U);
}

/// Rays in the planes of triangles: the test of the edges is one of rounding errors, and the triangle's box decides.
TEST(RayPacket, RaysSeenEdgeOn) {
  std::size_t hit_count = 0;
  for (const double thin : {1.0, 1e-3, 1e-6}) {
    Mesh mesh{"edge-on", {}, {}};
    MeshDraw draw(41);
    std::vector<Ray> rays;
    for (std::uint32_t t = 0; t < 300; ++t) {
      const Vec3d a = draw.in_cube(2), along = draw.in_cube(1), across = draw.in_cube(thin);
      mesh.add(a, a + along, a + along * draw.unit() + across);
      const Vec3d from = a + along * (6 * draw.unit() - 3) + across * (2 * draw.unit() - 1);
      for (int k = 0; k < 16; ++k) {
        const Vec3d to = a + along * draw.unit() + across * (2 * draw.unit() - 1);
        rays.push_back({from, to - from, 0, 1e9});
      }
    }
    expect_same(tree_of(mesh), rays, mesh.name, hit_count);
  }
  EXPECT_GT(hit_count, 1000U);
}

/// Rays that are none among ordinary ones: they hit nothing, and change nothing for the others.
TEST(RayPacket, ATriangleTooSmallForSinglePrecision) {
  Mesh mesh{"tiny", {}, {}};
  mesh.add({0, 0, 1e-40}, {0, 2e-40, 1e-40}, {2e-40, 0, 0});
  std::vector<Ray> rays(16, Ray{{0.003, 0, 0}, {-0.003, 0, 2e-40 / 3}, 0, 1e9});
  std::size_t hit_count = 0;
  expect_same(tree_of(mesh), rays, "tiny", hit_count);
  EXPECT_GT(hit_count, 0U);
}

TEST(RayPacket, StrangeRaysAmongOthers) {
  const Mesh mesh = test::soup(900, 10, 1, 1);
  const Bvh tree = tree_of(mesh);
  std::vector<Ray> rays = bundles(mesh, 60);
  const double strange[] = {kNotANumber, kInfinity, -kInfinity, 0, 1e300, -1e300, 1e-300, -0.0};
  for (std::size_t i = 0; i < rays.size(); i += 1 + i % 11) {
    const double value = strange[i % 8];
    double* fields[] = {&rays[i].origin.x,    &rays[i].origin.z, &rays[i].direction.y,
                        &rays[i].direction.z, &rays[i].t_min,    &rays[i].t_max};
    *fields[i / 8 % 6] = value;
    if (i % 17 == 0) rays[i].t_min = rays[i].t_max = kInfinity;
    if (i % 13 == 0) rays[i].direction = {value, value, value};
  }
  std::size_t hit_count = 0;
  expect_same(tree, rays, "strange", hit_count);
  EXPECT_GT(hit_count, 1000U);
}

TEST(RayPacket, NoRayLeavesAClosedSurfaceThroughItsEdges) {
  const Vec3d center{4.5e5, 5.4e6, 300};
  const Mesh mesh = test::sphere(20, center, 1.3);
  const Bvh tree = tree_of(mesh);
  std::vector<Ray> rays;
  for (std::size_t i = 0; i < mesh.indices.size(); ++i) {  // neighbours in the mesh: neighbours in direction
    const Vec3d &a = mesh.vertices[mesh.indices[i]],
                &b = mesh.vertices[mesh.indices[i % 3 == 2 ? i - 2 : i + 1]];
    for (int k = 0; k < 16; ++k) rays.push_back({center, a + (b - a) * (k / 16.0) - center, 0, 1e9});
  }
  for (const Tracer& tracer : tracers()) {
    std::vector<RayHit> hits(rays.size());
    tracer.queries->first_hits(tree.view(), rays.data(), rays.size(), hits.data());
    for (std::size_t i = 0; i < rays.size(); ++i)
      ASSERT_NE(hits[i].triangle, bvh::kNone) << tracer.name << " ray " << i;
  }
}

}  // namespace
}  // namespace pc
