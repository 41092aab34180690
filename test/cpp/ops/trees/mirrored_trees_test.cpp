// Trees that glass shows behind a wall.
#include "ops/trees/mirrored_trees.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include "support/cancel.h"

namespace {

using namespace pc;

/// Points of a tree about its base: a stem, and twigs that its seed places. Those of two draws differ.
std::vector<Vec3d> tree(std::uint64_t seed, double radius, double high, int count, std::uint64_t draw) {
  std::mt19937_64 shape{seed}, random{1000 * seed + draw};
  std::uniform_real_distribution<double> u(0, 1);
  struct Twig {
    Vec3d from, to;
  };
  std::vector<Twig> twigs;
  for (int k = 0; k < 60; ++k) {
    const double turn = 6.2831853 * u(shape), z = high * (0.4 + 0.5 * u(shape)), out = 0.3 + 1.5 * u(shape);
    twigs.push_back({{0.2 * out * std::cos(turn), 0.2 * out * std::sin(turn), z},
                     {out * std::cos(turn), out * std::sin(turn), z + (0.6 * u(shape) - 0.2)}});
  }
  std::vector<Vec3d> points;
  for (int i = 0; i < count; ++i) {
    if (i % 4 == 0) {
      const double turn = 6.2831853 * u(random);
      points.push_back({radius * std::cos(turn), radius * std::sin(turn), 0.6 * high * u(random)});
      continue;
    }
    const Twig& twig = twigs[static_cast<std::size_t>(60 * u(random)) % 60];
    const double along = u(random);
    const Vec3d noise{0.02 * (u(random) - 0.5), 0.02 * (u(random) - 0.5), 0.02 * (u(random) - 0.5)};
    points.push_back(twig.from + (twig.to - twig.from) * along + noise);
  }
  return points;
}

/// A wall along y, turned and moved to a place, and trees before and behind it.
struct Scene {
  double turn = 0;
  Vec3d at{0, 0, 0};
  std::vector<ShownTree> trees;
  std::vector<std::vector<Vec3d>> points;

  Vec3d placed(const Vec3d& p) const {
    const double c = std::cos(turn), s = std::sin(turn);
    return Vec3d{c * p.x - s * p.y, s * p.x + c * p.y, p.z} + at;
  }
  /// The number of the tree.
  std::size_t add(const Vec3d& base, double diameter, const std::vector<Vec3d>& about, bool image) {
    std::vector<Vec3d> own;
    for (const Vec3d& p : about) own.push_back(placed(Vec3d{image ? -p.x : p.x, p.y, p.z} + base));
    trees.push_back({placed(base), diameter, false, false});
    points.push_back(std::move(own));
    return trees.size() - 1;
  }
  void add_wall(double from, double to) {
    std::mt19937_64 random{7};
    std::uniform_real_distribution<double> u(0, 1);
    std::vector<Vec3d> own;
    for (int i = 0; i < 3000; ++i)
      own.push_back(placed({0.01 * (u(random) - 0.5), from + (to - from) * u(random), 8 * u(random)}));
    trees.push_back({placed({0, (from + to) / 2, 0}), std::nan(""), true, false});
    points.push_back(std::move(own));
  }

  std::vector<TreeImage> images(int threads = 2) const {
    JobControl control;
    OpContext ctx(control, Device::kCpu, threads);
    return mirrored_trees(
        {trees.data(), trees.size()}, [&](std::size_t i) { return points[i]; }, ctx);
  }
};

/// Trees 1 to 3 stand 4 to 8 m before a wall, 4 to 6 behind it, whose diameters are 8 % larger: their stems alone tell nothing.
Scene street(double turn = 0, const Vec3d& at = {0, 0, 0}) {
  Scene scene{turn, at, {}, {}};
  scene.add_wall(-10, 10);
  for (const bool image : {false, true})
    for (int k = 0; k < 3; ++k) {
      const double x = 4 + 2 * k, radius = 0.1 + 0.03 * k, high = 8 + k;
      const Vec3d base{image ? x + 0.02 : -x, 6.0 * k - 6, 0};
      scene.add(base, image ? 2.16 * radius : 2 * radius,
                tree(1 + k, radius, high, image ? 4000 : 12'000, image), image);
    }
  return scene;
}

void expect_pairs(const std::vector<TreeImage>& found,
                  std::vector<std::pair<std::size_t, std::size_t>> pairs) {
  ASSERT_EQ(found.size(), pairs.size());
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    EXPECT_EQ(found[k].image, pairs[k].first);
    EXPECT_EQ(found[k].original, pairs[k].second);
  }
}

TEST(MirroredTrees, ImagesStandBehindTheWall) {
  for (const double turn : {0.0, 0.7, 2.3})
    for (const Vec3d& at : {Vec3d{0, 0, 0}, Vec3d{5e5, -5.4e6, 300}, Vec3d{1e7, 1e7, 0}})
      expect_pairs(street(turn, at).images(), {{4, 1}, {5, 2}, {6, 3}});
}

TEST(MirroredTrees, TheSideWithFewerPointsIsTheImage) {
  // Where what lies behind the wall has more, the others are the images.
  Scene scene = street();
  for (std::size_t k = 1; k <= 3; ++k) std::swap(scene.points[k], scene.points[k + 3]);
  for (std::size_t k = 1; k <= 3; ++k) std::swap(scene.trees[k], scene.trees[k + 3]);
  expect_pairs(scene.images(), {{1, 4}, {2, 5}, {3, 6}});
}

TEST(MirroredTrees, SameForAnyOrderAndThreads) {
  Scene scene = street(0.4);
  const auto first = scene.images(1);
  std::mt19937_64 random{3};
  for (auto& points : scene.points) std::shuffle(points.begin(), points.end(), random);
  for (const int threads : {1, 2, 5}) {
    const auto again = scene.images(threads);
    ASSERT_EQ(again.size(), first.size());
    for (std::size_t k = 0; k < first.size(); ++k) {
      EXPECT_EQ(again[k].image, first[k].image);
      EXPECT_EQ(again[k].original, first[k].original);
    }
  }
}

TEST(MirroredTrees, WithoutAWallThereIsNoMirror) {
  Scene scene = street();
  scene.trees[0].flat = false;
  EXPECT_TRUE(scene.images().empty());
  // A wall elsewhere, or across, shows none of them.
  Scene across = street();
  for (Vec3d& p : across.points[0]) p = {p.y, p.x - 12, p.z};
  EXPECT_TRUE(across.images().empty());
  EXPECT_TRUE(Scene{}.images().empty());
}

/// Trees 1, 3, .. before a wall and others behind it, some `off` from where it shows them, `thicker` times as thick.
Scene strangers(int count, double off, double thicker = 1) {
  Scene scene;
  scene.add_wall(-10, 10);
  for (int k = 0; k < count; ++k) {
    const double y = 4.0 * k - 8, way = 2.4 * k;
    scene.add({-5, y, 0}, 0.2, tree(1 + k, 0.1, 8, 12'000, 0), false);
    scene.add({5 + off * std::cos(way), y + off * std::sin(way), 0}, 0.2 * thicker,
              tree(11 + k, 0.1, 8, 4000, 0), false);
  }
  return scene;
}

TEST(MirroredTrees, ThreeStemsInPlaceAreImagesHoweverTheirPointsLie) {
  expect_pairs(strangers(3, 0.01, 1.04).images(), {{2, 1}, {4, 3}, {6, 5}});
  EXPECT_TRUE(strangers(2, 0.01, 1.04).images().empty());
  EXPECT_TRUE(strangers(5, 0.15).images().empty());
  EXPECT_TRUE(strangers(5, 0.01, 1.09).images().empty());
  // One tree twice is no second pair.
  Scene twice = strangers(2, 0.01);
  twice.trees.push_back(twice.trees[4]);
  twice.points.push_back(twice.points[4]);
  EXPECT_TRUE(twice.images().empty());
}

TEST(MirroredTrees, PolesTellNothing) {
  // Lamps before and behind a wall: round, they match at any turn.
  Scene scene;
  scene.add_wall(-10, 10);
  std::mt19937_64 random{5};
  std::uniform_real_distribution<double> u(0, 1);
  for (int k = 0; k < 6; ++k) {
    std::vector<Vec3d> pole;
    for (int i = 0; i < 4000; ++i) {
      const double turn = 6.2831853 * u(random);
      pole.push_back({0.08 * std::cos(turn), 0.08 * std::sin(turn), 6 * u(random)});
    }
    const double along = 3.0 * (k / 2) - 4 + (k % 2 == 0 ? 0 : 0.08 * (k - 3));
    scene.add({k % 2 == 0 ? -5.0 : 5.0, along, 0}, 0.16, pole, false);
  }
  EXPECT_TRUE(scene.images().empty());
}

/// One pair 6 m before and behind a wall, whose points are given.
Scene one_pair(const std::vector<Vec3d>& original, const std::vector<Vec3d>& image, double away = 6,
               double turn = 0) {
  Scene scene;
  scene.turn = turn;
  scene.add_wall(-10, 10);
  scene.add({-away, 0, 0}, 0.2, original, false);
  scene.add({away, 0, 0}, 0.2, image, true);
  return scene;
}

TEST(MirroredTrees, ClippedTreesMatchAtAnyTurn) {
  // Balls on poles, as gardeners cut them; each has a dent of its own.
  std::mt19937_64 random{5};
  std::uniform_real_distribution<double> u(0, 1);
  const auto ball = [&](int count) {
    std::vector<Vec3d> points;
    for (int i = 0; i < count; ++i) {
      const double turn = 6.2831853 * u(random), z = 2 * u(random) - 1, r = std::sqrt(1 - z * z);
      points.push_back({r * std::cos(turn), r * std::sin(turn), 3 + z});
    }
    return points;
  };
  EXPECT_TRUE(one_pair(ball(20'000), ball(5000)).images().empty());
}

TEST(MirroredTrees, AMatchMustBeWellAboveChance) {
  std::mt19937_64 random{5};
  std::uniform_real_distribution<double> u(0, 1);
  /// A tree among points that fill its crown, or that lie elsewhere.
  const auto mixed = [&](int own, int filled, int elsewhere, std::uint64_t draw) {
    std::vector<Vec3d> points = tree(1, 0.1, 8, own, draw);
    for (int i = 0; i < filled + elsewhere; ++i) {
      const double up = i < filled ? 3 : 20;
      points.push_back({3 * u(random) - 1.5, 3 * u(random) - 1.5, up + 5 * u(random)});
    }
    return points;
  };
  EXPECT_EQ(one_pair(mixed(12'000, 0, 0, 0), mixed(4000, 0, 0, 1)).images().size(), 1u);
  // Some 7 % of the points in place, next to nothing by chance; and 0.9 in place, 0.7 by chance.
  EXPECT_TRUE(one_pair(mixed(800, 0, 11'200, 0), mixed(350, 0, 4650, 1)).images().empty());
  EXPECT_TRUE(one_pair(mixed(12'000, 100'000, 0, 0), mixed(4000, 0, 0, 1)).images().empty());
}

TEST(MirroredTrees, WallsAreFoundAsTheyStand) {
  const auto original = tree(1, 0.1, 8, 12'000, 0), image = tree(1, 0.1, 8, 4000, 1);
  EXPECT_EQ(one_pair(original, image).images().size(), 1u);
  EXPECT_TRUE(one_pair(original, image, 35).images().empty());
  // A pillar of 1.2 m, in noise of a centimetre.
  Scene pillar = one_pair(original, image, 20, 0.21);
  pillar.points[0].clear();
  std::mt19937_64 random{5};
  std::uniform_real_distribution<double> u(0, 1);
  for (int i = 0; i < 3000; ++i)
    pillar.points[0].push_back(
        pillar.placed({0.02 * (u(random) - 0.5), 1.2 * u(random) - 0.6, 8 * u(random)}));
  EXPECT_EQ(pillar.images().size(), 1u);
  // The smaller wall at a corner.
  Scene corner = one_pair(original, image);
  for (int i = 0; i < 6000; ++i) corner.points[0].push_back({20 * u(random), 10, 8 * u(random)});
  EXPECT_EQ(corner.images().size(), 1u);
}

TEST(MirroredTrees, ThePaneIsWhereMostPointsMatch) {
  // Stems are known to 11 cm, along the wall to 2 cm.
  Scene scene = street();
  for (std::size_t k = 4; k <= 6; ++k) scene.trees[k].base = scene.trees[k].base + Vec3d{0.11, 0.02, 0};
  EXPECT_EQ(scene.images().size(), 3u);
}

TEST(MirroredTrees, OtherDiametersAreOtherTrees) {
  Scene thicker = street();
  for (std::size_t k = 4; k <= 6; ++k) thicker.trees[k].diameter_m *= 1.25;
  EXPECT_TRUE(thicker.images().empty());
  // Diameters of images are less well known.
  Scene other = street();
  for (std::size_t k = 4; k <= 6; ++k) {
    other.trees[k].diameter_m *= 1.04;
  }
  EXPECT_EQ(other.images().size(), 3u);
}

TEST(MirroredTrees, AKnownMirrorShowsMore) {
  Scene scene = street();
  // Without a diameter, as seen by few points; its base is known to a metre.
  const std::size_t original = scene.add({-7, 8, 0}, 0.2, tree(31, 0.1, 9, 12'000, 0), false);
  const std::size_t image = scene.add({6.5, 8.5, 0}, std::nan(""), {}, true);
  for (const Vec3d& p : tree(31, 0.1, 9, 1500, 1))
    scene.points[image].push_back(Vec3d{-p.x, p.y, p.z} + Vec3d{7, 8, 0});
  // The other side of a tree: no point is in its place, but the stem is.
  const std::size_t seen = scene.add({-5, -9, 0}, 0.3, tree(41, 0.15, 7, 9000, 0), false);
  const std::size_t back = scene.add({5.1, -9, 0}, 0.3, tree(42, 0.15, 7, 3000, 0), false);
  // A true tree in the yard, and one there without a diameter.
  scene.add({9, -1, 0}, 0.3, tree(51, 0.15, 7, 3000, 0), false);
  scene.add({6, -6, 0}, std::nan(""), tree(52, 0.15, 7, 3000, 0), false);
  // A car, and what the glass shows of it.
  for (const bool shown : {false, true}) {
    scene.add({shown ? 4.0 : -4.0, 3, 0}, std::nan(""), tree(61, 0.15, 3, shown ? 3000 : 9000, shown), shown);
    scene.trees.back().flat = true;
  }
  expect_pairs(scene.images(), {{4, 1}, {5, 2}, {6, 3}, {image, original}, {back, seen}});
}

TEST(MirroredTrees, AStemInPlaceIsSureBehindTwoOthersOnly) {
  Scene scene = street();
  const auto turn_about = [&](std::size_t k) {
    const Vec3d base = scene.trees[k].base;
    for (Vec3d& p : scene.points[k]) p = {p.x, 2 * base.y - p.y, p.z};
  };
  turn_about(4);
  EXPECT_EQ(scene.images().size(), 3u);
  turn_about(5);
  expect_pairs(scene.images(), {{6, 3}});
  turn_about(6);
  EXPECT_TRUE(scene.images().empty());
}

TEST(MirroredTrees, WallsThatFaceEachOtherShowImagesOfImages) {
  Scene scene = street();
  // A second wall at x = -12: trees at -12 - (12 - 4) and so on, and images there of what the first one shows.
  std::vector<Vec3d> wall = scene.points[0];
  for (Vec3d& p : wall) p.x -= 12;
  for (int k = 0; k < 3; ++k) {
    const double x = 4 + 2 * k, radius = 0.1 + 0.03 * k, high = 8 + k;
    scene.add({-24 + x, 6.0 * k - 6, 0}, 2.16 * radius, tree(1 + k, radius, high, 3500, 2), true);
    scene.add({-24 - x, 6.0 * k - 6, 0}, 2.16 * radius, tree(1 + k, radius, high, 1500, 3), false);
  }
  scene.trees.push_back({{-12, 0, 0}, std::nan(""), true, false});
  scene.points.push_back(std::move(wall));
  expect_pairs(scene.images(), {{4, 1}, {5, 2}, {6, 3}, {7, 1}, {8, 1}, {9, 2}, {10, 2}, {11, 3}, {12, 3}});
}

TEST(MirroredTrees, FewPointsAndOddPlaces) {
  Scene scene = street();
  for (std::size_t k = 4; k <= 6; ++k) scene.points[k].resize(99);
  EXPECT_TRUE(scene.images().empty());
  for (const double far : {1e15, 1e300}) {
    Scene odd = street(0, {far, -far, 0});
    for (const TreeImage& image : odd.images()) EXPECT_NE(image.image, image.original);
  }
  // All in one place, and walls of one point.
  Scene same;
  for (int k = 0; k < 4; ++k) {
    same.trees.push_back({{1, 1, 0}, 0.2, k == 0, false});
    same.points.push_back(std::vector<Vec3d>(500, Vec3d{1, 1, 3}));
  }
  EXPECT_TRUE(same.images().empty());
}

/// The trees of a scene as an inventory has them, after one that is too small; from number `bare` on without a crown, or every
/// second one if it is 0.
std::vector<MeasuredTree> measured(const Scene& scene, std::size_t bare) {
  std::vector<MeasuredTree> trees(1);
  trees[0].too_few_points = true;
  for (std::size_t k = 0; k < scene.trees.size(); ++k) {
    MeasuredTree tree{};
    tree.id = 10 + k;
    tree.flat = scene.trees[k].flat;
    tree.no_crown = bare == 0 ? k % 2 == 0 : k >= bare;
    // Its base is not where it is at breast height.
    tree.stem.base = scene.trees[k].base + Vec3d{0, 0.2 * static_cast<double>(k % 2), 0};
    tree.dbh_sigma_m = 0.002;
    tree.covered = true;
    tree.foot.emplace();
    if (!tree.flat) {
      tree.stem.breast_height.emplace();
      tree.stem.breast_height->center = scene.trees[k].base + Vec3d{0, 0, 1.3};
      tree.stem.breast_height->circle.radius = scene.trees[k].diameter_m / 2;
    }
    tree.stem.curve.emplace_back();
    tree.stem.curve.back().ok = true;
    trees.push_back(std::move(tree));
  }
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  drop_mirrored_trees(
      trees, [&](std::size_t i) { return scene.points[i - 1]; }, ctx);
  return trees;
}

TEST(MirroredTrees, ImagesHaveNoDiameter) {
  const std::vector<MeasuredTree> trees = measured(strangers(3, 0.01), 99);
  for (std::size_t k = 1; k < trees.size(); ++k) {
    const bool image = k > 1 && k % 2 == 1;
    EXPECT_EQ(trees[k].image_of, image ? 10 + k - 2 : 0) << k;
    EXPECT_EQ(trees[k].stem.breast_height.has_value(), k > 1 && !image) << k;
    EXPECT_EQ(trees[k].stem.curve[0].ok, !image) << k;
    EXPECT_EQ(std::isnan(trees[k].dbh_sigma_m), image) << k;
  }
  // Lamps may be set exactly; what a window shows of a tree may be its stem alone.
  for (const MeasuredTree& tree : measured(strangers(3, 0.01), 1)) EXPECT_EQ(tree.image_of, 0u);
  const MeasuredTree image = measured(strangers(3, 0.01), 0)[3];
  EXPECT_EQ(image.image_of, 11u);
  EXPECT_FALSE(image.no_crown || image.covered || image.foot);
  EXPECT_TRUE(measured(strangers(3, 0.01), 0)[2].covered);
}

TEST(MirroredTrees, CancelsSoon) {
  Scene scene;
  scene.add_wall(-10, 10);
  for (int k = 0; k < 30; ++k) {
    const double y = 0.6 * k - 9;
    scene.add({-6, y, 0}, 0.2, tree(1 + k, 0.1, 8, 40'000, 0), false);
    scene.add({6, y, 0}, 0.2, tree(1 + k, 0.1, 8, 40'000, 1), true);
  }
  test::expect_cancel_in_phase("Looking for mirrored", [&](OpContext& ctx) {
    (void)mirrored_trees(
        {scene.trees.data(), scene.trees.size()}, [&](std::size_t i) { return scene.points[i]; }, ctx);
  });
}

}  // namespace
