#include "ops/mesh/polygon_triangulation.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <vector>

#include "core/random.h"
#include "io/record_support.h"
#include "support/cancel.h"

namespace {

using namespace pc;
using record_test::with_context;

constexpr double kPi = 3.14159265358979323846;

struct Cut {
  PolygonShape shape;
  std::vector<std::uint32_t> corners;
};

Cut cut(const std::vector<Vec3d>& ring) {
  Cut out{PolygonShape::kPlain, std::vector<std::uint32_t>(3 * (ring.size() - 2))};
  PolygonCutter cutter;
  with_context(1, [&](OpContext& ctx) {
    out.shape = cutter.cut({ring.data(), ring.size()}, {out.corners.data(), out.corners.size()}, ctx);
  });
  return out;
}

/// A ring in the plane z = 0 tilted by a rotation, so that no axis is special.
std::vector<Vec3d> tilted(const std::vector<std::pair<double, double>>& ring) {
  const double c = std::cos(0.7), s = std::sin(0.7);
  std::vector<Vec3d> out;
  for (const auto& [x, y] : ring) {
    const Vec3d p{x, c * y, s * y};
    out.push_back({c * p.x - s * p.y + 100, s * p.x + c * p.y - 7, p.z + 3});
  }
  return out;
}

/// Every triangle turns the way of the polygon, their areas add up to its area, every corner is used: then they cover the
/// polygon once.
void expect_covers(const std::vector<Vec3d>& ring, const Cut& result, const char* what) {
  Vec3d area{0, 0, 0};
  for (std::size_t i = 1; i + 1 < ring.size(); ++i) {
    area = area + cross(ring[i] - ring[0], ring[i + 1] - ring[0]);
  }
  const double total = std::sqrt(dot(area, area));
  const Vec3d normal = area * (1 / total);
  double sum = 0;
  std::vector<int> used(ring.size(), 0);
  for (std::size_t t = 0; t < result.corners.size(); t += 3) {
    const std::uint32_t* k = &result.corners[t];
    const double own = dot(cross(ring[k[1]] - ring[k[0]], ring[k[2]] - ring[k[0]]), normal);
    EXPECT_GE(own, -1e-12 * total) << what << ", triangle " << t / 3;
    sum += own;
    for (int c = 0; c < 3; ++c) used[k[c]] = 1;
  }
  EXPECT_NEAR(sum, total, 1e-9 * total) << what;
  for (std::size_t i = 0; i < used.size(); ++i) EXPECT_EQ(used[i], 1) << what << ", corner " << i;
  EXPECT_EQ(result.shape, PolygonShape::kPlain) << what;
}

TEST(PolygonTriangulation, ConvexPolygonsAreCutFromTheirFirstCorner) {
  std::vector<std::pair<double, double>> ring;
  for (int i = 0; i < 7; ++i) ring.push_back({std::cos(2 * kPi * i / 7), std::sin(2 * kPi * i / 7)});
  const Cut result = cut(tilted(ring));
  EXPECT_EQ(result.corners, (std::vector<std::uint32_t>{0, 1, 2, 0, 2, 3, 0, 3, 4, 0, 4, 5, 0, 5, 6}));
  expect_covers(tilted(ring), result, "heptagon");
}

TEST(PolygonTriangulation, ConcavePolygonsAreCovered) {
  const std::vector<std::pair<double, double>> arrow = {{0, 0}, {4, 2}, {0, 4}, {1, 2}};
  const std::vector<std::pair<double, double>> comb = {{0, 0}, {7, 0}, {7, 5}, {6, 5}, {6, 1}, {5, 1},
                                                       {5, 5}, {4, 5}, {4, 1}, {3, 1}, {3, 5}, {2, 5},
                                                       {2, 1}, {1, 1}, {1, 5}, {0, 5}};
  const std::vector<std::pair<double, double>> middles = {{0, 0}, {1, 0}, {2, 0}, {2, 1},
                                                          {2, 2}, {1, 2}, {0, 2}, {0, 1}};
  // A square with a square hole, joined by an edge that is run along twice.
  const std::vector<std::pair<double, double>> hole = {{0, 0}, {6, 0}, {6, 6}, {0, 6}, {0, 0},
                                                       {2, 2}, {2, 4}, {4, 4}, {4, 2}, {2, 2}};
  const std::vector<std::pair<double, double>> twice = {{0, 0}, {1, 0}, {1, 0}, {1, 1}, {0.2, 0.3}, {0, 1}};
  // A notch from the top whose tip touches the bottom corner.
  const std::vector<std::pair<double, double>> pinch = {{0, 0}, {4, 4},   {4, 10},  {1, 10},
                                                        {0, 0}, {-1, 10}, {-4, 10}, {-4, 4}};
  std::vector<std::pair<double, double>> spiral, star;
  for (int i = 0; i <= 60; ++i)
    spiral.push_back({(1 + i * 0.1) * std::cos(i * 0.3), (1 + i * 0.1) * std::sin(i * 0.3)});
  for (int i = 60; i >= 0; --i)
    spiral.push_back({(1.3 + i * 0.1) * std::cos(i * 0.3), (1.3 + i * 0.1) * std::sin(i * 0.3)});
  for (std::uint64_t i = 0; i < 500; ++i) {
    const double radius = 0.05 + random_unit(7, i), angle = 2 * kPi * static_cast<double>(i) / 500;
    star.push_back({radius * std::cos(angle), radius * std::sin(angle)});
  }
  const std::pair<const char*, std::vector<std::pair<double, double>>> cases[] = {
      {"arrow", arrow}, {"comb", comb},   {"middles", middles}, {"hole", hole},
      {"twice", twice}, {"pinch", pinch}, {"spiral", spiral},   {"star", star}};
  for (const auto& [name, ring] : cases) {
    auto turned = ring;
    for (std::size_t start = 0; start < std::min<std::size_t>(ring.size(), 16); ++start) {
      expect_covers(tilted(turned), cut(tilted(turned)), name);
      std::rotate(turned.begin(), turned.begin() + 1, turned.end());
    }
    std::reverse(turned.begin(), turned.end());
    expect_covers(tilted(turned), cut(tilted(turned)), name);
  }
}

TEST(PolygonTriangulation, TellsFlatAndCrossingPolygons) {
  EXPECT_EQ(cut(tilted({{0, 0}, {1, 1}, {2, 2}, {3, 3}})).shape, PolygonShape::kFlat);
  EXPECT_EQ(cut(tilted({{0, 0}, {1, 0}, {0, 1}, {1, 1}})).shape, PolygonShape::kFlat);  // a bow tie
  std::vector<std::pair<double, double>> star;
  for (int i = 0; i < 5; ++i) star.push_back({std::cos(4 * kPi * i / 5), std::sin(4 * kPi * i / 5)});
  EXPECT_EQ(cut(tilted(star)).shape, PolygonShape::kCrossing);
}

PolygonMesh mesh_of(const std::vector<Vec3d>& positions,
                    const std::vector<std::vector<std::uint32_t>>& faces) {
  PolygonMesh mesh;
  mesh.positions = Column<Vec3d>(positions.size());
  for (std::size_t i = 0; i < positions.size(); ++i) mesh.positions[i] = positions[i];
  mesh.face_first.push_back(0);
  for (const auto& face : faces) {
    for (const std::uint32_t corner : face) mesh.corner_position.push_back(corner);
    mesh.face_first.push_back(mesh.corner_position.size());
  }
  return mesh;
}

TEST(PolygonTriangulation, LeavesTrianglesWithAMissingVertexOut) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const PolygonMesh mesh =
      mesh_of({{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {nan, 0, 0}},
              {{0, 1, 2, 3}, {0, kNoIndex, 2, 3}, {kNoIndex, 0, 1, 2}, {4, 0, 1}, {0, 1, 4, 2, 3}});
  for (const int threads : {1, 3}) {
    const Triangulation result =
        with_context(threads, [&](OpContext& ctx) { return triangulate(mesh, ctx); });
    EXPECT_EQ((std::vector<std::uint32_t>{result.corners.begin(), result.corners.end()}),
              (std::vector<std::uint32_t>{0, 1, 2, 0, 2, 3, 4, 6, 7, 15, 18, 19}));
    EXPECT_EQ((std::vector<std::uint32_t>{result.faces.begin(), result.faces.end()}),
              (std::vector<std::uint32_t>{0, 0, 1, 4}));
    EXPECT_EQ(result.skipped_count, 1u + 2 + 1 + 2);
  }
}

TEST(PolygonTriangulation, CancelEndsSoonAtTheLargestFace) {
  std::vector<Vec3d> ring;
  std::vector<std::uint32_t> face;
  for (std::uint32_t i = 0; i < kMaxFaceCorners; ++i) {
    const double radius = 0.5 + random_unit(3, i), angle = 2 * kPi * i / kMaxFaceCorners;
    ring.push_back({radius * std::cos(angle), radius * std::sin(angle), 0});
    face.push_back(i);
  }
  const PolygonMesh mesh = mesh_of(ring, {face, face, face, face});
  test::expect_cancel_after(std::chrono::milliseconds(30), [&](OpContext& ctx) { triangulate(mesh, ctx); });
}

}  // namespace
