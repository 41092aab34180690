#include "ops/ground/cloth_simulation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/memory.h"
#include "support/cancel.h"
#include "support/ground_clouds.h"
#include "support/plot.h"

namespace pc {
namespace {

using test::cloth_defaults;
using test::GroundCloud;
using test::labels_of;
using test::run_cloth;
using test::surface_cloud;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN(),
                 kInf = std::numeric_limits<double>::infinity();

double rolling(double x, double y) { return 2 * std::sin(x * 0.2) + 1.2 * std::cos(y * 0.15) + 0.1 * x; }

/// Rolling ground with a house, trunks and crowns, and points below the ground.
struct Scene {
  GroundCloud cloud;
  std::vector<std::uint8_t> expected;
};

Scene scene(double side = 30) {
  Scene s;
  s.cloud = surface_cloud(side, 0.25, rolling);
  s.expected.assign(s.cloud.size(), 1);
  const auto add = [&](const Vec3d& p) {
    s.cloud.push_back(
        {std::rint(p.x * 1024) / 1024, std::rint(p.y * 1024) / 1024, std::rint(p.z * 1024) / 1024});
    s.expected.push_back(2);
  };
  for (int i = 0; i < 3000; ++i) {
    const auto k = static_cast<std::uint64_t>(i);
    const double x = side * random_unit(1, 3 * k), y = side * random_unit(1, 3 * k + 1);
    add({x, y, rolling(x, y) + 3 + 4 * random_unit(1, 3 * k + 2)});
  }
  for (int i = 0; i < 40; ++i) {
    const auto k = static_cast<std::uint64_t>(i);
    const double x = side * random_unit(2, 3 * k), y = side * random_unit(2, 3 * k + 1);
    add({x, y, rolling(x, y) - 1 - 4 * random_unit(2, 3 * k + 2)});
  }
  return s;
}

double agreement(const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b) {
  std::size_t same = 0;
  for (std::size_t i = 0; i < a.size(); ++i) same += a[i] == b[i];
  return static_cast<double>(same) / static_cast<double>(a.size());
}

TEST(ClothSimulation, AGentlePlaneIsAllGround) {
  for (const double slope : {0.0, 0.1}) {
    const GroundCloud cloud =
        surface_cloud(20, 0.25, [&](double x, double y) { return slope * x + 0.02 * y; });
    for (const std::uint32_t rigidness : {1U, 2U, 3U}) {
      auto params = cloth_defaults(0.5, 0.5);
      params.rigidness = rigidness;
      const auto result = run_cloth(cloud, params);
      EXPECT_EQ(result.plant_count, 0U) << slope << " " << rigidness;
      EXPECT_EQ(result.ground_count, cloud.size());
      EXPECT_TRUE(result.settled) << slope << " " << rigidness;
    }
  }
}

TEST(ClothSimulation, TellsGroundFromVegetationAndStraysBelow) {
  const Scene s = scene();
  auto params = cloth_defaults(0.25, 0.2);
  params.rigidness = 1;
  params.slope_smooth = true;
  const auto result = run_cloth(s.cloud, params);
  EXPECT_GE(agreement(labels_of(result.ground_class), s.expected), 0.998);
  EXPECT_GE(result.low_outlier_count, 38U);
  EXPECT_LE(result.low_outlier_count, 60U);
}

TEST(ClothSimulation, AHouseOnAPlaneIsNoGround) {
  const auto inside = [](double x, double y) { return x >= 12 && x <= 22 && y >= 10 && y <= 18; };
  const GroundCloud cloud =
      surface_cloud(40, 0.5, [&](double x, double y) { return 0.05 * x + (inside(x, y) ? 6.0 : 0.0); });
  const auto result = run_cloth(cloud, cloth_defaults(0.5, 0.5));
  for (std::size_t i = 0; i < cloud.size(); ++i) {
    ASSERT_EQ(result.ground_class[i], inside(cloud[i].x, cloud[i].y) ? 2 : 1)
        << cloud[i].x << " " << cloud[i].y;
  }
}

TEST(ClothSimulation, BothSidesOfACliffAreGround) {
  const GroundCloud cloud = surface_cloud(60, 0.5, [](double x, double) { return x < 30 ? 0.0 : 8.0; });
  auto params = cloth_defaults(0.5, 0.5);
  params.rigidness = 1;
  params.slope_smooth = true;
  const auto result = run_cloth(cloud, params);
  std::size_t lost = 0;
  for (std::size_t i = 0; i < cloud.size(); ++i) {
    const bool edge = cloud[i].x >= 30 && cloud[i].x < 36;  // the cloth hangs over the upper edge
    if (!edge) {
      EXPECT_EQ(result.ground_class[i], 1) << cloud[i].x << " " << cloud[i].y;
    }
    lost += result.ground_class[i] != 1;
  }
  EXPECT_LE(lost, cloud.size() / 10);
}

TEST(ClothSimulation, AVerticalWallIsNoGround) {
  GroundCloud cloud = surface_cloud(20, 0.25, [](double, double) { return 0.0; });
  const std::size_t ground = cloud.size();
  for (int i = 0; i <= 80; ++i) {
    for (int k = 1; k <= 40; ++k) cloud.push_back({i * 0.25, 10.0, k * 0.125});
  }
  const auto result = run_cloth(cloud, cloth_defaults(0.5, 0.1));
  for (std::size_t i = 0; i < cloud.size(); ++i) EXPECT_EQ(result.ground_class[i], i < ground ? 1 : 2) << i;
}

TEST(ClothSimulation, LowOutliersHoldTheClothUnlessTheyAreIgnored) {
  GroundCloud cloud = surface_cloud(20, 0.25, [](double, double) { return 0.0; });
  const std::size_t ground = cloud.size();
  cloud.push_back({10, 10, -4});
  auto params = cloth_defaults(0.25, 0.2);
  const auto ignored = run_cloth(cloud, params);
  EXPECT_EQ(ignored.low_outlier_count, 1U);
  EXPECT_EQ(ignored.ground_count, ground);
  params.ignore_low_outliers = false;
  const auto held = run_cloth(cloud, params);
  EXPECT_EQ(held.low_outlier_count, 0U);
  EXPECT_LT(held.ground_count, ground - 100);
  EXPECT_EQ(held.ground_class[ground], 1);
}

TEST(ClothSimulation, LabelsFollowPermutations) {
  const Scene s = scene();
  std::vector<std::size_t> order(s.cloud.size());
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i-- > 1;) std::swap(order[i], order[random_u64(9, i) % (i + 1)]);
  GroundCloud shuffled;
  for (const std::size_t from : order) shuffled.push_back(s.cloud[from]);
  for (const double resolution : {0.1, 0.5}) {
    const auto straight = run_cloth(s.cloud, cloth_defaults(resolution, 0.2));
    const auto result = run_cloth(shuffled, cloth_defaults(resolution, 0.2));
    for (std::size_t i = 0; i < order.size(); ++i)
      ASSERT_EQ(result.ground_class[i], straight.ground_class[order[i]]) << i;
  }
}

TEST(ClothSimulation, AShiftChangesNothing) {
  const Scene s = scene();
  GroundCloud far = s.cloud;
  for (Vec3d& p : far) p = p + Vec3d{1e6, 5e6, -2048};
  for (const double resolution : {0.1, 0.3}) {
    auto params = cloth_defaults(resolution, 0.2);
    params.auto_class_threshold = true;
    const auto here = run_cloth(s.cloud, params), there = run_cloth(far, params);
    EXPECT_EQ(labels_of(here.ground_class), labels_of(there.ground_class));
    EXPECT_EQ(here.class_threshold_used, there.class_threshold_used);
  }
}

TEST(ClothSimulation, ThreadsChangeNoBit) {
  const Scene s = scene();
  auto params = cloth_defaults(0.05, 0.05);  // more than one block of particles
  params.want_heights = true;
  params.iterations = 15;
  const auto one = run_cloth(s.cloud, params, 1);
  for (const int threads : {2, 5}) {
    const auto result = run_cloth(s.cloud, params, threads);
    EXPECT_EQ(labels_of(result.ground_class), labels_of(one.ground_class));
    EXPECT_TRUE(std::equal(result.height_above_cloth.view().begin(), result.height_above_cloth.view().end(),
                           one.height_above_cloth.view().begin()));
    EXPECT_EQ(result.iterations_run, one.iterations_run);
  }
}

TEST(ClothSimulation, HeightsAreThoseAboveTheCloth) {
  GroundCloud cloud = surface_cloud(10, 0.25, [](double, double) { return 3.0; });
  cloud.push_back({5.0625, 5.0625, 3 + 2.0});
  auto params = cloth_defaults(0.25, 0.1);
  params.want_heights = true;
  const auto result = run_cloth(cloud, params);
  ASSERT_EQ(result.height_above_cloth.size(), cloud.size());
  for (std::size_t i = 0; i + 1 < cloud.size(); ++i) EXPECT_NEAR(result.height_above_cloth[i], 0, 0.01) << i;
  EXPECT_NEAR(result.height_above_cloth[cloud.size() - 1], 2, 0.01);
}

TEST(ClothSimulation, FewOrOddPoints) {
  JobControl control;
  OpContext ctx(control);
  for (std::size_t n = 0; n < kFewestGroundPoints; ++n) {
    const GroundCloud few(n, {1, 2, 3});
    try {
      cloth_simulation(test::hits_of(few), cloth_defaults(0.5, 0.5), ctx);
      ADD_FAILURE() << n;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kInvalidArgument);
      EXPECT_EQ(std::string(e.what()), "Need at least 10 points, got " + std::to_string(n));
    }
  }
  const auto same = run_cloth(GroundCloud(500, {1e6, 2e6, 3}), cloth_defaults(0.05, 0.02));
  EXPECT_EQ(same.ground_count, 500U);
  GroundCloud line;
  for (int i = 0; i < 10; ++i) line.push_back({static_cast<double>(i), 0, 0});
  EXPECT_EQ(run_cloth(line, cloth_defaults(0.5, 0.02)).ground_count, 10U);
}

TEST(ClothSimulation, RowsThatAreNotFiniteArePlantsAndUnseen) {
  Scene s = scene();
  const auto clean = run_cloth(s.cloud, cloth_defaults(0.5, 0.3));
  const std::size_t n = s.cloud.size();
  s.cloud.push_back({kNaN, 1, 1});
  s.cloud.push_back({1, kInf, 1});
  s.cloud.push_back({1, 1, -kInf});
  const auto result = run_cloth(s.cloud, cloth_defaults(0.5, 0.3));
  for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(result.ground_class[i], clean.ground_class[i]);
  for (std::size_t i = n; i < s.cloud.size(); ++i) EXPECT_EQ(result.ground_class[i], 2);
  EXPECT_THROW(run_cloth(GroundCloud(50, {kNaN, kNaN, kNaN}), cloth_defaults(0.5, 0.3)), Error);
}

TEST(ClothSimulation, AStrayFarBelowCostsNoPrecision) {
  Scene s = scene();
  const auto clean = run_cloth(s.cloud, cloth_defaults(0.5, 0.3));
  s.cloud.push_back({15.2, 15.2, -1e8});
  const auto result = run_cloth(s.cloud, cloth_defaults(0.5, 0.3));
  std::size_t differ = 0;
  for (std::size_t i = 0; i + 1 < s.cloud.size(); ++i)
    differ += result.ground_class[i] != clean.ground_class[i];
  EXPECT_LE(differ, 5U);
}

TEST(ClothSimulation, RefusesWhatIsOutOfRange) {
  const GroundCloud cloud = surface_cloud(5, 0.25, [](double, double) { return 0.0; });
  const auto refused = [&](auto&& change, const std::string& word) {
    auto params = cloth_defaults(0.5, 0.3);
    change(params);
    try {
      run_cloth(cloud, params);
      ADD_FAILURE() << word;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kInvalidArgument);
      EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
    }
  };
  refused([](auto& p) { p.cloth_resolution = 0; }, "cloth_resolution");
  refused([](auto& p) { p.cloth_resolution = kNaN; }, "cloth_resolution");
  refused([](auto& p) { p.class_threshold = kInf; }, "class_threshold");
  refused([](auto& p) { p.rigidness = 0; }, "rigidness");
  refused([](auto& p) { p.rigidness = 4; }, "rigidness");
  refused([](auto& p) { p.iterations = 0; }, "iterations");
  refused([](auto& p) { p.iterations = 10'001; }, "iterations");
  refused([](auto& p) { p.tile_target_points = 0; }, "tile_target_points");
}

TEST(ClothSimulation, RefusesTooManyNodesAndNamesAResolutionThatFits) {
  GroundCloud cloud = surface_cloud(5, 0.25, [](double, double) { return 0.0; });
  cloud.push_back({1000, 1000, 0});
  try {
    run_cloth(cloud, cloth_defaults(0.001, 0.02));
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kInvalidArgument);
    EXPECT_STREQ(
        e.what(),
        "cloth_resolution 0.0010 needs 1000002.0 M cloth nodes for an extent of 1000.0 m (limit 25 M); "
        "0.21 is the finest that fits");
  }
  for (const double extent : {0.37, 9.99, 1000.0, 1234.5, 54'321.0, 4999.0, 1e18, 7e21, 3e300}) {
    const double finest = cloth_simulation_cost(1000, extent, 1, 1e-6).finest_resolution_m;
    EXPECT_TRUE(cloth_simulation_cost(1000, extent, 1, finest).admissible) << extent;
    EXPECT_LE(finest, extent / 4999 * 1.1 + 0.01) << extent;
    double unit = 1;  // of the last digit that is told
    while (std::abs(finest / unit - std::rint(finest / unit)) > 1e-6) unit /= 10;
    const double finer = extent < 1e15 ? finest - unit : 0.99 * finest;  // long numbers have three digits
    EXPECT_FALSE(cloth_simulation_cost(1000, extent, 1, finer).admissible) << extent;
    EXPECT_FALSE(cloth_simulation_cost(1000, extent, 1, extent / 4999 * 0.999).admissible) << extent;
  }
  EXPECT_EQ(cloth_simulation_cost(10, 0, 0, 0.1).finest_resolution_m, 0);
  EXPECT_TRUE(cloth_simulation_cost(10, 0, 0, 0.1).admissible);
  EXPECT_EQ(cloth_simulation_cost(10, 50, 50, 0.1).grid_count, 504U * 504U);
}

TEST(ClothSimulation, TiledEqualsUntiled) {
  const test::PlotCloud plot = test::make_plot(150'000);
  auto params = cloth_defaults(0.25, 0.1);
  JobControl control;
  OpContext ctx(control);
  const HitPoints points = HitPoints::assume_hits(plot.positions.view());
  const auto whole = cloth_simulation(points, params, ctx);
  EXPECT_FALSE(whole.tiled.has_value());
  params.tile_min_points = 100'000;
  params.tile_target_points = 10'000;
  const auto tiled = cloth_simulation(points, params, ctx);
  ASSERT_TRUE(tiled.tiled.has_value());
  EXPECT_EQ(tiled.tiled->point_count, 150'000U);
  EXPECT_GE(tiled.tiled->tiles_x * tiled.tiled->tiles_y, 9U);
  EXPECT_EQ(tiled.tiled->buffer_m, 7.5);  // 30 cells
  EXPECT_EQ(tiled.tiled->points_per_tile_mean, 150'000.0 / (tiled.tiled->tiles_x * tiled.tiled->tiles_y));
  EXPECT_GE(agreement(labels_of(tiled.ground_class), labels_of(whole.ground_class)), 0.995);
  EXPECT_EQ(tiled.class_threshold_used, whole.class_threshold_used);
}

TEST(ClothSimulation, IterationsEndASimulationThatDoesNotSettle) {
  const Scene s = scene();
  auto params = cloth_defaults(0.25, 0.1);
  params.iterations = 3;
  const auto result = run_cloth(s.cloud, params);
  EXPECT_EQ(result.iterations_run, 3U);
  EXPECT_FALSE(result.settled);
}

TEST(ClothSimulation, ScratchIsGivenBackAndProgressEnds) {
  const Scene s = scene();
  const std::uint64_t before = bulk_bytes_in_use();
  JobControl control;
  OpContext ctx(control);
  {
    const auto result = cloth_simulation(test::hits_of(s.cloud), cloth_defaults(0.25, 0.1), ctx);
    EXPECT_LE(bulk_bytes_in_use() - before, s.cloud.size() + 8192);
  }
  EXPECT_EQ(bulk_bytes_in_use(), before);
}

TEST(ClothSimulation, CancelEndsItInTime) {
  // As many particles as are admissible over rough ground, and a cloth that never settles.
  GroundCloud cloud;
  for (std::uint64_t i = 0; i < 200'000; ++i)
    cloud.push_back(
        {1000 * random_unit(1, 3 * i), 1000 * random_unit(1, 3 * i + 1), 50 * random_unit(1, 3 * i + 2)});
  for (const char* const phase :
       {"Looking for points below the ground", "Rasterising the terrain", "Dropping the cloth"}) {
    const auto run = [&](OpContext& ctx) {
      auto params = cloth_defaults(0.21, 0.1);
      params.iterations = 10'000;
      cloth_simulation(test::hits_of(cloud), params, ctx);
    };
    test::expect_cancel_in_time(run, {phase, 0, std::chrono::milliseconds(300), 2});
  }
}

}  // namespace
}  // namespace pc
