#include "spatial/bvh_instances.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/error.h"
#include "spatial/bvh_queries.h"
#include "support/meshes.h"

namespace pc {
namespace {

using test::Mesh;
using test::MeshDraw;

std::vector<const BvhQueries*> implementations() {
  std::vector<const BvhQueries*> all{&portable_bvh_queries()};
  for (const BvhQueries* wide : {avx2_bvh_queries(), avx512_bvh_queries()})
    if (wide != nullptr) all.push_back(wide);
  return all;
}

/// A random turn, scaled per axis in [low, high], mirrored if asked.
AffineTransform drawn(MeshDraw& draw, double low, double high, bool mirrored, const Vec3d& offset) {
  const double a = 6.28 * draw.unit(), b = 6.28 * draw.unit(), ca = std::cos(a), sa = std::sin(a),
               cb = std::cos(b), sb = std::sin(b);
  const double turn[3][3] = {{ca, -sa * cb, sa * sb}, {sa, ca * cb, -ca * sb}, {0, sb, cb}};
  AffineTransform transform{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double scale = (mirrored && axis == 1 ? -1 : 1) * (low + (high - low) * draw.unit());
    for (std::size_t row = 0; row < 3; ++row) transform.matrix[row][axis] = turn[row][axis] * scale;
  }
  transform.offset = offset;
  return transform;
}

struct Scene {
  std::vector<Mesh> meshes;
  std::vector<TriangleMesh> prototypes;
  std::vector<Instance> instances;
  Mesh expanded{"expanded", {}, {}};
  std::vector<std::pair<std::uint32_t, std::uint32_t>> source;  ///< (instance, triangle) of each expanded one

  InstancedBvh tree() const {
    JobControl control;
    OpContext ctx(control, Device::kCpu, 2);
    return InstancedBvh({prototypes.data(), prototypes.size()}, {instances.data(), instances.size()}, ctx);
  }
  void expand() {
    for (const Mesh& mesh : meshes) prototypes.push_back(mesh.view());
    for (std::uint32_t i = 0; i < instances.size(); ++i) {
      const Mesh& mesh = meshes[instances[i].prototype];
      const AffineTransform& m = instances[i].to_world;
      const auto place = [&](std::uint32_t vertex) {
        const Vec3d& p = mesh.vertices[vertex];
        const auto row = [&](std::size_t r) {
          return m.matrix[r][0] * p.x + m.matrix[r][1] * p.y + m.matrix[r][2] * p.z;
        };
        return Vec3d{row(0), row(1), row(2)} + m.offset;
      };
      for (std::uint32_t t = 0; t < mesh.indices.size(); t += 3) {
        expanded.add(place(mesh.indices[t]), place(mesh.indices[t + 1]), place(mesh.indices[t + 2]));
        source.emplace_back(i, t / 3);
      }
    }
  }
};

/// A sphere, a soup and one flat triangle, 60 times; `low` and `high` bound the scales.
Scene scene_of(double low, double high, const Vec3d& center) {
  Scene scene;
  scene.meshes = {test::sphere(6, {3, 2, 1}, 1), test::soup(60, 3, 0.7, 5), {"one", {}, {}}};
  scene.meshes[2].add({0, 0, 0}, {1, 0, 0}, {0, 1, 0});
  MeshDraw draw(13);
  for (std::uint32_t i = 0; i < 60; ++i)
    scene.instances.push_back({i % 3, drawn(draw, low, high, i % 2 == 0, center + draw.in_cube(20))});
  scene.instances[7].to_world = {{{0, 1, 0}, {1, 0, 0}, {0, 0, 2}}, center};  // along the axes, mirrored
  scene.expand();
  return scene;
}

Bvh expanded_tree(const Scene& scene) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  return Bvh(scene.expanded.view(), ctx);
}

struct Case {
  double low, high, tolerance;
  Vec3d center;
};
const Case kCases[] = {{1, 1, 1e-12, {0, 0, 0}},
                       {0.02, 3, 1e-12, {0, 0, 0}},
                       {0.001, 1, 1e-11, {0, 0, 0}},
                       {0.5, 2, 1e-8, {1e7, -1e7, 500}}};

TEST(InstancedBvh, HitsAreThoseOfTheMeshInPlace) {
  for (const Case& c : kCases) {
    const Scene scene = scene_of(c.low, c.high, c.center);
    const InstancedBvh tree = scene.tree();
    const Bvh whole = expanded_tree(scene);
    MeshDraw draw(3);
    std::vector<Ray> rays;
    for (std::size_t i = 0; i < 3000; ++i) {
      const Vec3d from = c.center + draw.in_cube(40);
      const Vec3d to = scene.expanded.vertices[i * 31 % scene.expanded.vertices.size()] + draw.in_cube(0.2);
      rays.push_back(
          {from, i % 4 == 0 ? Vec3d{0, 0, i % 8 == 0 ? 1.0 : -2.0} : to - from, 0, i % 5 == 0 ? 0.9 : 1e9});
    }
    std::vector<RayHit> truth(rays.size());
    portable_bvh_queries().first_hits(whole.view(), rays.data(), rays.size(), truth.data());
    for (const BvhQueries* queries : implementations()) {
      std::vector<InstanceHit> hits(rays.size());
      std::vector<std::uint8_t> any(rays.size());
      queries->first_instance_hits(tree.view(), rays.data(), rays.size(), hits.data());
      queries->any_instance_hits(tree.view(), rays.data(), rays.size(), any.data());
      std::size_t hit_count = 0, same_triangle = 0;
      for (std::size_t i = 0; i < rays.size(); ++i) {
        const bool hit = truth[i].triangle != bvh::kNone;
        ASSERT_EQ(hits[i].instance != bvh::kNone, hit) << "ray " << i;
        ASSERT_EQ(any[i] != 0, hit) << "ray " << i;
        if (!hit) continue;
        ++hit_count;
        const double length = std::sqrt(dot(rays[i].direction, rays[i].direction));
        ASSERT_NEAR(hits[i].t * length, truth[i].t * length, 50 * c.tolerance) << "ray " << i;
        const auto& [instance, triangle] = scene.source[truth[i].triangle];
        same_triangle += instance == hits[i].instance && triangle == hits[i].triangle ? 1 : 0;
      }
      EXPECT_GT(hit_count, 800U);
      EXPECT_GE(same_triangle + 3, hit_count);  // but where triangles share an edge
    }
  }
}

TEST(InstancedBvh, ClosestPointsAreThoseOfTheMeshInPlace) {
  for (const Case& c : kCases) {
    const Scene scene = scene_of(c.low, c.high, c.center);
    const InstancedBvh tree = scene.tree();
    const Bvh whole = expanded_tree(scene);
    MeshDraw draw(4);
    std::vector<Vec3d> points;
    for (std::size_t i = 0; i < 2000; ++i) {
      points.push_back(c.center + draw.in_cube(i % 10 == 0 ? 1000 : 40));
      if (i % 2 == 0)
        points.back() = scene.expanded.vertices[i * 31 % scene.expanded.vertices.size()] + draw.in_cube(0.05);
    }
    std::vector<ClosestTriangle> truth(points.size());
    portable_bvh_queries().closest(whole.view(), points.data(), points.size(),
                                   Vec3d{0, 0, 0} - whole.view().origin, bvh::kNone, truth.data());
    for (const BvhQueries* queries : implementations()) {
      std::vector<ClosestInstance> found(points.size());
      queries->closest_instances(tree.view(), points.data(), points.size(), found.data());
      for (std::size_t i = 0; i < points.size(); ++i) {
        ASSERT_NEAR(std::sqrt(found[i].squared), std::sqrt(truth[i].squared), 50 * c.tolerance)
            << "point " << i;
        ASSERT_LT(found[i].instance, scene.instances.size());
      }
    }
  }
}

/// Rays in the plane of two boxes' common side, at the edge there: what is rounded on the way to the prototype leaves no gap.
TEST(InstancedBvh, NoRayPassesBetweenTrianglesOfAnInstance) {
  Scene scene;
  scene.meshes = {{"square",
                   {{-1, -1, 0}, {0, -1, 0}, {1, -1, 0}, {-1, 1, 0}, {0, 1, 0}, {1, 1, 0}},
                   {0, 1, 4, 0, 4, 3, 1, 2, 5, 1, 5, 4}}};
  MeshDraw draw(29);
  for (const double low : {1.0, 0.01}) {
    scene.instances.clear();
    for (int i = 0; i < 200; ++i)
      scene.instances.push_back({0, drawn(draw, low, 1, i % 2 == 0, draw.in_cube(5000))});
    scene.prototypes = {scene.meshes[0].view()};
    const InstancedBvh tree = scene.tree();
    std::vector<Ray> rays;
    for (const Instance& instance : scene.instances) {
      const auto& m = instance.to_world.matrix;
      const auto place = [&](double y, double z) {  // x = 0
        return Vec3d{m[0][1] * y + m[0][2] * z, m[1][1] * y + m[1][2] * z, m[2][1] * y + m[2][2] * z} +
               instance.to_world.offset;
      };
      for (int k = 0; k < 20; ++k) {
        const Vec3d from = place(4 * draw.unit() - 2, 1 + draw.unit());
        rays.push_back({from, place(1.8 * draw.unit() - 0.9, 0) - from, 0, 1.5});
      }
    }
    for (const BvhQueries* queries : implementations()) {
      std::vector<InstanceHit> hits(rays.size());
      queries->first_instance_hits(tree.view(), rays.data(), rays.size(), hits.data());
      for (std::size_t i = 0; i < rays.size(); ++i) ASSERT_NE(hits[i].instance, bvh::kNone) << "ray " << i;
    }
  }
}

TEST(InstancedBvh, EqualHitsGoToTheLowestInstance) {
  Scene scene;
  scene.meshes = {test::sphere(4, {0, 0, 0}, 1)};
  const AffineTransform here{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {5, 6, 7}};
  for (int i = 0; i < 40; ++i) scene.instances.push_back({0, here});
  scene.expand();
  const InstancedBvh tree = scene.tree();
  const Ray ray{{5.1, 6.2, 20}, {0, 0, -1}, 0, 100};
  const Vec3d point{5, 6, 8.5};
  for (const BvhQueries* queries : implementations()) {
    InstanceHit hit{};
    ClosestInstance closest{};
    queries->first_instance_hits(tree.view(), &ray, 1, &hit);
    queries->closest_instances(tree.view(), &point, 1, &closest);
    EXPECT_EQ(hit.instance, 0U);
    EXPECT_EQ(closest.instance, 0U);
    EXPECT_NEAR(closest.squared, 0.25, 1e-12);
  }
}

TEST(InstancedBvh, RefusesTransformsThatCannotBeUndone) {
  const auto fault = [](const AffineTransform& transform, std::uint32_t prototype = 0) {
    Scene scene;
    scene.meshes = {test::sphere(4, {0, 0, 0}, 1)};
    scene.instances = {{0, {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {0, 0, 0}}}};
    scene.expand();
    scene.instances.push_back({prototype, transform});
    try {
      scene.tree();
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  const double nan = std::nan("");
  EXPECT_EQ(fault({{{2, 0, 0}, {0, -3, 0}, {0, 0, 0.1}}, {1, 2, 3}}), "accepted");
  EXPECT_NE(fault({{{1, 0, 0}, {0, 1, 0}, {0, 0, 0}}, {0, 0, 0}}).find("instance 1 is singular"),
            std::string::npos);
  EXPECT_NE(fault({{{1, 2, 3}, {2, 4, 6}, {0, 0, 1}}, {0, 0, 0}}).find("singular"), std::string::npos);
  EXPECT_NE(fault({{{1, 0, 0}, {0, 1, 0}, {0, 0, 1e-5}}, {0, 0, 0}}).find("1e4"), std::string::npos);
  EXPECT_NE(fault({{{1, 0, 0}, {0, nan, 0}, {0, 0, 1}}, {0, 0, 0}}).find("not finite"), std::string::npos);
  EXPECT_NE(fault({{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {0, HUGE_VAL, 0}}).find("not finite"),
            std::string::npos);
  EXPECT_NE(fault({{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {0, 2e15, 0}}).find("beyond 1e15"), std::string::npos);
  EXPECT_NE(fault({{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {0, 0, 0}}, 1).find("prototype 1"), std::string::npos);
}

TEST(InstancedBvh, NoInstancesNoHits) {
  const Mesh mesh = test::sphere(4, {0, 0, 0}, 1);
  const TriangleMesh prototype = mesh.view();
  JobControl control;
  OpContext ctx(control, Device::kCpu, 1);
  const InstancedBvh tree({&prototype, 1}, {}, ctx);
  const Ray ray{{0, 0, 5}, {0, 0, -1}, 0, 100};
  InstanceHit hit{};
  fastest_bvh_queries().first_instance_hits(tree.view(), &ray, 1, &hit);
  EXPECT_EQ(hit.instance, bvh::kNone);
}

/// 100 M triangles: 10,000 times a plant of 10,000.
TEST(InstancedBvh, MemoryOfAHundredMillionTriangles) {
  Scene scene;
  scene.meshes = {test::soup(10'000, 2, 0.1, 8)};
  scene.prototypes = {scene.meshes[0].view()};
  MeshDraw draw(6);
  for (std::uint32_t i = 0; i < 10'000; ++i)
    scene.instances.push_back({0, drawn(draw, 0.8, 1.2, false, draw.in_cube(300))});
  const InstancedBvh tree = scene.tree();
  EXPECT_LT(tree.bytes(), 16U << 20U);
}

}  // namespace
}  // namespace pc
