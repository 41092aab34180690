#include "ops/trees/treetops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "support/columns.h"

namespace {

using namespace pc;
using pc::test::span_of;

std::vector<std::uint32_t> tops(std::uint32_t nx, const std::vector<double>& heights, double radius,
                                double least, int threads = 2) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  const RasterFrame frame{0, 0, 1, nx, static_cast<std::uint32_t>(heights.size() / nx)};
  return treetops(frame, span_of(heights), radius, least, ctx);
}

/// The definition, for heights that are all different.
std::vector<std::uint32_t> brute_force(int nx, const std::vector<double>& heights, double radius,
                                       double least) {
  std::vector<std::uint32_t> out;
  const int ny = static_cast<int>(heights.size()) / nx, reach = static_cast<int>(radius) + 1;
  for (int at = 0; at < nx * ny; ++at) {
    bool top = heights[at] >= least;
    for (int dy = -reach; dy <= reach; ++dy) {
      for (int dx = -reach; dx <= reach; ++dx) {
        const int x = at % nx + dx, y = at / nx + dy;
        if (x < 0 || y < 0 || x >= nx || y >= ny) continue;
        const bool beside = std::max(std::abs(dx), std::abs(dy)) <= 1;
        if (beside || dx * dx + dy * dy <= radius * radius) top = top && !(heights[y * nx + x] > heights[at]);
      }
    }
    if (top) out.push_back(static_cast<std::uint32_t>(at));
  }
  return out;
}

TEST(Treetops, EqualTheDefinitionOnRandomGrids) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> height(0, 20);
  for (const int nx : {1, 2, 31, 64}) {
    for (const int ny : {1, 7, 50}) {
      std::vector<double> heights;
      for (int i = 0; i < nx * ny; ++i) heights.push_back(height(random) < 2 ? NAN : height(random));
      for (const double radius : {0.4, 1.0, 1.5, 3.3, 8.0, 40.0}) {
        EXPECT_EQ(tops(nx, heights, radius, 5), brute_force(nx, heights, radius, 5)) << nx << " " << radius;
        EXPECT_EQ(tops(nx, heights, radius, 5, 1), tops(nx, heights, radius, 5, 3));
      }
    }
  }
}

TEST(Treetops, AFlatTopCountsOnceAtItsCentre) {
  std::vector<double> flat(15 * 9, 1.0);
  for (int y = 2; y < 7; ++y)
    for (int x = 3; x < 12; ++x) flat[y * 15 + x] = 6;
  EXPECT_EQ(tops(15, flat, 1.5, 2), (std::vector<std::uint32_t>{4 * 15 + 7}));
  EXPECT_EQ(tops(40, std::vector<double>(40 * 30, 5.0), 3.3, 2).size(), 1U);
}

TEST(Treetops, AShelfBesideAHigherCellIsNoTop) {
  std::vector<double> shelf(30 * 3, 4.0);  // longer than the radius
  shelf[31] = 9;
  EXPECT_EQ(tops(30, shelf, 2, 2), (std::vector<std::uint32_t>{31}));
}

TEST(Treetops, EqualTopsWithinTheRadiusAreOne) {
  std::vector<double> pair(20, 3.0);
  pair[5] = pair[8] = 7;
  EXPECT_EQ(tops(20, pair, 3, 2), (std::vector<std::uint32_t>{5}));
  EXPECT_EQ(tops(20, pair, 2.9, 2), (std::vector<std::uint32_t>{5, 8}));
}

TEST(Treetops, VoidsAndLowCellsAreNone) {
  EXPECT_TRUE(tops(5, std::vector<double>(25, NAN), 2, 0).empty());
  EXPECT_TRUE(tops(5, std::vector<double>(25, 1.9), 2, 2).empty());
}

}  // namespace
