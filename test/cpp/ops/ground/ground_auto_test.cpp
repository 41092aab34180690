#include "ops/ground/ground_auto.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "core/random.h"
#include "support/ground_clouds.h"
#include "support/hidden_ground.h"

namespace pc {
namespace {

using test::GroundCloud;

struct Mistakes {
  std::size_t lost, taken;
};

/// A cloud of `terrain` with objects: `object` gives their height above the terrain, 0 = none.
Mistakes mistakes_on(double side, double step, const std::function<double(double, double)>& terrain,
                     const std::function<double(double, double)>& object) {
  const GroundCloud cloud =
      test::surface_cloud(side, step, [&](double x, double y) { return terrain(x, y) + object(x, y); });
  JobControl control;
  OpContext ctx(control);
  const GroundAutoResult result = ground_auto(test::hits_of(cloud), kGroundConstants, ctx);
  Mistakes mistakes{0, 0};
  for (std::size_t i = 0; i < cloud.size(); ++i) {
    const bool ground = object(cloud[i].x, cloud[i].y) == 0;
    mistakes.lost += ground && result.ground_class[i] != 1;
    mistakes.taken += !ground && result.ground_class[i] == 1;
  }
  return mistakes;
}

bool within(double x, double y, double x0, double y0, double width, double depth) {
  return x >= x0 && x < x0 + width && y >= y0 && y < y0 + depth;
}

TEST(GroundAuto, AHouseOnASlopeIsNoGround) {
  for (const double slope : {0.0, 0.3, 0.6}) {
    const auto [lost, taken] = mistakes_on(
        80, 0.5, [&](double x, double) { return slope * x + 0.5 * std::sin(x / 5); },
        [](double x, double y) { return within(x, y, 30, 30, 14, 10) ? 5.0 : 0.0; });
    EXPECT_LE(lost, 10U) << slope;  // of 25,355
    EXPECT_EQ(taken, 0U) << slope;  // of 560
  }
}

TEST(GroundAuto, AHallOfFortyMetresIsNoGround) {
  const auto [lost, taken] = mistakes_on(
      120, 0.5, [](double x, double y) { return 0.02 * x + 0.03 * y; },
      [](double x, double y) { return within(x, y, 40, 30, 40, 60) ? 8.0 : 0.0; });
  EXPECT_EQ(lost, 0U);
  EXPECT_EQ(taken, 0U);
}

TEST(GroundAuto, BenchesAndFacesOfAQuarryAreGround) {
  // Five benches of 8 m, faces of 4 m within 1 m.
  const auto quarry = [](double x, double) {
    const double bench = std::floor(std::clamp(x - 30, 0.0, 40.0) / 8);
    return 4 * (bench + std::clamp((std::clamp(x - 30, 0.0, 40.0) - 8 * bench) - 7, 0.0, 1.0));
  };
  const auto [lost, taken] = mistakes_on(100, 0.5, quarry, [](double x, double y) {
    return std::fmod(x + 3.5, 9) < 0.5 && std::fmod(y, 7) < 0.5 ? 3.0 : 0.0;  // posts
  });
  EXPECT_LE(lost, 200U);  // of 40,000, two rows of points in each of five faces of 200
  EXPECT_EQ(taken, 0U);
}

TEST(GroundAuto, ABridgeIsNoGroundAndTheCuttingIs) {
  // A cutting 24 m wide and 6 m deep; a deck of 6 m at the height of the land, its ends 2 m above the slopes.
  const auto cutting = [](double x, double) {
    const double off = std::abs(x - 50);
    return off < 12 ? -6.0 : off < 21 ? -6 + (off - 12) * 6 / 9 : 0.0;
  };
  const auto [lost, taken] = mistakes_on(100, 0.5, cutting, [&](double x, double y) {
    return std::abs(x - 50) < 18 && std::abs(y - 50) < 3 ? -cutting(x, y) : 0.0;
  });
  EXPECT_LE(lost, 60U);
  EXPECT_EQ(taken, 0U);
}

TEST(GroundAuto, LowBushesAreNoGroundWhereTheGroundIsSmooth) {
  const auto [lost, taken] = mistakes_on(
      60, 0.25, [](double x, double) { return 0.1 * x; },
      [](double x, double y) { return std::fmod(x, 3) < 0.8 && std::fmod(y, 3) < 0.8 ? 0.5 : 0.0; });
  EXPECT_EQ(lost, 0U);
  EXPECT_LE(taken, 60U);  // of 6400
}

TEST(GroundAuto, CellsFollowTheSpacingAndStayBelowSixteenMillion) {
  const auto extent = [](double x, double y) { return GroundExtent{{{0, 0, 0}, {x, y, 1}}, 10, 0}; };
  EXPECT_EQ(ground_auto_cell_size(extent(100, 100), 2, kGroundConstants), 1.7);
  EXPECT_EQ(ground_auto_cell_size(extent(100, 100), 0.01, kGroundConstants), 0.25);
  EXPECT_EQ(ground_auto_cell_size(extent(100, 100), 100, kGroundConstants), 5);
  for (const auto& [x, y] : {std::pair{20e3, 20e3}, {1e7, 3.0}, {5e6, 5e6}}) {
    const double size = ground_auto_cell_size(extent(x, y), 0.1, kGroundConstants);
    const auto cells = [&](double of) { return (x / of + 4) * (y / of + 4); };
    EXPECT_LE(cells(size), 16e6) << x;
    EXPECT_GT(cells(size / 1.1001), 16e6) << x;  // no larger than it must be
  }
}

TEST(GroundAuto, APointFarAwayIsAnErrorAndNoGuess) {
  GroundCloud cloud = test::surface_cloud(30, 0.25, [](double, double) { return 0.0; });
  cloud.push_back({1e7, 1e7, 0});
  JobControl control;
  OpContext ctx(control);
  try {
    ground_auto(test::hits_of(cloud), kGroundConstants, ctx);
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(std::string(e.what()).find("An extent of 10000000 m by 10000000 m needs cells of"),
              std::string::npos)
        << e.what();
  }
}

TEST(GroundAuto, PointsBeyondAllScansAreAnError) {
  for (const double far : {1e13, 1e155, 1e308}) {
    for (const Vec3d& stray : {Vec3d{far, 5, 0}, Vec3d{5, -far, 0}, Vec3d{5, 5, far}}) {
      test::GroundCloud cloud = test::surface_cloud(10, 0.5, [](double, double) { return 0.0; });
      cloud.push_back(stray);
      JobControl control;
      OpContext ctx(control);
      EXPECT_THROW(ground_auto(test::hits_of(cloud), kGroundConstants, ctx), Error) << far;
    }
  }
}

TEST(GroundAuto, PointsBelowTheGroundOfTheirCellAreNone) {
  GroundCloud cloud = test::surface_cloud(30, 0.25, [](double, double) { return 0.0; });
  const std::size_t ground = cloud.size();
  for (int i = 0; i < 5; ++i) cloud.push_back({3.0 + 5 * i, 4.0 + 4 * i, -2.0});
  JobControl control;
  OpContext ctx(control);
  const GroundAutoResult result = ground_auto(test::hits_of(cloud), kGroundConstants, ctx);
  EXPECT_EQ(result.low_outlier_count, 5U);
  EXPECT_EQ(result.ground_count, ground);
  for (std::size_t i = ground; i < cloud.size(); ++i) EXPECT_EQ(result.ground_class[i], 2) << i;
}

struct Labelled {
  std::size_t ground = 0, high = 0;
  double hidden_share = 0;
};

/// How many points are labelled ground, and how many of them are more than 0.2 m above it.
Labelled labels_on(const test::HiddenGround& scene) {
  JobControl control;
  OpContext ctx(control);
  const GroundAutoResult result = ground_auto(test::hits_of(scene.cloud), kGroundConstants, ctx);
  Labelled labelled;
  labelled.hidden_share = result.hidden_share;
  for (std::size_t i = 0; i < scene.above.size(); ++i) {
    labelled.ground += result.ground_class[i] == 1;
    labelled.high += result.ground_class[i] == 1 && scene.above[i] > 0.2;
  }
  return labelled;
}

TEST(GroundAuto, AThicketThatHidesTheGroundIsNoGround) {
  const Labelled labelled = labels_on(test::hidden_ground(20, 12, 0.12));
  EXPECT_LE(labelled.high, labelled.ground / 50);
  EXPECT_GT(labelled.hidden_share, 0.25);
}

TEST(GroundAuto, AThicketHasTheSameLabelsForAnyThreadsAndOrder) {
  const GroundCloud cloud = test::hidden_ground(12, 30, 0.3).cloud;
  const GroundCloud turned(cloud.rbegin(), cloud.rend());
  JobControl control;
  OpContext one(control, Device::kCpu, 1), four(control, Device::kCpu, 4);
  const GroundAutoResult a = ground_auto(test::hits_of(cloud), kGroundConstants, one);
  const GroundAutoResult b = ground_auto(test::hits_of(turned), kGroundConstants, four);
  EXPECT_EQ(a.hidden_share, b.hidden_share);
  EXPECT_EQ(a.low_outlier_count, b.low_outlier_count);
  std::vector<std::uint8_t> labels = test::labels_of(b.ground_class);
  std::reverse(labels.begin(), labels.end());
  EXPECT_EQ(test::labels_of(a.ground_class), labels);
}

TEST(GroundAuto, GroundThatIsSeenIsNotHidden) {
  EXPECT_EQ(labels_on(test::hidden_ground(20, 1, 0)).hidden_share, 0);
  const GroundCloud thin = test::surface_cloud(60, 1, [](double, double) { return 0.0; });
  JobControl control;
  OpContext ctx(control);
  EXPECT_TRUE(std::isnan(ground_auto(test::hits_of(thin), kGroundConstants, ctx).hidden_share));
}

/// 60,000 returns of ground with `sigma` metres of noise; the share `grass` of the returns are 0.25 to 0.75 m above it.
test::HiddenGround noisy_field(double per_m2, double sigma, double slope, double roll, double grass) {
  test::HiddenGround scene;
  const double side = std::sqrt(60'000 / per_m2);
  for (std::uint64_t i = 0; i < 60'000; ++i) {
    const auto next = [&](std::uint64_t k) { return random_unit(21, 6 * i + k); };
    const double x = side * next(0), y = side * next(1), plant = next(4) < grass ? 0.25 + 0.5 * next(5) : 0;
    const double noise = sigma * std::sqrt(-2 * std::log(1 - next(2))) * std::cos(2 * M_PI * next(3));
    scene.cloud.push_back({x, y, slope * x + roll * std::sin(0.9 * x) * std::sin(0.7 * y) + plant + noise});
    scene.above.push_back(plant);
  }
  return scene;
}

struct NoisyLabels {
  double found = 0, taken = 0, noise_m = 0;  ///< shares of the ground and of the plants
};

NoisyLabels labels_of_field(const test::HiddenGround& scene) {
  JobControl control;
  OpContext ctx(control);
  const GroundAutoResult result = ground_auto(test::hits_of(scene.cloud), kGroundConstants, ctx);
  double ground = 0, plants = 0;
  NoisyLabels labels;
  for (std::size_t i = 0; i < scene.above.size(); ++i) {
    (scene.above[i] > 0 ? plants : ground) += 1;
    (scene.above[i] > 0 ? labels.taken : labels.found) += result.ground_class[i] == 1;
  }
  labels.found /= ground;
  labels.taken /= std::max(1.0, plants);
  labels.noise_m = result.noise_m;
  return labels;
}

TEST(GroundAuto, NoisyBareGroundIsGround) {
  struct Field {
    double per_m2, sigma, slope, roll;
  };
  for (const auto& [per_m2, sigma, slope, roll] : {Field{25, 0.08, 0.4, 0},
                                                   {100, 0.05, 0, 0},
                                                   {400, 0.03, 0.2, 0},
                                                   {400, 0.08, 0, 0.4},
                                                   {2000, 0.02, 0, 0},
                                                   {2000, 0.08, 0, 0.2}}) {
    const NoisyLabels labels = labels_of_field(noisy_field(per_m2, sigma, slope, roll, 0));
    EXPECT_GE(labels.found, 0.98) << per_m2 << " " << sigma << " " << slope << " " << roll;
  }
}

TEST(GroundAuto, NoiseIsMeasuredThroughGrass) {
  for (const double sigma : {0.02, 0.05}) {
    for (const double grass : {0.0, 0.4}) {
      const NoisyLabels labels = labels_of_field(noisy_field(400, sigma, 0.2, 0, grass));
      EXPECT_NEAR(labels.noise_m, sigma, 0.05 * sigma) << grass;
      EXPECT_GE(labels.found, 0.98) << sigma << " " << grass;
      EXPECT_LE(labels.taken, 0.01) << sigma;  // grass of 0.25 m is 5 deviations high
    }
  }
}

TEST(GroundAuto, ANoisyFieldHasTheSameLabelsForAnyThreadsAndOrder) {
  const GroundCloud cloud = noisy_field(400, 0.08, 0.2, 0.2, 0.2).cloud;
  const GroundCloud turned(cloud.rbegin(), cloud.rend());
  JobControl control;
  OpContext one(control, Device::kCpu, 1), four(control, Device::kCpu, 4);
  const GroundAutoResult a = ground_auto(test::hits_of(cloud), kGroundConstants, one);
  const GroundAutoResult b = ground_auto(test::hits_of(turned), kGroundConstants, four);
  EXPECT_GT(a.noise_m, 0.07);
  EXPECT_EQ(a.noise_m, b.noise_m);
  std::vector<std::uint8_t> labels = test::labels_of(b.ground_class);
  std::reverse(labels.begin(), labels.end());
  EXPECT_EQ(test::labels_of(a.ground_class), labels);
}

TEST(GroundAuto, PlantsAreNoNoise) {
  // Plants of up to 0.9 m hide the ground but for paths; its noise is 1.5 cm.
  for (const double clear : {0.12, 0.3})
    EXPECT_LE(labels_of_field(test::hidden_ground(20, 60, clear)).noise_m, 0.02) << clear;
}

}  // namespace
}  // namespace pc
