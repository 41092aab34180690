#include "ops/mesh/mesh_relief.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include "core/error.h"
#include "core/hit_points.h"
#include "ops/mesh/alpha_shape.h"
#include "ops/mesh/delaunay.h"
#include "ops/mesh/mesh_measures.h"

namespace pc {
namespace {

using Points = std::vector<Vec3d>;

Span<const Vec3d> view(const Points& points) { return {points.data(), points.size()}; }

/// Random places of a square of 1 m2, `scatter` spacings high.
Points sheet(int count, double scatter) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> unit;
  std::normal_distribution<double> normal;
  Points points;
  for (int i = 0; i < count; ++i)
    points.push_back({unit(random), unit(random), scatter * normal(random) / std::sqrt(count)});
  return points;
}

/// Of a sphere of 1 m2.
Points sphere(int count, double scatter) {
  std::mt19937_64 random(2);
  std::normal_distribution<double> normal;
  Points points;
  for (int i = 0; i < count; ++i) {
    const Vec3d d{normal(random), normal(random), normal(random)};
    const double radius = std::sqrt(1 / (4 * std::numbers::pi)) + scatter * normal(random) / std::sqrt(count);
    points.push_back(d * (radius / std::sqrt(dot(d, d))));
  }
  return points;
}

struct Meshed {
  double area;
  MeshRelief relief;
};

Meshed meshed(const Points& points, const Column<std::uint32_t>& indices, int threads = 2) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return {mesh_area(view(points), indices.view(), ctx), mesh_relief(view(points), indices.view(), ctx)};
}

Column<std::uint32_t> in_plane(const Points& points) {
  JobControl control;
  OpContext ctx(control);
  return std::move(delaunay(HitPoints::assume_hits(view(points)), ctx).indices);
}

Column<std::uint32_t> alpha(const Points& points) {
  JobControl control;
  OpContext ctx(control);
  return std::move(alpha_shape(HitPoints::assume_hits(view(points)), {}, ctx).indices);
}

TEST(MeshRelief, SmoothMeshesHaveTheAreaOfTheirSurface) {
  const Points flat = sheet(20'000, 0), round = sphere(20'000, 0);
  for (const Meshed& one : {meshed(flat, in_plane(flat)), meshed(round, alpha(round))}) {
    EXPECT_NEAR(one.relief.area_ratio, 1, 0.002);
    EXPECT_NEAR(one.relief.two_faced_share, 0, 0.002);
    EXPECT_NEAR(one.relief.flat_share, 1, 0.01);
    EXPECT_NEAR(one.relief.spacing_m, std::sqrt(1.0 / 20'000), 0.0005);
    EXPECT_LT(one.relief.scatter_m, 0.05 * one.relief.spacing_m);
  }
}

/// The true area is 1 m2.
TEST(MeshRelief, NoiseIsToldFromTheSurface) {
  for (const double scatter : {0.2, 0.5, 1.0, 2.0}) {
    const Points points = sheet(20'000, scatter);
    const Meshed one = meshed(points, in_plane(points));
    EXPECT_NEAR(one.area / one.relief.area_ratio, 1, 0.06) << scatter;
    EXPECT_NEAR(one.relief.scatter_m * std::sqrt(20'000), scatter, 0.07 * scatter);
    EXPECT_NEAR(one.relief.two_faced_share, 0, 0.01);
  }
}

TEST(MeshRelief, ASolidOfNoiseHasTwoFaces) {
  for (const Points& points : {sheet(20'000, 0.4), sphere(20'000, 0.4)}) {
    const Meshed one = meshed(points, alpha(points));
    EXPECT_GT(one.area, 2);
    EXPECT_GT(one.relief.two_faced_share, 0.9);
    EXPECT_NEAR(one.area / one.relief.area_ratio / (1 + one.relief.two_faced_share), 1, 0.05);
  }
}

/// Five spacings thick: its surface is curved, and not rough.
TEST(MeshRelief, AThinStemIsNotRough) {
  Points points;
  std::vector<std::uint32_t> indices;
  constexpr int kAround = 32, kAlong = 300;
  for (int j = 0; j < kAlong; ++j)
    for (int i = 0; i < kAround; ++i) {
      const double turn = 2 * std::numbers::pi * (i + 0.5 * (j % 2)) / kAround;
      points.push_back({0.005 * std::cos(turn), 0.005 * std::sin(turn), 0.001 * j});
    }
  const auto at = [](int j, int i) { return static_cast<std::uint32_t>(j * kAround + i % kAround); };
  for (int j = 0; j + 1 < kAlong; ++j)
    for (int i = 0; i < kAround; ++i) {
      for (const std::uint32_t corner : {at(j, i), at(j, i + 1), at(j + 1, i)}) indices.push_back(corner);
      for (const std::uint32_t corner : {at(j, i + 1), at(j + 1, i + 1), at(j + 1, i)})
        indices.push_back(corner);
    }
  Column<std::uint32_t> column(indices.size());
  std::copy(indices.begin(), indices.end(), column.view().begin());
  const Meshed one = meshed(points, column);
  EXPECT_GT(one.relief.flat_share, 0.9);
  EXPECT_NEAR(one.relief.area_ratio, 1, 0.03);
  EXPECT_LT(one.relief.two_faced_share, 0.05);
}

TEST(MeshRelief, ThreadsDoNotMatter) {
  const Points points = sheet(5000, 0.5);
  const Column<std::uint32_t> indices = in_plane(points);
  const MeshRelief one = meshed(points, indices, 1).relief, other = meshed(points, indices, 2).relief;
  EXPECT_EQ(one.area_ratio, other.area_ratio);
  EXPECT_EQ(one.scatter_m, other.scatter_m);
}

TEST(MeshRelief, WhatShowsNoSurfaceSaysNothing) {
  JobControl control;
  OpContext ctx(control);
  const auto relief = [&](const Points& points, const std::vector<std::uint32_t>& indices) {
    return mesh_relief(view(points), {indices.data(), indices.size()}, ctx);
  };
  const Points one{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  for (const MeshRelief& none :
       {relief({}, {}), relief(one, {}), relief(one, {0, 1, 2}), relief(Points(100, {1, 1, 1}), {0, 1, 2})}) {
    EXPECT_EQ(none.flat_share, 0);
    EXPECT_EQ(none.area_ratio, 1);
    EXPECT_EQ(none.two_faced_share, 0);
  }
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> unit;
  Points cloud;
  for (int i = 0; i < 3000; ++i) cloud.push_back({unit(random), unit(random), unit(random)});
  EXPECT_LT(relief(cloud, {0, 1, 2, 3, 4, 5}).flat_share, 0.5);
  Points line;
  for (int i = 0; i < 100; ++i) line.push_back({0.1 * i, 0, 0});
  EXPECT_EQ(relief(line, {0, 1, 2}).area_ratio, 1);
  EXPECT_THROW(relief(one, {0, 1, 3}), Error);
}

/// Points without an order, as of several scans: with twice the mean spacing two fifths of the area were holes.
TEST(AutomaticAlpha, SpansTheGapsOfPointsWithoutAnOrder) {
  for (const Points& points : {sheet(20'000, 0), sphere(20'000, 0)})
    EXPECT_NEAR(meshed(points, alpha(points)).area, 1, 0.03);
  Points rows;  // twice as far apart as their points, four times
  for (int i = 0; i < 20'000; ++i) rows.push_back({0.0025 * (i % 400), 0.01 * (i / 400), 0});
  EXPECT_NEAR(meshed(rows, alpha(rows)).area, 0.9975 * 0.49, 0.01);
}

}  // namespace
}  // namespace pc
