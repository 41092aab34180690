#include "ops/ground/ground_residual.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "core/error.h"
#include "support/cancel.h"
#include "support/nasty_clouds.h"

namespace {

using namespace pc;

using Cloud = std::vector<Vec3d>;

double residual_of(const Cloud& cloud, int threads = 2, std::vector<std::uint8_t> labels = {}) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  if (labels.empty()) labels.assign(cloud.size(), 1);
  return ground_residual({cloud.data(), cloud.size()}, {labels.data(), labels.size()}, ctx);
}

Cloud seen(double side, int count, double noise, const std::function<double(double, double)>& height,
           std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> along(0, side);
  std::normal_distribution<double> off(0, 1);
  Cloud out;
  for (int i = 0; i < count; ++i) {
    const double x = along(random), y = along(random);
    out.push_back({x, y, height(x, y) + noise * off(random)});
  }
  return out;
}

double slope(double x, double y) { return 300 + 0.7 * x - 0.4 * y; }

/// Each point with each other one, and the plane by Gauss's elimination.
double by_hand(const Cloud& cloud) {
  std::vector<double> distances;
  for (std::size_t i = 0; i < cloud.size(); ++i) {
    std::vector<std::pair<double, std::size_t>> near;
    for (std::size_t j = 0; j < cloud.size(); ++j)
      if (j != i) near.emplace_back(std::hypot(cloud[j].x - cloud[i].x, cloud[j].y - cloud[i].y), j);
    std::partial_sort(near.begin(), near.begin() + 10, near.end());
    double rows[3][4] = {};
    for (int k = 0; k < 10; ++k) {
      const Vec3d& p = cloud[near[k].second];
      const double one[4] = {1, p.x - cloud[i].x, p.y - cloud[i].y, p.z};
      for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 4; ++b) rows[a][b] += one[a] * one[b];
    }
    for (int a = 2; a > 0; --a)
      for (int b = 0; b < a; ++b) {
        const double part = rows[b][a] / rows[a][a];
        for (int c = 0; c < 4; ++c) rows[b][c] -= part * rows[a][c];
      }
    distances.push_back(std::abs(rows[0][3] / rows[0][0] - cloud[i].z));
  }
  std::sort(distances.begin(), distances.end());
  return distances[distances.size() / 2];
}

TEST(GroundResidual, IsTheMedianDistanceFromPlanesOfTenNeighbours) {
  const auto rough = [](double x, double y) { return slope(x, y) + 0.2 * std::sin(3 * x) * std::cos(2 * y); };
  for (const int count : {100, 101, 800}) {
    const Cloud cloud = seen(20, count, 0.05, rough, static_cast<std::uint64_t>(count));
    EXPECT_NEAR(residual_of(cloud), by_hand(cloud), 1e-6) << count;
  }
}

// A point is off by its own noise and by that of the plane, which is that of ten values where neighbours lie evenly around it.
TEST(GroundResidual, OfNoiseOnASlope) {
  for (const int count : {2000, 50'000, 1'500'000}) {
    const double found = residual_of(seen(100, count, 0.02, slope));
    EXPECT_NEAR(found, 0.6745 * 0.02 * std::sqrt(1 + 1.0 / 10), 0.0012) << count;
  }
  EXPECT_LT(residual_of(seen(100, 400'000, 0, slope)), 1e-6);
}

TEST(GroundResidual, LowPartsOfPlantsFormNoSurface) {
  const Cloud ground = seen(50, 4000, 0.02, slope);
  Cloud plants = ground;
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> up(0, 3);
  for (Vec3d& p : plants) p.z += up(random);
  EXPECT_LT(residual_of(ground), 0.03);
  EXPECT_GT(residual_of(plants), 0.5);
}

TEST(GroundResidual, GroundAlone) {
  Cloud cloud = seen(50, 5000, 0.02, slope);
  const double alone = residual_of(cloud);
  std::vector<std::uint8_t> labels(cloud.size(), 1);
  for (int k = 0; k < 4000; ++k) {
    cloud.push_back(cloud[static_cast<std::size_t>(k)] + Vec3d{0.1, 0.1, 1.0 + k % 7});
    labels.push_back(k % 2 == 0 ? 2 : 0);
  }
  cloud.push_back({std::nan(""), 1, 1});
  cloud.push_back({1, 1, std::numeric_limits<double>::infinity()});
  labels.insert(labels.end(), {1, 1});
  EXPECT_EQ(residual_of(cloud, 2, labels), alone);
  EXPECT_TRUE(std::isnan(residual_of({})));
  EXPECT_TRUE(std::isnan(residual_of(seen(10, 99, 0.02, slope))));
  EXPECT_TRUE(std::isnan(residual_of(cloud, 2, std::vector<std::uint8_t>(cloud.size(), 2))));
}

TEST(GroundResidual, TheSameForAnyThreadsAndOrder) {
  // Corners of a grid are equally far from each other, and rows repeat: neighbours are a matter of order.
  Cloud cloud = seen(300, 700'000, 0.02, slope);
  for (std::size_t k = 0; k < cloud.size(); k += 2)
    cloud[k] = {std::round(cloud[k].x), std::round(cloud[k].y), cloud[k].z};
  const double one = residual_of(cloud, 1);
  EXPECT_EQ(residual_of(cloud, 3), one);
  std::shuffle(cloud.begin(), cloud.end(), std::mt19937_64(3));
  EXPECT_EQ(residual_of(cloud, 2), one);
}

TEST(GroundResidual, ShapesThatWindowsFitBadly) {
  // One dense place far from sparse ones, a line, a pile, a stray at the end of the world.
  Cloud dense = seen(1, 900'000, 0.02, slope);
  for (int k = 0; k < 500; ++k) dense.push_back({1000.0 * k, 70.0 * k * k, 0});
  EXPECT_NEAR(residual_of(dense), 0.0141, 0.003);
  Cloud line = seen(1000, 400'000, 0.02, [](double x, double) { return x; });
  for (Vec3d& p : line) p.y = 7;
  EXPECT_NEAR(residual_of(line), 0.0141, 0.003);
  EXPECT_EQ(residual_of(Cloud(200, Vec3d{5, 5, 5})), 0);
  EXPECT_TRUE(std::isnan(residual_of(Cloud(400'000, Vec3d{5, 5, 5}))))
      << "chance chooses none of equal points";
  Cloud stray = seen(100, 400'000, 0.02, slope);
  stray.push_back({1e300, 1e300, 1e300});
  stray.push_back({-1e9, 4, 1});
  EXPECT_NEAR(residual_of(stray), 0.0141, 0.003);
}

TEST(GroundResidual, NastyCloudsHaveSomeOrNone) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const double found = residual_of(nasty_clouds::cloud(seed, 400));
    EXPECT_TRUE(std::isnan(found) || found >= 0) << seed;
  }
}

TEST(GroundResidual, RefusesLabelsOfAnotherLength) {
  EXPECT_THROW(residual_of(seen(10, 200, 0, slope), 1, {1, 1}), Error);
}

TEST(GroundResidual, EndsSoonAfterACancel) {
  const Cloud cloud = seen(300, 2'000'000, 0.02, slope);
  const std::vector<std::uint8_t> labels(cloud.size(), 1);
  pc::test::expect_cancel_in_time([&](OpContext& ctx) {
    (void)ground_residual({cloud.data(), cloud.size()}, {labels.data(), labels.size()}, ctx);
  });
}

}  // namespace
