#include "ops/wood/local_geometry_features.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/error.h"
#include "core/random.h"
#include "core/symmetric_eigen.h"
#include "support/cancel.h"

namespace pc {
namespace {

constexpr LocalGeometryParams kParams{10, 40, 10, 12, true};

std::vector<Vec3d> noise_cloud(std::size_t count, std::uint64_t seed) {
  std::vector<Vec3d> points;
  for (std::size_t i = 0; i < count; ++i)
    points.push_back(
        {random_unit(seed, 3 * i), random_unit(seed, 3 * i + 1), 0.3 * random_unit(seed, 3 * i + 2)});
  return points;
}

LocalGeometryFeatures run(const std::vector<Vec3d>& points, const LocalGeometryParams& params,
                          int threads = 2) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return local_geometry_features({points.data(), points.size()}, params, ctx);
}

/// Eigenvalues of the neighbourhood of the `k` nearest points, by sorting all distances.
SymmetricEigen3 brute_shape(const std::vector<Vec3d>& points, std::size_t i, std::size_t k) {
  std::vector<Vec3d> near = points;
  const Vec3d at = points[i];
  std::stable_sort(near.begin(), near.end(), [&](const Vec3d& a, const Vec3d& b) {
    return squared_distance(a, at) < squared_distance(b, at);
  });
  Vec3d mean{0, 0, 0};
  for (std::size_t j = 0; j < k; ++j) mean = mean + near[j] * (1.0 / static_cast<double>(k));
  Symmetric3 m{};
  for (std::size_t j = 0; j < k; ++j) {
    const Vec3d d = near[j] - mean;
    m.xx += d.x * d.x, m.xy += d.x * d.y, m.xz += d.x * d.z;
    m.yy += d.y * d.y, m.yz += d.y * d.z, m.zz += d.z * d.z;
  }
  return symmetric_eigen(m);
}

double entropy(const SymmetricEigen3& e) {
  const double sum = e.value[0] + e.value[1] + e.value[2];
  double h = 0;
  for (const double value : e.value) h -= value / sum * std::log(value / sum);
  return h;
}

TEST(LocalGeometryFeatures, MatchBruteForce) {
  const auto points = noise_cloud(300, 4);
  const auto found = run(points, kParams);
  for (std::size_t i = 0; i < points.size(); i += 7) {
    std::size_t best = 0;
    double highest = -1;
    double flatness = 0;
    for (std::size_t k = 10; k <= 40; k += 10) {
      const SymmetricEigen3 e = brute_shape(points, i, k);
      flatness -= std::log(e.value[0] / e.value[2] + 1e-3) / 4;
      if (entropy(e) > highest + 1e-9) highest = entropy(e), best = k;
    }
    const SymmetricEigen3 e = brute_shape(points, i, best);
    EXPECT_EQ(found.k[i], best) << i;
    EXPECT_NEAR(found.sphericity[i], e.value[0] / e.value[2], 1e-5) << i;
    EXPECT_NEAR(found.linearity[i], (e.value[2] - e.value[1]) / e.value[2], 1e-5) << i;
    EXPECT_NEAR(found.planarity[i], (e.value[1] - e.value[0]) / e.value[2], 1e-5) << i;
    EXPECT_NEAR(found.verticality[i], 1 - std::abs(e.vector[0].z), 1e-5) << i;
    EXPECT_NEAR(found.mean_flatness[i], flatness, 1e-4) << i;
  }
}

TEST(LocalGeometryFeatures, PlanesAndLines) {
  std::vector<Vec3d> wall, pole;
  for (int a = 0; a < 20; ++a) {
    for (int b = 0; b < 20; ++b) wall.push_back({0.01 * a, 0, 0.01 * b + 1e-4 * (a % 3)});
  }
  for (int a = 0; a < 200; ++a) pole.push_back({0, 0, 0.01 * a});
  const auto flat = run(wall, kParams);
  const auto line = run(pole, kParams);
  EXPECT_NEAR(flat.verticality[210], 1, 1e-6);
  EXPECT_NEAR(flat.mean_verticality[210], 1, 1e-3);
  EXPECT_NEAR(flat.sphericity[210], 0, 1e-6);
  EXPECT_NEAR(line.linearity[100], 1, 1e-6);
  EXPECT_NEAR(line.mean_flatness[100], -std::log(1e-3), 1e-3);
}

TEST(LocalGeometryFeatures, OneResultForAnyThreadCount) {
  const auto points = noise_cloud(5000, 9);
  const auto one = run(points, kParams, 1), four = run(points, kParams, 4);
  EXPECT_TRUE(std::equal(one.sphericity.begin(), one.sphericity.end(), four.sphericity.begin()));
  EXPECT_TRUE(std::equal(one.neighbors.begin(), one.neighbors.end(), four.neighbors.begin()));
}

TEST(LocalGeometryFeatures, FewPointsAndOnePlace) {
  const std::vector<Vec3d> same(50, Vec3d{1, 2, 3});
  const auto place = run(same, kParams);
  EXPECT_EQ(place.k[0], 0);
  EXPECT_EQ(place.sphericity[0], 1);
  const auto four = run({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, kParams);
  EXPECT_EQ(four.k[0], 4);
  EXPECT_EQ(four.of(0)[11], 0U);  // filled up with the point itself
  EXPECT_EQ(run({}, kParams).k.size(), 0U);
}

TEST(LocalGeometryFeatures, RefusesSizesOutOfRange) {
  for (const LocalGeometryParams& bad :
       {LocalGeometryParams{2, 10, 1, 0, false}, LocalGeometryParams{20, 10, 1, 0, false},
        LocalGeometryParams{10, 301, 1, 0, false}, LocalGeometryParams{10, 20, 0, 0, false},
        LocalGeometryParams{10, 20, 1, 301, false}})
    EXPECT_THROW(run(noise_cloud(20, 1), bad), Error);
}

TEST(LocalGeometryFeatures, CancelsInTime) {
  const auto points = noise_cloud(200'000, 3);
  test::expect_cancel_in_phase("Measuring shapes", [&](OpContext& ctx) {
    local_geometry_features({points.data(), points.size()}, {10, 300, 1, 300, true}, ctx);
  });
}

}  // namespace
}  // namespace pc
