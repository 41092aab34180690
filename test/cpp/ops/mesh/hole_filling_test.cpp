#include "ops/mesh/hole_filling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/random.h"
#include "support/surfaces.h"

namespace pc {
namespace {

using test::Topology;

struct Mesh {
  std::vector<Vec3d> places, normals;
  std::vector<std::uint32_t> triangles;
};

HoleFilling fill(const Mesh& mesh, double radius, int threads = 2) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return fill_holes(
      {mesh.places.data(), mesh.places.size()}, {mesh.normals.data(), mesh.normals.size()},
      {mesh.triangles.data(), mesh.triangles.size()}, [&](const Vec3d&) { return radius; }, ctx);
}

/// The mesh with its holes filled.
Topology topology_with(const Mesh& mesh, const HoleFilling& filling) {
  std::vector<std::uint32_t> all = mesh.triangles;
  all.insert(all.end(), filling.triangles.begin(), filling.triangles.end());
  return test::topology_of(mesh.places.size(), all.data(), all.size());
}

/// A closed torus of squares cut in two; normals point outward.
Mesh torus(std::uint32_t around, std::uint32_t across) {
  Mesh mesh;
  for (std::uint32_t i = 0; i < around; ++i) {
    for (std::uint32_t j = 0; j < across; ++j) {
      const double p = 2 * M_PI * i / around, t = 2 * M_PI * j / across;
      const Vec3d n{std::cos(t) * std::cos(p), std::cos(t) * std::sin(p), std::sin(t)};
      mesh.normals.push_back(n);
      mesh.places.push_back(Vec3d{5e5 + std::cos(p), 5e6 + std::sin(p), 0} + n * 0.35);
      const auto at = [&](std::uint32_t a, std::uint32_t b) {
        return (i + a) % around * across + (j + b) % across;
      };
      for (const std::uint32_t v : {at(0, 0), at(1, 0), at(1, 1), at(0, 0), at(1, 1), at(0, 1)})
        mesh.triangles.push_back(v);
    }
  }
  return mesh;
}

/// Drops triangles for which `drop` says so.
template <class Drop>
void cut(Mesh& mesh, const Drop& drop) {
  std::vector<std::uint32_t> kept;
  for (std::size_t t = 0; t < mesh.triangles.size(); t += 3)
    if (!drop(t / 3, &mesh.triangles[t])) kept.insert(kept.end(), &mesh.triangles[t], &mesh.triangles[t] + 3);
  mesh.triangles = kept;
}

TEST(HoleFilling, ClosesATorusFromWhichTrianglesAreMissing) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Mesh mesh = torus(60, 30);
    cut(mesh, [&](std::size_t t, const std::uint32_t*) { return random_unit(seed, t) < 0.1; });
    const HoleFilling filling = fill(mesh, 0.2);
    const Topology found = topology_with(mesh, filling);
    EXPECT_EQ(found.boundary + found.nonmanifold + found.conflicts, 0U) << seed;
    EXPECT_EQ(found.euler, 0) << seed;
    EXPECT_EQ(filling.open_edge_count, 0U) << seed;
    EXPECT_GT(filling.filled_count, 100U) << seed;
  }
}

TEST(HoleFilling, TellsTheEdgesThatStayOpen) {
  Mesh mesh = torus(60, 30);
  cut(mesh, [&](std::size_t t, const std::uint32_t*) { return random_unit(3, t) < 0.3; });
  const HoleFilling filling = fill(mesh, 0.2);
  const Topology found = topology_with(mesh, filling);
  EXPECT_EQ(found.nonmanifold + found.conflicts, 0U);
  EXPECT_EQ(filling.open_edge_count, found.boundary);
}

/// Random points on a square in rows, so that their mesh is known; a polygon of corners around the middle is missing.
TEST(HoleFilling, AFlatHoleGetsTheDelaunayTriangulation) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Mesh mesh;
    constexpr std::uint32_t kCorners = 11;
    // A star-shaped hole, and a ring of triangles around it.
    for (std::uint32_t i = 0; i < 2 * kCorners; ++i) {
      const double angle = 2 * M_PI * (i % kCorners) / kCorners;
      const double r = i < kCorners ? 1 + 0.3 * random_unit(seed, i) : 2;
      mesh.places.push_back({r * std::cos(angle), r * std::sin(angle), 7});
      mesh.normals.push_back({0, 0, 1});
    }
    for (std::uint32_t i = 0; i < kCorners; ++i) {
      const std::uint32_t j = (i + 1) % kCorners;
      for (const std::uint32_t v : {i, i + kCorners, j + kCorners, i, j + kCorners, j})
        mesh.triangles.push_back(v);
    }
    const HoleFilling filling = fill(mesh, 10);
    ASSERT_EQ(filling.filled_count, 1U);  // not the outer border
    ASSERT_EQ(filling.triangles.size(), 3U * (kCorners - 2));
    double least = HUGE_VAL;
    const auto cost = [&](const std::uint32_t* v) {
      const Vec3d &a = mesh.places[v[0]], &b = mesh.places[v[1]], &c = mesh.places[v[2]];
      const double area = cross(b - a, c - a).z / 2;
      return area <= 0 ? HUGE_VAL
                       : area * (squared_distance(a, b) + squared_distance(b, c) + squared_distance(a, c));
    };
    // All triangulations, by the apex over the first edge of each part.
    const auto all = [&](const auto& self, std::uint32_t i, std::uint32_t j) -> double {
      if (j - i < 2) return 0;
      double best = HUGE_VAL;
      for (std::uint32_t m = i + 1; m < j; ++m) {
        const std::uint32_t v[3] = {i, m, j};
        best = std::min(best, self(self, i, m) + self(self, m, j) + cost(v));
      }
      return best;
    };
    least = all(all, 0, kCorners - 1);
    double found = 0;
    for (std::size_t t = 0; t < filling.triangles.size(); t += 3) found += cost(&filling.triangles[t]);
    EXPECT_NEAR(found, least, 1e-9 * least) << seed;
  }
}

TEST(HoleFilling, BordersOfASheetAndEndsOfATubeStay) {
  Mesh sheet;
  for (int y = 0; y < 3; ++y)
    for (int x = 0; x < 4; ++x) {
      sheet.places.push_back({0.1 * x, 0.1 * y, 0.001 * x * y});
      sheet.normals.push_back({0, 0, 1});
    }
  for (std::uint32_t y = 0; y < 2; ++y)
    for (std::uint32_t x = 0; x < 3; ++x) {
      const std::uint32_t a = 4 * y + x;
      for (const std::uint32_t v : {a, a + 1, a + 5, a, a + 5, a + 4}) sheet.triangles.push_back(v);
    }
  EXPECT_EQ(fill(sheet, 10).triangles.size(), 0U);
  EXPECT_EQ(fill(sheet, 10).open_edge_count, 10U);
  Mesh tube;
  constexpr std::uint32_t kAround = 7;
  for (std::uint32_t z = 0; z < 5; ++z)
    for (std::uint32_t i = 0; i < kAround; ++i) {
      const double t = 2 * M_PI * i / kAround;
      tube.places.push_back({std::cos(t), std::sin(t), 0.5 * z});
      tube.normals.push_back({std::cos(t), std::sin(t), 0});
    }
  for (std::uint32_t z = 0; z < 4; ++z)
    for (std::uint32_t i = 0; i < kAround; ++i) {
      const std::uint32_t a = kAround * z + i, b = kAround * z + (i + 1) % kAround;
      for (const std::uint32_t v : {a, b, b + kAround, a, b + kAround, a + kAround})
        tube.triangles.push_back(v);
    }
  EXPECT_EQ(fill(tube, 10).triangles.size(), 0U);
  EXPECT_EQ(fill(tube, 10).open_edge_count, 2U * kAround);
}

TEST(HoleFilling, HolesWiderThanTheBallStay) {
  Mesh mesh = torus(60, 30);
  // All triangles at one vertex: a hexagon whose triangles have circles between half and twice the spacing.
  cut(mesh, [](std::size_t, const std::uint32_t* v) { return v[0] == 905 || v[1] == 905 || v[2] == 905; });
  const double spacing = std::sqrt(squared_distance(mesh.places[904], mesh.places[905]));
  EXPECT_EQ(fill(mesh, 0.5 * spacing).filled_count, 0U);
  EXPECT_EQ(fill(mesh, 0.5 * spacing).open_edge_count, 6U);
  EXPECT_EQ(fill(mesh, 2 * spacing).filled_count, 1U);
}

TEST(HoleFilling, SliversAreAsWideAsTheirCircles) {
  // A hole of three corners almost on a line, whose circle has a radius of 125, within a ring of triangles.
  const Mesh mesh{{{0, 0, 0}, {0.5, -0.001, 0}, {1, 0, 0}, {-1, 1, 0}, {0.5, -1, 0}, {2, 1, 0}},
                  std::vector<Vec3d>(6, {0, 0, 1}),
                  {0, 3, 4, 0, 4, 1, 1, 4, 5, 1, 5, 2, 2, 5, 3, 2, 3, 0}};
  EXPECT_EQ(fill(mesh, 120).filled_count, 0U);
  EXPECT_EQ(fill(mesh, 130).filled_count, 1U);
}

TEST(HoleFilling, NewEdgesAreNoEdgesOfTheMeshOrOfOtherHoles) {
  // On coarse tori most pairs of vertices are joined, so that triangles across holes find their edges taken.
  std::size_t filled = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    Mesh mesh = torus(3 + seed % 4, 3 + seed / 4 % 3);
    for (Vec3d& n : mesh.normals)
      n = test::random_direction(seed, static_cast<std::uint64_t>(&n - mesh.normals.data()));
    cut(mesh, [&](std::size_t t, const std::uint32_t*) { return random_unit(seed + 1, t) < 0.5; });
    const HoleFilling filling = fill(mesh, 5, 1);
    filled += filling.filled_count;
    const Topology found = topology_with(mesh, filling);
    ASSERT_EQ(found.nonmanifold + found.conflicts, 0U) << seed;
    ASSERT_EQ(found.boundary, filling.open_edge_count) << seed;
  }
  EXPECT_GT(filled, 300U);
}

TEST(HoleFilling, HolesThatMeetAtAVertexAreFilledApart) {
  Mesh mesh = torus(60, 30);
  const std::uint32_t hub = 905;
  std::vector<std::size_t> around;
  for (std::size_t t = 0; t < mesh.triangles.size() / 3; ++t)
    for (std::size_t k = 0; k < 3; ++k)
      if (mesh.triangles[3 * t + k] == hub) around.push_back(t);
  ASSERT_EQ(around.size(), 6U);
  // Every pair of the six triangles: neighbours make one hole of four edges, others two of three.
  for (std::size_t a = 0; a < 6; ++a) {
    for (std::size_t b = a + 1; b < 6; ++b) {
      Mesh holed = mesh;
      cut(holed, [&](std::size_t t, const std::uint32_t*) { return t == around[a] || t == around[b]; });
      const std::size_t open = topology_with(holed, {}).boundary;
      const HoleFilling filling = fill(holed, 0.2);
      EXPECT_EQ(filling.filled_count, open == 4 ? 1U : 2U);
      const Topology found = topology_with(holed, filling);
      EXPECT_EQ(found.boundary + found.nonmanifold + found.conflicts, 0U);
    }
  }
}

TEST(HoleFilling, SameTrianglesForAnyThreadCountAndNoMeshBreaksIt) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Mesh mesh = torus(12 + seed % 9, 5 + seed % 7);
    for (Vec3d& p : mesh.places) {
      const auto at = static_cast<std::uint64_t>(&p - mesh.places.data());
      p = p + test::random_direction(seed, at) * (0.1 * random_unit(seed, 3));
      if (random_unit(seed + 7, at) < 0.02) p.x = std::nan("");
    }
    for (Vec3d& n : mesh.normals)
      if (random_unit(seed, static_cast<std::uint64_t>(&n - mesh.normals.data())) < 0.1) n = n * -1;
    cut(mesh, [&](std::size_t t, const std::uint32_t*) {
      return random_unit(seed + 1, t) < 0.6 * random_unit(seed, 1);
    });
    const HoleFilling one = fill(mesh, 0.5, 1), many = fill(mesh, 0.5, 4);
    ASSERT_TRUE(
        std::equal(one.triangles.begin(), one.triangles.end(), many.triangles.begin(), many.triangles.end()));
    const Topology found = topology_with(mesh, one);
    ASSERT_EQ(found.nonmanifold + found.conflicts, 0U) << seed;
    ASSERT_EQ(found.boundary, one.open_edge_count) << seed;
  }
}

}  // namespace
}  // namespace pc
