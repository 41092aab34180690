#include "ops/trees/canopy_crowns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "support/cancel.h"
#include "support/columns.h"
#include "support/fuzz_runs.h"
#include "support/planted_trees.h"

namespace {

using namespace pc;
using namespace pc::test;

constexpr CanopyCrownsParams kDefaults{2.5 / 12, 2, 2.5};

CanopyCrownsResult crowns(const std::vector<Vec3d>& plants, const std::vector<Vec3d>& ground,
                          const std::vector<Vec3d>& seeds = {}, const CanopyCrownsParams& params = kDefaults,
                          int threads = 2) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return canopy_crowns(HitPoints::assume_hits(span_of(plants)), HitPoints::assume_hits(span_of(ground)),
                       span_of(seeds), params, ctx);
}

std::vector<std::uint32_t> labels_of(const CanopyCrownsResult& result) {
  const auto view = result.tree_instance.view();
  return {view.begin(), view.end()};
}

/// Share of the points of most common partners, both ways: 1 = the same partition.
double partition_agreement(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b) {
  std::map<std::uint32_t, std::map<std::uint32_t, std::size_t>> counts;
  for (std::size_t i = 0; i < a.size(); ++i) ++counts[a[i]][b[i]];
  std::size_t same = 0;
  for (const auto& [label, partners] : counts) {
    std::size_t most = 0;
    for (const auto& [other, count] : partners) most = std::max(most, count);
    same += most;
  }
  return static_cast<double>(same) / static_cast<double>(a.size());
}

TEST(CanopyCrowns, PlantedConesAreFoundWithTheirTops) {
  for (const double slope : {0.0, 0.3}) {
    const std::vector<Cone> cones = separate_cones(8, 3);
    const Planted plot = planted(cones, 40, slope, 1500, 5);
    const CanopyCrownsResult found = crowns(plot.plants, plot.ground);
    ASSERT_EQ(found.tops.size(), cones.size());
    EXPECT_TRUE(found.ground_given);
    EXPECT_LT(found.touching, 0.05);
    EXPECT_EQ(partition_agreement(labels_of(found), plot.cone), 1);
    EXPECT_EQ(partition_agreement(plot.cone, labels_of(found)), 1);
    for (std::size_t i = 0; i < plot.plants.size(); ++i) {
      const Cone& cone = cones[plot.cone[i] - 1];
      const Vec3d& top = found.tops[found.tree_instance[i] - 1];
      ASSERT_LE(std::hypot(top.x - cone.x, top.y - cone.y), 1.5 * kDefaults.cell_m);
      ASSERT_LE(top.z, cone.height + 1e-9 + (slope > 0 ? 0.75 : 0));  // medians of 5 m cells on the slope
      ASSERT_GE(top.z, 0.8 * cone.height - 2.5 * slope);
    }
  }
}

TEST(CanopyCrowns, SidesOfACrownAreNoTrees) {
  // Columns of leaves with sides that fall 3 to 6 m, seen from above among ground: without it 4 and more trees each.
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> unit(0, 1);
  std::vector<Vec3d> plants, ground;
  for (int i = 0; i < 40 * 30 * 10; ++i) {
    const Vec3d at{40 * unit(random), 30 * unit(random), 0};
    const double from = std::hypot(std::fmod(at.x, 10) - 5, std::fmod(at.y, 10) - 5) / 3;
    if (from >= 1) {
      ground.push_back(at);
    } else {
      plants.push_back(at + Vec3d{0, 0, 12 - 3 * from - 3 * from * from * unit(random)});
    }
  }
  const CanopyCrownsResult found = crowns(plants, ground);
  EXPECT_EQ(found.tops.size(), 12U);
  EXPECT_GT(crowns(plants, {ground[0]}).tops.size(), 24U);
  for (const std::uint32_t tree : found.tree_instance.view()) EXPECT_GT(tree, 0U);
}

TEST(CanopyCrowns, LimbsOfABroadCrownAreShallowTops) {
  // Domes 8 m wide with knobs of half a metre, in a grid: each knob is a top, and hardly rises above the next one.
  std::vector<Vec3d> plants, ground;
  for (int i = 0; i < 300; ++i) {
    for (int j = 0; j < 200; ++j) {
      const double x = 0.1 * i, y = 0.1 * j;
      const double from = std::hypot(std::fmod(x, 10) - 5, std::fmod(y, 10) - 5) / 4;
      if (from >= 1)
        ground.push_back({x, y, 0});
      else
        plants.push_back({x, y, 10 - 0.8 * from * from + 0.25 * std::cos(3 * x) * std::cos(3 * y)});
    }
  }
  const CanopyCrownsResult fine = crowns(plants, ground);
  EXPECT_GT(fine.tops.size(), 18U);
  EXPECT_EQ(fine.tops.size() - fine.shallow, 6U);
  const CanopyCrownsResult wide =
      crowns(plants, ground, {}, {.cell_m = 0.2, .min_height_m = 2, .crown_scale_m = 16});
  EXPECT_EQ(wide.tops.size(), 6U);
  EXPECT_EQ(wide.shallow, 0U);
}

TEST(CanopyCrowns, NumbersFollowTheTops) {
  const Planted plot = planted(separate_cones(6, 4), 30, 0, 600, 6);
  const CanopyCrownsResult found = crowns(plot.plants, plot.ground);
  EXPECT_TRUE(std::is_sorted(found.tops.begin(), found.tops.end(), [](const Vec3d& a, const Vec3d& b) {
    return std::pair(a.x, a.y) < std::pair(b.x, b.y);
  }));
  std::set<std::uint32_t> used(found.tree_instance.view().begin(), found.tree_instance.view().end());
  used.erase(0);
  EXPECT_EQ(used.size(), found.tops.size());
  EXPECT_EQ(*used.rbegin(), found.tops.size());
}

TEST(CanopyCrowns, TouchingEqualCrownsMeetHalfway) {
  const Planted plot = planted({{5, 6, 12, 2.6}, {9, 6, 12, 2.6}}, 14, 0, 12000, 8);
  const CanopyCrownsResult found = crowns(plot.plants, plot.ground);
  ASSERT_EQ(found.tops.size(), 2U);
  EXPECT_GT(found.touching, 0.1);
  EXPECT_LT(found.touching, 0.35);
  std::size_t wrong = 0, clear = 0;
  for (std::size_t i = 0; i < plot.plants.size(); ++i) {
    const double x = plot.plants[i].x;
    if (std::abs(x - 7) < 0.3) continue;
    ++clear;
    wrong += (found.tree_instance[i] == 1) != (x < 7) ? 1 : 0;
  }
  EXPECT_EQ(wrong, 0U) << clear;
}

TEST(CanopyCrowns, WithoutGroundTheLowestReturnsAreTheTerrain) {
  const std::vector<Cone> cones = separate_cones(6, 9);
  Planted plot = planted(cones, 30, 0, 900, 7);
  std::vector<Vec3d> all = plot.plants;
  all.insert(all.end(), plot.ground.begin(), plot.ground.end());
  const CanopyCrownsResult found = crowns(all, {});
  EXPECT_FALSE(found.ground_given);
  EXPECT_EQ(found.tops.size(), cones.size());
  const CanopyCrownsResult labelled = crowns(plot.plants, plot.ground);
  std::vector<std::uint32_t> plants = labels_of(found);
  plants.resize(plot.plants.size());
  // The ground around the plot moves the grid by a part of a cell, and ground counts at the edges of crowns.
  EXPECT_GT(partition_agreement(plants, labels_of(labelled)), 0.99);
  EXPECT_GT(partition_agreement(labels_of(labelled), plants), 0.99);
}

TEST(CanopyCrowns, TheSameForAnyOrderThreadsOffsetAndMirror) {
  const Planted plot = planted(separate_cones(7, 10), 34, 0.1, 900, 11);
  const std::vector<std::uint32_t> labels = labels_of(crowns(plot.plants, plot.ground, {}, kDefaults, 1));
  EXPECT_EQ(labels_of(crowns(plot.plants, plot.ground, {}, kDefaults, 3)), labels);
  std::vector<std::size_t> order(plot.plants.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), std::mt19937_64(3));
  std::vector<Vec3d> shuffled, far, mirrored, far_ground, mirrored_ground;
  for (const std::size_t i : order) shuffled.push_back(plot.plants[i]);
  const std::vector<std::uint32_t> again = labels_of(crowns(shuffled, plot.ground));
  for (std::size_t i = 0; i < order.size(); ++i) ASSERT_EQ(again[i], labels[order[i]]);
  for (const Vec3d& p : plot.plants) {
    far.push_back(p + Vec3d{5e6, -5e6, 1e3});
    mirrored.push_back({-p.x, p.y, p.z});
  }
  for (const Vec3d& p : plot.ground) {
    far_ground.push_back(p + Vec3d{5e6, -5e6, 1e3});
    mirrored_ground.push_back({-p.x, p.y, p.z});
  }
  EXPECT_GT(partition_agreement(labels_of(crowns(far, far_ground)), labels), 0.999);
  EXPECT_GT(partition_agreement(labels_of(crowns(mirrored, mirrored_ground)), labels), 0.999);
}

TEST(CanopyCrowns, EverySeedIsOneTreeWithItsNumber) {
  const std::vector<Cone> cones = separate_cones(5, 12);
  const Planted plot = planted(cones, 26, 0, 900, 13);
  std::vector<Vec3d> seeds;  // of every other cone, from the last, half a metre beside the stem
  for (std::size_t c = cones.size(); c-- > 0;)
    if (c % 2 == 0) seeds.push_back({cones[c].x + 0.5, cones[c].y, 1.3});
  const CanopyCrownsResult found = crowns(plot.plants, plot.ground, seeds);
  EXPECT_EQ(found.tops.size(), cones.size());
  EXPECT_TRUE(found.empty_seeds.empty());
  for (std::size_t i = 0; i < plot.plants.size(); ++i) {
    const std::size_t c = plot.cone[i] - 1, last = cones.size() - 1;
    if (c % 2 == 0) {
      ASSERT_EQ(found.tree_instance[i], (last - c) / 2 + 1);
    } else {
      ASSERT_GT(found.tree_instance[i], seeds.size());
    }
  }
}

TEST(CanopyCrowns, TwoSeedsSplitOneCrownAndOneSeedJoinsTwoTops) {
  const Planted one = planted({{6, 6, 10, 2.5}}, 12, 0, 6000, 14);
  const CanopyCrownsResult split = crowns(one.plants, one.ground, {{5, 6, 0}, {7, 6, 0}});
  EXPECT_EQ(split.tops.size(), 2U);
  EXPECT_TRUE(split.empty_seeds.empty());
  const Planted two = planted({{5.5, 6, 10, 1.2}, {6.6, 6, 10, 1.2}}, 12, 0, 4000, 15);
  EXPECT_EQ(crowns(two.plants, two.ground).tops.size(), 2U);
  const CanopyCrownsResult joined = crowns(two.plants, two.ground, {{6.05, 6, 0}});
  EXPECT_EQ(joined.tops.size(), 1U);
}

TEST(CanopyCrowns, SeedsWithoutCanopyAreEmptyAndKeepTheirNumber) {
  const Planted plot = planted({{6, 6, 10, 2}}, 30, 0, 3000, 16);
  const std::vector<Vec3d> seeds{{25, 25, 0}, {6, 6, 0}, {1e7, -1e7, 0}};
  const CanopyCrownsResult found = crowns(plot.plants, plot.ground, seeds);
  EXPECT_EQ(found.empty_seeds, (std::vector<std::uint32_t>{0, 2}));
  EXPECT_EQ(found.tops.size(), 3U);
  EXPECT_TRUE(std::isnan(found.tops[0].z));
  for (const std::uint32_t label : found.tree_instance.view()) ASSERT_EQ(label, 2U);
  // As many seeds at one place as there are cells around it, and more.
  const CanopyCrownsResult crowd = crowns(plot.plants, plot.ground, std::vector<Vec3d>(80, Vec3d{5.2, 6, 0}));
  EXPECT_EQ(crowd.tops.size(), 80U);
  EXPECT_FALSE(crowd.empty_seeds.empty());
}

TEST(CanopyCrowns, WhatIsLowIsNoTree) {
  const Planted plot = planted({{5, 5, 1.9, 2}, {10, 5, 6, 2}}, 15, 0, 3000, 17);
  const CanopyCrownsResult found = crowns(plot.plants, plot.ground);
  ASSERT_EQ(found.tops.size(), 1U);
  for (std::size_t i = 0; i < plot.plants.size(); ++i)
    ASSERT_EQ(found.tree_instance[i], plot.cone[i] == 2 ? 1U : 0U);
}

TEST(CanopyCrowns, OddCloudsGetAResult) {
  EXPECT_EQ(crowns({}, {}).tops.size(), 0U);
  EXPECT_EQ(crowns({}, {{0, 0, 0}}, {{1, 1, 1}}).empty_seeds.size(), 1U);
  EXPECT_EQ(crowns({{1, 2, 30}}, {}).tops.size(), 0U);
  EXPECT_EQ(crowns({{1, 2, 30}}, {{1, 2, 3}}).tops.size(), 1U);
  const std::vector<Vec3d> roof = [] {  // a flat roof is one flat top
    std::vector<Vec3d> out;
    for (int i = 0; i < 100; ++i)
      for (int j = 0; j < 60; ++j) out.push_back({0.2 * i, 0.2 * j, 7});
    return out;
  }();
  EXPECT_EQ(crowns(roof, {{0, 0, 0}}).tops.size(), 1U);
  EXPECT_THROW(crowns({{0, 0, 0}, {1e7, 1e7, 5}}, {}), Error);
  EXPECT_THROW(crowns(roof, {}, {{NAN, 0, 0}}), Error);
  for (const CanopyCrownsParams& bad :
       {CanopyCrownsParams{0, 2, 2.5}, CanopyCrownsParams{0.2, -1, 2.5}, CanopyCrownsParams{0.2, 2, 0},
        CanopyCrownsParams{NAN, 2, 2.5}, CanopyCrownsParams{0.2, 2, HUGE_VAL}})
    EXPECT_THROW(crowns(roof, {}, {}, bad), Error);
  for (std::uint64_t seed = 0; seed < test::fuzz_runs(400); ++seed) {
    const std::vector<Vec3d> plants = test::hostile_cloud(seed, 60),
                             ground = test::hostile_cloud(seed + 1000, 9);
    try {
      const CanopyCrownsResult found =
          crowns(plants, seed % 2 == 0 ? ground : std::vector<Vec3d>{}, ground,
                 {0.1 + static_cast<double>(seed % 7), 0.5, 0.2 * (1 + seed % 40)});
      ASSERT_EQ(found.tree_instance.size(), plants.size());
      for (const std::uint32_t label : found.tree_instance.view()) ASSERT_LE(label, found.tops.size());
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), ErrorCode::kInvalidArgument) << error.what();
    }
  }
}

TEST(CanopyCrowns, TheCostTellsWhatFits) {
  const CanopyCrownsCost fits = canopy_crowns_cost(1000, 100, 50, 0.5);
  EXPECT_TRUE(fits.admissible);
  EXPECT_EQ(fits.cell_count, 201U * 101);
  const CanopyCrownsCost large = canopy_crowns_cost(1000, 1e4, 1e4, 0.2);
  EXPECT_FALSE(large.admissible);
  EXPECT_TRUE(canopy_crowns_cost(1000, 1e4, 1e4, large.finest_cell_m).admissible);
  EXPECT_FALSE(canopy_crowns_cost(1000, 1e4, 1e4, 0.99 * large.finest_cell_m).admissible);
  EXPECT_FALSE(canopy_crowns_cost(10, 1e300, 1e300, 1e-300).admissible);
}

TEST(CanopyCrowns, CancelIsSeenInEveryPhase) {
  const Planted plot = planted(separate_cones(8, 20), 40, 0, 200, 5);
  std::vector<Vec3d> plants = plot.plants;
  plants.push_back({220, 160, 3});
  const std::vector<Vec3d> ground(plot.ground.begin(),
                                  plot.ground.begin() + 100);  // crowns also grow where none is known
  for (const char* phase :
       {"Measuring the terrain", "Building the canopy", "Finding treetops", "Growing crowns"}) {
    expect_cancel_in_phase(phase, [&](OpContext& ctx) {
      canopy_crowns(HitPoints::assume_hits(span_of(plants)), HitPoints::assume_hits(span_of(ground)), {},
                    {0.15, 0, 2.5}, ctx);
    });
  }
}

}  // namespace
