#include "ops/trees/cut_pursuit_trees.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "core/error.h"
#include "core/memory.h"
#include "support/cancel.h"
#include "support/fuzz_runs.h"
#include "support/tree_plot.h"

namespace {

using namespace pc;
using test::TreePlot;

constexpr CutPursuitTreesParams kPublished{1, 5, 0.05, 15, 20, 0.1, 2, 0.5, 0.5, 20, 0.7, 1.5, 3, {}};

CutPursuitTreesResult run(const std::vector<Vec3d>& points, const CutPursuitTreesParams& params = kPublished,
                          const std::vector<Vec3d>& seeds = {}, int threads = 2) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return cut_pursuit_trees(HitPoints::assume_hits({points.data(), points.size()}),
                           {seeds.data(), seeds.size()}, params, ctx);
}

std::vector<std::uint32_t> labels(const CutPursuitTreesResult& found) {
  return {found.tree_instance.view().begin(), found.tree_instance.view().end()};
}

/// True if each tree of the plot has one label and no two share it.
bool same_partition(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b) {
  std::map<std::uint32_t, std::uint32_t> to, from;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (to.emplace(a[i], b[i]).first->second != b[i] || from.emplace(b[i], a[i]).first->second != a[i])
      return false;
  }
  return true;
}

const TreePlot& plot() {
  static const TreePlot made = test::tree_plot(3, 2, 2500);
  return made;
}

TEST(CutPursuitTrees, FindsTreesThatStandApart) {
  const CutPursuitTreesResult found = run(plot().points);
  EXPECT_EQ(found.tree_count, 6U);
  EXPECT_TRUE(same_partition(labels(found), plot().tree));
  EXPECT_GT(found.stage1_count, 60U);
  EXPECT_GE(found.stage2_count, 6U);
  EXPECT_FALSE(found.stage1_collapsed);
  JobControl control;
  OpContext ctx(control);
  EXPECT_EQ(found.node_count,
            cut_pursuit_node_count(HitPoints::assume_hits({plot().points.data(), plot().points.size()}), 0.05,
                                   ctx));
}

TEST(CutPursuitTrees, SameForAnyOrderThreadsAndOffset) {
  const std::vector<std::uint32_t> once = labels(run(plot().points, kPublished, {}, 1));
  std::vector<std::size_t> order(once.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), std::mt19937_64(4));
  std::vector<Vec3d> shuffled, moved, mirrored;
  for (const std::size_t i : order) shuffled.push_back(plot().points[i]);
  const std::vector<std::uint32_t> again = labels(run(shuffled, kPublished, {}, 3));
  for (std::size_t i = 0; i < order.size(); ++i) ASSERT_EQ(again[i], once[order[i]]) << i;
  for (const Vec3d& p : plot().points) {
    moved.push_back(p + Vec3d{5e6, 5e6, 5e6});
    mirrored.push_back({-p.x, p.y, p.z});
  }
  EXPECT_EQ(labels(run(moved)), once);
  EXPECT_TRUE(same_partition(labels(run(mirrored)), once));
}

TEST(CutPursuitTrees, NeighboursAtEqualDistancesStayEqualFarFromTheOrigin) {
  // Positions in centimetres have many equally distant neighbours; 5e6 m away float64 separates them at random.
  std::vector<Vec3d> rounded, moved;
  for (const Vec3d& p : test::tree_plot(2, 1, 1500).points) {
    rounded.push_back(
        {std::round(p.x * 100) / 100, std::round(p.y * 100) / 100, std::round(p.z * 100) / 100});
    moved.push_back(rounded.back() + Vec3d{5e6, -5e6, 5e6});
  }
  const CutPursuitTreesResult here = run(rounded), there = run(moved);
  EXPECT_EQ(here.node_count, there.node_count);
  EXPECT_EQ(here.stage1_count, there.stage1_count);
  EXPECT_EQ(labels(here), labels(there));
}

TEST(CutPursuitTrees, DistantVegetationIsNoPartOfATree) {
  TreePlot with = plot();
  test::add_tree(with, -25, 3, 1.2, 100, 400);  // a shrub
  for (int i = 0; i < 40; ++i) {
    with.points.push_back({0.05 * i, 0, 40});  // a wire above the plot
    with.tree.push_back(8);
  }
  const CutPursuitTreesResult found = run(with.points);
  EXPECT_EQ(found.tree_count, 8U);
  EXPECT_TRUE(same_partition(labels(found), with.tree));
  // With seeds in the trees both are no tree.
  std::vector<Vec3d> seeds;
  for (const double y : {0.0, 5.0}) {
    for (const double x : {0.0, 5.0, 10.0}) seeds.push_back({x, y, 0.5});
  }
  const std::vector<std::uint32_t> seeded = labels(run(with.points, kPublished, seeds));
  for (std::size_t i = 0; i < with.tree.size(); ++i)
    ASSERT_EQ(seeded[i], with.tree[i] > 6 ? 0U : with.tree[i]) << i;
}

TEST(CutPursuitTrees, SeedsGiveTreesInTheirOrder) {
  // Reversed order, and one tree without a seed in reach of the others: it falls to the nearest seed.
  const std::vector<Vec3d> seeds{{10, 5, 0.3}, {5, 5, 0.3}, {0, 5, 0.3}, {10, 0, 0.3}, {5, 0, 0.3}};
  const CutPursuitTreesResult found = run(plot().points, kPublished, seeds);
  EXPECT_EQ(found.tree_count, 5U);
  const std::vector<std::uint32_t> seeded = labels(found);
  const std::uint32_t of_tree[] = {0, 0, 5, 4, 3, 2, 1};
  for (std::size_t i = 0; i < seeded.size(); ++i) {
    if (plot().tree[i] > 1) {
      ASSERT_EQ(seeded[i], of_tree[plot().tree[i]]) << i;
    } else {
      ASSERT_TRUE(seeded[i] == 3 || seeded[i] == 5) << i;  // both are 5 m away
    }
  }
}

TEST(CutPursuitTrees, TwoSeedsInOneGroupShareItsSegments) {
  TreePlot twin;  // two stems in one group of stage 2
  test::add_tree(twin, 0, 0, 8, 2000, 4000);
  CutPursuitTreesParams params = kPublished;
  params.reg_strength2 = 1e6;
  const std::vector<std::uint32_t> found = labels(run(twin.points, params, {{0, 0, 0.2}, {0, 0, 7.5}}));
  EXPECT_EQ(std::set<std::uint32_t>(found.begin(), found.end()), (std::set<std::uint32_t>{1, 2}));
  // More seeds than segments: the rest have no points, the count stays theirs.
  std::vector<Vec3d> dot(20, Vec3d{1, 1, 1});
  const CutPursuitTreesResult few = run(dot, kPublished, {{0, 0, 0}, {1, 1, 1}, {2, 2, 2}});
  EXPECT_EQ(few.tree_count, 3U);
  for (const std::uint32_t l : labels(few)) EXPECT_EQ(l, 2U);
}

TEST(CutPursuitTrees, EachParameterOfTheFirstStagesActs) {
  const TreePlot pair = test::tree_plot(2, 1, 2500);
  const CutPursuitTreesResult base = run(pair.points);
  const auto with = [&](auto change) {
    CutPursuitTreesParams params = kPublished;
    change(params);
    return run(pair.points, params);
  };
  EXPECT_LT(with([](auto& p) { p.reg_strength1 = 2; }).stage1_count, base.stage1_count);
  EXPECT_GT(with([](auto& p) { p.reg_strength1 = 0.5; }).stage1_count, base.stage1_count);
  EXPECT_LT(with([](auto& p) { p.min_nn1 = 8; }).stage1_count, base.stage1_count);
  EXPECT_LT(with([](auto& p) { p.decimate_res1 = 0.1; }).node_count, base.node_count * 9 / 10);
  EXPECT_GT(with([](auto& p) { p.reg_strength2 = 0.01; }).stage2_count, base.stage2_count + 2);
  EXPECT_GT(with([](auto& p) { p.min_nn2 = 2; }).stage2_count, base.stage2_count);
  EXPECT_GT(with([](auto& p) { p.max_gap = 0.05; }).stage2_count, base.stage2_count);
  // Fewer nodes per segment weigh less against the same number of neighbours.
  EXPECT_LT(with([](auto& p) {
              p.reg_strength2 = 0.01;
              p.decimate_res2 = 0.4;
            }).stage2_count,
            with([](auto& p) { p.reg_strength2 = 0.01; }).stage2_count);
  EXPECT_GT(with([](auto& p) { p.max_outlier_gap = 0.1; }).tree_count, base.tree_count);
}

TEST(CutPursuitTrees, ACollapseIsSaidAndKeptWhenNoRetryHelps) {
  TreePlot one;
  test::add_tree(one, 0, 0, 6, 600, 1000);
  CutPursuitTreesParams params = kPublished;
  params.reg_strength1 = 1e9;
  params.min_nn1 = 60;
  const CutPursuitTreesResult found = run(one.points, params);
  EXPECT_TRUE(found.stage1_collapsed);
  EXPECT_EQ(found.stage1_count, 1U);
  EXPECT_EQ(found.tree_count, 1U);
  EXPECT_EQ(found.decimate_res1, 0.05);
}

TEST(CutPursuitTrees, RowsThatAreNotFiniteGetZero) {
  std::vector<Vec3d> points(30, Vec3d{2, 3, 4});
  points[3].x = NAN;
  points[4].z = HUGE_VAL;
  const std::vector<std::uint32_t> found = labels(run(points));
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i], i == 3 || i == 4 ? 0U : 1U);
}

TEST(CutPursuitTrees, RefusesWhatItCannotUse) {
  const std::vector<Vec3d> points(20, Vec3d{0, 0, 0});
  const auto refused = [&](auto change) {
    CutPursuitTreesParams params = kPublished;
    change(params);
    try {
      run(points, params);
    } catch (const Error& error) {
      return error.code() == ErrorCode::kInvalidArgument;
    }
    return false;
  };
  EXPECT_FALSE(refused([](auto&) {}));
  EXPECT_TRUE(refused([](auto& p) { p.reg_strength1 = -1; }));
  EXPECT_TRUE(refused([](auto& p) { p.min_nn1 = 0; }));
  EXPECT_TRUE(refused([](auto& p) { p.min_nn2 = kMaxTreeNeighbors + 1; }));
  EXPECT_TRUE(refused([](auto& p) { p.min_nn3 = 0; }));
  EXPECT_TRUE(refused([](auto& p) { p.decimate_res1 = 0; }));
  EXPECT_TRUE(refused([](auto& p) { p.decimate_res2 = NAN; }));
  EXPECT_TRUE(refused([](auto& p) { p.max_gap = HUGE_VAL; }));
  EXPECT_TRUE(refused([](auto& p) { p.score_candidate_thresh = 1.1; }));
  EXPECT_TRUE(refused([](auto& p) { p.max_outlier_gap = 0; }));
  EXPECT_TRUE(refused([](auto& p) { p.voxel_origin = Vec3d{0, NAN, 0}; }));
  EXPECT_THROW(run({9, Vec3d{0, 0, 0}}), Error);
  EXPECT_THROW(run(points, kPublished, {{NAN, 0, 0}}), Error);
  JobControl control;
  OpContext ctx(control);
  EXPECT_THROW(cut_pursuit_node_count(HitPoints::assume_hits({points.data(), 20}), -1, ctx), Error);
}

TEST(CutPursuitTrees, HostileCloudsAndParameters) {
  std::mt19937_64 random(11);
  const double numbers[] = {0, 1e-6, 0.05, 1, 20, 1e5, 1e300};
  const auto number = [&](bool positive) {
    return numbers[random() % (positive ? 6 : 7) + (positive ? 1 : 0)];
  };
  const std::uint64_t runs = test::fuzz_runs(160);
  std::uint64_t answered = 0;
  for (std::uint64_t seed = 0; seed < runs; ++seed) {
    const std::vector<Vec3d> points = test::hostile_cloud(seed, 60);
    CutPursuitTreesParams p = kPublished;
    if (seed % 2 == 0) {
      p = {number(false),
           static_cast<std::uint32_t>(1 + random() % 30),
           number(true),
           number(false),
           static_cast<std::uint32_t>(1 + random() % 30),
           number(true),
           number(true),
           number(false),
           number(false),
           static_cast<std::uint32_t>(1 + random() % 30),
           0.7,
           number(false),
           number(true),
           {}};
    }
    std::vector<Vec3d> seeds;
    for (std::size_t i = 0; seed % 3 == 0 && i < points.size() && i < 4; ++i) seeds.push_back(points[i]);
    try {
      const CutPursuitTreesResult found = run(points, p, seeds, 1);
      ++answered;
      for (const std::uint32_t l : found.tree_instance.view()) ASSERT_LE(l, found.tree_count) << seed;
      ASSERT_GE(found.stage1_count, found.stage2_count) << seed;
      if (!seeds.empty()) {
        ASSERT_EQ(found.tree_count, seeds.size());
      }
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), ErrorCode::kInvalidArgument) << seed << ' ' << error.what();
    }
  }
  EXPECT_GT(answered, runs / 3);
}

TEST(CutPursuitTrees, ManyTinyTrees) {
  std::vector<Vec3d> points;
  for (int i = 0; i < 5000; ++i) {
    for (int k = 0; k < 4; ++k) points.push_back({10.0 * (i % 150), 10.0 * (i / 150), 0.06 * k});
  }
  const CutPursuitTreesResult found = run(points);
  EXPECT_EQ(found.tree_count, 5000U);
}

TEST(CutPursuitTrees, ManySeedsDoNotCostTheirSquare) {
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> u(0, 0.3);
  std::vector<Vec3d> points, apart, equal(2500, Vec3d{1, 1, 1});
  for (int i = 0; i < 2500; ++i) {
    const Vec3d foot{2.0 * (i % 50), 2.0 * (i / 50), 0};
    for (int k = 0; k < 20; ++k) points.push_back(foot + Vec3d{u(random), u(random), 10 * u(random)});
    apart.push_back(foot + Vec3d{0.1, 0.1, 0.5});
  }
  for (const auto& seeds : {apart, equal}) {
    const auto start = std::chrono::steady_clock::now();
    const std::vector<std::uint32_t> found = labels(run(points, kPublished, seeds));
    EXPECT_GT(std::set<std::uint32_t>(found.begin(), found.end()).size(), 1000U);
    EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 15);
  }
}

TEST(CutPursuitTrees, TheEstimateOfMemoryHolds) {
  std::mt19937_64 random(4);
  std::uniform_real_distribution<double> u(0, 1.7);
  std::vector<Vec3d> points;
  for (int i = 0; i < 10'000; ++i) points.push_back({u(random), u(random), u(random)});
  CutPursuitTreesParams fine = kPublished, wide = kPublished;
  fine.reg_strength1 = fine.reg_strength2 = 0;  // each node is a segment, each segment a group
  wide.min_nn1 = wide.min_nn2 = 12;
  for (const CutPursuitTreesParams& params : {kPublished, fine, wide}) {
    const std::uint64_t before = bulk_bytes_in_use();
    std::atomic<bool> over{false};
    std::uint64_t most = 0;
    std::thread watch([&] {
      for (; !over; std::this_thread::sleep_for(std::chrono::microseconds(100)))
        most = std::max(most, bulk_bytes_in_use() - before);
    });
    const CutPursuitTreesResult found = run(points, params, {}, 1);
    over = true;
    watch.join();
    const std::uint64_t estimate = cut_pursuit_trees_bytes(points.size(), found.node_count, params);
    EXPECT_LE(most, estimate);
    EXPECT_GT(most, estimate / 20);
  }
}

TEST(CutPursuitTrees, CancelsInEachLongPhase) {
  const TreePlot large = test::tree_plot(4, 4, 5000);
  for (const char* phase : {"Finding neighbours", "Segmenting", "Measuring gaps"}) {
    test::expect_cancel_in_phase(phase, [&](OpContext& ctx) {
      cut_pursuit_trees(HitPoints::assume_hits({large.points.data(), large.points.size()}), {}, kPublished,
                        ctx);
    });
  }
}

}  // namespace
