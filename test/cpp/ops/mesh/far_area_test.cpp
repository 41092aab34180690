#include "ops/mesh/far_area.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "core/error.h"

namespace {

using namespace pc;

/// A plane of squares with a step of 0.05 m, of which points cover what lies before x = `covered`.
struct Sheet {
  std::vector<Vec3d> vertices, points;
  std::vector<std::uint32_t> indices;

  Sheet(double width, double covered, std::uint64_t seed = 1) {
    constexpr double kStep = 0.05;
    const auto across = static_cast<std::uint32_t>(std::lround(width / kStep)), up = std::uint32_t{20};
    for (std::uint32_t i = 0; i <= across; ++i)
      for (std::uint32_t j = 0; j <= up; ++j) vertices.push_back({i * kStep, j * kStep, 0});
    for (std::uint32_t i = 0; i < across; ++i) {
      for (std::uint32_t j = 0; j < up; ++j) {
        const std::uint32_t a = i * (up + 1) + j, b = a + up + 1;
        indices.insert(indices.end(), {a, b, b + 1, a, b + 1, a + 1});
      }
    }
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> unit(0, 1);
    for (int i = 0; i < 3000; ++i) points.push_back({covered * unit(random), unit(random), 0});
  }
  FarArea far(int threads = 2) const {
    JobControl control;
    OpContext ctx(control, Device::kCpu, threads);
    return far_area({vertices.data(), vertices.size()}, {indices.data(), indices.size()},
                    {points.data(), points.size()}, ctx);
  }
};

TEST(FarArea, IsWhatLiesBesideThePoints) {
  // 3,000 points per m2: the 8th is sqrt(8 / 3000 pi) = 29 mm away.
  const FarArea whole = Sheet(1, 1).far(), half = Sheet(2, 1).far(), three = Sheet(4, 1).far();
  EXPECT_EQ(whole.share, 0);
  EXPECT_NEAR(whole.reach_m, 2 * std::sqrt(8 / (3000 * 3.14159265)), 0.004);
  EXPECT_NEAR(half.share, (1 - half.reach_m) / 2, 0.02);
  EXPECT_NEAR(three.share, (3 - three.reach_m) / 4, 0.02);
}

TEST(FarArea, PointsTwiceThreadsAndStrangers) {
  Sheet sheet(2, 1);
  const FarArea once = sheet.far(1);
  EXPECT_EQ(sheet.far(4).share, once.share);
  const std::vector<Vec3d> points = sheet.points;
  sheet.points.insert(sheet.points.end(), points.begin(), points.end());
  sheet.points.push_back({std::nan(""), 0, 0});
  const FarArea twice = sheet.far();
  EXPECT_NEAR(twice.reach_m, once.reach_m, 0.002);
  EXPECT_NEAR(twice.share, once.share, 0.02);
}

TEST(FarArea, FewPointsTellNothing) {
  Sheet sheet(1, 1);
  sheet.points.resize(15);
  EXPECT_EQ(sheet.far().share, 0);
  EXPECT_TRUE(std::isnan(sheet.far().reach_m));
  sheet.points.assign(500, {0.5, 0.5, 0});
  EXPECT_TRUE(std::isnan(sheet.far().reach_m));
  sheet = Sheet(1, 1);
  sheet.indices.clear();
  EXPECT_EQ(sheet.far().share, 0);
}

TEST(FarArea, Errors) {
  Sheet sheet(1, 1);
  sheet.indices[4] = static_cast<std::uint32_t>(sheet.vertices.size());
  EXPECT_THROW(sheet.far(), Error);
  JobControl control;
  control.cancel_requested = true;
  OpContext ctx(control, Device::kCpu, 1);
  const Sheet whole(1, 1);
  EXPECT_THROW(
      far_area({whole.vertices.data(), whole.vertices.size()}, {whole.indices.data(), whole.indices.size()},
               {whole.points.data(), whole.points.size()}, ctx),
      Error);
}

}  // namespace
