#include "ops/fit/alpha_crown.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numbers>
#include <utility>
#include <vector>

#include "ops/fit/mesh_smoothing.h"
#include "support/cancel.h"
#include "support/crown_samples.h"

namespace pc {
namespace {

using test::CrownSamples;

constexpr std::uint64_t kMost = 1'000'000;

AlphaCrown crown_of(const std::vector<Vec3d>& points, const AlphaCrownParams& params, int threads = 2) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return alpha_crown({points.data(), points.size()}, params, ctx);
}

/// Edges that do not have one triangle in each direction.
std::size_t open_edges(const CrownMesh& mesh) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> edges;
  for (std::size_t i = 0; i < mesh.triangles.size(); i += 3)
    for (std::size_t k = 0; k < 3; ++k) ++edges[{mesh.triangles[i + k], mesh.triangles[i + (k + 1) % 3]}];
  std::size_t open = 0;
  for (const auto& [edge, count] : edges) {
    const auto back = edges.find({edge.second, edge.first});
    open += count == 1 && back != edges.end() && back->second == 1 ? 0 : 1;
  }
  return open;
}

/// Corners of unit cells whose place `wanted` accepts.
template <class Wanted>
std::vector<Vec3d> lattice(int side, const Wanted& wanted) {
  std::vector<Vec3d> points;
  for (int x = 0; x <= side; ++x)
    for (int y = 0; y <= side; ++y)
      for (int z = 0; z <= side; ++z)
        if (wanted(x, y, z)) points.push_back({1.0 * x, 1.0 * y, 1.0 * z});
  return points;
}

/// Lattices have exact volumes: the box, and the box without a notch of 4 x 4 x 8 that alpha can enter.
TEST(AlphaCrown, VolumesOfLattices) {
  const auto box = lattice(8, [](int, int, int) { return true; });
  const auto whole = crown_of(box, {1.0, 0, 0, kMost});
  EXPECT_NEAR(whole.volume_m3, 512, 1e-9);
  EXPECT_NEAR(whole.surface_area_m2, 384, 1e-9);
  EXPECT_TRUE(whole.watertight);
  EXPECT_EQ(open_edges(whole.mesh), 0U);
  EXPECT_EQ(whole.enclosed_count, 729U);
  EXPECT_EQ(whole.highest_z, 8);
  const auto notched = lattice(8, [](int x, int y, int) { return x <= 4 || y <= 4; });
  EXPECT_NEAR(crown_of(notched, {1.0, 0, 0, kMost}).volume_m3, 512 - 128 + 4,
              1e-9);  // and not into its inner edge
  EXPECT_NEAR(crown_of(notched, {100.0, 0, 0, kMost}).volume_m3, 512 - 64, 1e-9);  // its hull
  // A hollow that the ball cannot reach belongs to the solid.
  const auto shell = lattice(8, [](int x, int y, int z) {
    return std::max({std::abs(x - 4), std::abs(y - 4), std::abs(z - 4)}) > 2;
  });
  EXPECT_NEAR(crown_of(shell, {1.0, 0, 0, kMost}).volume_m3, 512, 1e-9);
}

/// Two boxes that touch at an edge and are joined elsewhere: the mesh has the edge twice, once for each.
TEST(AlphaCrown, SurfacesThatTouchAreSplit) {
  const auto joined =
      lattice(6, [](int x, int y, int z) { return z >= 5 || (x <= 3 && y <= 3) || (x >= 3 && y >= 3); });
  // Unit squares stop the ball, the inner edges of the notches do not.
  const auto found = crown_of(joined, {0.75, 0, 0, kMost});
  EXPECT_NEAR(found.volume_m3, 2 * 45 + 36, 1e-9);
  EXPECT_TRUE(found.watertight);
  EXPECT_EQ(open_edges(found.mesh), 0U);
  std::size_t repeated = 0;
  for (std::size_t i = 0; i < found.mesh.vertices.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) repeated += found.mesh.vertices[i] == found.mesh.vertices[j] ? 1 : 0;
  EXPECT_GT(repeated, 0U);
}

TEST(AlphaCrown, TakesTheLargestPart) {
  auto points = lattice(4, [](int, int, int) { return true; });
  for (const Vec3d& p : lattice(2, [](int, int, int) { return true; })) points.push_back(p + Vec3d{30, 0, 9});
  const auto found = crown_of(points, {1.0, 0, 0, kMost});
  EXPECT_NEAR(found.volume_m3, 64, 1e-9);
  EXPECT_EQ(found.enclosed_count, 125U);
  EXPECT_EQ(found.highest_z, 4);
}

TEST(AlphaCrown, GrowsUntilEnoughPointsAreHeld) {
  CrownSamples draw(3);
  const CrownSolid ball{CrownShape::kEllipsoid, {0, 0, 0}, {1, 1, 1}};
  for (const bool on_surface : {true, false}) {
    const auto points = on_surface ? draw.surface(ball, 4000) : draw.filled(ball, 4000);
    const auto all = crown_of(points, {std::nullopt, 0, 2, kMost});
    EXPECT_TRUE(all.watertight);
    EXPECT_EQ(open_edges(all.mesh), 0U);
    EXPECT_EQ(all.enclosed_count, 4000U);
    EXPECT_NEAR(all.volume_m3 / crown_volume(ball), 1, 0.01);
    const auto most = crown_of(points, {std::nullopt, 0.4, 2, kMost});
    EXPECT_TRUE(most.watertight);
    EXPECT_GE(most.enclosed_count, 3600U);
  }
}

/// Strictness speaks of shares: points that are stored several times permit no more places outside.
TEST(AlphaCrown, RepeatedPointsLeaveNoMorePlacesOutside) {
  CrownSamples draw(6);
  std::vector<Vec3d> once = draw.filled({CrownShape::kEllipsoid, {0, 0, 0}, {1, 1, 1}}, 400);
  for (const Vec3d& p : draw.filled({CrownShape::kEllipsoid, {0, 0, 2.8}, {1, 1, 1}}, 380)) once.push_back(p);
  std::vector<Vec3d> often;
  for (const Vec3d& p : once) often.insert(often.end(), 10, p);
  const auto single = crown_of(once, {std::nullopt, 0.4, 0, kMost});
  EXPECT_GE(single.enclosed_count, 702U);  // both balls: a tenth may go
  const auto repeated = crown_of(often, {std::nullopt, 0.4, 0, kMost});
  EXPECT_GE(repeated.enclosed_count, 702U);
  EXPECT_TRUE(repeated.holds_enough);
}

TEST(AlphaCrown, StraysDoNotChangeTheVolume) {
  for (const bool on_surface : {true, false}) {
    CrownSamples draw(8);
    const CrownSolid truth{CrownShape::kEllipsoid, {0, 0, 0}, {2, 1.5, 3}};
    auto points = on_surface ? draw.surface(truth, 8000) : draw.filled(truth, 8000);
    const double clean = crown_of(points, {std::nullopt, 0.2, 2, kMost}).volume_m3;
    draw.add_branches(points, truth, 12, 33);
    EXPECT_NEAR(crown_of(points, {std::nullopt, 0.2, 2, kMost}).volume_m3 / clean, 1, 0.05);
  }
}

/// The layer outside of evenly spread points is part of the solid. An explicit radius asks for the alpha shape itself.
TEST(AlphaCrown, PointsThatFillASolidGiveItsVolume) {
  const CrownSolid solids[] = {{CrownShape::kEllipsoid, {3, 0, 5}, {2, 1.5, 3}},
                               {CrownShape::kPrism, {3, 0, 5}, {2, 1.5, 3}},
                               {CrownShape::kCone, {3, 0, 5}, {2, 2, 3}}};
  for (const CrownSolid& solid : solids) {
    CrownSamples draw(9);
    auto points = draw.filled(solid, 6000);
    const auto found = crown_of(points, {std::nullopt, 0, 2, kMost});
    EXPECT_NEAR(found.volume_m3 / crown_volume(solid), 1, 0.01);
    EXPECT_LT(crown_of(points, {found.alpha_m, 0, 2, kMost}).volume_m3 / crown_volume(solid), 0.98);
    EXPECT_EQ(open_edges(found.mesh), 0U);
    Box3d of_points, of_mesh;
    for (const Vec3d& p : points) of_points.add(p);
    for (const Vec3d& v : found.mesh.vertices) of_mesh.add(v);
    EXPECT_LT((of_mesh.max.z - of_mesh.min.z) / (of_points.max.z - of_points.min.z), 1.02);
    // Strays on branches touch the solid all over; the ball does not grow until it covers them.
    const double clean = crown_of(points, {std::nullopt, 0.2, 2, kMost}).volume_m3;
    draw.add_branches(points, solid, 12, 25);
    EXPECT_NEAR(crown_of(points, {std::nullopt, 0.2, 2, kMost}).volume_m3 / clean, 1, 0.05);
  }
}

/// Points on a surface, and clouds with a hollow, say nothing of a layer outside.
TEST(AlphaCrown, PointsThatFillNothingAddNoLayer) {
  CrownSamples draw(10);
  const CrownSolid ball{CrownShape::kEllipsoid, {0, 0, 0}, {1, 1, 1}};
  auto shell = draw.filled(ball, 12'000);
  std::erase_if(shell, [](const Vec3d& p) { return dot(p, p) < 0.36; });
  const auto hollow = crown_of(shell, {std::nullopt, 0, 0, kMost});
  EXPECT_EQ(hollow.volume_m3, crown_of(shell, {hollow.alpha_m, 0, 0, kMost}).volume_m3);
  const auto surface = draw.surface(ball, 3000);
  const auto found = crown_of(surface, {std::nullopt, 0, 0, kMost});
  EXPECT_EQ(found.volume_m3, crown_of(surface, {found.alpha_m, 0, 0, kMost}).volume_m3);
}

TEST(AlphaCrown, AtTwiceTheRadiusOnlyPointsWithGapsHaveAnotherVolume) {
  const CrownSolid ball{CrownShape::kEllipsoid, {0, 0, 0}, {1, 1, 1}};
  CrownSamples draw(11);
  const auto filled = crown_of(draw.filled(ball, 6000), {std::nullopt, 0, 2, kMost});
  EXPECT_NEAR(filled.growth_of_doubled, 1, 0.05);
  std::vector<Vec3d> twigs;  // 60 balls of points on a sphere, joined by rods from its middle
  for (int k = 0; k < 60; ++k) {
    const double z = 1 - (2 * k + 1) / 60.0, turn = 2.4 * k, across = std::sqrt(1 - z * z);
    const Vec3d way{across * std::cos(turn), across * std::sin(turn), z};
    for (const Vec3d& p : draw.filled({CrownShape::kEllipsoid, way, {0.12, 0.12, 0.12}}, 300))
      twigs.push_back(p);
    for (const Vec3d& p : draw.filled(ball, 300)) twigs.push_back(way * std::sqrt(dot(p, p)) + p * 0.05);
  }
  const auto sparse = crown_of(twigs, {std::nullopt, 0, 2, kMost});
  EXPECT_GT(sparse.growth_of_doubled, 1.2);
  const auto wide = crown_of(twigs, {2 * sparse.alpha_m, 0, 0, kMost});
  const auto own = crown_of(twigs, {sparse.alpha_m, 0, 0, kMost});
  EXPECT_NEAR(wide.volume_m3 / own.volume_m3, sparse.growth_of_doubled, 1e-9);
  EXPECT_EQ(own.growth_of_doubled, 1);
}

TEST(AlphaCrown, SmoothingKeepsTheVolume) {
  CrownSamples draw(5);
  const auto points = draw.surface({CrownShape::kEllipsoid, {5, 5, 5}, {2, 1.5, 3}}, 4000);
  const double rough = crown_of(points, {std::nullopt, 0, 0, kMost}).volume_m3;
  EXPECT_NEAR(crown_of(points, {std::nullopt, 0, 2, kMost}).volume_m3 / rough, 1, 1e-6);
  // Of balls on rods too, whose surface is rough: the moves outward would add 2 %.
  std::vector<Vec3d> twigs;
  for (int k = 0; k < 20; ++k) {
    const double z = 1 - (2 * k + 1) / 20.0, turn = 2.4 * k, across = std::sqrt(1 - z * z);
    const Vec3d way{across * std::cos(turn), across * std::sin(turn), z};
    for (const Vec3d& p : draw.filled({CrownShape::kEllipsoid, {0, 0, 0}, {1, 1, 1}}, 300)) {
      twigs.push_back(way + p * 0.25);
      twigs.push_back(way * std::sqrt(dot(p, p)) + p * 0.1);
    }
  }
  for (const double alpha : {0.15, 0.4}) {
    const auto smoothed = crown_of(twigs, {alpha, 0, 2, kMost}),
               edged = crown_of(twigs, {alpha, 0, 0, kMost});
    EXPECT_NEAR(smoothed.volume_m3 / edged.volume_m3, 1, 1e-6) << alpha;
    EXPECT_LT(smoothed.surface_area_m2, edged.surface_area_m2) << alpha;
  }
}

TEST(AlphaCrown, RefusesWhatHasNoSolid) {
  std::vector<Vec3d> plane;
  for (int i = 0; i < 50; ++i) plane.push_back({i * 0.1, std::fmod(i * 0.37, 1), 2});
  EXPECT_THROW(crown_of(plane, {std::nullopt, 0, 2, kMost}), Error);
  const auto box = lattice(4, [](int, int, int) { return true; });
  EXPECT_THROW(crown_of(box, {0.1, 0, 2, kMost}), Error);
  EXPECT_THROW(crown_of(box, {std::nullopt, 0, 2, 10}), Error);
  for (const double alpha : {0.0, -1.0, std::nan(""), HUGE_VAL})
    EXPECT_THROW(crown_of(box, {alpha, 0, 2, kMost}), Error);
}

TEST(AlphaCrown, DoesNotDependOnThreads) {
  CrownSamples draw(7);
  const auto points = draw.filled({CrownShape::kCone, {0, 0, 0}, {2, 2, 3}}, 5000);
  const auto one = crown_of(points, {std::nullopt, 0.2, 2, kMost}, 1),
             many = crown_of(points, {std::nullopt, 0.2, 2, kMost}, 4);
  EXPECT_EQ(one.volume_m3, many.volume_m3);
  EXPECT_EQ(one.mesh.triangles, many.mesh.triangles);
}

TEST(AlphaCrown, EveryPhaseEndsSoonAfterACancel) {
  CrownSamples draw(4);
  const auto points = draw.filled({CrownShape::kEllipsoid, {0, 0, 0}, {2, 2, 3}}, 60'000);
  for (const char* phase : {"Building tetrahedra", "Fitting the crown"}) {
    test::expect_cancel_in_phase(phase, [&](OpContext& ctx) {
      alpha_crown({points.data(), points.size()}, {std::nullopt, 0, 2, kMost}, ctx);
    });
  }
}

}  // namespace
}  // namespace pc
