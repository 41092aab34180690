#include "ops/trees/shared_tops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <vector>

#include "core/error.h"

namespace {

using namespace pc;

struct Cloud {
  std::vector<Vec3d> points;
  std::vector<double> trees;
  std::vector<std::uint8_t> skip;
  void add(const Vec3d& p, double tree, bool skipped = false) {
    points.push_back(p);
    trees.push_back(tree);
    skip.push_back(skipped ? 1 : 0);
  }
};

std::vector<SharedTop> of(const Cloud& cloud, int threads = 2) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  Column<double> ids(cloud.trees.size());
  for (std::size_t i = 0; i < cloud.trees.size(); ++i) ids[i] = cloud.trees[i];
  return shared_tops({cloud.points.data(), cloud.points.size()}, {cloud.skip.data(), cloud.skip.size()},
                     AnyColumn(std::move(ids)), ctx);
}

/// Two cones of points of 12 and 9 m whose sides meet.
Cloud crowns(double away, std::uint64_t seed = 1) {
  std::mt19937_64 random{seed};
  std::uniform_real_distribution<double> u(0, 1);
  Cloud cloud;
  for (int i = 0; i < 40'000; ++i) {
    const bool first = i % 2 == 0;
    const double high = first ? 12 : 9, h = u(random), turn = 6.2831853 * u(random);
    const double r = 2.5 * (1 - h) * std::sqrt(u(random));
    cloud.add({away + (first ? 0 : 4) + r * std::cos(turn), -away + r * std::sin(turn), high * h},
              first ? 1 : 2);
  }
  return cloud;
}

TEST(SharedTops, TopsOfCrownsApartAreTheirOwn) {
  for (const double away : {0.0, 1e7}) {
    const auto tops = of(crowns(away));
    ASSERT_EQ(tops.size(), 2u);
    EXPECT_EQ(tops[0].id, 1u);
    EXPECT_EQ(tops[1].id, 2u);
    for (const SharedTop& top : tops) EXPECT_EQ(top.share, 0);
  }
}

TEST(SharedTops, ATopThatWasGivenToAnotherTreeIsShared) {
  Cloud cloud = crowns(0);
  // Points at the side of the higher crown, above the top of the lower one, go to the lower one.
  for (std::size_t i = 0; i < cloud.points.size(); ++i)
    if (cloud.trees[i] == 1 && cloud.points[i].x > 0.3 && cloud.points[i].z > 9.1) cloud.trees[i] = 2;
  const auto tops = of(cloud);
  EXPECT_GT(tops[1].share, kSharedTop);
}

TEST(SharedTops, ATreeWithoutItsOwnTopIsShared) {
  Cloud cloud = crowns(0);
  for (std::size_t i = 0; i < cloud.points.size(); ++i)
    if (cloud.trees[i] == 1 && cloud.points[i].z > 7) cloud.trees[i] = 3;
  const auto tops = of(cloud);
  EXPECT_GT(tops[0].share, kSharedTop);
  EXPECT_EQ(tops[1].share, 0);
  EXPECT_EQ(tops[2].share, 0);
}

/// By its definition, over all pairs.
std::map<std::uint64_t, double> by_hand(const Cloud& cloud) {
  std::map<std::uint64_t, std::size_t> top;
  std::map<std::uint64_t, double> lowest;
  const auto valid = [&](std::size_t i) {
    return cloud.skip[i] == 0 && cloud.trees[i] >= 0.5 && is_finite(cloud.points[i]);
  };
  const auto id = [&](std::size_t i) { return static_cast<std::uint64_t>(std::rint(cloud.trees[i])); };
  for (std::size_t i = 0; i < cloud.points.size(); ++i) {
    if (!valid(i)) continue;
    const auto at = top.emplace(id(i), i).first;
    if (cloud.points[i].z > cloud.points[at->second].z) at->second = i;
    const auto low = lowest.emplace(id(i), cloud.points[i].z).first;
    low->second = std::min(low->second, cloud.points[i].z);
  }
  std::map<std::uint64_t, double> out;
  for (const auto& [tree, row] : top) {
    const double reach = std::min(1.0, 0.1 * (cloud.points[row].z - lowest[tree]));
    double own = 0, others = 0;
    for (std::size_t i = 0; i < cloud.points.size(); ++i) {
      if (!valid(i) || squared_distance(cloud.points[i], cloud.points[row]) > reach * reach) continue;
      (id(i) == tree ? own : others) += 1;
    }
    out[tree] = others / (own + others);
  }
  return out;
}

TEST(SharedTops, SharesAreThoseOfAllPairs) {
  std::mt19937_64 random{9};
  std::uniform_real_distribution<double> u(0, 1);
  Cloud cloud;
  for (int i = 0; i < 20'000; ++i) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const Vec3d p{12 * u(random) - 6, 12 * u(random) - 6, i % 97 == 0 ? nan : 12 * u(random)};
    cloud.add(p, std::floor(40 * u(random)), i % 13 == 0);
  }
  for (int k = 0; k < 30; ++k) cloud.add({0.2 * k, 0, 5}, 1000 + k);  // of one point each
  const auto tops = of(cloud);
  const auto expected = by_hand(cloud);
  ASSERT_EQ(tops.size(), expected.size());
  for (const SharedTop& top : tops) EXPECT_EQ(top.share, expected.at(top.id)) << top.id;
}

TEST(SharedTops, OrderAndThreadsDoNotMatter) {
  Cloud cloud = crowns(0, 5), reversed;
  for (std::size_t i = 0; i < cloud.points.size(); ++i)
    if (cloud.points[i].x > 1.5 && cloud.points[i].z > 3) cloud.trees[i] = 2;
  for (std::size_t i = cloud.points.size(); i-- > 0;) reversed.add(cloud.points[i], cloud.trees[i]);
  const auto a = of(cloud), b = of(reversed, 1);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t k = 0; k < a.size(); ++k) EXPECT_EQ(a[k].share, b[k].share);
}

TEST(SharedTops, OfEquallyHighPointsTheFirstByPlaceIsTheTop) {
  // Three tops of tree 1, in rows that different threads read; points of tree 2 lie about the one with the least x and y.
  std::vector<Vec3d> high{{0, 0, 10}, {0, 9, 10}, {9, 0, 10}};
  for (std::size_t turn = 0; turn < 3; ++turn, std::rotate(high.begin(), high.begin() + 1, high.end())) {
    Cloud cloud;
    for (const Vec3d& p : high) {
      cloud.add(p, 1);
      for (int i = 0; i < 80'000; ++i) cloud.add({4, 4, 1e-4 * i}, 1);
    }
    for (int i = 0; i < 9; ++i) cloud.add({0, 0.05 * i, 9.8}, 2);
    for (const int threads : {1, 2, 5}) EXPECT_EQ(of(cloud, threads)[0].share, 0.9);
  }
}

TEST(SharedTops, OddInputs) {
  EXPECT_TRUE(of(Cloud{}).empty());
  Cloud cloud;
  for (int i = 0; i < 100; ++i) cloud.add({1, 2, 3}, 7);      // one place
  for (int i = 0; i < 50; ++i) cloud.add({1, 2, 3}, 9.2e15);  // ids that are no exact numbers
  cloud.add({1e300, -1e300, 1e300}, 8);
  cloud.add({1e300, -1e300, -1e300}, 8);
  const auto tops = of(cloud);
  ASSERT_EQ(tops.size(), 2u);
  EXPECT_EQ(tops[0].share, 0);
  EXPECT_EQ(tops[1].share, 0);
  JobControl control;
  OpContext ctx(control, Device::kCpu, 1);
  EXPECT_THROW(shared_tops({cloud.points.data(), cloud.points.size()}, {}, AnyColumn(Column<double>(3)), ctx),
               Error);
}

}  // namespace
