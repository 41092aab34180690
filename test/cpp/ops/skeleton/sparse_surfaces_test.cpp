#include "ops/skeleton/sparse_surfaces.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "spatial/union_find.h"

namespace pc {
namespace {

constexpr double kPi = 3.14159265358979323846;

PointGraph graph_of(const std::vector<Vec3d>& vertices) {
  PointGraph graph{};
  for (const Vec3d& v : vertices) graph.vertex.push_back(v);
  return graph;
}

std::vector<VertexLink> links_of(const std::vector<Vec3d>& vertices, double edge_m, int threads = 1) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  const PointGraph graph = graph_of(vertices);
  const KdTree tree(graph.vertex.view(), ctx);
  return sparse_surface_links(graph, tree, edge_m, ctx);
}

/// Random places of a square of 1 m: their mean number of neighbours within `edge_m` is pi edge_m^2 count.
std::vector<Vec3d> square(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> unit;
  std::vector<Vec3d> out;
  for (std::size_t i = 0; i < count; ++i) {
    const double x = unit(random), y = unit(random);
    out.push_back({x, y, 0});
  }
  return out;
}

std::size_t largest_part(const std::vector<Vec3d>& vertices, double edge_m,
                         const std::vector<VertexLink>& links) {
  UnionFind sets(vertices.size());
  for (std::size_t i = 0; i < vertices.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (squared_distance(vertices[i], vertices[j]) <= edge_m * edge_m) sets.join(i, j);
  for (const VertexLink& link : links) sets.join(link.a, link.b);
  std::vector<std::size_t> size(vertices.size(), 0);
  std::size_t largest = 0;
  for (std::size_t i = 0; i < vertices.size(); ++i) largest = std::max(largest, ++size[sets.root_of(i)]);
  return largest;
}

TEST(SparseSurfaces, ASurfaceOfTooFewNeighboursStaysWhole) {
  const std::vector<Vec3d> vertices = square(2000, 3);
  const double edge_m = std::sqrt(3.5 / (kPi * 2000));  // 3.5 neighbours: below 4.5
  EXPECT_LT(largest_part(vertices, edge_m, {}), 1000U);
  EXPECT_GT(largest_part(vertices, edge_m, links_of(vertices, edge_m)), 1900U);
}

TEST(SparseSurfaces, LinksAreThoseThatAreMissingAndEachOnce) {
  const std::vector<Vec3d> vertices = square(1000, 4);
  const double edge_m = std::sqrt(5.5 / (kPi * 1000));
  const std::vector<VertexLink> links = links_of(vertices, edge_m), again = links_of(vertices, edge_m, 3);
  ASSERT_FALSE(links.empty());
  ASSERT_EQ(links.size(), again.size());
  for (std::size_t i = 0; i < links.size(); ++i) {
    EXPECT_EQ(links[i].a, again[i].a);
    EXPECT_EQ(links[i].b, again[i].b);
    EXPECT_LT(links[i].a, links[i].b);
    EXPECT_EQ(links[i].squared, squared_distance(vertices[links[i].a], vertices[links[i].b]));
    EXPECT_GT(links[i].squared, edge_m * edge_m);
    EXPECT_LE(links[i].squared, 4 * edge_m * edge_m);
    if (i > 0) {
      EXPECT_LT(std::pair(links[i - 1].a, links[i - 1].b), std::pair(links[i].a, links[i].b));
    }
  }
}

TEST(SparseSurfaces, TwigsAndDenseSurfacesGetNone) {
  std::vector<Vec3d> twigs;
  for (int k = 0; k < 3; ++k)
    for (int i = 0; i < 300; ++i) twigs.push_back({0.05 * k, 0, 0.004 * i});
  EXPECT_TRUE(links_of(twigs, 0.012).empty());
  const double edge_m = std::sqrt(40 / (kPi * 2000));
  EXPECT_LT(links_of(square(2000, 5), edge_m).size(), 20U);  // at the rim
  EXPECT_TRUE(links_of({}, 0.01).empty());
  EXPECT_TRUE(links_of({{0, 0, 0}, {0, 0, 0}}, 0.01).empty());
}

}  // namespace
}  // namespace pc
