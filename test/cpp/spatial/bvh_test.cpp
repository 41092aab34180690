#include "spatial/bvh.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "spatial/bvh_queries.h"
#include "spatial/bvh_traversal.h"
#include "spatial/triangle_distance.h"
#include "support/cancel.h"
#include "support/meshes.h"

namespace pc {
namespace {

using test::hard_meshes;
using test::Mesh;
using test::MeshDraw;

Bvh tree_of(const Mesh& mesh, int threads = 2) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return Bvh(mesh.view(), ctx);
}

/// Each triangle once, or a copy of it with a lower index; each child within its lane's box.
void expect_sound(const Mesh& mesh, const Bvh& tree) {
  std::vector<int> seen(mesh.view().triangle_count(), 0);
  for (const bvh::Node& node : tree.nodes()) {
    for (std::size_t lane = 0; lane < bvh::kWidth; ++lane) {
      const std::uint32_t child = node.child[lane];
      if (child == bvh::kNone) continue;
      const auto inside = [&](const float low, const float high, std::size_t axis) {
        return node.min[axis][lane] <= low && node.max[axis][lane] >= high;
      };
      if ((child & bvh::kTriangle) == 0) {
        const bvh::Node& below = tree.nodes()[child];
        for (std::size_t i = 0; i < 3 * bvh::kWidth; ++i) {
          const std::size_t k = i / 3, axis = i % 3;
          ASSERT_TRUE(below.child[k] == bvh::kNone || inside(below.min[axis][k], below.max[axis][k], axis));
        }
        continue;
      }
      const bvh::Triangle& triangle = tree.triangles()[child & ~bvh::kTriangle];
      ++seen[triangle.index];
      for (const Vec3d& p : {triangle.a, triangle.b, triangle.c}) {
        const double at[3] = {p.x, p.y, p.z};
        for (std::size_t axis = 0; axis < 3; ++axis) {
          ASSERT_LE(static_cast<double>(node.min[axis][lane]), at[axis]) << mesh.name;
          ASSERT_GE(static_cast<double>(node.max[axis][lane]), at[axis]) << mesh.name;
        }
      }
    }
  }
  const auto corners = [&](std::size_t t, std::size_t k) { return mesh.vertices[mesh.indices[3 * t + k]]; };
  for (std::size_t t = 0; t < seen.size(); ++t) {
    if (seen[t] == 1) continue;
    ASSERT_EQ(seen[t], 0) << mesh.name << " triangle " << t;
    bool copy = false;
    for (std::size_t s = 0; s < t && !copy; ++s)
      copy = seen[s] == 1 && corners(s, 0) == corners(t, 0) && corners(s, 1) == corners(t, 1) &&
             corners(s, 2) == corners(t, 2);
    ASSERT_TRUE(copy) << mesh.name << " lost triangle " << t;
  }
}

TEST(Bvh, HoldsEveryTriangleInItsBox) {
  for (const Vec3d offset : {Vec3d{0, 0, 0}, Vec3d{4.5e5, 5.4e6, 120}})
    for (const Mesh& mesh : hard_meshes(offset)) expect_sound(mesh, tree_of(mesh));
}

TEST(Bvh, IsTheSameForAnyThreadCount) {
  std::vector<Mesh> meshes = hard_meshes({0, 0, 0});
  meshes.push_back(test::soup(90'000, 100, 0.5, 11));  // more than a subtree: shared passes
  for (const Mesh& mesh : meshes) {
    const Bvh one = tree_of(mesh, 1), three = tree_of(mesh, 3);
    ASSERT_EQ(one.nodes().size, three.nodes().size) << mesh.name;
    ASSERT_EQ(0, std::memcmp(one.nodes().data, three.nodes().data, one.nodes().size * sizeof(bvh::Node)))
        << mesh.name;
    for (std::size_t i = 0; i < one.triangles().size; ++i)
      ASSERT_EQ(one.triangles()[i].index, three.triangles()[i].index) << mesh.name;
    expect_sound(mesh, three);
  }
}

std::vector<Vec3d> queries_for(const Mesh& mesh, std::size_t count) {
  Box3d box;
  for (const Vec3d& vertex : mesh.vertices) box.add(vertex);
  const Vec3d size = box.max - box.min + Vec3d{1, 1, 1};
  MeshDraw draw(5);
  std::vector<Vec3d> points;
  for (std::size_t i = 0; i < count; ++i) {
    const Vec3d& near = mesh.vertices[i % mesh.vertices.size()];
    switch (i % 4) {
      case 0:
        points.push_back(near);
        break;
      case 1:
        points.push_back(near + draw.in_cube(1e-3));
        break;
      case 2:
        points.push_back(box.min - size * 0.2 +
                         Vec3d{draw.unit() * size.x, draw.unit() * size.y, draw.unit() * size.z} * 1.4);
        break;
      default:
        points.push_back(near + draw.in_cube(20 * (size.x + size.y + size.z)));
    }
  }
  return points;
}

/// Distances to all triangles in extended precision: the plane if the projection lies inside, and the three edges.
long double brute_distance(const Mesh& mesh, const Vec3d& point) {
  using L = long double;
  struct V {
    L x, y, z;
    V operator-(const V& o) const { return {x - o.x, y - o.y, z - o.z}; }
    V operator*(L s) const { return {x * s, y * s, z * s}; }
    L operator|(const V& o) const { return x * o.x + y * o.y + z * o.z; }
    V operator^(const V& o) const { return {y * o.z - z * o.y, z * o.x - x * o.z, x * o.y - y * o.x}; }
  };
  const V p{point.x, point.y, point.z};
  L best = HUGE_VALL;
  for (std::size_t t = 0; t < mesh.indices.size(); t += 3) {
    V v[3];
    for (std::size_t k = 0; k < 3; ++k) {
      const Vec3d& q = mesh.vertices[mesh.indices[t + k]];
      v[k] = {q.x, q.y, q.z};
    }
    const V n = (v[1] - v[0]) ^ (v[2] - v[0]);
    bool inside = (n | n) > 0;
    for (std::size_t k = 0; k < 3; ++k) {
      const V edge = v[(k + 1) % 3] - v[k], to = p - v[k];
      const L length = edge | edge,
              along = length > 0 ? std::min<L>(1, std::max<L>(0, (edge | to) / length)) : 0;
      const V rest = to - edge * along;
      best = std::min(best, rest | rest);
      inside = inside && ((n ^ edge) | to) >= 0;
    }
    if (inside) {
      const L height = n | (p - v[0]);
      best = std::min(best, height * height / (n | n));
    }
  }
  return std::sqrt(best);
}

TEST(Bvh, ClosestDistancesEqualBruteForce) {
  for (const Vec3d offset : {Vec3d{0, 0, 0}, Vec3d{-1e7, 1e7, 1e3}}) {
    for (const Mesh& mesh : hard_meshes(offset)) {
      const Bvh tree = tree_of(mesh);
      const std::vector<Vec3d> points = queries_for(mesh, 400);
      const Vec3d shift = Vec3d{0, 0, 0} - tree.view().origin;
      std::vector<ClosestTriangle> plain(points.size()), wide(points.size());
      portable_bvh_queries().closest(tree.view(), points.data(), points.size(), shift, bvh::kNone,
                                     plain.data());
      fastest_bvh_queries().closest(tree.view(), points.data(), points.size(), shift, bvh::kNone,
                                    wide.data());
      for (std::size_t i = 0; i < points.size(); ++i) {
        const auto truth = static_cast<double>(brute_distance(mesh, points[i]));
        const double bound = 1e-9 * std::max(1.0, truth * 1e-6);  // coordinates of 1e12 have steps of 1e-4
        ASSERT_NEAR(std::sqrt(plain[i].squared), truth, bound) << mesh.name << " point " << i;
        ASSERT_EQ(plain[i].squared, wide[i].squared) << mesh.name << " point " << i;
        ASSERT_EQ(plain[i].triangle, wide[i].triangle) << mesh.name << " point " << i;
      }
    }
  }
}

TEST(Bvh, PointsSearchedTogetherGetWhatEachGetsAlone) {
  for (const Mesh& mesh : hard_meshes({0, 0, 0})) {
    const Bvh tree = tree_of(mesh);
    const std::vector<Vec3d> points = queries_for(mesh, 40);
    const Vec3d shift = Vec3d{0, 0, 0} - tree.view().origin;
    for (const BvhQueries* queries : {&portable_bvh_queries(), avx2_bvh_queries(), avx512_bvh_queries()}) {
      for (std::size_t size = 1; queries != nullptr && size <= points.size(); ++size) {
        std::vector<ClosestTriangle> found(size);
        const std::uint32_t guess = size % 2 == 0 ? bvh::kNone : 0;
        queries->closest(tree.view(), points.data(), size, shift, guess, found.data());
        for (std::size_t i = 0; i < size; ++i) {
          const ClosestTriangle alone =
              bvh::closest_triangle<bvh::PlainLanes>(tree.view(), points[i] + shift, bvh::kNone);
          ASSERT_EQ(found[i].squared, alone.squared) << mesh.name << " point " << i << " of " << size;
          ASSERT_EQ(found[i].triangle, alone.triangle) << mesh.name << " point " << i << " of " << size;
          ASSERT_EQ(found[i].slot, alone.slot) << mesh.name << " point " << i << " of " << size;
        }
      }
    }
  }
}

TEST(Bvh, EquallyCloseTrianglesYieldTheLowestIndex) {
  for (const Mesh& mesh : hard_meshes({0, 0, 0})) {
    const Bvh tree = tree_of(mesh);
    const std::vector<Vec3d> points = queries_for(mesh, 200);
    std::vector<ClosestTriangle> found(points.size());
    const Vec3d shift = Vec3d{0, 0, 0} - tree.view().origin;
    fastest_bvh_queries().closest(tree.view(), points.data(), points.size(), shift, bvh::kNone, found.data());
    for (std::size_t i = 0; i < points.size(); ++i) {
      const Vec3d p = points[i] + shift;
      double least = HUGE_VAL;
      std::uint32_t first = bvh::kNone;
      for (std::size_t t = 0; t < mesh.view().triangle_count(); ++t) {
        const auto corner = [&](std::size_t k) { return mesh.vertices[mesh.indices[3 * t + k]] + shift; };
        const double squared = closest_on_triangle(corner(0), corner(1), corner(2), p).squared;
        if (squared < least) {
          least = squared;
          first = static_cast<std::uint32_t>(t);
        }
      }
      ASSERT_EQ(found[i].squared, least) << mesh.name << " point " << i;
      ASSERT_EQ(found[i].triangle, first) << mesh.name << " point " << i;
    }
  }
}

TEST(Bvh, NoTrianglesGiveNothing) {
  const Bvh tree = tree_of(Mesh{"none", {{1, 2, 3}}, {}});
  const Vec3d point{0, 0, 0};
  ClosestTriangle found{};
  fastest_bvh_queries().closest(tree.view(), &point, 1, point, bvh::kNone, &found);
  EXPECT_EQ(found.triangle, bvh::kNone);
  EXPECT_EQ(found.squared, HUGE_VAL);
  const Ray ray{{0, 0, 0}, {1, 0, 0}, 0, 10};
  RayHit hit{};
  fastest_bvh_queries().first_hits(tree.view(), &ray, 1, &hit);
  EXPECT_EQ(hit.triangle, bvh::kNone);
}

void expect_refusal(const Mesh& mesh, const std::string& words) {
  try {
    tree_of(mesh);
    FAIL() << "accepted: " << words;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
  }
}

TEST(Bvh, RefusesWhatIsNoMeshAndNamesThePlace) {
  Mesh mesh = test::soup(100'000, 10, 1, 1);
  mesh.vertices[250'007].y = std::numeric_limits<double>::quiet_NaN();
  mesh.vertices[280'000].z = std::numeric_limits<double>::infinity();
  expect_refusal(mesh, "mesh vertex 250007 ");
  Mesh far = test::soup(3, 1, 1, 1);
  far.vertices[4].x = 2e15;
  expect_refusal(far, "mesh vertex 4 ");
  Mesh index = test::soup(3, 1, 1, 1);
  index.indices[5] = 9;
  expect_refusal(index, "mesh index 5 is 9, but there are 9 vertices");
  index.indices.pop_back();
  expect_refusal(index, "multiple of 3");
}

TEST(Bvh, CancelStopsTheBuildInTime) {
  // All in one place but different: the order of copies is sorted out before anything else.
  Mesh mesh{"one place", {}, {}};
  for (std::uint32_t i = 0; i < 1000; ++i) mesh.vertices.push_back({i % 2 == 0 ? -1.0 : 1.0, i * 1e-3, 0});
  for (std::uint32_t i = 0; i < 600'000; ++i) mesh.indices.insert(mesh.indices.end(), {0, 999, i % 997});
  for (const Mesh& each : {mesh, test::soup(600'000, 100, 0.5, 11)}) {
    SCOPED_TRACE(each.name);
    test::expect_cancel_after(std::chrono::milliseconds(40),
                              [&](OpContext& ctx) { const Bvh tree(each.view(), ctx); });
  }
}

}  // namespace
}  // namespace pc
