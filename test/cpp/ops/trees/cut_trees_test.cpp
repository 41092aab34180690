#include "ops/trees/cut_trees.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/op_context.h"

namespace {

using namespace pc;

/// Points with the number of their tree, 0 = the ground.
struct Plot {
  std::vector<Vec3d> xyz;
  std::vector<std::uint32_t> tree;

  void add(const Vec3d& p, std::uint32_t id) {
    xyz.push_back(p);
    tree.push_back(id);
  }
  Plot where(const std::function<bool(const Vec3d&)>& keep) const {
    Plot out;
    for (std::size_t i = 0; i < xyz.size(); ++i)
      if (keep(xyz[i])) out.add(xyz[i], tree[i]);
    return out;
  }
  Plot moved(const std::function<Vec3d(const Vec3d&)>& move) const {
    Plot out;
    for (std::size_t i = 0; i < xyz.size(); ++i) out.add(move(xyz[i]), tree[i]);
    return out;
  }
};

/// A crown of leaves in a ball, in clumps so that it ends raggedly, on a stem.
void add_tree(Plot& plot, double x, double y, std::uint32_t id, std::mt19937_64& random) {
  std::normal_distribution<double> normal(0, 1);
  std::uniform_real_distribution<double> unit(0, 1);
  for (int clump = 0; clump < 250; ++clump) {
    Vec3d off{normal(random), normal(random), normal(random)};
    const double length = std::sqrt(dot(off, off)), reach = 2.5 * std::cbrt(unit(random));
    const Vec3d center = Vec3d{x, y, 8} + off * (reach / length);
    for (int i = 0; i < 30; ++i)
      plot.add(center + Vec3d{0.12 * normal(random), 0.12 * normal(random), 0.12 * normal(random)}, id);
  }
  for (int i = 0; i < 1500; ++i) {
    const double turn = 2 * std::numbers::pi * unit(random);
    plot.add({x + 0.15 * std::cos(turn), y + 0.15 * std::sin(turn), 6 * unit(random)}, id);
  }
}

/// Nine trees 6 m apart on a ground of 24 m; tree 5 is the one in the middle, at 0, 0.
Plot nine_trees(bool ground = true) {
  std::mt19937_64 random(1);
  Plot plot;
  std::uint32_t id = 0;
  for (int row = -1; row <= 1; ++row)
    for (int column = -1; column <= 1; ++column) add_tree(plot, 6.0 * column, 6.0 * row, ++id, random);
  if (!ground) return plot;
  std::uniform_real_distribution<double> across(-12, 12);
  for (int i = 0; i < 40'000; ++i) plot.add({across(random), across(random), 0}, 0);
  return plot;
}

std::vector<CutTree> cut(const Plot& plot, int threads = 2, const std::vector<std::uint8_t>& skip = {}) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  Column<std::uint32_t> trees(plot.tree.size());
  std::copy(plot.tree.begin(), plot.tree.end(), trees.view().data);
  const AnyColumn column(std::move(trees));
  return cut_trees({plot.xyz.data(), plot.xyz.size()}, {skip.data(), skip.size()}, &column, ctx);
}

std::vector<std::uint64_t> ids(const std::vector<CutTree>& found) {
  std::vector<std::uint64_t> out;
  for (const CutTree& tree : found) out.push_back(tree.id);
  return out;
}

using Ids = std::vector<std::uint64_t>;

TEST(CutTrees, WholeTreesAreNotCut) {
  EXPECT_EQ(ids(cut(nine_trees())), Ids{});
  EXPECT_EQ(ids(cut(nine_trees(false))), Ids{});
  for (std::uint32_t id = 1; id <= 9; ++id) {
    const Plot all = nine_trees(false);
    Plot one;
    for (std::size_t i = 0; i < all.xyz.size(); ++i)
      if (all.tree[i] == id) one.add(all.xyz[i], id);
    EXPECT_EQ(ids(cut(one)), Ids{}) << id;
  }
}

/// A dense ball of points touches its hull in many cells, which thin out all the same.
TEST(CutTrees, ASmoothBallIsNotCut) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> side(-3, 3);
  for (const std::size_t count : {20'000, 100'000}) {
    Plot ball;
    while (ball.xyz.size() < count) {
      const Vec3d p{side(random), side(random), side(random)};
      if (dot(p, p) < 9) ball.add(p, 1);
    }
    EXPECT_EQ(ids(cut(ball)), Ids{}) << count;
    // Its outline is a circle, of which a straight line cuts off a part.
    EXPECT_EQ(ids(cut(ball.where([](const Vec3d& p) { return p.x < 2; }))), Ids{1}) << count;
  }
}

TEST(CutTrees, ASquareCutsThoseThatReachBeyond) {
  for (const bool ground : {true, false}) {
    const auto found = cut(nine_trees(ground).where([](const Vec3d& p) { return p.x < 5.5 && p.y > -7; }));
    ASSERT_EQ(ids(found), (Ids{1, 2, 3, 6, 9}));
    // Tree 6 stands half a metre beyond its cut: a chord of sqrt(2.5^2 - .5^2) on each side.
    EXPECT_NEAR(found[3].width_m, 4.9, 0.7);
    for (const CutTree& tree : found) EXPECT_FALSE(tree.top);
  }
}

TEST(CutTrees, TurnedSquaresAndCirclesToo) {
  const Plot plot = nine_trees();
  const double c = std::cos(0.5), s = std::sin(0.5);
  const auto turned =
      cut(plot.where([&](const Vec3d& p) { return p.x < 5.5 && p.y > -7; }).moved([&](const Vec3d& p) {
        return Vec3d{c * p.x - s * p.y, s * p.x + c * p.y, p.z};
      }));
  EXPECT_EQ(ids(turned), (Ids{1, 2, 3, 6, 9}));
  // Four trees stand 6 m from the centre, four 8.5 m.
  const auto round = cut(plot.where([](const Vec3d& p) { return std::hypot(p.x, p.y) < 7.5; }));
  EXPECT_EQ(ids(round), (Ids{1, 2, 3, 4, 6, 7, 8, 9}));
}

TEST(CutTrees, ALevelCutIsSeen) {
  const auto found = cut(nine_trees().where([](const Vec3d& p) { return p.z < 9; }));
  EXPECT_EQ(ids(found), (Ids{1, 2, 3, 4, 5, 6, 7, 8, 9}));
  for (const CutTree& tree : found) {
    EXPECT_TRUE(tree.top);
    EXPECT_EQ(tree.width_m, 0);
  }
}

TEST(CutTrees, WithoutNumbersTheCloudIsTreeOne) {
  const Plot plot = nine_trees(false);
  Plot part;
  for (std::size_t i = 0; i < plot.xyz.size(); ++i)
    if (plot.tree[i] == 5 && plot.xyz[i].x > -1) part.add(plot.xyz[i], 0);
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  const auto found = cut_trees({part.xyz.data(), part.xyz.size()}, {}, nullptr, ctx);
  ASSERT_EQ(ids(found), Ids{1});
  EXPECT_NEAR(found[0].width_m, 4.1, 1);  // a chord of 4.6 m with clumps at its ends
  EXPECT_EQ(ids(cut(part)), Ids{}) << "points of no tree are not cut";
}

/// A stem, a wall, the shell of a box: their points lie at the border because they are surfaces.
TEST(CutTrees, SurfacesAtTheBorderAreNoCut) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> unit(0, 1);
  Plot stem, box;
  for (int i = 0; i < 20'000; ++i) {
    const double turn = 2 * std::numbers::pi * unit(random);
    stem.add({0.2 * std::cos(turn), 0.2 * std::sin(turn), 10 * unit(random)}, 1);
    const double a = 6 * unit(random), b = 3 * unit(random);
    const int side = i % 4;
    box.add(side < 2 ? Vec3d{a, side == 0 ? 0.0 : 6.0, b} : Vec3d{side == 2 ? 0.0 : 6.0, a, b}, 1);
  }
  EXPECT_EQ(ids(cut(stem)), Ids{});
  // With a branch to one side, the stem itself lies at the border.
  Plot forked = stem;
  for (int i = 0; i < 8000; ++i) {
    const double turn = 2 * std::numbers::pi * unit(random), along = unit(random);
    forked.add({3 * along, 0.05 * std::cos(turn), 6 + 2 * along + 0.05 * std::sin(turn)}, 1);
  }
  for (const CutTree& tree : cut(forked)) EXPECT_EQ(tree.width_m, 0);
  for (const CutTree& tree : cut(box)) EXPECT_EQ(tree.width_m, 0) << "walls end above, not at the side";
}

TEST(CutTrees, OrderThreadsAndPlaceDoNotMatter) {
  const Plot part = nine_trees().where([](const Vec3d& p) { return p.x < 5.5 && p.y > -7; });
  const auto expected = cut(part, 1);
  ASSERT_FALSE(expected.empty());
  Plot shuffled = part;
  std::mt19937_64 random(4);
  for (std::size_t i = shuffled.xyz.size(); i-- > 1;) {
    const std::size_t k = random() % (i + 1);
    std::swap(shuffled.xyz[i], shuffled.xyz[k]);
    std::swap(shuffled.tree[i], shuffled.tree[k]);
  }
  for (const int threads : {1, 2, 5}) {
    const auto found = cut(shuffled, threads);
    ASSERT_EQ(ids(found), ids(expected));
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i].width_m, expected[i].width_m);
  }
  const auto far = cut(part.moved([](const Vec3d& p) { return p + Vec3d{5e6, -4e6, 1e3}; }));
  ASSERT_EQ(ids(far), ids(expected));
  for (std::size_t i = 0; i < far.size(); ++i) EXPECT_NEAR(far[i].width_m, expected[i].width_m, 0.3);
}

TEST(CutTrees, PointsTwiceAndRowsThatDoNotCountChangeNothing) {
  Plot part = nine_trees().where([](const Vec3d& p) { return p.x < 5.5 && p.y > -7; });
  const auto expected = cut(part);
  std::vector<std::uint8_t> skip(part.xyz.size(), 0);
  const Plot once = part;
  for (std::size_t i = 0; i < once.xyz.size(); ++i) part.add(once.xyz[i], once.tree[i]);
  EXPECT_EQ(ids(cut(part)), ids(expected));
  part = once;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (int i = 0; i < 100; ++i) {
    part.add({100.0 + i, 50, 0}, 1);
    skip.push_back(1);
    part.add({nan, nan, nan}, 2);
    skip.push_back(0);
  }
  EXPECT_EQ(ids(cut(part, 2, skip)), ids(expected));
}

TEST(CutTrees, CloudsWithoutABorderHaveNone) {
  Plot plot;
  EXPECT_TRUE(cut(plot).empty());
  plot.add({1, 2, 3}, 1);
  EXPECT_TRUE(cut(plot).empty());
  for (int i = 0; i < 1000; ++i) plot.add({1, 2, 3}, 1);
  EXPECT_TRUE(cut(plot).empty());
  for (int i = 0; i < 1000; ++i) plot.add({1, 2, 0.01 * i}, 1);
  EXPECT_TRUE(cut(plot).empty());
  for (int i = 0; i < 1000; ++i) plot.add({1 + 0.01 * i, 2 + 0.01 * i, 0.01 * (i % 7)}, 1);
  EXPECT_TRUE(cut(plot).empty());
  plot.add({1e7, 1e7, 0}, 2);
  plot.add({1e7, -1e7, 0}, 3);
  EXPECT_TRUE(cut(plot).empty());
}

TEST(CutTrees, Errors) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 1);
  const std::vector<Vec3d> xyz(3);
  const std::vector<std::uint8_t> skip(2);
  EXPECT_THROW(cut_trees({xyz.data(), 3}, {skip.data(), 2}, nullptr, ctx), Error);
  const AnyColumn two(Column<std::uint8_t>(2));
  EXPECT_THROW(cut_trees({xyz.data(), 3}, {}, &two, ctx), Error);
  const AnyColumn triples(Column<Vec3d>(3));
  EXPECT_THROW(cut_trees({xyz.data(), 3}, {}, &triples, ctx), Error);
  control.cancel_requested = true;
  EXPECT_THROW(cut_trees({xyz.data(), 3}, {}, nullptr, ctx), Error);
}

}  // namespace
