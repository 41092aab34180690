#include "ops/trees/stem_detection.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/memory.h"
#include "support/cancel.h"
#include "support/fuzz_runs.h"

namespace {

using namespace pc;
constexpr double kPi = std::numbers::pi;
constexpr StemDetectionParams kParams{1, 2, 3, 0};

struct StemTruth {
  double x, y, radius;
  double lean_deg = 0, azimuth_deg = 0, arc_deg = 360, first_deg = 0;
};

/// Points with heights above a level ground at z = 50.
struct Plot {
  std::vector<Vec3d> points;
  std::vector<float> heights;
  std::mt19937_64 random{1};
  std::uniform_real_distribution<double> unit;
  std::normal_distribution<double> normal;

  void add(const Vec3d& p) {
    points.push_back(p);
    heights.push_back(static_cast<float>(p.z - 50));
  }
  Plot& stem(const StemTruth& s, std::size_t count = 600, double noise = 0.003, double low = 0.5,
             double high = 2.5) {
    const double lean = s.lean_deg * kPi / 180, azimuth = s.azimuth_deg * kPi / 180;
    const Vec3d w{std::sin(lean) * std::cos(azimuth), std::sin(lean) * std::sin(azimuth), std::cos(lean)};
    Vec3d u = Vec3d{1, 0, 0} - w * w.x;
    u = u * (1 / std::sqrt(dot(u, u)));
    const Vec3d v = cross(w, u);
    for (std::size_t i = 0; i < count; ++i) {
      const double along = (low + (high - low) * unit(random)) / w.z;
      const double angle = (s.first_deg + s.arc_deg * unit(random)) * kPi / 180,
                   r = s.radius + noise * normal(random);
      add(Vec3d{s.x, s.y, 50} + w * along + u * (r * std::cos(angle)) + v * (r * std::sin(angle)));
    }
    return *this;
  }
  Plot& leaves(const Vec3d& low, const Vec3d& high, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      add({low.x + (high.x - low.x) * unit(random), low.y + (high.y - low.y) * unit(random),
           50 + low.z + (high.z - low.z) * unit(random)});
    }
    return *this;
  }
  StemDetectionResult detect(const StemDetectionParams& params = kParams, int threads = 1) const {
    JobControl control;
    OpContext ctx(control, Device::kCpu, threads);
    return detect_stems(HitPoints::assume_hits({points.data(), points.size()}),
                        {heights.data(), heights.size()}, params, ctx);
  }
};

double distance(const DetectedStem& stem, double x, double y) {
  return std::hypot(stem.position.x - x, stem.position.y - y);
}
std::uint64_t rejected(const StemDetectionResult& found, StemRejection reason) {
  return found.rejected[static_cast<std::size_t>(reason)];
}

// Two columns of a scan on a stem of 0.16 m, 0.07 m apart: the smallest circle through them is less than half as wide.
TEST(StemDetection, TwoColumnsGiveTheLeastRadius) {
  Plot plot;
  for (const double side : {-0.035, 0.035}) {
    for (double z = 0.9; z < 2.1; z += 0.03) {
      const double y = side + 0.003 * plot.normal(plot.random);
      plot.add({5 - std::sqrt(0.08 * 0.08 - y * y) + 0.003 * plot.normal(plot.random), 5 + y, 50 + z});
    }
  }
  plot.stem({9, 5, 0.08}, 300).stem({13, 5, 0.08, 0, 0, 150, 100}, 300);
  const StemDetectionResult found = plot.detect();
  ASSERT_EQ(found.stems.size(), 3u);
  for (const DetectedStem& stem : found.stems) {
    const bool columns = stem.position.x < 7;
    EXPECT_EQ(stem.has_two_columns, columns) << stem.position.x;
    if (columns)
      EXPECT_LT(stem.circle.radius, 0.06);
    else
      EXPECT_NEAR(stem.circle.radius, 0.08, 0.01);
  }
}

/// A circle of 0.08 m shown by points that scatter by 9 mm. Those of each of its directions lie between the two heights.
Plot circle_of_patches(const std::function<std::pair<double, double>(int)>& heights_of) {
  Plot plot;
  for (int direction = 0; direction < 24; ++direction) {
    const auto [low, high] = heights_of(direction);
    for (int i = 0; i < 12; ++i) {
      const double turn = 2 * kPi * (direction + plot.unit(plot.random)) / 24,
                   r = 0.08 + 0.009 * plot.normal(plot.random);
      plot.add(
          {4 + r * std::cos(turn), 4 + r * std::sin(turn), 50 + low + (high - low) * plot.unit(plot.random)});
    }
  }
  return plot;
}

// Tufts of needles around limbs: each lies at one height, and a circle passes through many of them.
TEST(StemDetection, ACircleOfTuftsIsNoStem) {
  const auto tufts = circle_of_patches([](int direction) {
    const double height = 1 + 0.93 * std::fmod(direction * 0.618, 1.0);
    return std::pair{height, height + 0.06};
  });
  const StemDetectionResult found = tufts.detect();
  EXPECT_EQ(found.stems.size(), 0u);
  EXPECT_EQ(rejected(found, StemRejection::kFewInliers), 1u);
}

TEST(StemDetection, AStemIsOneWhereItIsSeenAtSomeHeightsAlone) {
  const auto whole = circle_of_patches([](int) { return std::pair{1.0, 2.0}; });
  const auto above_a_shrub = circle_of_patches([](int) { return std::pair{1.4, 2.0}; });
  const auto behind_a_limb = circle_of_patches([](int direction) {
    const bool hidden = direction > 16;
    return std::pair{hidden ? 1.6 : 1.0, 2.0};
  });
  for (const Plot& plot : {whole, above_a_shrub, behind_a_limb}) EXPECT_EQ(plot.detect().stems.size(), 1u);
  Plot lines;  // of a carried scanner: three rows around the stem
  for (const double height : {1.1, 1.45, 1.8})
    for (int i = 0; i < 200; ++i) {
      const double turn = 2 * kPi * i / 200, r = 0.08 + 0.009 * lines.normal(lines.random);
      lines.add({4 + r * std::cos(turn), 4 + r * std::sin(turn), 50 + height});
    }
  EXPECT_EQ(lines.detect().stems.size(), 1u);
}

TEST(StemDetection, LeaningThinAndHalfSeenStems) {
  // The vertical halves of the layer of a stem leaning by 15 degrees are 13 cm apart: each of these is thinner.
  for (const double lean : {0.0, 8.0, 15.0, 20.0}) {
    for (const double radius : {0.025, 0.05, 0.12, 0.4}) {
      for (const double arc : {360.0, 180.0, 100.0}) {
        Plot plot;
        plot.stem({3, 4, radius, lean, 70, arc, 20});
        const auto found = plot.detect();
        ASSERT_EQ(found.stems.size(), 1u) << lean << " " << radius << " " << arc;
        const DetectedStem& stem = found.stems[0];
        const double shift = 1.3 * std::tan(lean * kPi / 180);
        const double place = arc < 150 ? 0.02 : 0.01;
        EXPECT_LT(distance(stem, 3 + shift * std::cos(70 * kPi / 180), 4 + shift * std::sin(70 * kPi / 180)),
                  place)
            << lean << " " << radius << " " << arc;
        EXPECT_NEAR(stem.circle.radius, radius, arc < 150 ? 0.015 : 0.004) << lean << " " << arc;
        EXPECT_NEAR(std::acos(stem.axis.z) * 180 / kPi, lean, 1.5) << radius << " " << arc;
        EXPECT_NEAR(stem.circle.arc_coverage, arc / 360, 0.06) << radius;
        EXPECT_NEAR(stem.ground_z, 50, 1e-3);
        EXPECT_NEAR(stem.position.z, 51.3, 1e-3);
      }
    }
  }
}

TEST(StemDetection, TwoStemsFromOneStumpAreTwoSeedsFromThirtyCentimetresOn) {
  for (const double apart : {0.24, 0.36, 0.5}) {
    Plot plot;
    plot.stem({0, 0, 0.1}).stem({apart, 0, 0.08}, 500);
    const auto found = plot.detect();
    EXPECT_EQ(found.stems.size(), apart < 0.3 ? 1u : 2u) << apart;
    EXPECT_EQ(rejected(found, StemRejection::kMerged), apart < 0.3 ? 1u : 0u) << apart;
    EXPECT_LT(distance(found.stems[0], 0, 0), 0.01) << apart;
  }
}

TEST(StemDetection, AStemInAShrubAndNoneInAShrubAlone) {
  Plot plot;
  plot.leaves({-1, -1, 0}, {1, 1, 1.7}, 6000);
  const auto alone = plot.detect();
  EXPECT_EQ(alone.stems.size(), 0u);
  EXPECT_EQ(alone.cluster_count, 1u);
  plot.stem({0.2, 0.1, 0.12}, 1500);
  const auto found = plot.detect();
  ASSERT_EQ(found.stems.size(), 1u);
  EXPECT_LT(distance(found.stems[0], 0.2, 0.1), 0.01);
  EXPECT_NEAR(found.stems[0].circle.radius, 0.12, 0.005);
}

TEST(StemDetection, AHedgeWiderThanAStemStillHasItsStem) {
  Plot plot;
  plot.leaves({-6, -0.5, 0}, {6, 0.5, 1.4}, 20'000).stem({2, 0, 0.15}, 2000);
  const auto found = plot.detect();
  ASSERT_EQ(found.stems.size(), 1u);
  EXPECT_LT(distance(found.stems[0], 2, 0), 0.01);
}

TEST(StemDetection, EachReasonIsReported) {
  const auto only = [](const StemDetectionResult& found, StemRejection reason) {
    EXPECT_EQ(found.stems.size(), 0u);
    EXPECT_EQ(rejected(found, reason), 1u) << to_string(reason);
  };
  only(Plot().stem({0, 0, 0.1}, 30).detect(), StemRejection::kFewPoints);  // half of them in the layer
  only(Plot().leaves({-0.2, -0.2, 1}, {0.2, 0.2, 1.4}, 2000).detect(), StemRejection::kNotUpright);
  only(Plot().leaves({-3, -3, 1}, {3, 3, 2}, 30'000).detect({1, 2, 0.05, 0}), StemRejection::kTooWide);
  Plot wall;
  for (int i = 0; i < 3000; ++i) wall.add({0.01 * (i % 100), 0, 51 + i / 3000.0});
  only(wall.detect(), StemRejection::kNoCircle);
}

TEST(StemDetection, TheHalvesOfABentStemDiffer) {
  // Two upright pieces on different axes: no single axis has inliers in three of four heights and agreeing halves.
  Plot plot;
  plot.stem({0, 0, 0.1}, 800, 0.003, 1.0, 1.5).stem({0.12, 0, 0.1}, 800, 0.003, 1.5, 2.0);
  const auto found = plot.detect();
  for (const DetectedStem& stem : found.stems) EXPECT_GT(std::acos(stem.axis.z) * 180 / kPi, 5);
}

TEST(StemDetection, OrderThreadsAndOriginDoNotMatter) {
  Plot plot;
  for (int i = 0; i < 40; ++i) {
    plot.stem({i % 8 * 1.5, i / 8 * 1.5, 0.03 + 0.005 * i, i * 0.4, i * 40.0, 120.0 + 6 * i, i * 13.0}, 400);
  }
  plot.leaves({0, 0, 0.8}, {12, 8, 1.5}, 4000);
  const auto base = plot.detect();
  EXPECT_GE(base.stems.size(), 38u);
  Plot mixed = plot;
  for (std::size_t i = mixed.points.size() - 1; i > 0; --i) {
    const std::size_t j = mixed.random() % (i + 1);
    std::swap(mixed.points[i], mixed.points[j]);
    std::swap(mixed.heights[i], mixed.heights[j]);
  }
  const auto other = mixed.detect(kParams, 3);
  ASSERT_EQ(other.stems.size(), base.stems.size());
  for (std::size_t i = 0; i < base.stems.size(); ++i) {
    EXPECT_EQ(other.stems[i].position, base.stems[i].position);
    EXPECT_EQ(other.stems[i].circle.radius, base.stems[i].circle.radius);
    EXPECT_EQ(other.stems[i].circle.inlier_count, base.stems[i].circle.inlier_count);
  }
  Plot moved = plot;
  for (Vec3d& p : moved.points) p = p + Vec3d{5e6, -4e6, 0};
  const auto far = moved.detect();
  ASSERT_EQ(far.stems.size(), base.stems.size());
  for (std::size_t i = 0; i < base.stems.size(); ++i)
    EXPECT_NEAR(far.stems[i].circle.radius, base.stems[i].circle.radius, 1e-6);
}

TEST(StemDetection, EmptyAndOddClouds) {
  const auto detect = [](const std::vector<Vec3d>& points, float height = 1.5F) {
    Plot plot;
    plot.points = points;
    plot.heights.assign(points.size(), height);
    return plot.detect();
  };
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const auto none = detect({});
  EXPECT_EQ(none.layer_points, 0u);
  EXPECT_TRUE(std::isnan(none.lowest_height));
  EXPECT_EQ(detect({{1, 2, 3}}).stems.size(), 0u);
  EXPECT_EQ(detect({{kNan, 2, 3}, {1, HUGE_VAL, 3}}).layer_points, 0u);
  EXPECT_EQ(detect({{1, 2, 3}}, std::numeric_limits<float>::quiet_NaN()).layer_points, 0u);
  EXPECT_EQ(detect(std::vector<Vec3d>(5000, {1, 2, 3})).stems.size(), 0u);
  std::vector<Vec3d> line;
  for (int i = 0; i < 5000; ++i) line.push_back({1e7 * i / 5000, 0, 0});
  EXPECT_EQ(detect(line).stems.size(), 0u);
  line.push_back({3e8, 0, 0});
  EXPECT_THROW(detect(line), Error);
}

TEST(StemDetection, ParametersOutOfOrderAreRejected) {
  const Plot plot;
  EXPECT_THROW(plot.detect({2, 1, 3, 0}), Error);
  EXPECT_THROW(plot.detect({1, 1, 3, 0}), Error);
  EXPECT_THROW(plot.detect({1, HUGE_VAL, 3, 0}), Error);
  EXPECT_THROW(plot.detect({1, 2, 0.03, 0}), Error);
  EXPECT_THROW(plot.detect({1, 2, std::nan(""), 0}), Error);
}

TEST(StemDetection, RandomCloudsAndParameters) {
  std::mt19937_64 random(9);
  std::uniform_real_distribution<double> unit;
  for (std::uint64_t round = 0; round < test::fuzz_runs(300); ++round) {
    Plot plot;
    plot.random.seed(random());
    const double size = std::pow(10.0, 6 * unit(random) - 2);
    const auto kind = random() % 5;
    const auto count = static_cast<std::size_t>(400 * unit(random));
    for (std::size_t i = 0; i < count; ++i) {
      Vec3d p{size * unit(random), size * unit(random), 50 + 3 * unit(random)};
      if (kind == 1) p.x = p.y = 0;
      if (kind == 2) p.y = p.x;
      if (kind == 3) p = {std::floor(p.x), std::floor(p.y), std::floor(p.z)};
      plot.add(p);
    }
    if (kind == 4)
      plot.stem({0, 0, 0.3 * unit(random) + 1e-3, 50 * unit(random), 0, 360 * unit(random)}, count);
    const double low = 2 * unit(random);
    const auto found = plot.detect({low, low + 1e-3 + 3 * unit(random), 0.04 + 4 * unit(random), random()});
    std::uint64_t left = 0;
    for (const std::uint64_t n : found.rejected) left += n;
    EXPECT_LE(found.cluster_count, found.stems.size() + left);
    for (const DetectedStem& stem : found.stems) {
      EXPECT_TRUE(is_finite(stem.position) && stem.circle.radius >= 0.02 && stem.circle.radius <= 1.5);
      EXPECT_GT(stem.circle.arc_coverage, 0);
      EXPECT_GE(stem.circle.inlier_count, 15u);
    }
  }
}

TEST(StemDetection, MemoryIsPredictedAndLinear) {
  Plot plot;
  plot.leaves({0, 0, 1}, {20, 20, 2}, 50'000);
  reset_bulk_bytes_peak();
  const std::uint64_t before = bulk_bytes_in_use();
  plot.detect();
  const std::uint64_t peak = bulk_bytes_peak() - before;
  EXPECT_LE(peak, stem_detection_bytes(plot.points.size()));
  EXPECT_GE(3 * peak, stem_detection_bytes(plot.points.size()));
}

std::function<void(OpContext&)> detection_of(const Plot& plot) {
  return [&plot](OpContext& ctx) {
    detect_stems(HitPoints::assume_hits({plot.points.data(), plot.points.size()}),
                 {plot.heights.data(), plot.heights.size()}, kParams, ctx);
  };
}

TEST(StemDetection, ACancelIsSeenInOneHugeCell) {
  Plot plot;
  plot.leaves({0, 0, 1}, {0.04, 0.04, 2}, 2'000'000);
  test::expect_cancel_in_time(detection_of(plot),
                              {"Selecting the layer", 0, std::chrono::milliseconds(100), 1});
}

TEST(StemDetection, AStemOfManyPointsIsMeasuredAndCanceledInTime) {
  Plot plot;
  plot.stem({0, 0, 0.3}, 150'000, 0.003, 1, 2);
  EXPECT_LT(
      test::least_cancel_latency(detection_of(plot), {"Finding stems", 0, std::chrono::milliseconds(30), 1}),
      test::kCancelSeconds);
  const auto found = plot.detect();
  ASSERT_EQ(found.stems.size(), 1u);
  EXPECT_NEAR(found.stems[0].circle.radius, 0.3, 5e-4);
  EXPECT_GT(found.stems[0].circle.inlier_count, 148'500u);
}

}  // namespace
