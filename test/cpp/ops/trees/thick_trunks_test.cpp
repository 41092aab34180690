// Trunks that are no round poles of up to three metres at breast height: giants, lobes, buttresses.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numbers>
#include <numeric>
#include <random>
#include <set>

#include "ops/trees/flat_trees.h"
#include "ops/trees/path_trees.h"
#include "ops/trees/ribbed_foot.h"
#include "ops/trees/stem_detection.h"
#include "support/columns.h"
#include "support/inventory_defaults.h"

namespace {

using namespace pc;
constexpr double kPi = std::numbers::pi;

/// Distance of a trunk's surface from its axis.
using Form = std::function<double(double z, double turn)>;

Form lobed(double radius, double part) {
  return [=](double z, double turn) { return radius * (1 - z / 60) * (1 + part * std::sin(3 * turn)); };
}
/// Six plates of 0.12 m that end at `top`, reaching `reach` beyond the trunk at the ground.
Form ribbed(double radius, double top, double reach) {
  return [=](double z, double turn) {
    const double taper = radius * (1 - z / 40),
                 out = taper + reach * std::pow(std::max(0.0, 1 - z / top), 1.5);
    const double away = std::abs(std::remainder(turn, kPi / 3));
    return std::max(taper, std::min(out, 0.06 / std::max(1e-6, std::sin(away))));
  };
}

struct Stand {
  std::vector<Vec3d> xyz;
  std::vector<float> height;
  std::vector<std::uint32_t> tree;
  std::vector<std::uint8_t> ground;
  std::mt19937_64 random{7};

  double unit() { return std::uniform_real_distribution<double>(0, 1)(random); }
  void add(const Vec3d& p, std::uint32_t id, bool is_ground = false) {
    xyz.push_back(p);
    height.push_back(static_cast<float>(p.z));
    tree.push_back(id);
    ground.push_back(is_ground ? 1 : 2);
  }
  /// Points 4 cm apart, with 3 mm of noise.
  void trunk(double x, double y, double top, const Form& form, std::uint32_t id) {
    std::normal_distribution<double> noise(0, 0.003);
    constexpr double kApart = 0.04;
    for (double z = 0.03; z < top; z += kApart) {
      Vec2d last{1e9, 0};
      for (double turn = 0; turn < 2 * kPi; turn += 0.002) {
        const double r = form(z, turn);
        const Vec2d at{r * std::cos(turn), r * std::sin(turn)};
        if (std::hypot(at.x - last.x, at.y - last.y) < kApart) continue;
        last = at;
        const double off = (r + noise(random)) / r;
        add({x + at.x * off, y + at.y * off, z + kApart * (unit() - 0.5)}, id);
      }
    }
  }
  void ball(const Vec3d& middle, double radius, double thick, int count, std::uint32_t id) {
    std::normal_distribution<double> normal;
    for (int i = 0; i < count; ++i) {
      const Vec3d d{normal(random), normal(random), normal(random)};
      const Vec3d at = middle + d * (radius * (1 - thick * unit()) / std::sqrt(dot(d, d)));
      if (at.z > 0) add(at, id);
    }
  }
  void floor(double side) {
    for (double x = -side; x <= side; x += 0.25)
      for (double y = -side; y <= side; y += 0.25) add({x, y, 0}, 0, true);
  }
  HitPoints points() const { return HitPoints::assume_hits({xyz.data(), xyz.size()}); }
  StemDetectionResult stems(double widest) const {
    JobControl control;
    OpContext ctx(control, Device::kCpu, 2);
    return detect_stems(points(), {height.data(), height.size()}, {1, 2, widest, 0}, ctx);
  }
  PathTreesResult grow() const {
    JobControl control;
    OpContext ctx(control, Device::kCpu, 2);
    return path_trees(points(), {height.data(), height.size()}, {},
                      {kPathConstants.finest_node_m, std::nullopt, kPathConstants}, ctx);
  }
  TreeInventoryResult list(const TreeInventoryParams& params = inventory_defaults()) const {
    JobControl control;
    OpContext ctx(control, Device::kCpu, 2);
    const AnyColumn ids = test::column_of(tree), classes = test::column_of(ground);
    return tree_inventory({{xyz.data(), xyz.size()}, {0, 0, 0}, {}, &ids, nullptr, &classes}, params, ctx);
  }
};

TEST(ThickTrunks, GiantsAreFoundWhereTheirDiameterIsAllowed) {
  for (const double radius : {1.2, 2.2, 3.5}) {
    Stand stand;
    stand.trunk(0, 0, 6, lobed(radius, 0.02), 1);
    stand.trunk(9, 0, 6, lobed(0.2, 0), 2);
    const auto found = stand.stems(8);
    ASSERT_EQ(found.stems.size(), 2u) << radius;
    EXPECT_NEAR(found.stems[0].circle.radius, radius, 0.03 * radius);
    EXPECT_LT(std::hypot(found.stems[0].position.x, found.stems[0].position.y), 0.05);
    EXPECT_NEAR(found.stems[1].circle.radius, 0.2, 0.01);
    EXPECT_EQ(stand.stems(3).stems.size(), radius < 1.5 ? 2u : 1u) << "as contract: 3 m at most";
  }
}

// A root plate of a fallen tree stands upright and is round, too: it took the stems around it for its own.
TEST(ThickTrunks, LessThanHalfOfACircleIsNone) {
  Stand stand;
  const auto plate = [](double, double turn) { return turn < 2.3 ? 1.8 : 1e-3; };
  stand.trunk(0, 0, 3, plate, 1);
  stand.trunk(1.5, -0.9, 6, lobed(0.12, 0), 2);
  stand.trunk(-1.2, -0.8, 6, lobed(0.1, 0), 3);
  const auto found = stand.stems(8);
  ASSERT_EQ(found.stems.size(), 2u);
  for (const DetectedStem& stem : found.stems) EXPECT_LT(stem.circle.radius, 0.15);
}

TEST(ThickTrunks, AGiantIsOneTreeWithItsDiameter) {
  for (const double radius : {1.2, 2.2, 3.5}) {
    Stand stand;
    stand.trunk(0, 0, 16, lobed(radius, 0.03), 1);
    stand.ball({0, 0, 22}, 7, 0.5, 30'000, 1);
    const PathTreesResult grown = stand.grow();
    ASSERT_EQ(grown.trees.size(), 1u) << radius;
    stand.floor(8);
    const TreeInventoryResult list = stand.list();
    ASSERT_EQ(list.trees.size(), 1u);
    const MeasuredTree& tree = list.trees[0];
    ASSERT_TRUE(tree.stem.breast_height.has_value()) << radius;
    EXPECT_NEAR(tree.stem.breast_height->circle.radius, radius * (1 - 1.3 / 60), 0.02 * radius);
    EXPECT_FALSE(tree.flat);
    EXPECT_LT(tree.flat_share, kFlatTree) << "a surface of that radius is no wall";
    EXPECT_FALSE(tree.foot.has_value());
  }
}

TEST(ThickTrunks, CrownsThatReachTheGroundAndClippedShrubsHaveNone) {
  Stand stand;
  stand.floor(12);
  stand.ball({0, 0, 1}, 2, 0.02, 20'000, 1);  // clipped: a surface, but as wide as high
  for (int i = 0; i < 40'000; ++i) {          // a cone of twigs
    const double z = 10 * std::sqrt(stand.unit()), r = 2 * (1 - z / 11) * (0.8 + 0.2 * stand.unit());
    const double turn = 2 * kPi * stand.unit();
    stand.add({8 + r * std::cos(turn), 8 + r * std::sin(turn), z}, 2);
  }
  for (const MeasuredTree& tree : stand.list().trees)
    EXPECT_FALSE(tree.stem.breast_height.has_value()) << tree.id;
}

TEST(ThickTrunks, AWallStaysFlatWithNoise) {
  for (const double noise : {0.0, 0.01, 0.025}) {
    Stand stand;
    std::normal_distribution<double> normal(0, std::max(noise, 1e-9));
    for (int i = 0; i < 20'000; ++i)
      stand.add({6 * stand.unit(), 3 + normal(stand.random), 5 * stand.unit()}, 1);
    stand.trunk(20, 0, 5, lobed(2.5, 0), 2);
    JobControl control;
    OpContext ctx(control, Device::kCpu, 2);
    const AnyColumn ids = test::column_of(stand.tree);
    const auto found = tree_flatness({stand.xyz.data(), stand.xyz.size()}, {}, ids, ctx);
    ASSERT_EQ(found.size(), 2u);
    EXPECT_GT(found[0].share, 0.8) << noise;
    EXPECT_LT(found[1].share, 0.1);
  }
}

TEST(StemFeet, RibsBelongToTheirTreeAndShrubsDoNot) {
  Stand stand;
  stand.trunk(0, 0, 14, ribbed(0.4, 3.2, 1.6), 1);
  stand.ball({0, 0, 17}, 4, 0.5, 20'000, 1);
  stand.trunk(12, 0, 14, ribbed(0.3, 2, 0.7), 2);
  stand.ball({12, 0, 17}, 4, 0.5, 20'000, 2);
  stand.trunk(24, 0, 14, lobed(0.3, 0), 3);
  stand.ball({24, 0, 17}, 4, 0.5, 20'000, 3);
  stand.ball({24.95, 0, 0.8}, 0.7, 0.7, 4000, 4);  // touches the stem
  stand.trunk(36, 0, 14, lobed(0.3, 0), 5);
  stand.ball({36, 0, 17}, 4, 0.5, 20'000, 5);
  for (int i = 0; i < 5000; ++i)  // a column of leaves that touches it up to its top
    stand.add({36.35 + 0.6 * stand.unit(), 0.6 * stand.unit() - 0.3, 2.2 * stand.unit()}, 6);
  const PathTreesResult grown = stand.grow();
  EXPECT_EQ(grown.trees.size(), 6u);
  const auto labels = grown.tree_instance.view();
  for (const std::uint32_t id : {1u, 2u, 3u, 4u, 5u, 6u}) {
    std::map<std::uint32_t, double> parts;
    double all = 0;
    for (std::size_t i = 0; i < labels.size; ++i) {
      if (stand.tree[i] != id) continue;
      parts[labels[i]] += 1;
      all += 1;
    }
    double most = 0;
    for (const auto& [label, count] : parts) most = std::max(most, count / all);
    EXPECT_GT(most, id == 4 || id == 6 ? 0.5 : 0.97) << id;
  }
}

TEST(StemFeet, TheOrderOfThePointsAndTheNumberOfThreadsDoNotMatter) {
  Stand stand;
  stand.trunk(0, 0, 10, ribbed(0.4, 3, 1.4), 1);
  const PathTreesResult grown = stand.grow();
  Stand turned;
  for (std::size_t i = stand.xyz.size(); i-- > 0;) turned.add(stand.xyz[i], stand.tree[i]);
  JobControl control;
  OpContext ctx(control, Device::kCpu, 1);
  const PathTreesResult other = path_trees(turned.points(), {turned.height.data(), turned.height.size()}, {},
                                           {kPathConstants.finest_node_m, std::nullopt, kPathConstants}, ctx);
  ASSERT_EQ(grown.trees.size(), 1u);
  ASSERT_EQ(other.trees.size(), 1u);
  const auto a = grown.tree_instance.view(), b = other.tree_instance.view();
  for (std::size_t i = 0; i < a.size; ++i) ASSERT_EQ(a[i], b[a.size - 1 - i]);
}

TEST(RibbedFoot, IsTheDiameterAboveTheRibs) {
  struct Case {
    double radius, top, reach;
  };
  for (const Case& c : {Case{0.4, 3.2, 1.6}, Case{0.25, 2.1, 0.5}, Case{0.5, 6, 2.5}}) {
    Stand stand;
    stand.floor(6);
    stand.trunk(0, 0, 14, ribbed(c.radius, c.top, c.reach), 1);
    stand.ball({0, 0, 18}, 4, 0.5, 20'000, 1);
    const TreeInventoryResult list = stand.list();
    ASSERT_EQ(list.trees.size(), 1u);
    const MeasuredTree& tree = list.trees[0];
    ASSERT_TRUE(tree.foot.has_value()) << c.top;
    EXPECT_LE(tree.foot->top_m, c.top + 0.25);
    EXPECT_GT(tree.foot->top_m, 0.6 * c.top);
    EXPECT_GE(tree.foot->axial_m, tree.foot->top_m + 0.5);
    EXPECT_NEAR(tree.foot->diameter_m, 2 * c.radius * (1 - tree.foot->axial_m / 40), 0.01);
    const double reach = c.reach * std::pow(1 - 1.3 / c.top, 1.5);
    EXPECT_NEAR(tree.foot->reach_m, reach, 0.3 * reach + 0.02);
  }
}

TEST(RibbedFoot, NoneWhereBreastHeightIsAboveWhatIsLookedAt) {
  Stand stand;
  stand.floor(6);
  stand.trunk(0, 0, 14, ribbed(0.4, 3.2, 1.6), 1);
  TreeInventoryParams params = inventory_defaults();
  for (const double breast_height : {3.5, 11.9, 12.0, 13.0, 1e3, 1e300}) {
    params.stem.breast_height_m = breast_height;
    EXPECT_FALSE(stand.list(params).trees.at(0).foot.has_value()) << breast_height;
  }
}

TEST(RibbedFoot, NoneOfRoundStemsBranchesShrubsAndFlaredFeet) {
  const auto with = [](const std::function<void(Stand&)>& more, const Form& form) {
    Stand stand;
    stand.floor(6);
    stand.trunk(0, 0, 12, form, 1);
    stand.ball({0, 0, 16}, 4, 0.5, 20'000, 1);
    more(stand);
    return stand.list().trees.at(0).foot.has_value();
  };
  const auto nothing = [](Stand&) {};
  EXPECT_FALSE(with(nothing, lobed(0.3, 0)));
  EXPECT_FALSE(with(nothing, ribbed(0.3, 1.2, 0.6))) << "below breast height";
  EXPECT_FALSE(with([](Stand& s) { s.ball({0.4, 0, 0.8}, 0.8, 0.9, 6000, 1); }, lobed(0.3, 0))) << "a shrub";
  EXPECT_FALSE(with(
      [](Stand& s) {  // low branches
        for (int i = 0; i < 8000; ++i) {
          const double turn = std::floor(8 * s.unit()) * kPi / 4, r = 0.3 + 2 * s.unit();
          s.add({r * std::cos(turn), r * std::sin(turn), 0.5 + 3 * s.unit()}, 1);
        }
      },
      lobed(0.3, 0)));
}

}  // namespace
