#include "ops/lad/folded_triangles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/random.h"

namespace pc {
namespace {

struct Mesh {
  std::vector<Vec3d> vertices;
  std::vector<std::uint32_t> indices;
};

/// A sheet of (n - 1)^2 squares of 1 cm, bent along x with this radius; infinity: flat.
Mesh sheet(std::uint32_t n, double radius, const Vec3d& at) {
  Mesh out;
  for (std::uint32_t i = 0; i < n; ++i)
    for (std::uint32_t j = 0; j < n; ++j) {
      const double x = 0.01 * i, angle = x / radius;
      const Vec3d place = std::isfinite(radius)
                              ? Vec3d{radius * std::sin(angle), 0.01 * j, radius * std::cos(angle)}
                              : Vec3d{x, 0.01 * j, 0};
      out.vertices.push_back(at + place);
    }
  for (std::uint32_t i = 0; i + 1 < n; ++i)
    for (std::uint32_t j = 0; j + 1 < n; ++j) {
      const std::uint32_t a = n * i + j, b = a + 1, c = a + n, d = c + 1;
      for (const std::uint32_t corner : {a, c, b, b, c, d}) out.indices.push_back(corner);
    }
  return out;
}

std::vector<int> folded(const Mesh& mesh, int threads = 1) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  const BulkVector<std::uint8_t> found = folded_triangles({mesh.vertices.data(), mesh.vertices.size()},
                                                          {mesh.indices.data(), mesh.indices.size()}, ctx);
  return {found.begin(), found.end()};
}

std::size_t marked(const Mesh& mesh) {
  const std::vector<int> found = folded(mesh);
  return static_cast<std::size_t>(std::count(found.begin(), found.end(), 1));
}

TEST(FoldedTriangles, FlatAndBentSheetsHaveNone) {
  EXPECT_EQ(marked(sheet(20, INFINITY, {0, 0, 0})), 0U);
  EXPECT_EQ(marked(sheet(20, 0.05, {0, 0, 0})), 0U);  // 11 degrees a square
  EXPECT_EQ(marked({}), 0U);
}

TEST(FoldedTriangles, IsWhatLiesBetweenTwoLeaves) {
  Mesh mesh = sheet(6, INFINITY, {0, 0, 0});
  const Mesh behind = sheet(6, INFINITY, {0.055, 0.003, 0.06});
  const auto first = static_cast<std::uint32_t>(mesh.vertices.size());
  const std::size_t leaves = (mesh.indices.size() + behind.indices.size()) / 3;
  mesh.vertices.insert(mesh.vertices.end(), behind.vertices.begin(), behind.vertices.end());
  for (const std::uint32_t corner : behind.indices) mesh.indices.push_back(first + corner);
  // From an edge of the nearer leaf to a corner of the farther one, and back.
  for (const std::uint32_t corner : {34U, 35U, first + 5, 30U, 31U, first}) mesh.indices.push_back(corner);
  const std::vector<int> found = folded(mesh);
  for (std::size_t t = 0; t < found.size(); ++t) EXPECT_EQ(found[t], t < leaves ? 0 : 1) << t;
}

TEST(FoldedTriangles, ATriangleAloneIsNone) {
  EXPECT_EQ(marked({{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {0, 1, 2}}), 0U);
  // Two that share a corner, not an edge.
  EXPECT_EQ(marked({{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 1, 1}}, {0, 1, 2, 0, 3, 4}}), 0U);
}

TEST(FoldedTriangles, BothSidesOfASharpRidgeAre) {
  const Mesh roof{{{0, 0, 0}, {0, 1, 0}, {1, 0, 1}, {-1, 0, 1}}, {0, 1, 2, 0, 1, 3}};
  EXPECT_EQ(marked(roof), 2U);
  const Mesh edge{{{0, 0, 0}, {0, 1, 0}, {1, 0, 0}, {0, 0.5, 0}}, {0, 1, 2, 0, 1, 3}};  // one without area
  EXPECT_EQ(marked(edge), 2U);
}

TEST(FoldedTriangles, AHubOfManyTrianglesTakesNoLongerThanASheet) {
  constexpr std::uint32_t kRim = 300'000;
  Mesh fan;
  fan.vertices.push_back({0, 0, 0});
  for (std::uint32_t k = 0; k <= kRim; ++k) {
    const double angle = 6 * static_cast<double>(k) / kRim;
    fan.vertices.push_back({std::cos(angle), std::sin(angle), 0});
  }
  for (std::uint32_t k = 1; k <= kRim; ++k)
    for (const std::uint32_t corner : {0U, k, k + 1}) fan.indices.push_back(corner);
  EXPECT_EQ(marked(fan), 0U);
}

TEST(FoldedTriangles, AreTheSameForAnyNumberOfThreads) {
  Mesh rough = sheet(100, INFINITY, {0, 0, 0});
  for (std::size_t v = 0; v < rough.vertices.size(); ++v) rough.vertices[v].z = 0.03 * random_unit(7, v);
  const std::vector<int> one = folded(rough, 1);
  EXPECT_EQ(one, folded(rough, 2));
  const auto count = static_cast<double>(std::count(one.begin(), one.end(), 1));
  EXPECT_GT(count, 0.05 * static_cast<double>(one.size()));
  EXPECT_LT(count, 0.95 * static_cast<double>(one.size()));
}

}  // namespace
}  // namespace pc
