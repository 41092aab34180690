#include "ops/denoise/cluster_outlier.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "support/cancel.h"
#include "support/cluster_oracle.h"
#include "support/spacing_clouds.h"

namespace pc {
namespace {

using test::Labels;
using test::SpacingCloud;

constexpr ClusterOutlierParams kParams{16, 10, 1e9, 1, 0, 1, 0, 0, 0.5, 5, 0};
constexpr ClusterOutlierParams kByGap{16, 7, 1e9, 1, 0, 1, 0, 0, 0.5, 17, 5};

NoiseResult run(Span<const Vec3d> points, const ClusterOutlierParams& params, int threads) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return cluster_outlier(HitPoints::assume_hits(points), params, ctx);
}

Labels labels_of(const NoiseResult& result) {
  const auto labels = result.noise_class.view();
  return {labels.begin(), labels.end()};
}

/// A trunk, a twig 20 times as sparse, and clumps of `size` in the air.
SpacingCloud trunk_and_twig(std::size_t size) {
  SpacingCloud cloud{"trunk and twig", {}};
  for (std::size_t i = 0; i < 4000; ++i)
    cloud.points.push_back({0.002 * static_cast<double>(i % 40), 0.002 * static_cast<double>(i / 40), 0});
  for (std::size_t i = 0; i < 40; ++i) cloud.points.push_back({3 + 0.04 * static_cast<double>(i), 0, 0});
  for (std::size_t clump = 0; clump < 5; ++clump)
    for (std::size_t i = 0; i < size; ++i)
      cloud.points.push_back({0.02, 0.1, 1 + static_cast<double>(clump) + 0.001 * static_cast<double>(i)});
  return cloud;
}

TEST(ClusterOutlier, EqualsBruteForce) {
  for (const SpacingCloud& cloud : test::spacing_clouds(350, 47)) {
    if (cloud.name == "duplicates") continue;  // more ties than are looked at; see below
    for (const ClusterOutlierParams& params :
         {kParams, ClusterOutlierParams{2, 1.5, 1e9, 1, 0, 1, 0, 0, 1e9, 2, 0},
          ClusterOutlierParams{64, 0.7, 1e9, 1, 0, 1, 0, 0, 3, 64, 1},
          ClusterOutlierParams{8, 3, 1e9, 1, 0, 1, 0, 0, 1e-3, 1, 0},
          ClusterOutlierParams{8, 1.2, 1e9, 1, 0, 1, 0, 0.02, 1e9, 12, 1.5}, kByGap,
          ClusterOutlierParams{16, 7, 0.9, 1, 0, 1, 0, 0, 0.5, 17, 5},
          ClusterOutlierParams{4, 2, 0.7, 1, 0, 1, 0, 0.001, 1e9, 6, 2}}) {
      const Labels expected = test::cluster_oracle(cloud.view(), params);
      for (const int threads : {1, 4}) {
        const NoiseResult result = run(cloud.view(), params, threads);
        ASSERT_EQ(labels_of(result), expected)
            << cloud.name << " " << params.nb_neighbors << " " << params.link_factor;
        EXPECT_EQ(result.flagged_count,
                  static_cast<std::uint64_t>(std::count(expected.begin(), expected.end(), kNoise)));
      }
    }
  }
}

/// The neighbours of so many points do not fit into one range of slots; the middle copy lies in two.
/// Random points of a small lattice: more neighbours are tied than lists hold, and their spacing differs.
TEST(ClusterOutlier, CountsAllTiedNeighbours) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SpacingCloud cloud{"lattice points", {}};
    for (std::size_t i = 0; i < 400; ++i) {
      const Vec3d u = test::random_point(seed, i) * 10.0;
      cloud.points.push_back({std::floor(u.x), std::floor(u.y), std::floor(u.z)});
    }
    for (const double link_factor : {0.75, 1.0, 1.2}) {
      const ClusterOutlierParams params{4, link_factor, 1e9, 1, 0, 1, 0, 0, 100, 6, 0};
      ASSERT_EQ(labels_of(run(cloud.view(), params, 2)), test::cluster_oracle(cloud.view(), params)) << seed;
    }
  }
}

TEST(ClusterOutlier, CopiesFarApartAreLabelledAsOneAlone) {
  constexpr std::size_t kCopy = 30'000;
  std::vector<Vec3d> points;
  for (std::size_t i = 0; i < kCopy; ++i) {  // on a lattice, where moving is exact
    const Vec3d u = test::random_point(9, i) * 64.0;
    points.push_back({std::round(u.x * 64) / 64, std::round(u.y * 64) / 64, std::round(u.z * u.x) / 64});
  }
  const ClusterOutlierParams params{60, 1.4, 1e9, 1, 0, 1, 0, 0, 9, 40, 0};
  const Labels alone = labels_of(run({points.data(), kCopy}, params, 2));
  const auto noise = std::count(alone.begin(), alone.end(), kNoise);
  EXPECT_GT(noise, 100);
  EXPECT_LT(noise, static_cast<std::ptrdiff_t>(kCopy - 100));
  for (std::size_t i = 0; i < 2 * kCopy; ++i) points.push_back(points[i] + Vec3d{4096, 0, 0});
  const Labels all = labels_of(run({points.data(), points.size()}, params, 3));
  for (std::size_t copy = 0; copy < 3; ++copy) {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(copy * kCopy);
    EXPECT_TRUE(std::equal(alone.begin(), alone.end(), first)) << copy;
  }
}

TEST(ClusterOutlier, KeepsASparseTwigAndDropsClumpsBelowTheSize) {
  for (const std::size_t size : {1U, 2U, 4U, 5U}) {
    const SpacingCloud cloud = trunk_and_twig(size);
    Labels expected(4040, kClean);
    expected.resize(cloud.points.size(), size < 5 ? kNoise : kClean);
    EXPECT_EQ(labels_of(run(cloud.view(), kParams, 2)), expected) << size;
  }
}

/// A clump is small for its gap; a hidden twig's visible part of as many points is long for it.
TEST(ClusterOutlier, ClumpsInTheAirAreNoisePartsOfAHiddenTwigAreNot) {
  for (const std::size_t size : {1U, 2U, 5U, 8U, 12U, 16U, 17U}) {
    const SpacingCloud cloud = trunk_and_twig(size);
    Labels expected(4040, kClean);
    expected.resize(cloud.points.size(), size < 17 ? kNoise : kClean);
    EXPECT_EQ(labels_of(run(cloud.view(), kByGap, 2)), expected) << size;
  }
  for (const std::size_t size : {4U, 5U, 8U, 12U, 16U}) {
    for (const std::size_t hidden : {4U, 6U}) {  // times the length of a part
      const std::size_t period = (size - 1) * (hidden + 1) + (hidden == 6 ? 2 : 0);
      SpacingCloud cloud{"parts of a twig", {}};
      for (std::size_t i = 0; i < 40 * size; ++i)
        cloud.points.push_back({0.01 * static_cast<double>(i / size * period + i % size), 0, 0});
      const Labels expected(cloud.points.size(), hidden == 6 ? kNoise : kClean);
      EXPECT_EQ(labels_of(run(cloud.view(), kByGap, 2)), expected) << size << " " << hidden;
    }
  }
}

/// A wall of scan rows 0.1 m apart, and single points off it. They would be linked by the spacing of the wall, and are
/// where twigs are about, but not by the ball that holds 16 points of the wall.
TEST(ClusterOutlier, PointsOffAWallAreNoiseWhereNothingIsThin) {
  SpacingCloud cloud{"wall", {}};
  for (std::size_t i = 0; i < 3600; ++i)
    cloud.points.push_back({0.1 * static_cast<double>(i % 60), 0.1 * static_cast<double>(i / 60), 0});
  const std::size_t wall = cloud.points.size();
  for (std::size_t i = 0; i < 5; ++i) cloud.points.push_back({1 + static_cast<double>(i), 3, 0.4});
  Labels expected(wall, kClean);
  expected.resize(cloud.points.size(), kNoise);
  ClusterOutlierParams params{16, 7, 0.9, 0.005, 0, 1, 0, 0.1, 1, 17, 6};
  EXPECT_EQ(labels_of(run(cloud.view(), params, 2)), expected);
  params.min_ball_link_m = 0.45;
  EXPECT_EQ(labels_of(run(cloud.view(), params, 2)), Labels(wall + 5, kClean));
  params.min_ball_link_m = 0;
  for (std::size_t i = 0; i < 400; ++i)  // ropes
    for (std::size_t side = 0; side < 3; ++side)
      cloud.points.push_back({0.05 * static_cast<double>(i),
                              9 + 0.01 * std::cos(2.1 * static_cast<double>(side)),
                              1 + 0.01 * std::sin(2.1 * static_cast<double>(side))});
  EXPECT_EQ(labels_of(run(cloud.view(), params, 2)), Labels(cloud.points.size(), kClean));
  params.most_thin = 1;
  expected.resize(cloud.points.size(), kClean);
  EXPECT_EQ(labels_of(run(cloud.view(), params, 2)), expected);
}

/// Ground seen by a drone, a twig over it whose points are far apart, and a point off the twig that its links reach.
TEST(ClusterOutlier, EvenlySampledSurfacesBoundLinks) {
  SpacingCloud cloud{"drone", {}};
  for (std::size_t i = 0; i < 10'000; ++i)
    cloud.points.push_back({0.05 * static_cast<double>(i % 100), 0.05 * static_cast<double>(i / 100), 0});
  for (std::size_t i = 0; i < 30; ++i) cloud.points.push_back({1 + 0.12 * static_cast<double>(i), 2.5, 3});
  Labels expected(cloud.points.size(), kClean);
  cloud.points.push_back({2.5, 2.5, 3.6});
  ClusterOutlierParams params{16, 7, 1e9, 1, 0, 1.4, 0, 0.05, 2, 17, 6};
  expected.push_back(kClean);
  EXPECT_EQ(labels_of(run(cloud.view(), params, 2)), expected);
  params.most_uneven = 1.4;
  expected.back() = kNoise;
  EXPECT_EQ(labels_of(run(cloud.view(), params, 2)), expected);
  params.min_link_m = 0.7;  // points this close are linked in any case
  expected.back() = kClean;
  EXPECT_EQ(labels_of(run(cloud.view(), params, 2)), expected);
  params.min_link_m = 0.05;
  for (std::size_t i = 0; i < 10'000; ++i)  // a coarser surface: not a drone
    cloud.points.push_back({0.2 * static_cast<double>(i % 100), 0.2 * static_cast<double>(i / 100), -30});
  expected.resize(cloud.points.size(), kClean);
  EXPECT_EQ(labels_of(run(cloud.view(), params, 2)), expected);
}

/// Pairs near each other, far from a dense wall: long links join them, but not as long as those at the wall.
TEST(ClusterOutlier, SmallClustersAreLinkedAsTheScanNextToThem) {
  SpacingCloud cloud{"clumps", {}};
  for (std::size_t i = 0; i < 3600; ++i)
    cloud.points.push_back({0.02 * static_cast<double>(i % 60), 0.02 * static_cast<double>(i / 60), 0});
  Labels expected(cloud.points.size(), kClean);
  for (std::size_t i = 0; i < 16; ++i)
    cloud.points.push_back({0.3 * static_cast<double>(i / 2), 0.6 + 0.01 * static_cast<double>(i % 2), 4});
  expected.resize(cloud.points.size(), kNoise);
  EXPECT_EQ(labels_of(run(cloud.view(), ClusterOutlierParams{16, 7, 1e9, 1, 0, 1, 0, 0.1, 1, 17, 6}, 2)),
            expected);
}

/// Noise that is close to other noise only: long links join it, and it is near the cloud for its extent.
TEST(ClusterOutlier, ScatteredNoiseIsNoPartOfWhatIsNearIt) {
  for (const double apart : {0.3, 0.05}) {
    SpacingCloud cloud{"below a floor", {}};
    for (std::size_t i = 0; i < 10'000; ++i)
      cloud.points.push_back({0.04 * static_cast<double>(i % 100), 0.04 * static_cast<double>(i / 100), 0});
    const std::size_t floor = cloud.points.size();
    for (std::size_t i = 0; i < 16; ++i)
      cloud.points.push_back(
          {2 + apart * static_cast<double>(i % 4), 2 + apart * static_cast<double>(i / 4), -2 * apart / 0.3});
    Labels expected(floor, kClean);
    expected.resize(cloud.points.size(), apart > 7 * 0.04 ? kNoise : kClean);
    EXPECT_EQ(labels_of(run(cloud.view(), kByGap, 2)), expected) << apart;
  }
}

TEST(ClusterOutlier, OnePlaceIsOneCluster) {
  const std::vector<Vec3d> many(3000, Vec3d{1, 2, 3}), few(4, Vec3d{1, 2, 3});
  EXPECT_EQ(labels_of(run({many.data(), many.size()}, kParams, 2)), Labels(3000, kClean));
  EXPECT_EQ(labels_of(run({few.data(), few.size()}, kParams, 2)), Labels(4, kNoise));
}

TEST(ClusterOutlier, LabelsFollowTheRowsAndALatticeTranslation) {
  SpacingCloud cloud = trunk_and_twig(3);
  for (Vec3d& p : cloud.points) {  // onto a lattice, where moving is exact
    p = {std::round(p.x * 1024) / 1024, std::round(p.y * 1024) / 1024, std::round(p.z * 1024) / 1024};
  }
  const Labels expected = labels_of(run(cloud.view(), kParams, 1));
  std::vector<Vec3d> turned(cloud.points.rbegin(), cloud.points.rend());
  Labels back = labels_of(run({turned.data(), turned.size()}, kParams, 2));
  std::reverse(back.begin(), back.end());
  EXPECT_EQ(back, expected);
  for (Vec3d& p : turned) p = p + Vec3d{1e6, -4e6, 512};
  back = labels_of(run({turned.data(), turned.size()}, kParams, 2));
  std::reverse(back.begin(), back.end());
  EXPECT_EQ(back, expected);
  EXPECT_EQ(std::count(expected.begin(), expected.end(), kNoise), 15);
}

TEST(ClusterOutlier, RefusesWhatCannotBe) {
  const std::vector<Vec3d> points{{0, 0, 0}, {1, 0, 0}};
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  for (const ClusterOutlierParams& params : {ClusterOutlierParams{1, 10, 1e9, 1, 0, 1, 0, 0, 1, 5, 0},
                                             ClusterOutlierParams{65, 10, 1e9, 1, 0, 1, 0, 0, 1, 5, 0},
                                             ClusterOutlierParams{16, 0, 1e9, 1, 0, 1, 0, 0, 1, 5, 0},
                                             ClusterOutlierParams{16, inf, 1e9, 1, 0, 1, 0, 0, 1, 5, 0},
                                             ClusterOutlierParams{16, nan, 1e9, 1, 0, 1, 0, 0, 1, 5, 0},
                                             ClusterOutlierParams{16, 10, 0, 1, 0, 1, 0, 0, 1, 5, 0},
                                             ClusterOutlierParams{16, 10, nan, 1, 0, 1, 0, 0, 1, 5, 0},
                                             ClusterOutlierParams{16, 10, 1, 1.5, 0, 1, 0, 0, 1, 5, 0},
                                             ClusterOutlierParams{16, 10, 1, nan, 0, 1, 0, 0, 1, 5, 0},
                                             ClusterOutlierParams{16, 10, 1e9, 1, nan, 1, 0, 0, 1, 5, 0},
                                             ClusterOutlierParams{16, 10, 1e9, 1, -1, 1, 0, 0, 1, 5, 0},
                                             ClusterOutlierParams{16, 10, 1e9, 1, 0, 0, 0, 0, 1, 5, 0},
                                             ClusterOutlierParams{16, 10, 1e9, 1, 0, inf, 0, 0, 1, 5, 0},
                                             ClusterOutlierParams{16, 10, 1e9, 1, 0, 1, -1, 0, 1, 5, 0},
                                             ClusterOutlierParams{16, 10, 1e9, 1, 0, 1, nan, 0, 1, 5, 0},
                                             ClusterOutlierParams{16, 10, 1e9, 1, 0, 1, 0, 0, 0, 5, 0},
                                             ClusterOutlierParams{16, 10, 1e9, 1, 0, 1, 0, 0, inf, 5, 0},
                                             ClusterOutlierParams{16, 10, 1e9, 1, 0, 1, 0, 0, 1, 0, 0},
                                             ClusterOutlierParams{16, 10, 1e9, 1, 0, 1, 0, 0, 1, 65, 0},
                                             ClusterOutlierParams{16, 10, 1e9, 1, 0, 1, 0, 0, 1, 5, -1},
                                             ClusterOutlierParams{16, 10, 1e9, 1, 0, 1, 0, 0, 1, 5, inf},
                                             ClusterOutlierParams{16, 10, 1e9, 1, 0, 1, 0, 0, 1, 5, nan},
                                             ClusterOutlierParams{16, 10, 1e9, 1, 0, 1, 0, -1, 1, 5, 0},
                                             ClusterOutlierParams{16, 10, 1e9, 1, 0, 1, 0, 2, 1, 5, 0},
                                             ClusterOutlierParams{16, 10, 1e9, 1, 0, 1, 0, nan, 1, 5, 0}}) {
    try {
      run({points.data(), points.size()}, params, 1);
      ADD_FAILURE();
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kInvalidArgument);
    }
  }
}

TEST(ClusterOutlier, CancelEndsItInTimeAndGivesTheScratchBack) {
  // On a lattice all points have more neighbours as far as the last one than are listed: every phase has work.
  SpacingCloud cloud{"lattice", {}};
  for (std::size_t i = 0; i < 64'000; ++i)
    cloud.points.push_back(
        {static_cast<double>(i % 40), static_cast<double>(i / 40 % 40), static_cast<double>(i / 1600)});
  for (const char* phase : {"Sorting", "Measuring neighbour", "Measuring the", "Linking"}) {
    test::expect_cancel_in_phase(phase, [&](OpContext& ctx) {
      cluster_outlier(HitPoints::assume_hits(cloud.view()), {64, 0.9, 1e9, 1, 0, 1, 0, 0, 10, 64, 5}, ctx);
    });
  }
}

}  // namespace
}  // namespace pc
