#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "spatial/bvh_queries.h"
#include "spatial/bvh_traversal.h"
#include "support/meshes.h"

namespace pc {
namespace {

using test::hard_meshes;
using test::Mesh;
using test::MeshDraw;

Bvh tree_of(const Mesh& mesh) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  return Bvh(mesh.view(), ctx);
}

/// Moller & Trumbore 1997 over all triangles, without a tree; `grazing` is set if a decision was close.
RayHit brute_hit(const Mesh& mesh, const Vec3d& origin, const Ray& ray, bool& grazing) {
  RayHit best{ray.t_max, 0, 0, bvh::kNone};
  for (std::size_t t = 0; t < mesh.indices.size(); t += 3) {
    const auto at = [&](std::size_t k) { return mesh.vertices[mesh.indices[t + k]] - origin; };
    const Vec3d a = at(0), ab = at(1) - a, ac = at(2) - a, o = ray.origin - origin;
    const Vec3d p = cross(ray.direction, ac);
    const double det = dot(ab, p),
                 scale = std::sqrt(dot(ab, ab) * dot(ac, ac) * dot(ray.direction, ray.direction));
    if (std::abs(det) <= 1e-9 * scale) {
      grazing = grazing || std::abs(dot(cross(ab, ac), o - a)) <= 1e-6 * scale * std::sqrt(dot(o - a, o - a));
      continue;
    }
    const Vec3d s = o - a, q = cross(s, ab);
    const double u = dot(s, p) / det, v = dot(ray.direction, q) / det, w = 1 - u - v, hit = dot(ac, q) / det;
    const double slack = 1e-9 * (1 + std::sqrt(dot(s, s) * dot(ac, ac) + dot(s, s) * dot(ab, ab)) /
                                         (std::abs(det) / std::sqrt(dot(ray.direction, ray.direction))));
    if (std::min({u, v, w}) > -slack && std::min({u, v, w}) < slack) grazing = true;
    if (u < 0 || v < 0 || w < 0 || hit < ray.t_min || hit >= best.t) continue;
    best = {hit, u, v, static_cast<std::uint32_t>(t / 3)};
  }
  return best;
}

std::vector<Ray> rays_for(const Mesh& mesh, std::size_t count) {
  Box3d box;
  for (const Vec3d& vertex : mesh.vertices) box.add(vertex);
  const Vec3d size = box.max - box.min + Vec3d{0.1, 0.1, 0.1};
  MeshDraw draw(17);
  std::vector<Ray> rays;
  for (std::size_t i = 0; i < count; ++i) {
    const Vec3d from =
        box.min - size * 0.25 + Vec3d{draw.unit() * size.x, draw.unit() * size.y, draw.unit() * size.z} * 1.5;
    const std::size_t t = i % mesh.view().triangle_count() * 3;
    const auto at = [&](std::size_t k) { return mesh.vertices[mesh.indices[t + k]]; };
    const double u = draw.unit(), v = draw.unit() * (1 - u);
    Vec3d direction = at(0) * (1 - u - v) + at(1) * u + at(2) * v - from;
    if (i % 5 == 0) direction = {i % 2 == 0 ? 1.0 : -1.0, 0, 0};
    if (i % 5 == 1) direction = draw.in_cube(1);
    rays.push_back({from, direction, 0, i % 7 == 0 ? 0.8 : 1e9});
  }
  return rays;
}

TEST(BvhRay, FirstHitsEqualBruteForce) {
  for (const Vec3d offset : {Vec3d{0, 0, 0}, Vec3d{1e7, -1e7, 500}}) {
    std::size_t hit_count = 0, compared = 0;
    for (const Mesh& mesh : hard_meshes(offset)) {
      const Bvh tree = tree_of(mesh);
      const std::vector<Ray> rays = rays_for(mesh, 500);
      std::vector<RayHit> hits(rays.size());
      fastest_bvh_queries().first_hits(tree.view(), rays.data(), rays.size(), hits.data());
      for (std::size_t i = 0; i < rays.size(); ++i) {
        bool grazing = false;
        const RayHit truth = brute_hit(mesh, tree.view().origin, rays[i], grazing);
        if (grazing) continue;
        ++compared;
        ASSERT_EQ(hits[i].triangle == bvh::kNone, truth.triangle == bvh::kNone) << mesh.name << " ray " << i;
        if (truth.triangle == bvh::kNone) continue;
        ++hit_count;
        ASSERT_NEAR(hits[i].t, truth.t, 1e-9 * std::max(1.0, truth.t)) << mesh.name << " ray " << i;
      }
    }
    EXPECT_GT(hit_count, 1000U);
    EXPECT_GT(compared, 2500U);
  }
}

/// The test of one triangle, with its box, as a search makes it.
void meet_alone(const Ray& ray, const bvh::ShearedRay& sheared, const bvh::Triangle& triangle, RayHit& best) {
  Box3d box;
  for (const Vec3d& corner : {triangle.a, triangle.b, triangle.c}) box.add(corner);
  bvh::Node node{};
  const double low[3] = {box.min.x, box.min.y, box.min.z}, high[3] = {box.max.x, box.max.y, box.max.z};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    node.min[axis][0] = bvh::rounded_down(low[axis]);
    node.max[axis][0] = bvh::rounded_up(high[axis]);
  }
  float enter[bvh::kWidth];
  const auto boxes = bvh::box_ray(sheared.origin, sheared.direction, ray.t_min);
  if ((bvh::PlainLanes::slabs(node, boxes, bvh::rounded_up(ray.t_max), enter) & 1U) == 0) return;
  sheared.meet(triangle, std::max(ray.t_min, static_cast<double>(enter[0] * bvh::kSlabNear)), best);
}

/// The tree finds the same bits as a loop over all triangles with the same test, ties by index; so do both kinds of lanes.
TEST(BvhRay, HitsDoNotDependOnTheTreeOrTheLanes) {
  for (const Mesh& mesh : hard_meshes({0, 0, 0})) {
    const Bvh tree = tree_of(mesh);
    const std::vector<Ray> rays = rays_for(mesh, 500);
    std::vector<RayHit> plain(rays.size()), wide(rays.size());
    std::vector<std::uint8_t> any_plain(rays.size()), any_wide(rays.size());
    portable_bvh_queries().first_hits(tree.view(), rays.data(), rays.size(), plain.data());
    fastest_bvh_queries().first_hits(tree.view(), rays.data(), rays.size(), wide.data());
    portable_bvh_queries().any_hits(tree.view(), rays.data(), rays.size(), any_plain.data());
    fastest_bvh_queries().any_hits(tree.view(), rays.data(), rays.size(), any_wide.data());
    for (std::size_t i = 0; i < rays.size(); ++i) {
      RayHit loop{rays[i].t_max, 0, 0, bvh::kNone};
      const bvh::ShearedRay ray(rays[i].origin - tree.view().origin, rays[i].direction);
      for (std::uint32_t t = 0; t < mesh.view().triangle_count(); ++t) {
        const auto corner = [&](std::size_t k) {
          return mesh.vertices[mesh.indices[3 * t + k]] - tree.view().origin;
        };
        meet_alone(rays[i], ray, {corner(0), corner(1), corner(2), t, 0}, loop);
      }
      for (const RayHit& hit : {plain[i], wide[i]}) {
        ASSERT_EQ(hit.triangle, loop.triangle) << mesh.name << " ray " << i;
        ASSERT_EQ(hit.t, loop.t) << mesh.name << " ray " << i;
        ASSERT_EQ(hit.u, loop.u) << mesh.name << " ray " << i;
        ASSERT_EQ(hit.v, loop.v) << mesh.name << " ray " << i;
      }
      const std::uint8_t any = loop.triangle == bvh::kNone ? 0 : 1;
      ASSERT_EQ(any_plain[i], any) << mesh.name << " ray " << i;
      ASSERT_EQ(any_wide[i], any) << mesh.name << " ray " << i;
    }
  }
}

TEST(BvhRay, NoRayLeavesAClosedSurfaceThroughItsEdges) {
  for (const Vec3d center : {Vec3d{0, 0, 0}, Vec3d{4.5e5, 5.4e6, 300}}) {
    const Mesh mesh = test::sphere(20, center, 1.3);
    const Bvh tree = tree_of(mesh);
    MeshDraw draw(23);
    std::vector<Ray> rays;
    for (std::size_t i = 0; i < mesh.indices.size(); ++i) {
      const Vec3d &a = mesh.vertices[mesh.indices[i]],
                  &b = mesh.vertices[mesh.indices[i % 3 == 2 ? i - 2 : i + 1]];
      for (int k = 0; k < 4; ++k) {
        const Vec3d from = center + draw.in_cube(1);
        rays.push_back({from, a - from, 0, 1e9});
        rays.push_back({from, a + (b - a) * draw.unit() - from, 0, 1e9});
        rays.push_back({from, (a + b) * 0.5 - from, 0, 1e9});
      }
    }
    std::vector<RayHit> hits(rays.size());
    fastest_bvh_queries().first_hits(tree.view(), rays.data(), rays.size(), hits.data());
    for (std::size_t i = 0; i < rays.size(); ++i) ASSERT_NE(hits[i].triangle, bvh::kNone) << "ray " << i;
  }
}

TEST(BvhRay, KeepsToItsInterval) {
  Mesh mesh{"planes", {}, {}};
  for (const double z : {1.0, 2.0, 3.0}) mesh.add({-9, -9, z}, {9, -9, z}, {0, 9, z});
  const Bvh tree = tree_of(mesh);
  const auto hit = [&](double t_min, double t_max) {
    const Ray ray{{0.1, 0.1, 0}, {0, 0, 0.5}, t_min, t_max};
    RayHit found{};
    fastest_bvh_queries().first_hits(tree.view(), &ray, 1, &found);
    return found;
  };
  EXPECT_EQ(hit(0, 100).t, 2);
  EXPECT_EQ(hit(2, 100).t, 2) << "the ends count";
  EXPECT_EQ(hit(2.1, 100).t, 4);
  EXPECT_EQ(hit(0, 2).triangle, 0U);
  EXPECT_EQ(hit(0, 1.9).triangle, bvh::kNone);
  EXPECT_EQ(hit(6.5, 100).triangle, bvh::kNone);
}

TEST(BvhRay, WeightsGiveTheHit) {
  const Mesh mesh = test::soup(50, 2, 2, 9);
  const Bvh tree = tree_of(mesh);
  for (const Ray& ray : rays_for(mesh, 100)) {
    RayHit hit{};
    fastest_bvh_queries().first_hits(tree.view(), &ray, 1, &hit);
    if (hit.triangle == bvh::kNone) continue;
    const auto corner = [&](std::size_t k) { return mesh.vertices[mesh.indices[hit.triangle * 3 + k]]; };
    const Vec3d on = corner(0) * (1 - hit.u - hit.v) + corner(1) * hit.u + corner(2) * hit.v;
    EXPECT_LT(squared_distance(on, ray.origin + ray.direction * hit.t), 1e-20);
  }
}

}  // namespace
}  // namespace pc
