#include "ops/trees/tree_tiles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "core/error.h"
#include "ops/trees/tiled_cut_pursuit.h"
#include "ops/trees/tree_decimation.h"
#include "support/columns.h"
#include "support/planted_trees.h"

namespace {

using namespace pc;
using namespace pc::test;

/// Connected parts in cells of half a metre, numbered by their first cell: a segmenter without any global rule.
TileTrees parts(HitPoints points, Span<const std::uint32_t>, Span<const Vec3d>, OpContext&) {
  std::map<std::pair<long, long>, std::vector<std::size_t>> cells;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Vec3d& p = points.xyz()[i];
    cells[{std::lround(std::floor(2 * p.x)), std::lround(std::floor(2 * p.y))}].push_back(i);
  }
  std::map<std::pair<long, long>, std::uint32_t> label;
  TileTrees out{Column<std::uint32_t>(points.size()), 0};
  for (const auto& [cell, members] : cells) {
    if (label.contains(cell)) continue;
    std::vector<std::pair<long, long>> open{cell};
    label[cell] = static_cast<std::uint32_t>(++out.tree_count);
    while (!open.empty()) {
      const auto at = open.back();
      open.pop_back();
      for (long dx = -1; dx <= 1; ++dx) {
        for (long dy = -1; dy <= 1; ++dy) {
          const std::pair next(at.first + dx, at.second + dy);
          if (!cells.contains(next) || label.contains(next)) continue;
          label[next] = static_cast<std::uint32_t>(out.tree_count);
          open.push_back(next);
        }
      }
    }
  }
  for (const auto& [cell, members] : cells)
    for (const std::size_t i : members) out.tree_instance[i] = label[cell];
  return out;
}

TiledTreesResult tiled(const std::vector<Vec3d>& points, const TreeTilePlan& plan,
                       const TileSegmenter& segmenter = parts, const std::vector<Vec3d>& seeds = {}) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  return tiled_trees(HitPoints::assume_hits(span_of(points)), span_of(seeds), plan, 1, segmenter, ctx);
}

/// True if both number the same groups of points, and both 0 or none.
bool same_partition(Span<const std::uint32_t> a, Span<const std::uint32_t> b) {
  std::map<std::uint32_t, std::uint32_t> there, back;
  for (std::size_t i = 0; i < a.size; ++i) {
    if ((a[i] == 0) != (b[i] == 0)) return false;
    if (there.try_emplace(a[i], b[i]).first->second != b[i] ||
        back.try_emplace(b[i], a[i]).first->second != a[i])
      return false;
  }
  return true;
}

const TreeTilePlan kPlan{-1, -1, 9, 3, 6, 6};

TEST(TreeTiles, EqualTheWholeCloudWhereNoTreeIsTruncated) {
  const Planted plot = planted(separate_cones(8, 2, 6), 50, 0, 300, 3);
  JobControl control;
  OpContext ctx(control);
  const TileTrees whole = parts(HitPoints::assume_hits(span_of(plot.plants)), {}, {}, ctx);
  ASSERT_EQ(whole.tree_count, 64U);
  const TiledTreesResult found = tiled(plot.plants, kPlan);
  EXPECT_EQ(found.tiles, 36U);
  EXPECT_EQ(found.tiles_run, 36U);
  EXPECT_EQ(found.tree_count, 64U);
  EXPECT_EQ(found.truncated_count, 0U);
  EXPECT_TRUE(same_partition(found.tree_instance.view(), whole.tree_instance.view()));
  EXPECT_GT(found.points_per_tile_max, found.points_per_tile_mean);
}

TEST(TreeTiles, NumbersFollowTheAnchorsForAnyOrder) {
  const Planted plot = planted(separate_cones(7, 5, 6), 44, 0, 300, 6);
  const TiledTreesResult found = tiled(plot.plants, kPlan);
  std::vector<double> least(found.tree_count + 1, HUGE_VAL), x(found.tree_count + 1),
      count(found.tree_count + 1);
  for (std::size_t i = 0; i < plot.plants.size(); ++i)
    least[found.tree_instance[i]] = std::min(least[found.tree_instance[i]], plot.plants[i].z);
  for (std::size_t i = 0; i < plot.plants.size(); ++i) {
    const std::uint32_t tree = found.tree_instance[i];
    if (plot.plants[i].z > least[tree] + 1) continue;
    x[tree] += plot.plants[i].x;
    count[tree] += 1;
  }
  ASSERT_GT(found.tree_count, 40U);
  for (std::size_t tree = 2; tree < x.size(); ++tree)
    EXPECT_GT(x[tree] / count[tree], x[tree - 1] / count[tree - 1] - 1e-6);
  std::vector<std::size_t> order(plot.plants.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), std::mt19937_64(8));
  std::vector<Vec3d> shuffled;
  for (const std::size_t i : order) shuffled.push_back(plot.plants[i]);
  const TiledTreesResult again = tiled(shuffled, kPlan);
  for (std::size_t i = 0; i < order.size(); ++i)
    ASSERT_EQ(again.tree_instance[i], found.tree_instance[order[i]]);
}

TEST(TreeTiles, ATreeWiderThanTheBufferIsTruncated) {
  Planted plot = planted(separate_cones(6, 9, 6), 38, 0, 300, 6);
  for (int i = 0; i < 400; ++i) plot.plants.push_back({2 + 0.04 * i, 37.9, 8 - 0.02 * i});  // 16 m long
  const TiledTreesResult found = tiled(plot.plants, kPlan);
  EXPECT_GE(found.truncated_count, 1U);
  EXPECT_EQ(tiled(plot.plants, {-1, -1, 60, 20, 1, 1}).truncated_count, 0U);
}

/// One tree of all points of a tile; their z decides where its anchor is.
TileTrees one_tree(HitPoints points, Span<const std::uint32_t>, Span<const Vec3d>, OpContext&) {
  TileTrees out{Column<std::uint32_t>(points.size()), 1};
  std::fill(out.tree_instance.view().begin(), out.tree_instance.view().end(), 1U);
  return out;
}

TEST(TreeTiles, APointGoesToTheTileInWhichItIsFartherFromTheRim) {
  std::vector<Vec3d> points;
  for (int i = 0; i <= 200; ++i)  // the anchors are at 5 and 15 m
    points.push_back({0.1 * i, 1, std::abs(i - 50) < 5 || std::abs(i - 150) < 5 ? 0.0 : 5.0});
  const TiledTreesResult found = tiled(points, {0, 0, 10, 4, 2, 1}, one_tree);
  EXPECT_EQ(found.tree_count, 2U);
  for (std::size_t i = 0; i < points.size(); ++i)
    if (i != 100) {
      EXPECT_EQ(found.tree_instance[i], i < 100 ? 1U : 2U) << i;
    }
}

TEST(TreeTiles, WhatTwoTilesLeaveToEachOtherIsNotLost) {
  std::vector<Vec3d> points;  // in the left tile the lowest points are at 13 m, in the right one at 7 m
  for (int i = 0; i <= 200; ++i)
    points.push_back({0.1 * i, 1, std::abs(i - 130) < 3 || std::abs(i - 70) < 3 ? 0.0 : 5.0});
  const TileSegmenter shy = [](HitPoints part, Span<const std::uint32_t> rows, Span<const Vec3d> seeds,
                               OpContext& ctx) {
    TileTrees out = one_tree(part, rows, seeds, ctx);
    const bool left =
        std::any_of(part.xyz().begin(), part.xyz().end(), [](const Vec3d& p) { return p.x < 1; });
    for (std::size_t i = 0; i < part.size(); ++i) {  // only the low points beyond the core, and the high ones
      const double x = part.xyz()[i].x;
      if (part.xyz()[i].z == 0 && (x < 10) == left) out.tree_instance[i] = 0;
    }
    return out;
  };
  const TiledTreesResult found = tiled(points, {0, 0, 10, 4, 2, 1}, shy);
  EXPECT_EQ(found.tree_count, 2U);
  EXPECT_EQ(found.truncated_count, 2U);
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i].z > 0) {  // numbered by their anchors
      EXPECT_EQ(found.tree_instance[i], i < 100 ? 2U : 1U) << i;
    }
  }
}

TEST(TreeTiles, SeedsKeepTheirNumbersAndTilesWithoutAreLeftOut) {
  const Planted plot = planted({{3, 3, 8, 1.5}, {20, 3, 8, 1.5}, {40, 40, 8, 1.5}}, 44, 0, 300, 4);
  // Every point belongs to the nearest seed within 3 m.
  const TileSegmenter nearest = [](HitPoints points, Span<const std::uint32_t>, Span<const Vec3d> seeds,
                                   OpContext&) {
    TileTrees out{Column<std::uint32_t>(points.size()), seeds.size};
    for (std::size_t i = 0; i < points.size(); ++i) {
      for (std::uint32_t s = 0; s < seeds.size; ++s) {
        const Vec3d& p = points.xyz()[i];
        if (std::hypot(p.x - seeds[s].x, p.y - seeds[s].y) < 3) out.tree_instance[i] = s + 1;
      }
    }
    return out;
  };
  const TiledTreesResult found = tiled(plot.plants, kPlan, nearest, {{40, 40, 1}, {-500, 3, 1}, {3, 3, 1}});
  EXPECT_EQ(found.tree_count, 3U);
  EXPECT_LT(found.tiles_run, found.tiles);
  for (std::size_t i = 0; i < plot.plants.size(); ++i) {
    const std::uint32_t cone = plot.cone[i];
    ASSERT_EQ(found.tree_instance[i], cone == 1 ? 3U : cone == 2 ? 0U : 1U);
  }
}

/// Every point within 4 m of a seed is its tree.
TileTrees around_seeds(HitPoints points, Span<const std::uint32_t>, Span<const Vec3d> seeds, OpContext&) {
  TileTrees out{Column<std::uint32_t>(points.size()), seeds.size};
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::uint32_t s = 0; s < seeds.size; ++s) {
      const Vec3d& p = points.xyz()[i];
      if (std::hypot(p.x - seeds[s].x, p.y - seeds[s].y) < 4) out.tree_instance[i] = s + 1;
    }
  }
  return out;
}

TEST(TreeTiles, ASeedInATileWithoutPointsHasItsTree) {
  std::vector<Vec3d> points;  // nothing between 10 and 20 m
  for (int i = 0; i < 50; ++i) {
    points.push_back({9 + 0.01 * i, 1, 0.1 * i});
    points.push_back({25 + 0.01 * i, 1, 0.1 * i});
  }
  const TiledTreesResult found =
      tiled(points, {0, 0, 10, 6, 3, 1}, around_seeds, {{25, 1, 1}, {11, 1, 1}, {-70, 1, 1}});
  EXPECT_EQ(found.tree_count, 3U);
  EXPECT_EQ(found.tiles, 3U);
  for (std::size_t i = 0; i < points.size(); ++i) ASSERT_EQ(found.tree_instance[i], i % 2 == 0 ? 2U : 1U);
}

TEST(TreeTiles, ASeedOnAnEdgeBelongsToOneTile) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> u(0, 1);
  for (int i = 0; i < 200; ++i) {  // the edge is rounded in three ways
    const double x0 = 5e5 + 100 * u(random), edge = 10 + u(random);
    const double twice = x0 + 2 * edge, sum = x0 + edge + edge, middle = twice / 2 + sum / 2;
    for (const double x : {twice, sum, middle, std::nextafter(twice, 0), std::nextafter(sum, 0)}) {
      const std::vector<Vec3d> points{{x0 + 0.1, 1, 0}, {x, 1, 0}, {x0 + 3 * edge - 0.1, 1, 0}};
      const TiledTreesResult found = tiled(points, {x0, 0, edge, 5, 3, 1}, around_seeds, {{x, 1, 0}});
      ASSERT_EQ(found.tree_instance[1], 1U) << i;
    }
  }
}

TEST(TreeTiles, SeedsAreFinite) {
  const std::vector<Vec3d> points{{1, 1, 0}, {25, 1, 0}};
  for (const double bad : {static_cast<double>(NAN), HUGE_VAL})
    EXPECT_THROW(tiled(points, {0, 0, 10, 6, 3, 1}, around_seeds, {{bad, 1, 0}}), Error);
}

TEST(TreeTiles, ThePlanHoldsTheVoxelsAndTheBuffer) {
  std::vector<Vec3d> points;
  for (int i = 0; i < 400; ++i)
    for (int j = 0; j < 200; ++j) points.push_back({0.5 * i, 0.5 * j, 0});
  JobControl control;
  OpContext ctx(control);
  const auto plan = [&](std::uint64_t nodes, double buffer, double per_tile) {
    return tree_tile_plan(HitPoints::assume_hits(span_of(points)), nodes, buffer, per_tile, ctx);
  };
  const TreeTilePlan even = plan(2'000'000, 10, 250'000);  // 100 voxels per m2: 50 m with the buffer
  EXPECT_NEAR(even.tile_m, 30, 0.2);
  EXPECT_EQ(even.nx, 7U);
  EXPECT_EQ(even.ny, 4U);
  EXPECT_LE(even.min_x, 0);
  EXPECT_GE(even.min_x + even.nx * even.tile_m, 199.5);
  EXPECT_EQ(plan(2'000'000'000, 10, 250'000).tile_m, 10);  // never less than the buffer
  EXPECT_THROW(plan(100, 0, 100), Error);
  points.push_back({1e9, 1e9, 0});
  EXPECT_THROW(plan(2'000'000'000, 0.1, 10), Error);
  points.assign(3, {NAN, 0, 0});
  EXPECT_THROW(plan(3, 1, 10), Error);
}

CutPursuitTreesParams published() { return {1, 5, 0.05, 15, 20, 0.1, 2, 0.5, 0.5, 20, 0.7, 1.5, 3, {}}; }

TEST(TreeTiles, CutPursuitInTilesEqualsTheWholePlot) {
  const Planted plot = planted(separate_cones(6, 21), 30, 0, 600, 22);
  const HitPoints hits = HitPoints::assume_hits(span_of(plot.plants));
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  CutPursuitTreesParams params = published();
  params.decimate_res1 = 0.2, params.decimate_res2 = 0.4, params.max_outlier_gap = 0.4, params.max_gap = 0.4;
  const CutPursuitTreesResult whole = cut_pursuit_trees(hits, {}, params, ctx);
  const TiledTreesResult found = tiled_cut_pursuit(hits, {}, params, {-0.5, -0.5, 10, 7, 3, 3}, ctx);
  EXPECT_EQ(found.tree_count, whole.tree_count);
  EXPECT_EQ(found.truncated_count, 0U);
  EXPECT_TRUE(same_partition(found.tree_instance.view(), whole.tree_instance.view()));
}

TEST(TreeDecimation, RaisesThePublishedVoxelsAsTheSpacingDemands) {
  std::vector<Vec3d> points;
  for (int i = 0; i < 60'000; ++i) points.push_back({0.1 * (i % 50), 0.1 * (i / 50 % 50), 0.1 * (i / 2500)});
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  const auto decimated = [&](double res1, double res2) {
    return tree_decimation(HitPoints::assume_hits(span_of(points)), res1, res2, ctx);
  };
  const TreeDecimation raised = decimated(0.05, 0.1);
  EXPECT_NEAR(raised.spacing_m, 0.1, 1e-9);
  EXPECT_EQ(raised.tile.decimate_res1, 0.3);
  EXPECT_EQ(raised.tile.decimate_res2, 0.6);
  EXPECT_EQ(raised.whole.decimate_res1, 0.3);
  EXPECT_EQ(raised.whole.node_count,
            cut_pursuit_node_count(HitPoints::assume_hits(span_of(points)), 0.3, ctx));
  const TreeDecimation given = decimated(0.06, 0.1);
  EXPECT_TRUE(std::isnan(given.spacing_m));
  EXPECT_EQ(given.whole.decimate_res1, 0.06);
  EXPECT_EQ(given.whole.decimate_res2, 0.1);
  points.resize(49'999);
  EXPECT_EQ(decimated(0.05, 0.1).whole.decimate_res1, 0.05);
  EXPECT_THROW(decimated(0, 0.1), Error);
  EXPECT_THROW(decimated(0.05, NAN), Error);
  points.assign(60'000, {1e7, 1e7, 5});
  EXPECT_EQ(decimated(0.05, 0.1).whole.node_count, 1U);
}

TEST(TreeDecimation, TheSameForAnyOrderOffsetAndMirror) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> unit(0, 1);
  std::vector<Vec3d> points;
  for (int i = 0; i < 210'000; ++i)
    points.push_back({20 * unit(random), 20 * unit(random), 8 * unit(random)});
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  const auto spacing = [&] {
    return tree_decimation(HitPoints::assume_hits(span_of(points)), 0.05, 0.1, ctx);
  };
  const TreeDecimation first = spacing();
  std::shuffle(points.begin(), points.end(), random);
  EXPECT_EQ(spacing().spacing_m, first.spacing_m);
  for (Vec3d& p : points) p = {5e6 - p.x, p.y - 5e6, p.z};
  const TreeDecimation moved = spacing();
  EXPECT_NEAR(moved.spacing_m, first.spacing_m, 1e-5);  // a few other samples
  EXPECT_EQ(moved.whole.decimate_res1, first.whole.decimate_res1);
}

}  // namespace
