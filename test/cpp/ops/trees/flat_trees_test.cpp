#include "ops/trees/flat_trees.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numbers>
#include <numeric>
#include <random>

#include "core/error.h"
#include "core/op_context.h"
#include "support/cancel.h"
#include "support/columns.h"

namespace {

using namespace pc;

/// Points with the number of their tree.
struct Scene {
  std::vector<Vec3d> xyz;
  std::vector<std::uint32_t> tree;
  std::vector<std::uint8_t> skip;
  std::mt19937_64 random{3};

  double unit() { return std::uniform_real_distribution<double>(0, 1)(random); }
  double noise(double sigma) { return std::normal_distribution<double>(0, sigma)(random); }
  void add(const Vec3d& p, std::uint32_t id) {
    xyz.push_back(p);
    tree.push_back(id);
  }
  /// `per_m2` points of a rectangle along a and b.
  void add_plane(const Vec3d& corner, const Vec3d& a, const Vec3d& b, double per_m2, double sigma,
                 std::uint32_t id) {
    const Vec3d out = cross(a, b) * (1 / std::sqrt(dot(cross(a, b), cross(a, b))));
    const auto count = static_cast<int>(per_m2 * std::sqrt(dot(a, a)) * std::sqrt(dot(b, b)));
    for (int i = 0; i < count; ++i) add(corner + a * unit() + b * unit() + out * noise(sigma), id);
  }
  /// The mantle of a stem.
  void add_stem(double x, double y, double radius, double height, int count, double sigma, std::uint32_t id) {
    for (int i = 0; i < count; ++i) {
      const double turn = 2 * std::numbers::pi * unit(), r = radius + noise(sigma);
      add({x + r * std::cos(turn), y + r * std::sin(turn), height * unit()}, id);
    }
  }
  /// A crown of clumps of leaves on a stem.
  void add_tree(double x, double y, int count, std::uint32_t id) {
    for (int clump = 0; clump < count / 30; ++clump) {
      const Vec3d at{x + 4 * unit() - 2, y + 4 * unit() - 2, 4 + 6 * unit()};
      for (int i = 0; i < 30; ++i) add(at + Vec3d{noise(0.1), noise(0.1), noise(0.1)}, id);
    }
    add_stem(x, y, 0.15, 5, count / 5, 0.003, id);
  }
  std::map<std::uint64_t, double> shares(int threads = 2) const {
    JobControl control;
    OpContext ctx(control, Device::kCpu, threads);
    const AnyColumn ids = test::column_of(tree);
    std::map<std::uint64_t, double> out;
    std::uint64_t last = 0;
    for (const TreeFlatness& one :
         tree_flatness({xyz.data(), xyz.size()}, {skip.data(), skip.size()}, ids, ctx)) {
      EXPECT_GT(one.id, last);
      last = one.id;
      out[one.id] = one.share;
    }
    return out;
  }
  Scene where(const std::function<Vec3d(const Vec3d&)>& moved, bool reversed = false) const {
    Scene out;
    for (std::size_t k = 0; k < xyz.size(); ++k) {
      const std::size_t i = reversed ? xyz.size() - 1 - k : k;
      out.add(moved(xyz[i]), tree[i]);
    }
    return out;
  }
};

Scene street() {
  Scene scene;
  scene.add_tree(0, 0, 9000, 1);
  scene.add_tree(8, 0, 900, 2);
  scene.add_plane({-5, 6, 0}, {12, 0, 0}, {0, 0, 9}, 80, 0.01, 3);   // a wall
  scene.add_plane({12, 6, 0}, {3, 2, 0}, {0, 0, 4}, 200, 0.025, 4);  // one of a carried scanner, oblique
  scene.add_plane({-5, 6, 9}, {12, 0, 0}, {0, 8, 5}, 1.5, 0.05, 5);  // a roof from the air
  scene.add_stem(4, 3, 0.1, 8, 2000, 0.005, 6);                      // a post
  return scene;
}

TEST(FlatTrees, WallsAndRoofsAreTreesAreNot) {
  const auto shares = street().shares();
  EXPECT_LT(shares.at(1), 0.02);
  EXPECT_LT(shares.at(2), 0.1);
  EXPECT_GT(shares.at(3), 0.95);
  EXPECT_GT(shares.at(4), 0.9);
  EXPECT_GT(shares.at(5), 0.6);
  EXPECT_LT(shares.at(6), 0.02);
}

/// Within half a metre the circle of a stem departs from a plane by less than walls with noise do, from 1.04 m of radius on.
TEST(FlatTrees, StemsAreNotUpToFiveMetresOfRadius) {
  Scene scene;
  scene.add_stem(0, 0, 0.5, 6, 8000, 0.003, 1);
  scene.add_stem(20, 0, 0.85, 6, 12'000, 0.003, 2);
  scene.add_stem(40, 0, 1.6, 6, 20'000, 0.003, 3);
  scene.add_stem(60, 0, 4, 6, 50'000, 0.005, 4);
  scene.add_stem(90, 0, 9, 6, 90'000, 0.005, 5);  // a silo
  const auto shares = scene.shares();
  EXPECT_EQ(shares.at(1), 0);
  for (const std::uint64_t id : {2u, 3u, 4u}) EXPECT_LT(shares.at(id), kFlatTree) << id;
  EXPECT_GT(shares.at(5), 0.8);
}

/// Two thin stems beside each other lie on a plane.
TEST(FlatTrees, PairsOfThinStemsAreNot) {
  for (const double apart : {0.2, 0.3, 0.45}) {
    Scene scene;
    scene.add_stem(0, 0, 0.015, 2, 800, 0.003, 1);
    scene.add_stem(apart, 0, 0.015, 2, 500, 0.003, 2);
    for (const auto& [id, share] : scene.shares()) EXPECT_LT(share, 0.02) << id << " " << apart;
  }
}

TEST(FlatTrees, WallsInPiecesAreFlat) {
  Scene scene;
  for (std::uint32_t piece = 0; piece < 40; ++piece)
    scene.add_plane({0.3 * piece, 0, 0}, {0.3, 0, 0}, {0, 0, 5}, 100, 0.01, piece + 1);
  const auto shares = scene.shares();
  for (const auto& [id, share] : shares) EXPECT_GT(share, 0.8) << id;
}

/// `count` points of a wire of a radius along a vector.
void add_wire(Scene& scene, const Vec3d& from, const Vec3d& along, double radius, int count,
              std::uint32_t id) {
  const Vec3d u = along * (1 / std::sqrt(dot(along, along)));
  const Vec3d side{u.y, -u.x, 0}, up = cross(side, u);
  for (int i = 0; i < count; ++i) {
    const double turn = 2 * std::numbers::pi * scene.unit();
    scene.add(from + along * scene.unit() + side * (radius * std::cos(turn)) + up * (radius * std::sin(turn)),
              id);
  }
}

std::map<std::uint64_t, bool> wires(const Scene& scene, int threads = 2) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  const AnyColumn trees = test::column_of(scene.tree);
  std::map<std::uint64_t, bool> out;
  for (const TreeFlatness& tree : tree_flatness({scene.xyz.data(), scene.xyz.size()},
                                                {scene.skip.data(), scene.skip.size()}, trees, ctx))
    out[tree.id] = tree.wire;
  return out;
}

TEST(FlatTrees, WiresFromTheAirAndFromTheGround) {
  for (const double far : {0.0, 5e6}) {
    Scene scene;
    add_wire(scene, {far, far, 12}, {8, 3, 1}, 0.05, 12, 1);         // a conductor, seen by a flight
    add_wire(scene, {far, far + 20, 12}, {9, 0, 0}, 0.01, 2000, 2);  // one seen by tripods
    for (const double y : {0.0, 4.0})
      add_wire(scene, {far, far + 60 + y, 12}, {12, 0, 1}, 0.05, 40, 4);  // two
    const auto found = wires(scene);
    EXPECT_EQ(found, (std::map<std::uint64_t, bool>{{1, true}, {2, true}, {4, true}})) << far;
    EXPECT_EQ(wires(scene, 1), found);
  }
}

TEST(FlatTrees, StemsTwigsAndWallsAreNoWires) {
  Scene scene;
  add_wire(scene, {0, 0, 0}, {0.5, 0, 6}, 0.01, 2000, 1);   // upright
  add_wire(scene, {20, 0, 8}, {6, 0, 6}, 0.01, 2000, 2);    // a guy
  add_wire(scene, {40, 0, 8}, {1.5, 0, 0}, 0.01, 2000, 3);  // too short to tell
  scene.add_plane({60, 0, 0}, {6, 0, 0}, {0, 0, 5}, 300, 0.005, 4);
  scene.add_tree(80, 0, 3000, 5);
  // A leafless tree: level branches on a stem.
  for (int k = 0; k < 20; ++k)
    add_wire(scene, {100, 0, 3 + 0.4 * k}, {3 * std::cos(2.4 * k), 3 * std::sin(2.4 * k), 0.3}, 0.01, 400, 6);
  scene.add_stem(100, 0, 0.1, 11, 1000, 0.003, 6);
  // A log on the ground is thicker than a line; a crown seen by few points.
  add_wire(scene, {120, 0, 0.2}, {8, 0, 0}, 0.15, 3000, 7);
  for (int i = 0; i < 20; ++i)
    scene.add({140 + 3 * scene.unit(), 3 * scene.unit(), 10 + 1.4 * scene.unit()}, 8);
  for (int k = 0; k < 10; ++k)
    add_wire(scene, {160 + 1.2 * k, 0, 0}, {0.01, 0, 1.2}, 0.01, 200, 9);  // stakes
  for (const auto& [id, wire] : wires(scene)) EXPECT_FALSE(wire) << id;
  EXPECT_EQ(wires(scene).size(), 9u);
}

TEST(FlatTrees, OrderThreadsAndPlaceDoNotMatter) {
  const Scene scene = street();
  const auto shares = scene.shares(1);
  EXPECT_EQ(scene.shares(4), shares);
  const auto same = [](const Vec3d& p) { return p; };
  EXPECT_EQ(scene.where(same, true).shares(3), shares);
  const auto far = scene.where([](const Vec3d& p) { return p + Vec3d{1e7, -1e7, 3000}; }).shares();
  for (const auto& [id, share] : shares) EXPECT_NEAR(far.at(id), share, 0.12) << id;
}

TEST(FlatTrees, WhatDoesNotCountChangesNothing) {
  Scene scene = street();
  const auto shares = scene.shares();
  const std::size_t count = scene.xyz.size();
  scene.add_plane({-2, -2, 2}, {4, 0, 0}, {0, 4, 4}, 400, 0, 1);
  scene.skip.assign(scene.xyz.size(), 0);
  std::fill(scene.skip.begin() + static_cast<std::ptrdiff_t>(count), scene.skip.end(), std::uint8_t{1});
  EXPECT_EQ(scene.shares(), shares);
  scene.skip.clear();
  for (std::size_t i = count; i < scene.xyz.size(); ++i) scene.xyz[i].z = std::nan("");
  EXPECT_EQ(scene.shares(), shares);
  for (std::size_t i = count; i < scene.xyz.size(); ++i) {
    scene.xyz[i].z = 3;
    scene.tree[i] = 0;
  }
  EXPECT_EQ(scene.shares(), shares);
}

TEST(FlatTrees, FewPointsAndWorstShapes) {
  Scene scene;
  EXPECT_TRUE(scene.shares().empty());
  for (int i = 0; i < 9; ++i) scene.add({0.1 * i, 0.1 * (i % 3), 0}, 1);
  EXPECT_TRUE(scene.shares().empty());
  for (int i = 0; i < 1000; ++i) scene.add({50, 50, 50}, 2);                     // one place
  for (int i = 0; i < 1000; ++i) scene.add({100, 50, 0.01 * i}, 3);              // a line
  for (int i = 0; i < 1000; ++i) scene.add({200.0 + i, 50, 7.0 * (i % 13)}, 4);  // sparse
  for (int i = 0; i < 1000; ++i) scene.add({1e300, -1e300, 1e300}, 5);           // far
  const auto shares = scene.shares();
  for (const std::uint32_t id : {2, 3, 4, 5}) EXPECT_EQ(shares.at(id), 0) << id;
  scene.add_plane({0, 0, 0}, {5, 0, 0}, {0, 5, 0}, 100, 0, 9);  // a plane without noise
  EXPECT_GT(scene.shares().at(9), 0.95);
}

/// Hundreds of trees in one place: what is looked at around each point is bounded.
TEST(FlatTrees, ManyTreesInOnePlaceAreFast) {
  Scene scene;
  for (std::uint32_t i = 0; i < 400'000; ++i)
    scene.add({0.4 * scene.unit(), 0.4 * scene.unit(), 0.4 * scene.unit()}, 1 + i % 2000);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(scene.shares().size(), 2000U);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  EXPECT_LT(seconds, 40 * test::kCancelSeconds);
}

TEST(FlatTrees, EndsWithin250MsOfACancel) {
  Scene scene;
  for (int i = 0; i < 3'000'000; ++i)
    scene.add({60 * scene.unit(), 60 * scene.unit(), 20 * scene.unit()},
              1 + static_cast<std::uint32_t>(i % 4000));
  const AnyColumn ids = test::column_of(scene.tree);
  const auto run = [&](OpContext& ctx) { tree_flatness({scene.xyz.data(), scene.xyz.size()}, {}, ids, ctx); };
  test::expect_cancel_after(std::chrono::milliseconds(1), run);
  for (const int wait_ms : {300, 900})
    EXPECT_LT(test::least_cancel_latency(run, {"", 0, std::chrono::milliseconds(wait_ms), 2}),
              test::kCancelSeconds);
}

TEST(FlatTrees, Errors) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 1);
  const std::vector<Vec3d> xyz(3);
  const std::vector<std::uint8_t> skip(2);
  const AnyColumn three(Column<std::uint8_t>(3)), two(Column<std::uint8_t>(2)), triples(Column<Vec3d>(3));
  EXPECT_THROW(tree_flatness({xyz.data(), 3}, {skip.data(), 2}, three, ctx), Error);
  EXPECT_THROW(tree_flatness({xyz.data(), 3}, {}, two, ctx), Error);
  EXPECT_THROW(tree_flatness({xyz.data(), 3}, {}, triples, ctx), Error);
}

}  // namespace
