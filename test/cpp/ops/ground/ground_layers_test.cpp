#include "ops/ground/ground_layers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "core/error.h"
#include "support/cancel.h"
#include "support/nasty_clouds.h"

namespace {

using namespace pc;

constexpr double kUp = 100;

using Cloud = std::vector<Vec3d>;
using Height = std::function<double(double, double)>;

double level(double, double) { return kUp; }
/// Waves of a few centimetres, as the floor of a forest has them.
double waves(double x, double y) {
  return kUp + 0.03 * std::sin(1.3 * x + 0.4) * std::cos(1.7 * y) + 0.02 * std::sin(3.1 * x - 2.3 * y);
}

struct Area {
  double width, depth;
  int per_m2 = 800;
  double noise = 0.004;
};

/// Points of a surface, west and south of which is the origin.
Cloud seen(const Height& height, const Area& area, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> x(0, area.width), y(0, area.depth);
  std::normal_distribution<double> noise(0, area.noise);
  Cloud out;
  const int n = static_cast<int>(area.per_m2 * area.width * area.depth);
  for (int i = 0; i < n; ++i) {
    const double u = x(random), v = y(random);
    out.push_back({u, v, height(u, v) + noise(random)});
  }
  return out;
}

Cloud operator+(Cloud a, const Cloud& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Cloud raised(Cloud cloud, double z) {
  for (Vec3d& p : cloud) p.z += z;
  return cloud;
}

/// By 17 degrees, far from the origin.
Cloud turned(Cloud cloud) {
  const double c = std::cos(0.3), s = std::sin(0.3);
  for (Vec3d& p : cloud) p = {500'000 + c * p.x - s * p.y, 5'000'000 + s * p.x + c * p.y, p.z};
  return cloud;
}

Cloud where(const Cloud& cloud, const std::function<bool(const Vec3d&)>& holds) {
  Cloud out;
  std::copy_if(cloud.begin(), cloud.end(), std::back_inserter(out), holds);
  return out;
}

/// Some of the points, by chance, as herbs of that height and spread.
Cloud grown(Cloud cloud, double part, double height, double spread, std::uint64_t seed = 7) {
  std::mt19937_64 random(seed);
  std::bernoulli_distribution is_herb(part);
  std::normal_distribution<double> about(height, spread);
  for (Vec3d& p : cloud)
    if (is_herb(random)) p.z += about(random);
  return cloud;
}

/// Under crowns nothing else is seen.
Cloud under_crowns(Cloud cloud, double height, std::uint64_t seed = 8) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> above(height, 2 * height);
  for (Vec3d& p : cloud)
    if (std::sin(4.1 * p.x) * std::sin(3.4 * p.y) > 0.3) p.z += above(random);
  return cloud;
}

std::optional<GroundLayers> layers_of(const Cloud& cloud, int threads = 2,
                                      const std::vector<std::uint8_t>& skip = {},
                                      const AnyColumn* scans = nullptr) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return ground_layers({cloud.data(), cloud.size()}, {skip.data(), skip.size()}, scans, ctx);
}

const Area kPlot{20, 20};

/// Ground that two scans see, the second `z` higher.
Cloud twice(double z, const Height& height = waves, const Area& area = kPlot) {
  return seen(height, area, 1) + raised(seen(height, area, 2), z);
}

TEST(GroundLayers, AreFoundWithTheirHeight) {
  for (const double z : {0.05, 0.08, 0.15, 0.3, 0.6, 1.5, 4.0, 12.0, 47.0}) {
    const auto found = layers_of(twice(z));
    ASSERT_TRUE(found) << z;
    EXPECT_NEAR(found->z_m, z, 0.003) << z;
    EXPECT_LT(found->spread_m, 0.01) << z;
    EXPECT_GT(found->share, 0.5) << z;
    EXPECT_GT(found->n_both, found->n_places / 2) << z;
  }
}

TEST(GroundLayers, OnSlopesAndMountains) {
  const Height slope = [](double x, double y) { return waves(x, y) + 0.6 * x + 0.2 * y; };
  const Height hill = [](double x, double y) { return waves(x, y) + 3 * std::sin(x / 8) * std::cos(y / 9); };
  for (const Height& height : {slope, hill})
    for (const double z : {0.15, 0.6, 30.0}) {
      const auto found = layers_of(twice(z, height));
      ASSERT_TRUE(found) << z;
      EXPECT_NEAR(found->z_m, z, 0.01) << z;
    }
}

TEST(GroundLayers, OfFewPointsFromTheAirAboveAndBelowDenseOnes) {
  const Area sparse{40, 40, 8, 0.02};
  for (const double z : {0.5, -0.5, 42.0}) {
    const auto found = layers_of(seen(waves, {40, 40, 400}) + raised(seen(waves, sparse, 2), z));
    ASSERT_TRUE(found) << z;
    EXPECT_NEAR(found->z_m, std::abs(z), 0.015) << z;
  }
}

TEST(GroundLayers, UnderCrownsAndOverRoughGround) {
  const Height slope = [](double x, double y) { return waves(x, y) + 0.4 * x; };
  for (const double z : {0.1, 0.6, 8.0}) {
    const auto hidden = layers_of(under_crowns(twice(z, slope), 5));
    ASSERT_TRUE(hidden) << z;
    EXPECT_NEAR(hidden->z_m, z, 0.003) << z;
    if (z < 0.2) {
      EXPECT_EQ(hidden->cell_m, 0.25);
    }
    if (z < 0.5) continue;
    const auto rough = layers_of(twice(z, slope, {20, 20, 800, 0.03}));
    ASSERT_TRUE(rough) << z;
    EXPECT_NEAR(rough->z_m, z, 0.006) << z;
  }
}

TEST(GroundLayers, OneScanHasNone) {
  EXPECT_FALSE(layers_of(seen(waves, kPlot)));
  EXPECT_FALSE(layers_of(seen(level, kPlot)));
  EXPECT_FALSE(layers_of(twice(0, waves)));
  EXPECT_FALSE(layers_of(twice(0.01, waves))) << "less than is told from roughness";
  EXPECT_FALSE(layers_of(seen([](double x, double y) { return waves(x, y) + x; }, kPlot))) << "45 degrees";
}

TEST(GroundLayers, WhatLiesBesideTheGroundIsNone) {
  const auto with = [](const std::function<double(double, double)>& up) {
    return seen([up](double x, double y) { return waves(x, y) + up(x, y); }, {20, 12, 1500});
  };
  EXPECT_FALSE(layers_of(with([](double, double y) { return y > 6 ? 0.13 : 0; }))) << "a kerb";
  EXPECT_FALSE(layers_of(with([](double, double y) { return std::fmod(y, 0.75) < 0.4 ? 0.2 : 0; })))
      << "beds";
  const auto strips = [](double x, double y) { return waves(x, y) + (std::fmod(y, 1.2) < 0.6 ? 0.15 : 0); };
  EXPECT_FALSE(layers_of(turned(seen(strips, {40, 20, 1125})))) << "film";
  EXPECT_FALSE(layers_of(with([](double x, double) { return std::fmod(x, 0.6) < 0.2 ? 0.05 : 0; })))
      << "planks";
  EXPECT_FALSE(layers_of(with([](double, double y) { return 0.17 * std::floor(y / 0.3); }))) << "steps";
  EXPECT_FALSE(layers_of(with([](double x, double) { return 1.5 * std::floor(x / 3); }))) << "terraces";
  EXPECT_FALSE(layers_of(seen(
      [](double x, double y) {
        const double u = std::fmod(x, 0.15) - 0.075, v = std::fmod(y, 0.15) - 0.075;
        return waves(x, y) + (std::hypot(u, v) < 0.055 ? 0.12 : 0);
      },
      {6, 6, 20'000})))
      << "pots";
}

TEST(GroundLayers, WhatHangsAboveTheGroundIsNone) {
  const Area area{20, 12};
  const auto over = [&](const Height& floor, double z) {
    return seen(floor, area) + raised(seen(level, area, 2), z);
  };
  EXPECT_FALSE(layers_of(over(level, 2.7))) << "a ceiling";
  EXPECT_FALSE(layers_of(over(level, 6))) << "a hall";
  EXPECT_FALSE(layers_of(turned(over(level, 6)))) << "a hall whose walls cut cells";
  EXPECT_FALSE(layers_of(over(level, 0.8))) << "a bench of wire";
  EXPECT_FALSE(layers_of(over(waves, 4))) << "a net";
  EXPECT_FALSE(layers_of(over(waves, 0.5))) << "water above its bed";
  const auto tables = where(seen(level, area, 3), [](const Vec3d& p) {
    return std::fmod(p.x, 2.5) < 1.6 && std::fmod(p.y, 2) < 0.8;
  });
  EXPECT_FALSE(layers_of(over(level, 2.7) + raised(tables, 0.72))) << "tables in a room";
}

/// A level floor with a pond and stems, of which water mirrors a tenth, up to 5 m above it.
Cloud pond(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> noise;
  std::uniform_real_distribution<double> unit;
  Cloud out;
  for (double x = -14; x <= 14; x += 0.14)
    for (double y = -14; y <= 14; y += 0.14) {
      const double z = -1.2 * std::exp(-std::pow(std::hypot(x, y) / 4.5, 6)) + 0.005 * noise(random);
      if (z > -0.6) out.push_back({x, y, z});
    }
  for (int k = 0; k < 7; ++k)
    for (int i = 0; i < 2500; ++i) {
      const double turn = 6.28 * unit(random), away = 6.5 + 2 * (k % 2);
      out.push_back({away * std::cos(0.9 * k) + 0.15 * std::cos(turn),
                     away * std::sin(0.9 * k) + 0.15 * std::sin(turn), 8 * unit(random)});
    }
  for (std::size_t i = 0, n = out.size(); i < n; ++i)
    if (out[i].z < 4.4 && unit(random) < 0.1)
      out.push_back({out[i].x, out[i].y, -1.2 - out[i].z + 0.01 * noise(random)});
  return out;
}

TEST(GroundLayers, WhatWaterMirrorsIsNone) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) EXPECT_FALSE(layers_of(pond(seed))) << seed;
}

TEST(GroundLayers, CropsAndHerbsAreNone) {
  std::mt19937_64 random(5);
  std::exponential_distribution<double> below(1 / 0.05);
  std::normal_distribution<double> about(0, 0.02);
  Cloud wheat = seen(waves, {20, 20, 2000}, 2), herbs = seen(waves, {20, 20, 1500}, 3);
  for (Vec3d& p : wheat) p.z += 0.8 - below(random);
  for (Vec3d& p : herbs) p.z += 0.12 + about(random);
  EXPECT_FALSE(layers_of(seen(waves, kPlot) + wheat));
  EXPECT_FALSE(layers_of(seen(waves, {20, 20, 1500}) + herbs));
}

TEST(GroundLayers, HerbsOfAnySpreadAreNone) {
  const Height hills = [](double x, double y) { return waves(x, y) + 0.2 * std::sin(x) * std::cos(0.7 * y); };
  EXPECT_FALSE(layers_of(grown(seen(waves, {20, 20, 3000}), 0.5, 0.12, 0.01))) << "one thickness";
  EXPECT_FALSE(layers_of(grown(seen(hills, {22, 22, 150, 0.02}), 0.3, 0.5, 0.1))) << "loose, on hills";
  EXPECT_FALSE(layers_of(grown(seen(waves, {22, 22, 150, 0.05}), 0.5, 0.2, 0.06))) << "loose";
  const Height steep = [](double x, double) { return x; };
  EXPECT_FALSE(layers_of(grown(seen(steep, {60, 60, 12, 0.002}), 0.5, 0.2, 0.02))) << "from the air";
  for (std::uint64_t seed = 0; seed < 6; ++seed)  // of more one in twenty has a layer
    EXPECT_FALSE(layers_of(grown(seen(waves, {15, 15, 5, 0.02}, seed), 0.3, 0.2, 0.02, seed)))
        << "few points, seed " << seed;
}

TEST(GroundLayers, CoarseCoordinatesAreNone) {
  for (const double noise : {0.02, 0.03, 0.05})
    for (const double step : {0.01, 0.05, 0.1, 1.0})
      for (const double herbs : {0.0, 0.2}) {
        const auto height = [](double x, double y) { return waves(x, y) + 0.05 * x; };
        Cloud cloud = grown(seen(height, {60, 60, 60, noise}), herbs, 0.5, 0.3);
        for (Vec3d& p : cloud) p.z = step * std::round(p.z / step);
        EXPECT_FALSE(layers_of(cloud)) << step << ", noise " << noise << ", herbs " << herbs;
      }
}

TEST(GroundLayers, LayersSideBySideAreNone) {
  const auto west = where(seen(waves, kPlot), [](const Vec3d&p) { return p.x < 10; }),
             east = where(seen(waves, kPlot, 2), [](const Vec3d&p) { return p.x >= 10; });
  EXPECT_FALSE(layers_of(west + raised(east, 0.3)));
}

TEST(GroundLayers, ScansTellWhichLayerTheyLieIn) {
  Cloud cloud;
  std::vector<double> numbers;
  for (int scan = 0; scan < 4; ++scan) {
    const Cloud one =
        raised(seen(waves, {20, 20, 300}, static_cast<std::uint64_t>(scan)), scan == 2 ? 0.25 : 0);
    cloud = cloud + one;
    numbers.insert(numbers.end(), one.size(), 10.0 + scan);
  }
  numbers[0] = std::nan("");
  Column<double> column(numbers.size());
  std::copy(numbers.begin(), numbers.end(), column.view().data);
  const AnyColumn scans(std::move(column));
  const auto found = layers_of(cloud, 2, {}, &scans);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->z_m, 0.25, 0.003);
  ASSERT_EQ(found->scans.size(), 4);
  for (int scan = 0; scan < 4; ++scan) {
    EXPECT_EQ(found->scans[scan].scan, 10 + scan);
    EXPECT_EQ(scan_side(found->scans[scan]), scan == 2 ? 1 : -1);
  }
  EXPECT_EQ(scan_side({1, 99, 0, 30}), 0) << "few points";
  EXPECT_EQ(scan_side({1, 1000, 21, 79}), 0) << "both";
  EXPECT_EQ(scan_side({1, 1000, 0, 0}), 0) << "neither";
}

// Next to its tripod the upper scan has so many points that the few of the lower one are none of a layer: its ground is the lowest there, and herbs lie where the upper one is looked for.
TEST(GroundLayers, AScanIsToldByItsPlacesNotByItsPoints) {
  const Cloud low = seen(waves, {20, 20, 60}, 1);
  const Cloud near = where(seen(waves, {20, 20, 6000}, 3), [](const Vec3d& p) { return p.x < 6 && p.y < 6; });
  const Cloud up = raised(seen(waves, {20, 20, 60}, 2) + grown(near, 0.05, 0.6, 0.1), 0.6);
  const Cloud cloud = low + up;
  Column<double> column(cloud.size());
  for (std::size_t i = 0; i < cloud.size(); ++i) column.view()[i] = i < low.size() ? 1 : 2;
  const AnyColumn scans(std::move(column));
  const auto found = layers_of(cloud, 2, {}, &scans);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->z_m, 0.6, 0.005);
  ASSERT_EQ(found->scans.size(), 2);
  EXPECT_EQ(scan_side(found->scans[0]), -1);
  EXPECT_EQ(scan_side(found->scans[1]), 1);
}

TEST(GroundLayers, SkippedRowsDoNotCount) {
  const Cloud low = seen(waves, kPlot, 1), both = low + raised(seen(waves, kPlot, 2), 0.4);
  std::vector<std::uint8_t> skip(both.size(), 0);
  std::fill(skip.begin() + static_cast<std::ptrdiff_t>(low.size()), skip.end(), std::uint8_t{1});
  EXPECT_TRUE(layers_of(both));
  EXPECT_FALSE(layers_of(both, 2, skip));
}

TEST(GroundLayers, TheSameForAnyThreadsAndOrder) {
  Cloud cloud = twice(0.4, waves, {45, 35, 1500});
  const auto one = layers_of(cloud, 1), two = layers_of(cloud, 3);
  std::shuffle(cloud.begin(), cloud.end(), std::mt19937_64(3));
  const auto shuffled = layers_of(cloud, 2);
  ASSERT_TRUE(one && two && shuffled);
  for (const auto& other : {two, shuffled}) {
    EXPECT_EQ(one->z_m, other->z_m);
    EXPECT_EQ(one->spread_m, other->spread_m);
    EXPECT_EQ(one->share, other->share);
    EXPECT_EQ(one->n_both, other->n_both);
  }
}

TEST(GroundLayers, FarFromTheOriginAndWithStrays) {
  Cloud cloud = twice(0.4);
  for (Vec3d& p : cloud) p = p + Vec3d{500'000, 5'000'000, 0};
  cloud.push_back({1e9, -1e9, 3});
  cloud.push_back({1e300, 0, 0});
  cloud.push_back({500'001, 5'000'001, 1e300});
  cloud.push_back({std::nan(""), 0, 0});
  cloud.push_back({0, std::numeric_limits<double>::infinity(), 0});
  const auto found = layers_of(cloud);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->z_m, 0.4, 0.003);
}

TEST(GroundLayers, NastyCloudsHaveNone) {
  for (std::uint64_t seed = 0; seed < 3000; ++seed)
    EXPECT_FALSE(layers_of(nasty_clouds::cloud(seed, 400))) << seed;
}

TEST(GroundLayers, SquaresAreCountedWithinBounds) {
  // More squares than are counted, and among them one with two layers, which may be left out, but not split.
  std::vector<std::optional<GroundLayers>> found;
  Cloud cloud = twice(0.4);
  std::mt19937_64 random(4);
  std::uniform_real_distribution<double> far(-5e6, 5e6);
  for (int i = 0; i < 600'000; ++i) cloud.push_back({far(random), far(random), 0});
  for (const int threads : {1, 2, 3}) found.push_back(layers_of(cloud, threads));
  for (const auto& one : found) {
    EXPECT_EQ(one.has_value(), found[0].has_value());
    EXPECT_TRUE(!one || one->z_m == found[0]->z_m);
  }
}

TEST(GroundLayers, RefusesColumnsOfOtherLengths) {
  const Cloud cloud = seen(waves, {5, 5});
  const AnyColumn scans(Column<double>(3));
  EXPECT_THROW(layers_of(cloud, 1, {1}), Error);
  EXPECT_THROW(layers_of(cloud, 1, {}, &scans), Error);
}

TEST(GroundLayers, EndsSoonAfterACancel) {
  const Cloud cloud = twice(0.4, waves, {60, 60, 800});
  pc::test::expect_cancel_in_time([&](OpContext& ctx) {
    (void)ground_layers({cloud.data(), cloud.size()}, {}, nullptr, ctx);
  });
}

}  // namespace
