#include "ops/lad/projection_function.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "support/beams.h"

namespace pc {
namespace {

constexpr double kPi = std::numbers::pi;

OpContext context() {
  static JobControl control;
  return OpContext(control, Device::kCpu, 2);
}

const std::vector<LeafAngleDensity>& laws() {
  static const std::vector<LeafAngleDensity> all{
      {LeafAngleLaw::kSpherical},   {LeafAngleLaw::kPlanophile},        {LeafAngleLaw::kErectophile},
      {LeafAngleLaw::kPlagiophile}, {LeafAngleLaw::kExtremophile},      {LeafAngleLaw::kUniform},
      {LeafAngleLaw::kBeta, 1, 3},  {LeafAngleLaw::kBeta, 2.77, 1.172}, {LeafAngleLaw::kBeta, 30, 2}};
  return all;
}

TEST(LeafProjection, AveragesToOneHalfOverAllDirections) {
  // Cauchy: the projections of a plate of area A average to A / 2 over the sphere.
  OpContext ctx = context();
  std::vector<double> zeniths;
  for (int i = 0; i < 500; ++i) zeniths.push_back(std::acos((i + 0.5) / 500));
  for (const LeafAngleDensity& law : laws()) {
    double sum = 0;
    for (const double g : leaf_projection(law, zeniths, ctx)) sum += g / 500;
    EXPECT_NEAR(sum, 0.5, 2e-5) << static_cast<int>(law.law);
  }
}

TEST(LeafProjection, FromAboveItIsTheMeanCosineFromTheSideTwoOverPiTheMeanSine) {
  OpContext ctx = context();
  const double above[6] = {0.5, 8 / (3 * kPi), 4 / (3 * kPi), 32 / (15 * kPi), 28 / (15 * kPi), 2 / kPi};
  // Mean sines: planophile and erectophile by parts, the others by the same integrals with 4 t.
  const double sine[6] = {kPi / 4, 4 / (3 * kPi), 8 / (3 * kPi), 32 / (15 * kPi), 28 / (15 * kPi), 2 / kPi};
  for (std::size_t i = 0; i < 6; ++i) {
    const auto g = leaf_projection(laws()[i], {0, kPi / 2, kPi}, ctx);
    EXPECT_NEAR(g[0], above[i], 1e-6) << i;
    EXPECT_NEAR(g[1], 2 / kPi * sine[i], 1e-6) << i;
    EXPECT_NEAR(g[2], g[0], 1e-12) << i;
  }
}

TEST(LeafProjection, BetaWithEqualShapesOfOneIsUniform) {
  OpContext ctx = context();
  const auto beta = leaf_projection({LeafAngleLaw::kBeta, 1, 1}, {0.3, 1.2}, ctx);
  EXPECT_EQ(beta, leaf_projection({LeafAngleLaw::kUniform}, {0.3, 1.2}, ctx));
  for (const double wrong : {0.0, -1.0, HUGE_VAL})
    EXPECT_EQ(test::code_of([&] {
                leaf_projection({LeafAngleLaw::kBeta, wrong, 1}, {0}, ctx);
              }),
              ErrorCode::kInvalidArgument);
}

TEST(LeafProjection, IsAveragedOverTheBeams) {
  OpContext ctx = context();
  const LeafAngleDensity law{LeafAngleLaw::kPlanophile};
  const std::vector<double> counts{0, 3, 0, 1};  // of 22.5 degrees each
  const auto g = leaf_projection(law, {1.5 * kPi / 8, 3.5 * kPi / 8}, ctx);
  EXPECT_NEAR(mean_leaf_projection(law, test::span_of(counts), ctx), (3 * g[0] + g[1]) / 4, 1e-12);
  const std::vector<double> none(90, 0.0);
  EXPECT_NEAR(mean_leaf_projection(law, test::span_of(none), ctx),
              leaf_projection(law, {57.3 * kPi / 180}, ctx)[0], 1e-12);
}

TEST(VoxelProjection, TrianglesOfTwoVoxels) {
  OpContext ctx = context();
  // A level triangle and one that faces the scanner in voxel 0, and a point-like one in voxel 1; one lies outside.
  const std::vector<Vec3d> vertices{{0.1, 0.1, 0.5}, {0.5, 0.1, 0.5}, {0.1, 0.5, 0.5}, {0.5, 0.2, 0.2},
                                    {0.5, 0.8, 0.2}, {0.5, 0.2, 0.8}, {1.5, 0.5, 0.5}, {9, 9, 9},
                                    {9, 9, 8},       {9, 8, 9}};
  const std::vector<std::uint32_t> indices{0, 1, 2, 3, 4, 5, 6, 6, 6, 7, 8, 9}, scans{0, 0, 0, 0};
  const std::vector<Vec3d> origins{{-10, 0.2, 0.2}};
  const VoxelBox grid{{1, 0.5, 0.5}, {2, 1, 1}, 2, 1, 1, 0, {}, {}};
  const LeafTriangles mesh{test::span_of(vertices), test::span_of(indices), test::span_of(scans),
                           test::span_of(origins)};
  const auto found = voxel_projection(mesh, grid, ctx);
  const auto part = [&](const Vec3d& corner, const Vec3d& normal, double area) {
    const Vec3d along = corner - origins[0];
    const double range = std::sqrt(dot(along, along)), sine = std::hypot(along.x, along.y) / range;
    return std::pair{std::abs(dot(normal, along)) / range * area * sine, area * sine};
  };
  const auto level = part(vertices[0], {0, 0, 1}, 0.08), facing = part(vertices[3], {1, 0, 0}, 0.18);
  EXPECT_NEAR(found.g[0], (level.first + facing.first) / (level.second + facing.second), 1e-12);
  EXPECT_EQ(found.g[1], 0);
  EXPECT_EQ(found.triangle_count, 2U);
  const std::vector<std::uint32_t> wrong_scan{0, 0, 1, 0}, wrong_corner{0, 1, 10};
  EXPECT_EQ(
      test::code_of([&] {
        voxel_projection({mesh.vertices, mesh.indices, test::span_of(wrong_scan), mesh.origins}, grid, ctx);
      }),
      ErrorCode::kInvalidArgument);
  EXPECT_EQ(test::code_of([&] {
              const std::vector<std::uint32_t> one{0};
              voxel_projection({mesh.vertices, test::span_of(wrong_corner), test::span_of(one), mesh.origins},
                               grid, ctx);
            }),
            ErrorCode::kInvalidArgument);
}

TEST(HitCosine, IsTheMeanSquareOfTheCosineOverItsMean) {
  OpContext ctx = context();
  std::vector<double> bins(1800, 0);
  bins[1799] = 1;  // beams along the horizon
  const Span<const double> level{bins.data(), bins.size()};
  EXPECT_NEAR(mean_hit_cosine({LeafAngleLaw::kSpherical}, level, ctx), 2.0 / 3, 1e-5);
  // Uniform inclinations: mean sin^2 t / 2 = 1 / 4 over 2 / pi mean sin t = (2 / pi)^2.
  EXPECT_NEAR(mean_hit_cosine({LeafAngleLaw::kUniform}, level, ctx), kPi * kPi / 16, 1e-5);
  std::vector<double> above(1800, 0);
  above[0] = 1;
  // From above: mean cos^2 t = 1 / 2 over mean cos t = 2 / pi.
  EXPECT_NEAR(mean_hit_cosine({LeafAngleLaw::kUniform}, {above.data(), above.size()}, ctx), kPi / 4, 1e-5);
}

TEST(HitCosine, OfTheEllipsoidalLawWithAGivenG) {
  OpContext ctx = context();
  std::vector<double> bins(1800, 0);
  for (std::size_t i = 1300; i < 1700; ++i) bins[i] = 3;
  const Span<const double> zeniths{bins.data(), bins.size()};
  const FittedDensity half = ellipsoidal_law_of(0.5, zeniths, ctx);
  EXPECT_NEAR(half.density.chi, 1, 1e-3);
  EXPECT_NEAR(mean_hit_cosine(half.density, zeniths, ctx), 2.0 / 3, 1e-3);
  for (const double chi : {0.4, 2.0, 5.0}) {
    const double g = mean_leaf_projection({LeafAngleLaw::kEllipsoidal, 1, 1, chi}, zeniths, ctx);
    const FittedDensity found = ellipsoidal_law_of(g, zeniths, ctx);
    EXPECT_NEAR(found.density.chi, chi, 0.01 * chi);
    EXPECT_NEAR(found.g, g, 1e-4);
  }
  // Ellipsoids of one shape have G = the projected area over half of the surface: a sphere's is 1/2 at any zenith.
  EXPECT_NEAR(mean_leaf_projection({LeafAngleLaw::kEllipsoidal, 1, 1, 1}, zeniths, ctx), 0.5, 1e-6);
  const FittedDensity none = ellipsoidal_law_of(0.95, zeniths, ctx);
  EXPECT_LT(none.g, 0.7);
  EXPECT_EQ(test::code_of([&] { ellipsoidal_law_of(0, zeniths, ctx); }), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace pc
