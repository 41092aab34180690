#include "ops/denoise/mixed_pixel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/error.h"
#include "core/random.h"
#include "ops/denoise/beam_consistency.h"
#include "ops/denoise/beam_outlier.h"
#include "support/cancel.h"
#include "support/mixed_pixel_oracle.h"

namespace pc {
namespace {

constexpr MixedPixelParams kParams{0.015, 2.1, 2.5, 1.6, 0.05, 2, 3, 8, 0.3, 0.01};
constexpr double kStep = 0.002;
constexpr Vec3d kOrigin{3, -2, 1.5};

enum class Thing { kWall, kPost, kTwig, kAlong, kTrail };

/// A raster of beams towards +x: a wall 6 m away, in front of it a post with straight edges, 3 m away.
struct Scene {
  std::vector<Vec3d> points;
  std::vector<Thing> things;

  void add(double column, double row, double range, Thing thing, const Vec3d& origin = kOrigin) {
    const double azimuth = column * kStep, elevation = row * kStep;
    points.push_back(origin + Vec3d{std::cos(elevation) * std::cos(azimuth),
                                    std::cos(elevation) * std::sin(azimuth), std::sin(elevation)} *
                                  range);
    things.push_back(thing);
  }
  Span<const Vec3d> view() const { return {points.data(), points.size()}; }
  /// Indices of the things of a kind.
  std::vector<std::size_t> of(Thing thing) const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < things.size(); ++i)
      if (things[i] == thing) found.push_back(i);
    return found;
  }
};

/// Mixed pixels are every third beam of an edge of the post, anywhere between the post and the wall. A twig of one beam
/// crosses before the wall, another one above a ledge points at the scanner: each of its points is 5 slopes behind the one before.
Scene post_before_wall(std::uint64_t seed, const Vec3d& origin = kOrigin) {
  Scene scene;
  for (int row = -40; row < 40; ++row)
    for (int column = -40; column < 40; ++column) {
      const double wall = 6 / (std::cos(row * kStep) * std::cos(column * kStep));
      const bool post = column >= -6 && column <= 6, edge = column == -6 || column == 6;
      if (edge && row % 3 == 0) {
        const double part =
            0.1 + 0.8 * random_unit(seed, static_cast<std::uint64_t>(row + 40) * 2 + (column > 0 ? 1 : 0));
        scene.add(column, row, 3 + part * (wall - 3), Thing::kTrail, origin);
      } else if (post) {
        scene.add(column, row, 3, Thing::kPost, origin);
      } else if (column > 12 && row == column - 20) {
        scene.add(column, row, 4.5, Thing::kTwig, origin);
      } else if ((row == 23 || row == 24) && column > -32 && column < -13) {
        scene.add(column, row, 3.5, Thing::kPost, origin);
      } else if (row == 25 && column > -30 && column < -15) {
        scene.add(column, row, 4 + 5 * 4 * kStep * (column + 30), Thing::kAlong, origin);
      } else {
        scene.add(column, row, wall, Thing::kWall, origin);
      }
    }
  return scene;
}

struct Found {
  MixedPixelResult result;
  std::vector<std::size_t> noise;
};

Found run(const Scene& scene, const std::vector<Vec3d>& origins, const MixedPixelParams& params = kParams,
          int threads = 2) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  const HitSelection hits = select_hits(scene.view(), {}, ctx);
  const BeamOrigins beams({origins.data(), origins.size()}, scene.points.size(), hits);
  const KdTree tree(scene.view(), ctx);
  std::vector<std::uint8_t> labels(scene.points.size(), kClean);
  Found found{label_mixed_pixels(tree, beams, params, {labels.data(), labels.size()}, ctx), {}};
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (labels[i] == kNoise) found.noise.push_back(i);
  return found;
}

TEST(MixedPixel, FindsTrailsAndKeepsThePostTheWallAndBothTwigs) {
  const Scene scene = post_before_wall(7);
  for (const int threads : {1, 4}) {
    const Found found = run(scene, {kOrigin}, kParams, threads);
    EXPECT_EQ(found.noise, scene.of(Thing::kTrail));
    EXPECT_EQ(found.result.labelled_count, found.noise.size());
    EXPECT_TRUE(found.result.consistent);
    EXPECT_NEAR(found.result.step_rad, kStep, 0.02 * kStep);
  }
  MixedPixelParams without = kParams;
  without.line_slope = 0;
  EXPECT_GT(run(scene, {kOrigin}, without).noise.size(), scene.of(Thing::kTrail).size());
}

/// Random ranges beside the surfaces, so that every condition decides about some points.
TEST(MixedPixel, EqualsBruteForce) {
  std::size_t mixed = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    Scene scene;
    for (int row = 0; row < 26; ++row)
      for (int column = 0; column < 30; ++column) {
        const std::uint64_t at = static_cast<std::uint64_t>(row) * 30 + static_cast<std::uint64_t>(column);
        const double u = random_unit(seed, 2 * at), v = random_unit(seed, 2 * at + 1);
        const double surface = column % 9 < 4 ? 3 : 3.6;
        const double jitter = 0.2 * (random_unit(seed + 50, at) - 0.5);
        scene.add(column + jitter, row, u < 0.2 ? 2.8 + v : surface + 0.004 * v, Thing::kWall);
      }
    MixedPixelParams params = kParams;
    params.edge_support = static_cast<std::uint32_t>(seed % 4);
    params.line_slope = seed % 2 == 0 ? 8 : 20;
    const Found found = run(scene, {kOrigin}, params);
    const test::MixedPixelOracle oracle(scene.points, kOrigin, params);
    EXPECT_DOUBLE_EQ(found.result.step_rad, oracle.step());
    std::vector<std::size_t> expected;
    for (std::size_t i = 0; i < scene.points.size(); ++i)
      if (oracle.is_mixed(i)) expected.push_back(i);
    EXPECT_EQ(found.noise, expected) << seed;
    mixed += expected.size();
  }
  EXPECT_GT(mixed, 100U);
}

TEST(MixedPixel, OriginsOfAnotherPlaceLabelNothing) {
  const Scene scene = post_before_wall(7);
  const Found found = run(scene, {kOrigin + Vec3d{0, 0.3, 0.1}});
  EXPECT_FALSE(found.result.consistent);
  EXPECT_GT(found.result.inconsistent_share, 0.02);
  EXPECT_TRUE(found.noise.empty());
}

TEST(BeamConsistency, TellsTheScannersPlaceFromAnotherOne) {
  const Scene scene = post_before_wall(7);
  const auto compared = [&](std::vector<Vec3d> origins, int threads = 2) {
    JobControl control;
    OpContext ctx(control, Device::kCpu, threads);
    const HitSelection hits = select_hits(scene.view(), {}, ctx);
    return beam_consistency(hits, {origins.data(), origins.size()}, scene.points.size(), ctx);
  };
  const BeamConsistency right = compared({kOrigin}), wrong = compared({kOrigin + Vec3d{0, 0.3, 0.1}});
  EXPECT_TRUE(right.is_measured);
  EXPECT_EQ(right.unknown_count, 0U);
  EXPECT_LT(right.inconsistent_share, 0.01);
  EXPECT_GT(wrong.inconsistent_share, right.inconsistent_share + 0.02);
  EXPECT_EQ(wrong.inconsistent_share, compared({kOrigin + Vec3d{0, 0.3, 0.1}}, 5).inconsistent_share);
  std::vector<Vec3d> some(scene.points.size(), kOrigin);
  for (std::size_t i = 0; i < some.size(); i += 10) some[i].x = std::nan("");
  EXPECT_EQ(compared(some).unknown_count, (scene.points.size() + 9) / 10);
  EXPECT_FALSE(compared({{std::nan(""), 0, 0}}).is_measured);
}

/// A scanner that tells echoes apart has measured what the beam met, first and last.
TEST(MixedPixel, EchoesOfOneBeamAreNoMixedPixels) {
  Scene scene = post_before_wall(7);
  const std::vector<std::size_t> trails = scene.of(Thing::kTrail);
  for (const std::size_t i : trails)
    scene.points.push_back(kOrigin + (scene.points[i] - kOrigin) *
                                         (6.1 / std::sqrt(squared_distance(scene.points[i], kOrigin))));
  scene.things.resize(scene.points.size(), Thing::kWall);
  EXPECT_TRUE(run(scene, {kOrigin}).noise.empty());
}

/// The second scan stands behind the wall of the first.
TEST(MixedPixel, SeveralScansAreJudgedEachByItsOwnBeams) {
  Scene scene = post_before_wall(7);
  std::vector<Vec3d> origins(scene.points.size(), kOrigin);
  const Vec3d second = kOrigin + Vec3d{10, 0, 0};
  const Scene other = post_before_wall(8, second);
  scene.points.insert(scene.points.end(), other.points.begin(), other.points.end());
  scene.things.insert(scene.things.end(), other.things.begin(), other.things.end());
  origins.resize(scene.points.size(), second);
  EXPECT_EQ(run(scene, origins).noise, scene.of(Thing::kTrail));
}

TEST(MixedPixel, LeavesOutWhatItCannotJudge) {
  const Scene scene = post_before_wall(7);
  const std::size_t trails = scene.of(Thing::kTrail).size();
  std::vector<Vec3d> origins(scene.points.size(), kOrigin);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t i = 0; i < origins.size() / 2; ++i) origins[i] = {nan, nan, nan};
  Found found = run(scene, origins);
  EXPECT_EQ(found.result.unknown_count, scene.points.size() / 2);
  EXPECT_LT(found.noise.size(), trails);
  EXPECT_GT(found.noise.size(), trails / 4);
  MixedPixelParams fine = kParams;
  fine.max_spacing_m = 4 * kStep;  // up to 4 m away
  found = run(scene, {kOrigin}, fine);
  EXPECT_GT(found.result.coarse_count, scene.of(Thing::kWall).size() / 2);
  for (const std::size_t i : found.noise) EXPECT_LT(squared_distance(scene.points[i], kOrigin), 17);
  EXPECT_GT(found.noise.size(), 5U);
  for (std::size_t i = 0; i < origins.size(); ++i)
    origins[i] = kOrigin + Vec3d{0, 0, 1e-6 * static_cast<double>(i)};
  found = run(scene, origins);
  EXPECT_TRUE(found.result.moving);
  EXPECT_TRUE(found.noise.empty());
}

/// What cluster_outlier labels stays so, and mixed pixels are added.
TEST(MixedPixel, ComesAfterClustersInOneRun) {
  Scene scene = post_before_wall(7);
  scene.add(500, 500, 2, Thing::kTrail);  // alone in the air
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  const HitSelection hits = select_hits(scene.view(), {}, ctx);
  const BeamOrigins beams({&kOrigin, 1}, scene.points.size(), hits);
  const ClusterOutlierParams clusters{16, 7, 1e9, 1, 0, 1, 0, 0, 2, 17, 6};
  const BeamOutlierResult both = beam_outlier(hits.points(), beams, clusters, kParams, ctx);
  const NoiseResult alone = cluster_outlier(hits.points(), clusters, ctx);
  EXPECT_EQ(both.noise.flagged_count, scene.of(Thing::kTrail).size());
  EXPECT_EQ(both.noise.flagged_count, alone.flagged_count + both.mixed.labelled_count);
  EXPECT_GE(alone.flagged_count, 1U);
}

TEST(MixedPixel, RefusesWhatCannotBe) {
  const Scene scene = post_before_wall(7);
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  std::vector<MixedPixelParams> wrong;
  for (double MixedPixelParams::*field :
       {&MixedPixelParams::max_spacing_m, &MixedPixelParams::support_steps, &MixedPixelParams::support_slope,
        &MixedPixelParams::edge_steps, &MixedPixelParams::edge_depth_m, &MixedPixelParams::line_steps,
        &MixedPixelParams::line_slope, &MixedPixelParams::line_tolerance,
        &MixedPixelParams::inconsistent_share})
    for (const double value : {-1.0, nan, inf}) {
      wrong.push_back(kParams);
      wrong.back().*field = value;
    }
  wrong.push_back(kParams);
  wrong.back().edge_support = 17;
  for (const MixedPixelParams& params : wrong) EXPECT_THROW(run(scene, {kOrigin}, params), Error);
  EXPECT_THROW(run(scene, {kOrigin, kOrigin}), Error);
}

TEST(MixedPixel, OriginsByTheNumberOfTheScan) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  Column<std::uint16_t> index(5);
  const std::uint16_t numbers[] = {1, 1, 7, 0, 9};
  std::copy(std::begin(numbers), std::end(numbers), index.view().begin());
  const std::vector<ScanOrigin> scans{{0, {1, 2, 3}}, {1, {4, 5, 6}}, {9, {7, 8, 9}}};
  const Column<Vec3d> origins =
      beam_origins_of_scans(AnyColumn(std::move(index)), {scans.data(), scans.size()}, ctx);
  const auto view = origins.view();
  EXPECT_EQ(view[0], (Vec3d{4, 5, 6}));
  EXPECT_EQ(view[1], (Vec3d{4, 5, 6}));
  EXPECT_TRUE(std::isnan(view[2].x) && std::isnan(view[2].y) && std::isnan(view[2].z));
  EXPECT_EQ(view[3], (Vec3d{1, 2, 3}));
  EXPECT_EQ(view[4], (Vec3d{7, 8, 9}));
}

TEST(MixedPixel, OfEqualScanNumbersTheFirstCountsInAnyOrder) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  const std::vector<ScanOrigin> scans{{kNan, {9, 9, 9}}, {7, {1, 0, 0}},    {3, {2, 0, 0}}, {7, {3, 0, 0}},
                                      {-1, {4, 0, 0}},   {kNan, {9, 9, 9}}, {3, {5, 0, 0}}};
  const double numbers[] = {3, 7, -1, kNan, 4, 7, 1e300, 3};
  Column<double> index(std::size(numbers));
  std::copy(std::begin(numbers), std::end(numbers), index.view().begin());
  const Column<Vec3d> origins =
      beam_origins_of_scans(AnyColumn(std::move(index)), {scans.data(), scans.size()}, ctx);
  for (std::size_t i = 0; i < std::size(numbers); ++i) {
    const auto first = std::find_if(scans.begin(), scans.end(),
                                    [&](const ScanOrigin& scan) { return scan.scan_index == numbers[i]; });
    EXPECT_TRUE(first == scans.end() ? std::isnan(origins[i].x) : origins[i] == first->origin) << i;
  }
}

/// Beams that all end on one line have no support anywhere: the slowest cloud.
TEST(MixedPixel, CancelEndsItInTimeAndGivesTheScratchBack) {
  Scene scene;
  for (int i = 0; i < 240'000; ++i) scene.points.push_back({1 + 1e-5 * i, 0, 0});
  for (int i = 0; i < 60'000; ++i) scene.add(i % 250, i / 250, 3, Thing::kWall, {0, 0, 0});
  JobControl control;
  OpContext own(control, Device::kCpu, 2);
  const HitSelection hits = select_hits(scene.view(), {}, own);
  const Vec3d origin{0, 0, 0};
  const BeamOrigins beams({&origin, 1}, scene.points.size(), hits);
  const KdTree tree(scene.view(), own);
  MixedPixelParams params = kParams;
  params.inconsistent_share = 1;
  std::vector<std::uint8_t> labels(scene.points.size());
  for (const char* phase : {"Measuring the angle", "Comparing", "Looking for"}) {
    test::expect_cancel_in_phase(phase, [&](OpContext& ctx) {
      std::fill(labels.begin(), labels.end(), std::uint8_t{kClean});
      label_mixed_pixels(tree, beams, params, {labels.data(), labels.size()}, ctx);
    });
  }
}

}  // namespace
}  // namespace pc
