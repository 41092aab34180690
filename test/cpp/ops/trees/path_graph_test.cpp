#include "ops/trees/path_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include "io/record_support.h"

namespace {

using namespace pc;
using record_test::with_context;

std::vector<Vec3d> scattered(std::size_t count) {
  std::mt19937_64 random(7);
  std::exponential_distribution<double> at(
      1);  // dense here, sparse there: many are near in one direction alone
  std::vector<Vec3d> places(count);
  for (Vec3d& p : places) p = {at(random), at(random), at(random)};
  return places;
}

std::vector<std::set<std::uint32_t>> brute_force(const std::vector<Vec3d>& places, std::size_t neighbors,
                                                 double most_gap_m) {
  std::vector<std::set<std::uint32_t>> joined(places.size());
  for (std::uint32_t i = 0; i < places.size(); ++i) {
    std::vector<std::pair<double, std::uint32_t>> by_distance;
    for (std::uint32_t j = 0; j < places.size(); ++j)
      if (j != i) by_distance.emplace_back(squared_distance(places[i], places[j]), j);
    std::sort(by_distance.begin(), by_distance.end());
    for (std::size_t k = 0; k < std::min(neighbors, by_distance.size()); ++k) {
      const auto& [squared, j] = by_distance[k];
      if (squared > most_gap_m * most_gap_m) break;
      joined[i].insert(j);
      joined[j].insert(i);
    }
  }
  return joined;
}

PathGraph graph_of(const std::vector<Vec3d>& places, std::uint32_t neighbors, double most_gap_m,
                   int threads) {
  return with_context(threads, [&](OpContext& ctx) {
    return path_graph({places.data(), places.size()}, neighbors, most_gap_m, ctx);
  });
}

TEST(PathGraph, ListsEachNeighborOfBothDirectionsOnce) {
  for (const std::size_t count : {1U, 2U, 5U, 700U})
    for (const std::uint32_t neighbors : {1U, 4U, 12U}) {
      const std::vector<Vec3d> places = scattered(count);
      const auto expected = brute_force(places, neighbors, 0.6);
      const PathGraph graph = graph_of(places, neighbors, 0.6, 2);
      ASSERT_EQ(graph.size(), count);
      for (std::uint32_t i = 0; i < count; ++i) {
        std::vector<std::uint32_t> found;
        for (const std::uint32_t next : graph.of(i)) found.push_back(next);
        std::sort(found.begin(), found.end());
        EXPECT_TRUE(std::equal(found.begin(), found.end(), expected[i].begin(), expected[i].end()))
            << "node " << i << " of " << count << " with " << neighbors << " neighbours";
      }
    }
}

TEST(PathGraph, NoNodesAndNodesOutOfReach) {
  EXPECT_EQ(graph_of({}, 4, 1, 1).size(), 0U);
  const PathGraph graph = graph_of({{0, 0, 0}, {10, 0, 0}}, 4, 1, 1);
  for (const std::uint32_t node : {0U, 1U}) EXPECT_FALSE(graph.of(node).begin() != graph.of(node).end());
}

}  // namespace
