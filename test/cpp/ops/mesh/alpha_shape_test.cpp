#include "ops/mesh/alpha_shape.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "core/error.h"
#include "core/random.h"
#include "support/cancel.h"
#include "support/fuzz_runs.h"
#include "support/nasty_clouds.h"

namespace pc {
namespace {

using Points = std::vector<Vec3d>;
using Triangle = std::array<std::uint32_t, 3>;

AlphaShapeResult shape_of(const Points& points, std::optional<double> alpha = {}, int threads = 1) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return alpha_shape(HitPoints::assume_hits({points.data(), points.size()}), {alpha}, ctx);
}

std::vector<Triangle> triangles_of(const AlphaShapeResult& shape) {
  std::vector<Triangle> out;
  for (std::size_t i = 0; i < shape.indices.size(); i += 3)
    out.push_back({shape.indices[i], shape.indices[i + 1], shape.indices[i + 2]});
  return out;
}

/// Volume that outward triangles enclose, by the divergence theorem.
double enclosed(const Points& points, const std::vector<Triangle>& triangles) {
  double sum = 0;
  for (const Triangle& t : triangles) {
    const Vec3d a = points[t[0]] - points[0], b = points[t[1]] - points[0], c = points[t[2]] - points[0];
    sum += a.x * (b.y * c.z - b.z * c.y) + a.y * (b.z * c.x - b.x * c.z) + a.z * (b.x * c.y - b.y * c.x);
  }
  return sum / 6;
}

/// Every edge is used as often in one direction as in the other.
bool closed(const std::vector<Triangle>& triangles) {
  std::map<std::array<std::uint32_t, 2>, int> uses;
  for (const Triangle& t : triangles) {
    for (std::size_t k = 0; k < 3; ++k) {
      const std::uint32_t a = t[k], b = t[(k + 1) % 3];
      uses[{std::min(a, b), std::max(a, b)}] += a < b ? 1 : -1;
    }
  }
  return std::all_of(uses.begin(), uses.end(), [](const auto& use) { return use.second == 0; });
}

Points noisy_sphere(std::size_t count, double noise) {
  Points points;
  for (std::size_t i = 0; points.size() < count; ++i) {
    const auto value = [&](std::uint64_t k) { return random_unit(5, 4 * i + k) * 2 - 1; };
    const Vec3d p{value(0), value(1), value(2)};
    const double radius = std::sqrt(squared_distance(p, {0, 0, 0}));
    if (radius < 0.1 || radius > 1) continue;
    points.push_back(p * ((1 + noise * value(3)) / radius) + Vec3d{500'000, 4'000'000, 100});
  }
  return points;
}

/// Every tetrahedron and triangle of the points, tested by definition.
std::set<Triangle> slow_boundary(const Points& points, double alpha) {
  const auto n = static_cast<std::uint32_t>(points.size());
  std::map<Triangle, int> sides;
  for (std::uint32_t a = 0; a < n; ++a)
    for (std::uint32_t b = a + 1; b < n; ++b)
      for (std::uint32_t c = b + 1; c < n; ++c)
        for (std::uint32_t d = c + 1; d < n; ++d) {
          const Vec3d p = points[a] - points[d], q = points[b] - points[d], r = points[c] - points[d];
          const auto cross = [](const Vec3d& u, const Vec3d& v) {
            return Vec3d{u.y * v.z - u.z * v.y, u.z * v.x - u.x * v.z, u.x * v.y - u.y * v.x};
          };
          const auto norm = [](const Vec3d& u) { return u.x * u.x + u.y * u.y + u.z * u.z; };
          const Vec3d qr = cross(q, r);
          const double volume = p.x * qr.x + p.y * qr.y + p.z * qr.z;
          const Vec3d center =
              (qr * norm(p) + cross(r, p) * norm(q) + cross(p, q) * norm(r)) * (1 / (2 * volume));
          if (!(norm(center) <= alpha * alpha)) continue;
          bool empty = true;
          for (std::uint32_t e = 0; e < n && empty; ++e)
            empty = e == a || e == b || e == c || e == d ||
                    squared_distance(points[e], points[d] + center) > norm(center);
          if (!empty) continue;
          for (const Triangle& face : {Triangle{a, b, c}, {a, b, d}, {a, c, d}, {b, c, d}}) ++sides[face];
        }
  std::set<Triangle> boundary;
  for (const auto& [face, count] : sides)
    if (count == 1) boundary.insert(face);
  return boundary;
}

TEST(AlphaShape, IsTheBoundaryOfTheSmallEmptySpheresByBruteForce) {
  std::size_t faces = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Points points;
    for (std::uint64_t i = 0; i < 22; ++i)
      points.push_back(
          {random_unit(seed, 3 * i), random_unit(seed, 3 * i + 1), random_unit(seed, 3 * i + 2)});
    for (const double alpha : {0.25, 0.4, 5.0}) {
      const AlphaShapeResult shape = shape_of(points, alpha);
      if (shape.faces == AlphaFaces::kSheet) continue;
      std::set<Triangle> sorted;
      for (Triangle t : triangles_of(shape)) {
        std::sort(t.begin(), t.end());
        sorted.insert(t);
      }
      ASSERT_EQ(sorted, slow_boundary(points, alpha)) << seed << " " << alpha;
      faces += sorted.size();
      EXPECT_NEAR(enclosed(points, triangles_of(shape)), shape.volume_m3, 1e-12);
      EXPECT_TRUE(closed(triangles_of(shape)));
    }
  }
  EXPECT_GT(faces, 1000U);
}

TEST(AlphaShape, OfASphereIsOutwardAndTheSameForAnyThreadCountAndFarFromTheOrigin) {
  const Points points = noisy_sphere(6000, 0.01);
  const AlphaShapeResult shape = shape_of(points, 0.4);
  EXPECT_EQ(shape.faces, AlphaFaces::kSolid);
  EXPECT_NEAR(enclosed(points, triangles_of(shape)), shape.volume_m3, 1e-6);  // coordinates of 4e6 m
  EXPECT_TRUE(closed(triangles_of(shape)));
  EXPECT_EQ(triangles_of(shape), triangles_of(shape_of(points, 0.4, 3)));
  double sum = 0;
  for (const Vec3d& p : points) {
    double nearest = HUGE_VAL;
    for (const Vec3d& q : points)
      if (&p != &q) nearest = std::min(nearest, squared_distance(p, q));
    sum += std::sqrt(nearest);
  }
  const AlphaShapeResult automatic = shape_of(points);
  EXPECT_NEAR(automatic.mean_spacing_m, sum / 6000, 1e-12);
  EXPECT_NEAR(automatic.alpha_m, 3.4 * automatic.mean_spacing_m,
              0.3 * automatic.mean_spacing_m);  // random places
  Points even;
  for (int i = 0; i < 2500; ++i) even.push_back({0.1 * (i % 50), 0.1 * (i / 50), 0.001 * (i % 3)});
  const AlphaShapeResult grid = shape_of(even);
  EXPECT_EQ(grid.alpha_m, 2 * grid.mean_spacing_m);
}

TEST(AlphaShape, AutomaticBallsSpanTheGapsBetweenRows) {
  // Rows of 200 points on a slightly curved square of 4 m2, 0.01 and 0.1 m apart.
  Points points;
  for (std::uint64_t i = 0; i < 21 * 200; ++i) {
    const double x = 0.01 * static_cast<double>(i % 200), y = 0.1 * static_cast<double>(i / 200);
    points.push_back(
        {x + 0.001 * random_unit(4, 2 * i), y, 0.05 * x * y + 0.001 * random_unit(4, 2 * i + 1)});
  }
  const AlphaShapeResult shape = shape_of(points);
  EXPECT_GT(shape.alpha_m, 0.05);  // half of the distance between rows
  EXPECT_LT(shape.alpha_m, 0.1);
  double above = 0;  // area of the faces that look up or down, from above
  for (const auto& [a, b, c] : triangles_of(shape))
    above += std::abs(cross(points[b] - points[a], points[c] - points[a]).z) / 2;
  EXPECT_GT(above, 3.8);
}

TEST(AlphaShape, OfALatticeIsItsBox) {
  Points points;
  for (int i = 0; i < 6 * 5 * 4; ++i) points.push_back({1e7 + i % 6, -1e7 + i / 6 % 5, 0.5 * (i / 30)});
  points.push_back(points[7]);
  const AlphaShapeResult shape = shape_of(points, 2.0);
  EXPECT_EQ(shape.indices.size() / 3, 2U * 2 * (5 * 4 + 4 * 3 + 5 * 3));
  EXPECT_NEAR(shape.volume_m3, 5 * 4 * 1.5, 1e-12);  // sums of sixths
  EXPECT_EQ(shape.repeated_count, 1U);
  EXPECT_EQ(shape.mean_spacing_m, 0.5);
}

TEST(AlphaShape, OfAPlaneAndOfASmoothSurfaceIsASheet) {
  for (int axis = 0; axis < 4; ++axis) {
    Points plane;
    for (int i = 0; i < 200; ++i) {
      const double u = i % 20, v = i / 20;
      if (u >= 8 && u < 12 && v >= 3 && v < 7) continue;  // a hole
      const Vec3d places[]{{u, v, 3}, {u, 3, v}, {3, u, v}, Vec3d{2, 1, 2} * u + Vec3d{1, 2, -2} * v};
      plane.push_back(places[axis]);
    }
    const AlphaShapeResult shape = shape_of(plane, axis == 3 ? 3.0 : 1.0);
    EXPECT_EQ(shape.faces, AlphaFaces::kSheet);
    EXPECT_EQ(shape.indices.size() / 3, 2U * (19 * 9 - 5 * 5) + 4)
        << axis;  // and half a square at each corner of the hole
    for (const Triangle& t : triangles_of(shape)) {
      const Vec3d a = plane[t[1]] - plane[t[0]], b = plane[t[2]] - plane[t[0]];
      const double z = a.x * b.y - a.y * b.x, y = a.z * b.x - a.x * b.z, x = a.y * b.z - a.z * b.y;
      EXPECT_GT(axis == 1 ? y : (axis == 2 ? x : z), 0);
    }
  }
  Points bowl;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const double x = random_unit(1, 2 * i), y = random_unit(1, 2 * i + 1);
    bowl.push_back({x, y, 0.3 * (x * x + y * y)});
  }
  const AlphaShapeResult shape = shape_of(bowl, 0.1);
  EXPECT_EQ(shape.faces, AlphaFaces::kSheet);
  EXPECT_GT(shape.sheet_count, 3500U);
}

TEST(AlphaShape, TakesNastyCloudsAndRefusesWhatIsNoNumber) {
  for (std::uint64_t seed = 0; seed < test::fuzz_runs(2000); ++seed) {
    const Points points = nasty_clouds::cloud(seed, 60);
    const AlphaShapeResult shape = shape_of(points);
    for (const Triangle& t : triangles_of(shape))
      for (const std::uint32_t row : t) ASSERT_LT(row, points.size());
    ASSERT_TRUE(shape.faces == AlphaFaces::kSheet || closed(triangles_of(shape))) << seed;
    ASSERT_GE(shape.volume_m3, 0) << seed;
  }
  EXPECT_THROW(shape_of({{0, 0, std::nan("")}}), Error);
  EXPECT_THROW(shape_of({{0, 1e200, 0}}), Error);
  for (const double alpha : {0.0, -1.0, std::nan(""), HUGE_VAL})
    EXPECT_THROW(shape_of({{0, 0, 0}}, alpha), Error);
}

TEST(AlphaShape, IsCanceledInTime) {
  const Points points = noisy_sphere(150'000, 0.01);
  test::expect_cancel_in_phase("Meshing", [&](OpContext& ctx) {
    alpha_shape(HitPoints::assume_hits({points.data(), points.size()}), {}, ctx);
  });
}

}  // namespace
}  // namespace pc
