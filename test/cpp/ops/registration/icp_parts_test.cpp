#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <vector>

#include "core/random.h"
#include "ops/registration/icp_level.h"
#include "ops/registration/icp_system.h"
#include "ops/registration/mesh_samples.h"
#include "ops/registration/robust_diagonal.h"
#include "ops/registration/symmetric_eigen6.h"
#include "support/rigid_scenes.h"

namespace pc {
namespace {

using test::Points;

class IcpParts : public testing::Test {
 protected:
  JobControl control_;
  OpContext ctx_{control_, Device::kCpu, 2};
};

Span<const Vec3d> view(const Points& points) { return {points.data(), points.size()}; }

TEST_F(IcpParts, EigenvectorsRebuildTheMatrix) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    std::array<double, 21> lower{};
    for (std::size_t i = 0; i < 21; ++i)
      lower[i] = std::pow(10.0, static_cast<double>(seed % 7)) * (random_unit(seed, i) - 0.5);
    const SymmetricEigen6 eigen = symmetric_eigen6(lower);
    const double largest = std::max(std::abs(eigen.value[0]), std::abs(eigen.value[5]));
    std::size_t at = 0;
    for (std::size_t i = 0; i < 6; ++i) {
      if (i > 0) {
        EXPECT_LE(eigen.value[i - 1], eigen.value[i]);
      }
      for (std::size_t j = 0; j <= i; ++j) {
        double rebuilt = 0, product = 0;
        for (std::size_t k = 0; k < 6; ++k) {
          rebuilt += eigen.value[k] * eigen.vector[k][i] * eigen.vector[k][j];
          product += eigen.vector[i][k] * eigen.vector[j][k];
        }
        EXPECT_NEAR(rebuilt, lower[at++], 1e-13 * largest);
        EXPECT_NEAR(product, i == j ? 1 : 0, 1e-13);
      }
    }
  }
}

TEST_F(IcpParts, EigenvaluesOfZeroAndDiagonal) {
  EXPECT_EQ(symmetric_eigen6({}).value, (std::array<double, 6>{}));
  std::array<double, 21> lower{};
  lower[0] = 3;
  lower[20] = -2;
  const SymmetricEigen6 eigen = symmetric_eigen6(lower);
  EXPECT_EQ(eigen.value[0], -2);
  EXPECT_EQ(eigen.value[5], 3);
  EXPECT_EQ(std::abs(eigen.vector[5][0]), 1);
}

TEST_F(IcpParts, PairsAreTheNearestPoints) {
  const Points fixed = test::rough_ground(700, 10, 1), moving = test::rough_ground(500, 10, 2);
  IcpScale scale{0, icp_level(view(fixed), ctx_), icp_level(view(moving), ctx_)};
  IcpPairs pairs;
  for (const double shift : {0.0, 0.3, 0.31, 2.0}) {  // later ones begin from the pairs of the earlier
    const RigidTransform pose = test::turned({0, 0, 0.1 * shift}, {shift, 0, 0});
    const double limit = 0.6;
    find_pairs(scale, pose, limit, IcpQueries::kBoth, pairs, ctx_);
    for (std::size_t i = 0; i < scale.pair_count(); ++i) {
      const bool forward = i < moving.size();
      const Vec3d p =
          forward ? pose(scale.moving.points[i]) : inverse(pose)(scale.fixed.points[i - moving.size()]);
      double best = std::numeric_limits<double>::infinity();
      for (const Vec3d& q : forward ? fixed : moving) best = std::min(best, squared_distance(p, q));
      if (best > limit * limit) best = std::numeric_limits<double>::infinity();
      ASSERT_EQ(pairs.squared[i], best);
      ASSERT_EQ(pairs.slot[i] == IcpPairs::kNone, std::isinf(best));
    }
  }
}

TEST_F(IcpParts, WhatEarlierPosesToldChangesNoPair) {
  // Ground, and a lattice whose points are often equally near.
  Points lattice;
  for (int i = 0; i < 600; ++i)
    lattice.push_back({0.5 * (i % 10), 0.5 * (i / 10 % 10), 0.5 * static_cast<double>(i / 100)});
  for (const Points& fixed : {test::rough_ground(700, 10, 1), lattice}) {
    const Points moving = fixed.size() == lattice.size() ? lattice : test::rough_ground(500, 10, 2);
    IcpScale scale{0, icp_level(view(fixed), ctx_), icp_level(view(moving), ctx_)};
    IcpPairs pairs;
    double at = 0.25;
    for (std::uint64_t pass = 0; pass < 60; ++pass) {
      at += std::pow(10, -7 * random_unit(7, 2 * pass)) * (random_unit(7, 2 * pass + 1) - 0.5);
      const RigidTransform pose = test::turned({0, 0.01 * at, 0.1 * at}, {at, 0.5 * at, 0});
      const double limit = pass % 7 == 3 ? 0.05 : 0.6;
      const IcpQueries wanted = pass % 10 == 9 ? IcpQueries::kMoving : IcpQueries::kBoth;
      find_pairs(scale, pose, limit, wanted, pairs, ctx_);
      IcpPairs fresh;
      find_pairs(scale, pose, limit, wanted, fresh, ctx_);
      ASSERT_EQ(fresh.slot.size(), pairs.slot.size());
      for (std::size_t i = 0; i < fresh.slot.size(); ++i) {
        ASSERT_EQ(pairs.slot[i], fresh.slot[i]) << pass << ' ' << i;
        ASSERT_EQ(pairs.squared[i], fresh.squared[i]) << pass << ' ' << i;
      }
      narrow_pairs(scale, 0.3, pairs, ctx_);
    }
  }
}

TEST_F(IcpParts, TheStepOfTheSystemEqualsNumericalDerivatives) {
  // g is half the gradient of the weighted squares at frozen weights: here the scale is so large that weights are 1.
  const Points fixed = test::rough_ground(400, 10, 3), moving = test::rough_ground(300, 10, 4);
  IcpScale scale{0, icp_level(view(fixed), ctx_), icp_level(view(moving), ctx_)};
  const RigidTransform pose = test::turned({0.02, 0.01, 0.03}, {0.2, 0.1, 0.1});
  IcpPairs pairs;
  find_pairs(scale, pose, 2, IcpQueries::kMoving, pairs, ctx_);
  const IcpFrame frame{{5, 5, 0}, 3};
  const IcpSystem system = icp_system(scale, pose, IcpMethod::kPointToPoint, pairs, frame, 1e9, ctx_);
  const auto cost = [&](std::size_t unknown, double step) {
    std::array<double, 6> x{};
    x[unknown] = step;
    RigidTransform motion = rotation({x[0] / frame.radius_m, x[1] / frame.radius_m, x[2] / frame.radius_m});
    motion.translation = frame.center - motion.rotate(frame.center) + Vec3d{x[3], x[4], x[5]};
    double sum = 0;
    for (std::size_t i = 0; i < moving.size(); ++i)
      sum += squared_distance(motion(pose(scale.moving.points[i])), scale.fixed.points[pairs.slot[i]]);
    return sum;
  };
  std::size_t diagonal = 0;
  for (std::size_t k = 0; k < 6; diagonal += k + 2, ++k) {
    const double h = 1e-4;
    const double slope = (cost(k, h) - cost(k, -h)) / (2 * h);
    EXPECT_NEAR(system.g[k], slope / 2, 1e-5 * std::abs(slope) + 1e-5) << k;
    if (k < 3) continue;  // shifts: the Gauss-Newton matrix is exact
    EXPECT_NEAR(system.h[diagonal], (cost(k, h) + cost(k, -h) - 2 * cost(k, 0)) / (2 * h * h),
                1e-3 * moving.size());
  }
  EXPECT_EQ(system.pair_count, moving.size());
}

TEST_F(IcpParts, NormalsRimAndSpacingOfAPlane) {
  Points plane;
  for (std::uint64_t i = 0; i < 4000; ++i) {
    const double x = 20 * random_unit(5, 2 * i), y = 20 * random_unit(5, 2 * i + 1);
    plane.push_back({x, y, 0.5 * x});
  }
  const IcpLevel level = icp_level(view(plane), ctx_);
  const Vec3d normal = Vec3d{-1, 0, 2} * (1 / std::sqrt(5.0));
  std::size_t border = 0, border_rim = 0, inner = 0, inner_rim = 0;
  for (std::size_t i = 0; i < level.points.size(); ++i) {
    EXPECT_NEAR(std::abs(dot(level.normals[i], normal)), 1, 1e-9);
    const Vec3d& p = level.points[i];
    const double edge = std::min({p.x, p.y, 20 - p.x, 20 - p.y});
    border += edge < 0.1 ? 1 : 0;
    border_rim += edge < 0.1 ? level.is_rim[i] : 0;
    inner += edge > 1.5 ? 1 : 0;
    inner_rim += edge > 1.5 ? level.is_rim[i] : 0;
  }
  EXPECT_GT(border_rim, border / 2);  // by chance a point has more neighbours outwards than inwards
  EXPECT_LT(inner_rim, inner / 100);
  // Six neighbours of 10 points per square metre of the square: pi r^2 * 10 = 6, on the slope a little more.
  EXPECT_NEAR(level.spacing_m, std::sqrt(6 / (10 * M_PI)), 0.06);
}

TEST_F(IcpParts, VoxelMeansEqualThoseOfAMap) {
  const Points points = test::rough_ground(3000, 10, 5);
  const double edge = 0.7;
  Box3d box;
  for (const Vec3d& p : points) box.add(p);
  std::map<std::tuple<int, int, int>, std::pair<Vec3d, int>> cells;
  for (const Vec3d& p : points) {
    const auto at = [&](double v, double min) { return static_cast<int>((v - min) / edge); };
    auto& [sum, count] = cells[{at(p.z, box.min.z), at(p.y, box.min.y), at(p.x, box.min.x)}];
    sum = sum + p;
    ++count;
  }
  const BulkVector<Vec3d> means = voxel_means(view(points), edge, ctx_);
  ASSERT_EQ(means.size(), cells.size());
  std::size_t i = 0;
  for (const auto& [key, cell] : cells)
    EXPECT_LT(squared_distance(means[i++], cell.first * (1.0 / cell.second)), 1e-24);
}

TEST_F(IcpParts, ThinningLeavesAtMostThatManyAndNotFarFewer) {
  const Points points = test::rough_ground(50000, 10, 6);
  const auto thinned = [&](std::size_t most) {
    BulkVector<Vec3d> copy(points.size());
    std::copy(points.begin(), points.end(), copy.begin());
    return at_most_points(std::move(copy), most, 0.001, ctx_).size();
  };
  EXPECT_EQ(thinned(50000), 50000U);
  EXPECT_LE(thinned(5000), 5000U);
  EXPECT_GE(thinned(5000), 2500U);
  EXPECT_EQ(thinned(1), 1U);
}

TEST_F(IcpParts, RobustDiagonalLeavesStrayPointsOut) {
  Points points;
  for (int i = 0; i < 1000; ++i)
    points.push_back({random_unit(1, 2 * static_cast<std::uint64_t>(i)),
                      random_unit(1, 2 * static_cast<std::uint64_t>(i) + 1), 0});
  Points strays = points;
  for (int i = 0; i < 100; ++i) strays.push_back({1000.0 + i, 0, 0});
  const double clean = robust_diagonal(view(points), ctx_);
  EXPECT_NEAR(clean, std::sqrt(2), 0.01);
  EXPECT_NEAR(robust_diagonal(view(strays), ctx_), clean, 0.01);
  const Points few(strays.end() - 63, strays.end());
  EXPECT_DOUBLE_EQ(robust_diagonal(view(few), ctx_), 62);  // below 64 points: the box of all
  EXPECT_EQ(robust_diagonal({}, ctx_), 0);
}

TEST_F(IcpParts, SamplesLieOnTheMeshEvenlyByArea) {
  // Two triangles of a square and one of four times their area, and one without area.
  const Points vertices{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {5, 0, 0}, {9, 0, 0}, {5, 1, 0}};
  const std::vector<std::uint32_t> indices{0, 1, 2, 0, 0, 1, 0, 2, 3, 4, 5, 6};
  const TriangleMesh mesh{view(vertices), {indices.data(), indices.size()}};
  const Column<Vec3d> samples = mesh_samples(mesh, 6000, 1, ctx_);
  std::size_t square = 0, lower = 0, left = 0;
  for (const Vec3d& p : samples.view()) {
    ASSERT_EQ(p.z, 0);
    if (p.x <= 1) {
      ++square;
      lower += p.y < p.x;
    } else {
      left += p.x < 7 ? 1 : 0;
      ASSERT_TRUE(p.x >= 5 && p.x <= 9 && p.y >= 0 && p.y <= 1 - (p.x - 5) / 4 + 1e-12);
    }
  }
  EXPECT_NEAR(static_cast<double>(square), 2000, 1);  // stratified: exact up to the stratum at the border
  EXPECT_NEAR(static_cast<double>(lower), 1000, 1);
  EXPECT_NEAR(static_cast<double>(left), 3000, 110);  // three quarters, within four standard deviations
  const Column<Vec3d> again = mesh_samples(mesh, 6000, 1, ctx_), other = mesh_samples(mesh, 6000, 2, ctx_);
  EXPECT_TRUE(std::equal(again.view().begin(), again.view().end(), samples.view().begin()));
  EXPECT_FALSE(std::equal(other.view().begin(), other.view().end(), samples.view().begin()));
  const std::vector<std::uint32_t> flat{0, 1, 1};
  EXPECT_THROW(mesh_samples({view(vertices), {flat.data(), flat.size()}}, 10, 1, ctx_), Error);
}

}  // namespace
}  // namespace pc
