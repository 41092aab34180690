#include "ops/plant/leaf_inclination.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/random.h"

namespace {

using namespace pc;

TEST(BetaQuantile, EqualsThatOfScipy) {
  struct Row {
    double a, b, at[5];
  };
  constexpr double kU[5] = {0.001, 0.1, 0.5, 0.9, 0.999};
  // scipy.stats.beta.ppf, SciPy 1.x
  const Row rows[] = {
      {3, 1, {0.1, 0.464158883361278, 0.7937005259841, 0.96548938460563, 0.999666555493786}},
      {0.5, 0.5, {2.46739907091694e-06, 0.0244717418524232, 0.5, 0.975528258147577, 0.999997532600929}},
      {2.77,
       1.172,
       {0.0747671056559643, 0.401584145244967, 0.739258031391673, 0.944798381231932, 0.998962316261124}},
      {1.172,
       2.77,
       {0.0010376837388765, 0.0552016187680685, 0.260741968608327, 0.598415854755033, 0.925232894344036}},
      {20,
       5,
       {0.507976108531647, 0.694120790741702, 0.808075940233501, 0.895032565939949, 0.966874883450781}},
      {0.1,
       3,
       {2.36690135194491e-31, 2.36690135204677e-11, 0.000231239907500118, 0.0983929955103013,
        0.724088374912157}},
      {300,
       200,
       {0.531447642885501, 0.571847146364878, 0.600133437285884, 0.627981060916397, 0.666280773488331}},
  };
  for (const Row& row : rows)
    for (int k = 0; k < 5; ++k)
      EXPECT_NEAR(beta_quantile(kU[k], row.a, row.b), row.at[k], 1e-11 + 1e-9 * row.at[k]);
}

TEST(BetaQuantile, HasItsEnds) {
  EXPECT_EQ(beta_quantile(0, 2, 3), 0);
  EXPECT_EQ(beta_quantile(1, 2, 3), 1);
  for (int i = 1; i < 100; ++i) {
    EXPECT_NEAR(beta_quantile(i / 100.0, 1, 1), i / 100.0, 1e-12);
    EXPECT_NEAR(beta_quantile(i / 100.0, 3, 1), std::cbrt(i / 100.0), 1e-12);
  }
  EXPECT_TRUE(std::isfinite(beta_quantile(1e-300, 0.01, 0.01)));
  EXPECT_TRUE(std::isfinite(beta_quantile(0.5, 1e6, 1e6)));
}

/// Contract: mu 1 and nu 3 have a mean of 67.5 degrees.
TEST(LeafInclination, MeanIsThatOfTheLaw) {
  double sum = 0;
  for (int i = 0; i < 1000; ++i) sum += steered_inclination_deg({1, 3}, (i + 0.5) / 1000);
  EXPECT_NEAR(sum / 1000, 67.5, 0.05);
}

TEST(LeafInclination, SteeringSetsTheAngleAndKeepsTheAzimuth) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto u = [&](std::uint64_t k) { return random_unit(seed, k); };
    const double azimuth = 2 * M_PI * u(0), inclination = 179 * u(1) * M_PI / 180, target = 90 * u(2);
    const Vec3d n{std::sin(inclination) * std::cos(azimuth), std::sin(inclination) * std::sin(azimuth),
                  std::cos(inclination)};
    const Vec3d y{-std::sin(azimuth), std::cos(azimuth), 0};
    std::array<Vec3d, 4> frame{cross(y, n), y, n, Vec3d{5, 6, 7}};
    steer_blade(frame, n, target);
    const Vec3d up = frame[2].z < 0 ? frame[2] * -1.0 : frame[2];
    EXPECT_NEAR(std::acos(std::min(1.0, up.z)) * 180 / M_PI, target, 1e-6) << seed;
    // The normal stays in its vertical plane.
    EXPECT_NEAR(dot(frame[2], y), 0, 1e-9);
    if (target > 1 && std::abs(inclination - M_PI / 2) > 0.01) {
      const Vec3d folded = n.z < 0 ? n * -1.0 : n;
      EXPECT_GT(up.x * folded.x + up.y * folded.y, 0);
    }
    EXPECT_NEAR(dot(frame[0], frame[0]), 1, 1e-9);
    EXPECT_NEAR(dot(frame[0], frame[2]), 0, 1e-9);
    EXPECT_EQ(frame[3], (Vec3d{5, 6, 7}));
  }
}

TEST(LeafInclination, HorizontalBladesTurnAboutTheirWidth) {
  std::array<Vec3d, 4> frame{Vec3d{2, 0, 0}, Vec3d{0, 2, 0}, Vec3d{0, 0, 2}, Vec3d{0, 0, 0}};
  steer_blade(frame, {0, 0, 2}, 30);
  EXPECT_NEAR(frame[1].y, 2, 1e-12);
  EXPECT_NEAR(frame[2].z, 2 * std::cos(M_PI / 6), 1e-12);
}

}  // namespace
