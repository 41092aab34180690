#include "ops/plant/tube.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/random.h"
#include "support/plant_shapes.h"

namespace {

using namespace pc;

/// All pieces as one mesh, with equal corners joined.
OrganMesh joined(const TubeRings& tubes, std::size_t sides) {
  OrganMesh mesh;
  std::size_t begin = 0;
  for (const std::size_t end : tubes.piece_ends) {
    std::map<std::array<double, 3>, std::uint32_t> index;  // of one piece: pieces do not share corners
    const auto corner = [&](const Vec3d& p) {
      const auto [at, is_new] =
          index.try_emplace({p.x, p.y, p.z}, static_cast<std::uint32_t>(mesh.positions.size()));
      if (is_new) mesh.add(p);
      return at->second;
    };
    tube_triangles({tubes.rings.data() + begin, end - begin}, sides, true, true,
                   [&](const Vec3d& a, const Vec3d& b, const Vec3d& c, std::size_t) {
                     mesh.triangles.push_back({corner(a), corner(b), corner(c)});
                   });
    begin = end;
  }
  return mesh;
}

TubeRings tube(const std::vector<TubePoint>& line) {
  TubeRings out;
  add_tube({line.data(), line.size()}, {1, 0, 0}, out);
  return out;
}

void expect_closed(const OrganMesh& mesh) {
  const test::EdgeCounts edges = test::edge_counts(mesh.triangles);
  EXPECT_EQ(edges.open, 0U);
  EXPECT_EQ(edges.repeated, 0U);
}

/// Sides of a segment run along it: none is folded back.
void expect_not_inverted(const TubeRings& tubes, std::size_t sides) {
  std::size_t begin = 0;
  const auto polygon = polygon_corners(sides);
  std::vector<Vec3d> low(sides), high(sides);
  for (const std::size_t end : tubes.piece_ends) {
    for (std::size_t i = begin; i + 1 < end; ++i) {
      ring_corners(tubes.rings[i], polygon, low.data());
      ring_corners(tubes.rings[i + 1], polygon, high.data());
      for (std::size_t k = 0; k < sides; ++k)
        ASSERT_GT(dot(high[k] - low[k], tubes.rings[i + 1].tangent), 0) << "ring " << i << " side " << k;
    }
    begin = end;
  }
}

TEST(Tube, StraightOneIsACylinder) {
  const TubeRings rings = tube({{{0, 0, 0}, 0.1}, {{0, 0, 1}, 0.1}, {{0, 0, 2}, 0.1}});
  for (const std::size_t sides : {3U, 6U, 16U}) {
    const OrganMesh mesh = joined(rings, sides);
    expect_closed(mesh);
    EXPECT_EQ(mesh.triangles.size(), 4 * sides + 2 * (sides - 2));
    EXPECT_NEAR(enclosed_volume(mesh), M_PI * 0.01 * 2, 1e-12);
  }
  EXPECT_NEAR(tube_volume(rings), M_PI * 0.01 * 2, 1e-12);
}

TEST(Tube, BentOneHasTheVolumeOfItsAxis) {
  std::vector<TubePoint> line;  // helix
  for (int i = 0; i <= 200; ++i)
    line.push_back({{0.3 * std::cos(0.1 * i), 0.3 * std::sin(0.1 * i), 0.01 * i}, 0.02});
  const TubeRings rings = tube(line);
  EXPECT_EQ(rings.rings.size(), line.size());
  const OrganMesh mesh = joined(rings, 10);
  expect_closed(mesh);
  expect_not_inverted(rings, 10);
  const double length = 200 * std::sqrt(squared_distance(line[0].point, line[1].point));
  EXPECT_NEAR(enclosed_volume(mesh), M_PI * 0.0004 * length, 1e-3 * M_PI * 0.0004 * length);
}

TEST(Tube, RingsDoNotTwist) {
  std::vector<TubePoint> line;  // a quarter circle in the x-z plane: side 0 keeps its part along y
  for (int i = 0; i <= 40; ++i) line.push_back({{std::sin(0.04 * i), 0, 1 - std::cos(0.04 * i)}, 0.01});
  TubeRings rings;
  add_tube({line.data(), line.size()}, {0, 1, 0}, rings);
  for (const TubeRing& ring : rings.rings) EXPECT_NEAR(ring.first.y, 1, 1e-12);
}

TEST(Tube, SharpBendsNeitherCrossNorOpen) {
  const std::vector<std::vector<TubePoint>> lines{
      {{{0, 0, 0}, 0.1}, {{0, 0, 1}, 0.1}, {{0, 0, 0.5}, 0.1}},  // 180 degrees
      {{{0, 0, 0}, 0.1}, {{0, 0, 1}, 0.1}, {{1, 0, 1}, 0.1}},    // 90 degrees
      {{{0, 0, 0}, 0.1}, {{0, 0, 0.02}, 0.1}, {{0.02, 0, 0.02}, 0.1}, {{0.5, 0, 0.02}, 0.1}},
      {{{0, 0, 0}, 0.5}, {{0.1, 0, 0.1}, 0.5}, {{0, 0, 0.2}, 0.5}, {{0.1, 0, 0.3}, 0.5}, {{0, 0, 3}, 0.5}},
      {{{0, 0, 0}, 0.1}, {{0, 0, 0}, 0.1}, {{0, 0, 1}, 0.1}, {{0, 0, 1}, 0.1}},  // zero lengths
  };
  for (std::size_t i = 0; i < lines.size(); ++i) {
    SCOPED_TRACE(i);
    const TubeRings rings = tube(lines[i]);
    ASSERT_GE(rings.piece_ends.size(), 1U);
    const OrganMesh mesh = joined(rings, 8);
    expect_closed(mesh);
    test::expect_sound(mesh);
    expect_not_inverted(rings, 8);
    EXPECT_GT(enclosed_volume(mesh), 0);
  }
  EXPECT_EQ(tube(lines[0]).piece_ends.size(), 2U);
  EXPECT_EQ(tube(lines[1]).piece_ends.size(), 1U);
}

TEST(Tube, RandomLinesStaySound) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    std::vector<TubePoint> line;
    Vec3d at{0, 0, 0};
    for (std::uint64_t i = 0; i < 30; ++i) {
      const auto u = [&](std::uint64_t k) { return random_unit(seed, 4 * i + k); };
      const double step = std::pow(10, -4 * u(3));
      at = at + Vec3d{u(0) - 0.5, u(1) - 0.5, u(2) - 0.3} * step;
      line.push_back({at, 0.02 * u(1) + 0.002});
    }
    SCOPED_TRACE(seed);
    const TubeRings rings = tube(line);
    const std::size_t sides = 3 + seed % 10;
    const OrganMesh mesh = joined(rings, sides);
    expect_closed(mesh);
    expect_not_inverted(rings, sides);
    test::expect_sound(mesh);
  }
}

TEST(Tube, NothingIsMadeOfNothing) {
  EXPECT_TRUE(tube({}).rings.empty());
  EXPECT_TRUE(tube({{{0, 0, 0}, 0.1}}).piece_ends.empty());
  EXPECT_TRUE(tube({{{0, 0, 0}, 0.1}, {{0, 0, 0}, 0.1}}).piece_ends.empty());
  EXPECT_TRUE(tube({{{0, 0, 0}, 0}, {{0, 0, 1}, 1e-7}}).piece_ends.empty());
  EXPECT_TRUE(tube({{{0, 0, 0}, NAN}, {{0, 0, 1}, NAN}}).piece_ends.empty());
}

TEST(Tube, PolygonHasTheAreaOfTheCircle) {
  for (const std::size_t n : {3U, 4U, 6U, 12U, 64U}) {
    const double r = polygon_radius(n), turn = 2 * M_PI / static_cast<double>(n);
    EXPECT_NEAR(0.5 * static_cast<double>(n) * r * r * std::sin(turn), M_PI, 1e-12);
  }
}

}  // namespace
