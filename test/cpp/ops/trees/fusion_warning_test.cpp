#include "ops/trees/fusion_warning.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "core/error.h"
#include "ops/trees/tree_points.h"
#include "support/columns.h"
#include "support/fuzz_runs.h"

namespace {

using namespace pc;
using namespace pc::test;

struct Trees {
  std::vector<Vec3d> points;
  std::vector<std::uint32_t> labels;
  std::uint32_t count = 0;

  /// A stem of `count` points with a crown above 3 m, in the tree `label`.
  void stem(double x, double y, std::size_t low, std::uint32_t label, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> unit(0, 1);
    for (std::size_t i = 0; i < low; ++i) {
      const double angle = 6.28 * unit(random);
      points.push_back({x + 0.15 * std::cos(angle), y + 0.15 * std::sin(angle), 0.8 * unit(random)});
      labels.push_back(label);
    }
    for (std::size_t i = 0; i < 250; ++i) {
      points.push_back({x + 2 * unit(random) - 1, y + 2 * unit(random) - 1, 3 + 4 * unit(random)});
      labels.push_back(label);
    }
    count = std::max(count, label);
  }
};

FusionFound found(const Trees& trees, int threads = 2, Span<const float> heights = {}) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return fusion_warning(HitPoints::assume_hits(span_of(trees.points)), span_of(trees.labels), trees.count,
                        heights, ctx);
}

TEST(FusionWarning, CountsTheStemsOfEachTree) {
  Trees trees;
  trees.stem(0, 0, 100, 1, 1);
  trees.stem(5, 0, 100, 2, 2);  // three stems in tree 2
  trees.stem(8, 0, 100, 2, 3);
  trees.stem(8, 3, 100, 2, 4);
  trees.stem(20, 0, 100, 3, 5);
  const FusionFound one = found(trees);
  EXPECT_EQ(one.fused_count, 1U);
  EXPECT_EQ(one.implied_count, 5U);
}

TEST(FusionWarning, StemsNearerThanAMetreAndTooFewPointsDoNotCount) {
  Trees fork;
  fork.stem(0, 0, 100, 1, 1);
  fork.stem(1.25, 0, 100, 1, 2);  // surfaces 0.95 m apart
  EXPECT_EQ(found(fork).fused_count, 0U);
  Trees apart;
  apart.stem(0, 0, 200, 1, 1);
  apart.stem(1.45, 0, 200, 1, 2);
  EXPECT_EQ(found(apart).fused_count, 1U);
  Trees thin;
  thin.stem(0, 0, 100, 1, 1);
  thin.stem(5, 0, 19, 1, 2);  // 20 are needed
  EXPECT_EQ(found(thin).fused_count, 0U);
  Trees few;
  few.stem(0, 0, 24, 1, 1);  // 49 low points
  few.stem(5, 0, 25, 1, 2);
  EXPECT_EQ(found(few).fused_count, 0U);
  few.stem(5, 0, 1, 1, 3);
  EXPECT_EQ(found(few).fused_count, 1U);
}

TEST(FusionWarning, OnASlopeStemsStandOnTheirOwnGround) {
  Trees flat, slope;
  for (int k = 0; k < 4; ++k) flat.stem(5 * k, 0, 100, 1, static_cast<std::uint64_t>(k + 1));
  slope = flat;
  std::vector<float> heights;
  for (Vec3d& p : slope.points) {
    heights.push_back(static_cast<float>(p.z));
    p.z += 0.47 * p.x;  // 25 degrees
  }
  EXPECT_EQ(found(flat).implied_count, 4U);
  EXPECT_EQ(found(slope).implied_count, 1U);
  EXPECT_EQ(found(slope, 2, span_of(heights)).implied_count, 4U);
  for (std::size_t i = 0; i < heights.size(); ++i)
    if (slope.points[i].x > 12) heights[i] = NAN;  // ground unknown
  EXPECT_EQ(found(slope, 1, span_of(heights)).implied_count, 3U);
  heights.pop_back();
  EXPECT_THROW(found(slope, 1, span_of(heights)), Error);
}

TEST(FusionWarning, ManyPointsAreSampledInAnOrderOfPosition) {
  Trees large;
  large.stem(0, 0, 30'000, 1, 1);
  large.stem(5, 0, 20'000, 1, 2);
  large.stem(9, 0, 300, 1, 3);  // less than 2 %
  const FusionFound once = found(large);
  EXPECT_EQ(once.implied_count, 2U);
  Trees shuffled = large;
  std::vector<std::size_t> order(large.points.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), std::mt19937_64(4));
  for (std::size_t i = 0; i < order.size(); ++i) shuffled.points[i] = large.points[order[i]];
  for (const int threads : {1, 3}) {
    EXPECT_EQ(found(shuffled, threads).implied_count, once.implied_count);
    EXPECT_EQ(found(shuffled, threads).fused_count, once.fused_count);
  }
}

TEST(FusionWarning, OddInput) {
  EXPECT_EQ(found({}).implied_count, 0U);
  Trees gaps;
  gaps.count = 1000;  // trees without points
  EXPECT_EQ(found(gaps).implied_count, 1000U);
  Trees nan;
  for (int i = 0; i < 300; ++i) {
    nan.points.push_back({i % 2 == 0 ? NAN : 1.0, 0, 0});
    nan.labels.push_back(1);
  }
  nan.count = 1;
  EXPECT_EQ(found(nan).fused_count, 0U);
  nan.count = 0;
  EXPECT_THROW(found(nan), Error);
  Trees same;
  same.count = 1;
  same.points.assign(5000, {1e7, -1e7, 3});
  same.labels.assign(5000, 1);
  EXPECT_EQ(found(same).implied_count, 1U);
}

TEST(FusionWarning, RandomCloudsAndLabels) {
  for (std::uint64_t seed = 0; seed < test::fuzz_runs(200); ++seed) {
    const std::vector<Vec3d> points = test::hostile_cloud(seed, 400);
    const std::uint64_t count = 1 + random_u64(seed, 1) % 3;
    std::vector<std::uint32_t> labels(points.size());
    for (std::size_t i = 0; i < labels.size(); ++i)
      labels[i] = static_cast<std::uint32_t>(random_u64(seed + 77, i) % (count + 1));
    JobControl control;
    OpContext ctx(control, Device::kCpu, 1);
    const FusionFound once =
        fusion_warning(HitPoints::assume_hits(span_of(points)), span_of(labels), count, {}, ctx);
    ASSERT_LE(once.fused_count, count) << seed;
    ASSERT_GE(once.implied_count, once.fused_count) << seed;
  }
}

TEST(TreePoints, SortsRowsIntoVegetationAndGround) {
  const std::vector<Vec3d> xyz{{0, 0, 0}, {1, 0, 5}, {2, NAN, 1}, {9, 9, 900}, {3, 4, 1}, {NAN, 0, 0}};
  const std::vector<std::uint8_t> skip{0, 0, 0, 1, 2, 0};
  const AnyColumn ground = column_of<float>({1, 2, 2, 1, 1, 1});
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  const TreePoints found = tree_points(span_of(xyz), span_of(skip), &ground, ctx);
  EXPECT_EQ(found.vegetation_count, 1U);
  EXPECT_EQ(found.ground_count, 1U);
  EXPECT_EQ(found.non_finite_count, 2U);
  EXPECT_EQ(found.box.min.x, 1);
  const auto why = found.skip.view();
  EXPECT_EQ(std::vector<int>(why.begin(), why.end()),
            (std::vector<int>{kSkipGround, 0, kSkipNonFinite, 1 | kSkipGround, 2 | kSkipGround,
                              kSkipNonFinite | kSkipGround}));
  const auto other = found.not_ground.view();
  EXPECT_EQ(std::vector<int>(other.begin(), other.end()), (std::vector<int>{0, 1, 1, 1, 1, 1}));
  const TreePoints plain = tree_points(span_of(xyz), {}, nullptr, ctx);
  EXPECT_EQ(plain.vegetation_count, 4U);
  EXPECT_EQ(plain.not_ground.size(), 0U);
  const AnyColumn shorter = column_of<float>({1});
  EXPECT_THROW(tree_points(span_of(xyz), {}, &shorter, ctx), Error);
}

}  // namespace
