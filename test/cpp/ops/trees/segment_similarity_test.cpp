#include "ops/trees/segment_similarity.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ops/trees/segment_groups.h"

namespace {

using namespace pc;

/// Segments of lattice boxes; each box is a group.
struct Boxes {
  std::vector<Vec3d> node;
  std::vector<std::uint32_t> segment, group;

  void add(double x0, double x1, double z0, double z1, std::uint32_t of_group) {
    for (int i = 0; i <= 4; ++i) {
      for (int j = 0; j <= 4; ++j) {
        for (int k = 0; k <= 8; ++k) {
          node.push_back({x0 + (x1 - x0) * i / 4, 0.25 * j, z0 + (z1 - z0) * k / 8});
          segment.push_back(static_cast<std::uint32_t>(group.size()));
        }
      }
    }
    group.push_back(of_group);
  }
  void add(double x0, double x1, double z0, double z1) {
    add(x0, x1, z0, z1, static_cast<std::uint32_t>(group.size()));
  }
  std::vector<std::uint32_t> merged(const SegmentSimilarityParams& params) const {
    JobControl control;
    OpContext ctx(control);
    return merge_similar({node.data(), node.size()}, {segment.data(), segment.size()}, group, params, ctx);
  }
};

using Labels = std::vector<std::uint32_t>;
constexpr SegmentSimilarityParams kParams{0.5, 0.5, 20, 0.7, 1.5};

TEST(MergeSimilar, WhatHangsOverATreeBecomesPartOfIt) {
  Boxes plot;
  plot.add(0, 1, 0, 8);    // stem
  plot.add(-1, 2, 6, 10);  // its crown: 6 m over the lowest, 4 m long
  plot.add(20, 21, 0, 9);
  EXPECT_EQ(plot.merged(kParams), (Labels{0, 0, 1}));
  SegmentSimilarityParams params = kParams;
  params.rel_height_length_ratio = 1.5;  // 6 / 4 is not more than this
  EXPECT_EQ(plot.merged(params), (Labels{0, 1, 2}));
}

TEST(MergeSimilar, OnlyTheNearestGroupsAreNeighbours) {
  Boxes plot;
  plot.add(0, 1, 0, 8);
  plot.add(-1, 2.2, 6, 10);
  plot.add(20, 21, 0, 9);
  SegmentSimilarityParams params = kParams;
  EXPECT_EQ(plot.merged(params), (Labels{0, 0, 1}));
  params.neighbors = 1;  // itself: nothing is higher than its lowest neighbour
  EXPECT_EQ(plot.merged(params), (Labels{0, 1, 2}));
}

TEST(MergeSimilar, WeightOfTheOverlapInHeightDecides) {
  Boxes plot;
  plot.add(0, 1, 0, 4);      // short, under the hanging group's edge
  plot.add(1.2, 4.2, 5, 9);  // hangs
  plot.add(4.4, 5.4, 0, 9);  // tall, as near
  SegmentSimilarityParams params = kParams;
  params.score_candidate_thresh = 1;
  params.vertical_weight = 3;
  EXPECT_EQ(plot.merged(params), (Labels{0, 1, 1}));
  Boxes closer;
  closer.add(0.3, 1.3, 0, 4);
  closer.add(1.2, 4.2, 5, 9);
  closer.add(4.4, 5.4, 0, 9);
  params.vertical_weight = 0;  // the hulls of the first two overlap
  EXPECT_EQ(closer.merged(params), (Labels{0, 0, 1}));
}

TEST(MergeSimilar, OfGoodScoresTheSmallestGapWins) {
  // The crown overlaps the first stem more in plan; a segment of the second tree is nearer in space.
  Boxes plot;
  plot.add(0, 1, 0, 5);
  plot.add(0, 2, 7, 10);
  plot.add(1.6, 2.6, 0, 5, 2);
  plot.add(1.6, 2.6, 5, 6.4, 2);
  SegmentSimilarityParams params = kParams;
  params.vertical_weight = 0;
  params.score_candidate_thresh = 1;
  const Labels best = plot.merged(params);
  EXPECT_EQ(best[1], best[0]);
  params.score_candidate_thresh = 0.05;
  const Labels nearest = plot.merged(params);
  EXPECT_EQ(nearest[1], nearest[2]);
}

TEST(MergeSimilar, LongGroupsMergeFirst) {
  // A long hanging group between the only tree and a short one that hangs over the long one's far end.
  Boxes plot;
  plot.add(0, 1, 0, 2);
  plot.add(0.5, 9, 2.2, 6);
  plot.add(8, 10, 6, 7);
  plot.add(14, 15, 0, 2);
  SegmentSimilarityParams params = kParams;
  const Labels found = plot.merged(params);
  EXPECT_EQ(found[1], found[0]);
  EXPECT_EQ(found[2], found[1]);
  params.init_stem_rel_length_thresh =
      100;  // no group is long: all merge at once, the short one with the near tree
  const Labels at_once = plot.merged(params);
  EXPECT_EQ(at_once[2], at_once[3]);
}

TEST(MergeSimilar, OneGroupAndPointsOnALineStay) {
  Boxes one;
  one.add(0, 1, 0, 3);
  EXPECT_EQ(one.merged(kParams), (Labels{0}));
  const std::vector<Vec3d> line{{0, 0, 0}, {0, 0, 1}, {5, 0, 0}, {5, 0, 0}};
  const Labels segment{0, 0, 1, 2};
  JobControl control;
  OpContext ctx(control);
  EXPECT_EQ(merge_similar({line.data(), 4}, {segment.data(), 4}, {0, 1, 2}, kParams, ctx), (Labels{0, 1, 2}));
}

TEST(GroupSegments, JoinsAcrossGapsBelowTheLimit) {
  Boxes plot;  // one column in two pieces 1 m apart, and another column 6 m away
  plot.add(0, 0.5, 0, 2);
  plot.add(0, 0.5, 3, 5);
  plot.add(6, 6.5, 0, 5);
  const auto grouped = [&](const SegmentGroupParams& params) {
    JobControl control;
    OpContext ctx(control);
    return group_segments({plot.node.data(), plot.node.size()}, {plot.segment.data(), plot.segment.size()}, 3,
                          params, ctx);
  };
  const SegmentGroupParams params{15, 200, 0.1, 2.0};
  EXPECT_EQ(grouped(params), (Labels{0, 0, 1}));
  EXPECT_EQ(grouped({15, 200, 0.1, 1.0}), (Labels{0, 1, 2}));  // a gap of 1 m is not below 1 m
  EXPECT_EQ(grouped({15, 20, 0.1, 2.0}),
            (Labels{0, 1, 2}));  // the nearest 20 nodes are all of the same piece
  EXPECT_EQ(grouped({0, 200, 0.1, 2.0}), (Labels{0, 1, 2}));
  EXPECT_EQ(grouped({1e6, 600, 0.1, 20.0}), (Labels{0, 0, 0}));
}

}  // namespace
