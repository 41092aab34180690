#include "ops/ground/mirror_images.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <vector>

namespace {

using namespace pc;

/// Points, and which of them are images.
struct Scene {
  std::vector<Vec3d> points;
  std::vector<bool> is_image;
  void add(const Vec3d& p, bool image = false) {
    points.push_back(p);
    is_image.push_back(image);
  }
};

using Random = std::mt19937_64;

double uniform(Random& random, double from, double to) {
  return std::uniform_real_distribution<double>(from, to)(random);
}

/// A stem, which leans a little, and a crown of leaves.
void add_tree(Scene& scene, double x, double y, double z, double high, Random& random) {
  const double lean = uniform(random, -0.05, 0.05);
  for (int i = 0; i < 3000; ++i) {
    const double h = uniform(random, 0, high - 1), turn = uniform(random, 0, 2 * std::numbers::pi);
    scene.add({x + lean * h + 0.15 * std::cos(turn), y + 0.15 * std::sin(turn), z + h});
  }
  for (int i = 0; i < 6000; ++i) {
    Vec3d p;
    do p = {uniform(random, -1, 1), uniform(random, -1, 1), uniform(random, -1, 1)};
    while (p.x * p.x + p.y * p.y + p.z * p.z > 1);
    scene.add({x + lean * high + 2 * p.x, y + 2 * p.y, z + high * (0.7 + 0.3 * p.z)});
  }
}

/// Ground with a round pond about a place, trees around it, and what the pond mirrors: a part of all points.
void add_pond(Scene& scene, double at_x, double at_y, double at_z, double part, Random& random) {
  const std::size_t first = scene.points.size();
  const double level = at_z - 0.63;
  for (int i = 0; i < 150'000; ++i) {
    const double x = uniform(random, -14, 14), y = uniform(random, -14, 14), r = std::hypot(x, y);
    const double z = at_z + 0.02 * x - 1.2 * std::exp(-std::pow(r / 4.5, 6));
    if (z > level) scene.add({at_x + x, at_y + y, z});
  }
  for (int k = 0; k < 9; ++k) {
    const double turn = 0.7 * k, r = 6.5 + k % 3 * 2;
    add_tree(scene, at_x + r * std::cos(turn), at_y + r * std::sin(turn), at_z, 8 + k % 4, random);
  }
  for (std::size_t i = first, end = scene.points.size(); i < end; ++i) {
    const Vec3d p = scene.points[i];
    if (p.z - level > 6 || uniform(random, 0, 1) > part) continue;
    scene.add({p.x, p.y, 2 * level - p.z + uniform(random, -0.02, 0.02)}, true);
  }
}

MirrorImages of(const std::vector<Vec3d>& points, int threads = 2) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return mirror_images(HitPoints::assume_hits({points.data(), points.size()}), ctx);
}

/// Images at least 0.2 m below the mirror that are marked; points above it that are.
struct Marked {
  std::size_t images = 0, found = 0, wrong = 0;
};

Marked marked(const Scene& scene, const MirrorImages& found, double level) {
  Marked out;
  for (std::size_t i = 0; i < scene.points.size(); ++i) {
    const bool deep = scene.is_image[i] && scene.points[i].z < level - 0.2;
    out.images += deep;
    out.found += deep && found.is_image[i] != 0;
    out.wrong += !scene.is_image[i] && found.is_image[i] != 0;
  }
  return out;
}

TEST(MirrorImages, APondIsFoundAndAllThatItShows) {
  for (const double part : {0.05, 0.3}) {
    for (const double away : {0.0, 4'321'098.7}) {
      Random random{1};
      Scene scene;
      add_pond(scene, away, -away, 12.3, part, random);
      const MirrorImages found = of(scene.points);
      ASSERT_EQ(found.mirrors.size(), 1u) << part;
      EXPECT_NEAR(found.mirrors[0].z, 12.3 - 0.63, 0.11);
      const Marked result = marked(scene, found, 12.3 - 0.63);
      EXPECT_GT(result.images, 500u);
      EXPECT_EQ(result.found, result.images);
      EXPECT_EQ(result.wrong, 0u);
      EXPECT_NEAR(found.mirrors[0].depth_m, 6, 0.3);
      EXPECT_NEAR(found.mirrors[0].low[0], away - 14, 3);
      EXPECT_NEAR(found.mirrors[0].high[1], 14 - away, 3);
      std::size_t count = 0;
      for (const std::uint8_t one : found.is_image.view()) count += one;
      EXPECT_EQ(found.mirrors[0].image_count, count);
    }
  }
}

TEST(MirrorImages, EachOfTwoPondsHasItsLevel) {
  Random random{2};
  Scene scene;
  add_pond(scene, 0, 0, 0, 0.2, random);
  add_pond(scene, 60, 5, 3, 0.2, random);
  const MirrorImages found = of(scene.points);
  ASSERT_EQ(found.mirrors.size(), 2u);
  EXPECT_NEAR(found.mirrors[0].z, -0.63, 0.11);
  EXPECT_NEAR(found.mirrors[1].z, 2.37, 0.11);
  EXPECT_GT(found.mirrors[1].low[0], 40);
}

TEST(MirrorImages, GroundThatLiesLowerNearbyIsNone) {
  Random random{3};
  Scene scene;
  add_pond(scene, 0, 0, 0, 0.2, random);
  for (int i = 0; i < 100'000; ++i) {  // behind a dam
    const double x = uniform(random, 16, 40), y = uniform(random, -14, 14);
    scene.add({x, y, -0.3 * (x - 16)});
  }
  for (int k = 0; k < 12; ++k)
    add_tree(scene, uniform(random, 18, 38), uniform(random, -12, 12), -3, 9, random);
  const MirrorImages found = of(scene.points);
  ASSERT_EQ(found.mirrors.size(), 1u);
  const Marked result = marked(scene, found, -0.63);
  EXPECT_GT(result.found, result.images * 99 / 100);
  EXPECT_EQ(result.wrong, 0u);
}

TEST(MirrorImages, APolishedFloorIsAMirrorAndADullOneIsNone) {
  for (const bool polished : {true, false}) {
    Random random{4};
    Scene scene;
    for (int i = 0; i < 60'000; ++i) {  // floor, ceiling, walls
      const double x = uniform(random, 0, 18), y = uniform(random, 0, 9), z = uniform(random, 0, 3);
      const double noise = uniform(random, -0.01, 0.01);
      scene.add(i % 3 == 0   ? Vec3d{x, y, noise}
                : i % 3 == 1 ? Vec3d{x, y, 3 + noise}
                : i % 2 == 0 ? Vec3d{x, noise, z}
                             : Vec3d{noise, y, z});
    }
    for (int k = 0; k < 14; ++k) {  // shelves and lamps
      const double u = uniform(random, 2, 16), v = uniform(random, 2, 7), low = k % 2 == 0 ? 0.4 : 1.8;
      for (int i = 0; i < 3000; ++i)
        scene.add({u + uniform(random, 0, 0.6), v + uniform(random, 0, 0.5), low + uniform(random, 0, 0.8)});
    }
    if (polished) {
      for (std::size_t i = 0, end = scene.points.size(); i < end; ++i) {
        const Vec3d p = scene.points[i];
        if (p.z > 0.3 && uniform(random, 0, 1) < 0.2) scene.add({p.x, p.y, -p.z}, true);
      }
    }
    const MirrorImages found = of(scene.points);
    ASSERT_EQ(found.mirrors.size(), polished ? 1u : 0u);
    if (!polished) continue;
    EXPECT_NEAR(found.mirrors[0].z, 0, 0.11);
    EXPECT_EQ(marked(scene, found, 0).wrong, 0u);
    EXPECT_GT(marked(scene, found, 0).found, 5000u);
  }
}

TEST(MirrorImages, StandsCrownsAndSolidsWithoutAMirrorHaveNone) {
  Random random{5};
  Scene forest;  // stems that are seen in parts, crowns that face the ground
  for (int i = 0; i < 200'000; ++i) {
    const double x = uniform(random, 0, 30), y = uniform(random, 0, 30);
    forest.add({x, y, 0.05 * x + uniform(random, -0.03, 0.03)});
    if (i % 2 == 0) forest.add({x, y, 12 + 0.05 * x + uniform(random, -0.5, 0.5)});
  }
  for (int k = 0; k < 60; ++k) {
    const double x = uniform(random, 0, 30), y = uniform(random, 0, 30), gap = uniform(random, 4, 8);
    for (int i = 0; i < 2000; ++i) {
      const double h = uniform(random, 0, 12);
      if (std::abs(h - gap) > 0.5) forest.add({x + 0.1 * std::cos(i), y + 0.1 * std::sin(i), 0.05 * x + h});
    }
  }
  EXPECT_TRUE(of(forest.points).mirrors.empty());

  Scene ellipsoid;
  for (int i = 0; i < 200'000; ++i) {
    const double u = uniform(random, -1, 1), turn = uniform(random, 0, 2 * std::numbers::pi);
    const double r = std::sqrt(1 - u * u);
    ellipsoid.add({20 * r * std::cos(turn), 12 * r * std::sin(turn), 6 * u});
  }
  EXPECT_TRUE(of(ellipsoid.points).mirrors.empty());

  Scene dry;
  add_pond(dry, 0, 0, 0, 0, random);
  EXPECT_TRUE(of(dry.points).mirrors.empty());
}

TEST(MirrorImages, OrderAndThreadsDoNotMatter) {
  Random random{6};
  Scene scene;
  add_pond(scene, 3, 4, 5, 0.1, random);
  const MirrorImages found = of(scene.points);
  const std::vector<Vec3d> reversed(scene.points.rbegin(), scene.points.rend());
  const MirrorImages other = of(reversed, 1);
  ASSERT_EQ(other.mirrors.size(), 1u);
  EXPECT_EQ(other.mirrors[0].z, found.mirrors[0].z);
  EXPECT_EQ(other.mirrors[0].depth_m, found.mirrors[0].depth_m);
  EXPECT_EQ(other.mirrors[0].low, found.mirrors[0].low);
  const std::size_t n = scene.points.size();
  for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(other.is_image[n - 1 - i], found.is_image[i]);
}

TEST(MirrorImages, OddPointsDoNoHarm) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  std::vector<Vec3d> place(5000, Vec3d{1, 2, 3}), far, line, tower;
  for (int i = 0; i < 5000; ++i) {
    far.push_back({i % 2 == 0 ? 1e300 : -1e300, 1e12 * (i % 3), i * 1e296});
    line.push_back({0, 0, 0.1 * i});
    tower.push_back({0.01 * (i % 100), 0.02 * (i / 100), 30.0 * (i % 41)});
  }
  for (const auto& points : {std::vector<Vec3d>{}, std::vector<Vec3d>{{1, 2, 3}}, place, far, line, tower})
    EXPECT_TRUE(of(points).mirrors.empty());

  Random random{7};
  Scene scene;
  add_pond(scene, 0, 0, 0, 0.2, random);
  for (const Vec3d& p :
       {Vec3d{nan, 0, 0}, {0, 0, inf}, {0, -inf, 0}, {1, 1, -300}, {1e15, 0, 0}, {0, 0, 9e4}})
    scene.add(p);
  const MirrorImages found = of(scene.points);
  ASSERT_EQ(found.mirrors.size(), 1u);
  const Marked result = marked(scene, found, -0.63);
  EXPECT_EQ(result.found, result.images);
  EXPECT_EQ(result.wrong, 0u);
}

TEST(MirrorImages, ACancelEndsIt) {
  JobControl control;
  control.cancel_requested = true;
  OpContext ctx(control, Device::kCpu, 2);
  const std::vector<Vec3d> points(100, Vec3d{1, 2, 3});
  EXPECT_THROW(mirror_images(HitPoints::assume_hits({points.data(), points.size()}), ctx), Error);
}

}  // namespace
