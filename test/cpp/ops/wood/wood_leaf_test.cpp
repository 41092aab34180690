#include "ops/wood/wood_leaf.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <vector>

#include "core/error.h"
#include "core/random.h"
#include "ops/wood/reflectance_vote.h"
#include "ops/wood/wood_class.h"
#include "ops/wood/wood_mixture.h"
#include "support/cancel.h"
#include "support/nasty_clouds.h"

namespace pc {
namespace {

using Labels = std::vector<std::uint8_t>;

WoodLeafParams with(WoodMethod method) {
  return {method, 0.6, 10, 100, 10, 20, 3, 0, 0.02, 0, 0, 1'500'000, 0.4};
}

struct Tree {
  std::vector<Vec3d> points;
  Labels truth;
};

/// A cylinder of 0.15 m radius and 4 m height with a ball of leaves on it.
Tree cylinder_with_ball(std::size_t wood, std::size_t leaves) {
  Tree tree;
  std::uint64_t next = 0;
  const auto draw = [&] { return random_unit(11, next++); };
  for (std::size_t i = 0; i < wood; ++i) {
    const double angle = 2 * 3.141592653589793 * draw();
    tree.points.push_back({0.15 * std::cos(angle), 0.15 * std::sin(angle), 4 * draw()});
    tree.truth.push_back(kWood);
  }
  while (tree.points.size() < wood + leaves) {
    const Vec3d p{2 * draw() - 1, 2 * draw() - 1, 2 * draw() - 1};
    if (dot(p, p) > 1) continue;
    tree.points.push_back({p.x, p.y, p.z + 5.1});
    tree.truth.push_back(kLeaf);
  }
  return tree;
}

WoodLeafResult run(const std::vector<Vec3d>& points, const WoodLeafParams& params, int threads = 2) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return wood_leaf(HitPoints::assume_hits({points.data(), points.size()}), {}, params, ctx);
}

Labels labels_of(const WoodLeafResult& result) {
  const auto view = result.wood_class.view();
  return {view.begin(), view.end()};
}

double agreement(const Labels& a, const Labels& b) {
  std::size_t same = 0;
  for (std::size_t i = 0; i < a.size(); ++i) same += a[i] == b[i] ? 1 : 0;
  return static_cast<double>(same) / static_cast<double>(a.size());
}

class WoodLeaf : public testing::TestWithParam<WoodMethod> {};
INSTANTIATE_TEST_SUITE_P(Methods, WoodLeaf,
                         testing::Values(WoodMethod::kGeometric, WoodMethod::kConnectivity,
                                         WoodMethod::kSota));

TEST_P(WoodLeaf, CylinderWithABallOfLeaves) {
  const Tree tree = cylinder_with_ball(6000, 4000);
  const WoodLeafResult found = run(tree.points, with(GetParam()));
  EXPECT_GT(agreement(labels_of(found), tree.truth), 0.95);
  EXPECT_EQ(found.wood_count + found.leaf_count, tree.points.size());
}

TEST_P(WoodLeaf, DoesNotDependOnThreadsOrderOrOffset) {
  // On a lattice, without duplicates: many neighbours are equally distant.
  Tree tree;
  std::set<std::array<double, 3>> places;
  for (const Vec3d& p : cylinder_with_ball(3000, 2000).points) {
    const Vec3d at{std::round(p.x * 64) / 64, std::round(p.y * 64) / 64, std::round(p.z * 64) / 64};
    if (places.insert({at.x, at.y, at.z}).second) tree.points.push_back(at);
  }
  const Labels labels = labels_of(run(tree.points, with(GetParam()), 1));
  EXPECT_EQ(labels_of(run(tree.points, with(GetParam()), 3)), labels);
  std::vector<std::size_t> order(tree.points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = order.size(); i-- > 1;) std::swap(order[i], order[random_u64(5, i) % (i + 1)]);
  std::vector<Vec3d> shuffled, far;
  for (const std::size_t i : order) shuffled.push_back(tree.points[i]);
  const Labels other = labels_of(run(shuffled, with(GetParam())));
  for (std::size_t i = 0; i < order.size(); ++i) ASSERT_EQ(other[i], labels[order[i]]) << i;
  for (const Vec3d& p : tree.points) far.push_back(p + Vec3d{5e6, -5e6, 300});
  EXPECT_GT(agreement(labels_of(run(far, with(GetParam()))), labels), 0.998);
}

TEST_P(WoodLeaf, SurvivesNastyClouds) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    std::vector<Vec3d> points = nasty_clouds::cloud(seed, 60);
    points.push_back({std::numeric_limits<double>::quiet_NaN(), 0, 0});
    try {
      const WoodLeafResult found = run(points, with(GetParam()));
      EXPECT_EQ(labels_of(found).back(), kLeaf) << seed;
      for (const std::uint8_t label : labels_of(found)) ASSERT_TRUE(label == kWood || label == kLeaf) << seed;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument) << seed << ": " << error.what();
    }
  }
}

TEST(WoodLeafVoxels, LabelEveryPoint) {
  const Tree tree = cylinder_with_ball(6000, 4000);
  WoodLeafParams params = with(WoodMethod::kGeometric);
  params.most_points = 4000;
  const WoodLeafResult found = run(tree.points, params);
  EXPECT_GT(found.voxel_m, 0);
  EXPECT_LE(found.used_count, 4200U);
  EXPECT_GT(agreement(labels_of(found), tree.truth), 0.9);
}

TEST(WoodLeafParams, Act) {
  const Tree tree = cylinder_with_ball(3000, 2000);
  const auto count = [&](const WoodLeafParams& params) { return run(tree.points, params).wood_count; };
  const auto changed = [&](WoodMethod method, auto change) {
    WoodLeafParams params = with(method);
    change(params);
    return labels_of(run(tree.points, params)) != labels_of(run(tree.points, with(method)));
  };
  WoodLeafParams low = with(WoodMethod::kGeometric), high = low;
  low.wood_bias = 0.05, high.wood_bias = 0.98;
  EXPECT_GT(count(low), count(high));
  constexpr auto kGeometric = WoodMethod::kGeometric;
  EXPECT_TRUE(changed(kGeometric, [](WoodLeafParams& p) { p.k_min = 60; }));
  EXPECT_TRUE(changed(kGeometric, [](WoodLeafParams& p) { p.k_max = 30; }));
  EXPECT_TRUE(changed(kGeometric, [](WoodLeafParams& p) { p.k_step = 45; }));
  EXPECT_TRUE(changed(kGeometric, [](WoodLeafParams& p) { p.reg_k = 5; }));
  EXPECT_TRUE(changed(kGeometric, [](WoodLeafParams& p) { p.reg_iters = 0; }));
  EXPECT_TRUE(changed(kGeometric, [](WoodLeafParams& p) { p.min_speckle = 100'000; }));
  EXPECT_TRUE(changed(kGeometric, [](WoodLeafParams& p) { p.branch_grow_sph = 1; }));
  EXPECT_TRUE(changed(kGeometric, [](WoodLeafParams& p) { p.voxel_size_m = 0.2; }));
  EXPECT_TRUE(changed(WoodMethod::kConnectivity, [](WoodLeafParams& p) { p.branch_grow_sph = 0.3; }));
}

TEST(WoodLeafParams, AreChecked) {
  const Tree tree = cylinder_with_ball(50, 50);
  const auto refused = [&](auto change) {
    WoodLeafParams params = with(WoodMethod::kGeometric);
    change(params);
    EXPECT_THROW(run(tree.points, params), Error);
  };
  refused([](WoodLeafParams& p) { p.wood_bias = 1.01; });
  refused([](WoodLeafParams& p) { p.wood_bias = std::nan(""); });
  refused([](WoodLeafParams& p) { p.reg_k = 0; });
  refused([](WoodLeafParams& p) { p.reg_iters = 101; });
  refused([](WoodLeafParams& p) { p.voxel_size_m = -1; });
  refused([](WoodLeafParams& p) { p.reflectance_weight_max = 2; });
  EXPECT_THROW(run({{0, 0, 0}, {1, 1, 1}}, with(WoodMethod::kGeometric)), Error);
}

TEST(ScoreMixture, FindsTwoComponents) {
  std::vector<float> scores;
  for (int i = 0; i < 4000; ++i) {
    const double noise = random_unit(2, 3 * i) + random_unit(2, 3 * i + 1) + random_unit(2, 3 * i + 2) - 1.5;
    scores.push_back(static_cast<float>((i % 4 == 0 ? 0.8 : 0.3) + 0.1 * noise));
  }
  JobControl control;
  OpContext ctx(control);
  const ScoreMixture found = score_mixture({scores.data(), scores.size()}, ctx);
  EXPECT_TRUE(found.separated);
  EXPECT_LT(found.of(0.4F), 0.1);
  EXPECT_GT(found.of(0.7F), 0.9);
  EXPECT_TRUE(std::is_sorted(found.probability.begin(), found.probability.end()));
}

TEST(ScoreMixture, OneValueHasNoComponents) {
  const std::vector<float> scores(100, 0.5F);
  JobControl control;
  OpContext ctx(control);
  EXPECT_FALSE(score_mixture({scores.data(), scores.size()}, ctx).separated);
}

TEST(ReflectanceVote, MakesWoodOnlyAboveTheQuantile) {
  std::vector<float> reflectance;
  Labels labels;
  for (int i = 0; i < 1000; ++i) {
    reflectance.push_back(static_cast<float>(i));
    labels.push_back(i >= 500 ? kWood : kLeaf);
  }
  labels[995] = kLeaf;
  labels[400] = kLeaf;
  JobControl control;
  OpContext ctx(control);
  const ReflectanceVote vote = reflectance_vote({reflectance.data(), 1000}, 0.4, {labels.data(), 1000}, ctx);
  EXPECT_NEAR(vote.weight, 0.4, 0.01);
  EXPECT_EQ(vote.promoted, 1U);
  EXPECT_EQ(labels[995], kWood);
  EXPECT_EQ(labels[400], kLeaf);
}

TEST(ReflectanceVote, TheQuantileFallsElevenPercentWithTheWeight) {
  for (const double weight : {0.2, 1.0}) {
    std::vector<float> reflectance;
    Labels labels;
    for (int i = 0; i < 1000; ++i) {
      reflectance.push_back(static_cast<float>(i));
      labels.push_back(i >= 500 ? kWood : kLeaf);
    }
    const auto limit = static_cast<std::size_t>(990 - 110 * weight);
    labels[limit - 6] = labels[limit + 6] = kLeaf;
    JobControl control;
    OpContext ctx(control);
    EXPECT_EQ(reflectance_vote({reflectance.data(), 1000}, weight, {labels.data(), 1000}, ctx).promoted, 1U);
    EXPECT_EQ(labels[limit - 6], kLeaf) << weight;
    EXPECT_EQ(labels[limit + 6], kWood) << weight;
  }
}

TEST(WoodLeafCancel, InTime) {
  const Tree tree = cylinder_with_ball(150'000, 100'000);
  for (const char* phase : {"Measuring shapes", "Sorting points"})
    test::expect_cancel_in_phase(phase, [&](OpContext& ctx) {
      wood_leaf(HitPoints::assume_hits({tree.points.data(), tree.points.size()}), {}, with(WoodMethod::kSota),
                ctx);
    });
}

}  // namespace
}  // namespace pc
