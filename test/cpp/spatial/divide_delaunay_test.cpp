#include "spatial/divide_delaunay.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "core/random.h"
#include "spatial/hull.h"
#include "spatial/nearest_cells.h"
#include "support/fuzz_runs.h"
#include "support/nasty_clouds.h"

namespace pc {
namespace {

using Points = std::vector<LatticePoint>;

Points sorted(Points points) {
  std::sort(points.begin(), points.end(),
            [](const LatticePoint& a, const LatticePoint& b) { return a.u != b.u ? a.u < b.u : a.v < b.v; });
  points.erase(std::unique(points.begin(), points.end()), points.end());
  return points;
}

std::vector<DelaunayTriangle> triangulate(const Points& points, int threads = 1,
                                          DelaunayCuts cuts = DelaunayCuts::kUpright) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  const DivideDelaunay<LatticePoint> mesh({points.data(), points.size()}, ctx, cuts);
  std::vector<DelaunayTriangle> out;
  DelaunayTriangle triangle{};
  for (std::size_t slot = 0; slot < mesh.slots(); ++slot)
    if (mesh.triangle(slot, triangle)) out.push_back(triangle);
  return out;
}

/// Twice the area of the convex hull, by the monotone chain over sorted points.
std::int64_t hull_area(const Points& points) {
  Points hull;
  for (int pass = 0; pass < 2; ++pass) {
    const std::size_t base = hull.size();
    for (std::size_t k = 0; k < points.size(); ++k) {
      const LatticePoint& p = pass == 0 ? points[k] : points[points.size() - 1 - k];
      while (hull.size() >= base + 2 && lattice_orient(hull[hull.size() - 2], hull.back(), p) <= 0)
        hull.pop_back();
      hull.push_back(p);
    }
    hull.pop_back();
  }
  std::int64_t area = 0;
  for (std::size_t k = 1; k + 1 < hull.size(); ++k) area += lattice_orient(hull[0], hull[k], hull[k + 1]);
  return area;
}

/// In-circle test in long double, for coordinates small enough that it is exact.
int slow_in_circle(const LatticePoint& a, const LatticePoint& b, const LatticePoint& c,
                   const LatticePoint& d) {
  __extension__ using Wide = __int128;
  const auto row = [&](const LatticePoint& p) {
    const Wide u = p.u - d.u, v = p.v - d.v;
    return std::array<Wide, 3>{u, v, u * u + v * v};
  };
  const auto p = row(a), q = row(b), r = row(c);
  const Wide det = p[2] * (q[0] * r[1] - r[0] * q[1]) + q[2] * (r[0] * p[1] - p[0] * r[1]) +
                   r[2] * (p[0] * q[1] - q[0] * p[1]);
  return (det > 0) - (det < 0);
}

/// Triangles are Delaunay, cover the hull once, and their sides say what is behind them.
void expect_delaunay(const Points& points, const std::vector<DelaunayTriangle>& triangles) {
  std::int64_t area = 0;
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> sides;
  for (const DelaunayTriangle& t : triangles) {
    const LatticePoint &a = points[t.corner[0]], &b = points[t.corner[1]], &c = points[t.corner[2]];
    ASSERT_GT(lattice_orient(a, b, c), 0);
    area += lattice_orient(a, b, c);
    for (const LatticePoint& d : points) ASSERT_LE(slow_in_circle(a, b, c, d), 0);
    for (std::size_t i = 0; i < 3; ++i) ++sides[{t.corner[i], t.corner[(i + 1) % 3]}];
  }
  EXPECT_EQ(area, points.size() < 3 ? 0 : hull_area(points));
  for (const DelaunayTriangle& t : triangles) {
    for (std::size_t i = 0; i < 3; ++i) {
      const std::uint32_t a = t.corner[i], b = t.corner[(i + 1) % 3];
      EXPECT_EQ((sides[{a, b}]), 1);
      EXPECT_EQ(t.on_hull[i], sides.count({b, a}) == 0);
    }
  }
}

/// The outline is the sides without a triangle behind them, clockwise from the first point.
void expect_outline(const Points& points, const std::vector<DelaunayTriangle>& triangles, DelaunayCuts cuts) {
  JobControl control;
  OpContext ctx(control);
  const auto outline = DivideDelaunay<LatticePoint>({points.data(), points.size()}, ctx, cuts).outline(ctx);
  std::set<std::pair<std::uint32_t, std::uint32_t>> expected, found;
  for (const DelaunayTriangle& t : triangles)
    for (std::size_t i = 0; i < 3; ++i)
      if (t.on_hull[i]) expected.insert({t.corner[(i + 1) % 3], t.corner[i]});
  if (expected.empty()) return;
  for (std::size_t k = 0; k < outline.size(); ++k)
    found.insert({outline[k], outline[(k + 1) % outline.size()]});
  EXPECT_EQ(found, expected);
  EXPECT_EQ(outline.size(), expected.size());
}

void expect_both(const Points& points) {
  for (const DelaunayCuts cuts : {DelaunayCuts::kUpright, DelaunayCuts::kBoth}) {
    const auto triangles = triangulate(points, 1, cuts);
    expect_delaunay(points, triangles);
    expect_outline(points, triangles, cuts);
  }
}

Points scattered(std::size_t count, std::uint64_t seed, std::int32_t nu, std::int32_t nv) {
  Points points;
  for (std::size_t i = 0; i < count; ++i)
    points.push_back(
        {static_cast<std::int32_t>(random_u64(seed, 2 * i) % static_cast<std::uint64_t>(nu)),
         static_cast<std::int32_t>(random_u64(seed, 2 * i + 1) % static_cast<std::uint64_t>(nv))});
  return sorted(points);
}

TEST(DivideDelaunay, CirclesAreEmptyAndTheHullIsCovered) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const auto size = static_cast<std::int32_t>(2 + random_u64(9, seed) % 30);
    const Points points =
        scattered(3 + seed * 4, seed, size, 2 + size / (1 + static_cast<std::int32_t>(seed % 5)));
    SCOPED_TRACE(seed);
    expect_both(points);
  }
  const Points wide = scattered(150, 7, 1 << 22, 1 << 22);  // needs the long arithmetic
  expect_both(wide);
  const Points flat = scattered(150, 8, 1 << 22, 3);
  expect_both(flat);
}

TEST(DivideDelaunay, FullLatticesRingsAndLines) {
  Points lattice, ring, line, column;
  for (std::int32_t u = 0; u < 12; ++u)
    for (std::int32_t v = 0; v < 9; ++v) lattice.push_back({u, v});
  for (std::int32_t u = 0; u < 41; ++u)
    for (std::int32_t v = 0; v < 41; ++v)
      if ((u - 20) * (u - 20) + (v - 20) * (v - 20) == 325)
        ring.push_back({u, v});  // 24 points on one circle
  for (std::int32_t k = 0; k < 50; ++k) line.push_back({k, 2 * k});
  for (std::int32_t k = 0; k < 50; ++k) column.push_back({3, k});
  EXPECT_EQ(ring.size(), 24U);
  expect_both(lattice);
  EXPECT_EQ(triangulate(lattice).size(), 2U * 11 * 8);
  expect_both(ring);
  EXPECT_TRUE(triangulate(line).empty());
  EXPECT_TRUE(triangulate(column).empty());
  line.push_back({50, 0});
  expect_both(line);
  EXPECT_TRUE(triangulate({}).empty());
  EXPECT_TRUE(triangulate({{1, 1}}).empty());
  EXPECT_TRUE(triangulate({{1, 1}, {1, 2}}).empty());
  EXPECT_EQ(triangulate({{1, 1}, {1, 2}, {2, 1}}).size(), 1U);
}

using Corners = std::array<std::pair<std::int32_t, std::int32_t>, 3>;

/// Triangles by the places of their corners, those that `keep` accepts.
template <class Keep>
std::set<Corners> corners_of(const Points& points, DelaunayCuts cuts, const Keep& keep) {
  std::set<Corners> found;
  for (const DelaunayTriangle& t : triangulate(points, 1, cuts)) {
    Corners corners;
    for (std::size_t i = 0; i < 3; ++i) corners[i] = {points[t.corner[i]].u, points[t.corner[i]].v};
    std::sort(corners.begin(), corners.end());
    if (keep(corners)) found.insert(corners);
  }
  return found;
}

/// Whether the circle through three places lies within rows and columns `low` to `high`.
bool circle_within(const Corners& c, double low, double high) {
  const auto u = [&](std::size_t i) { return static_cast<double>(c[i].first - c[0].first); };
  const auto v = [&](std::size_t i) { return static_cast<double>(c[i].second - c[0].second); };
  const double d = 2 * (u(1) * v(2) - v(1) * u(2));
  const double p = u(1) * u(1) + v(1) * v(1), q = u(2) * u(2) + v(2) * v(2);
  const double x = (v(2) * p - v(1) * q) / d, y = (u(1) * q - u(2) * p) / d, r = std::hypot(x, y);
  const double at_u = x + c[0].first, at_v = y + c[0].second;
  return at_u - r >= low && at_u + r <= high && at_v - r >= low && at_v + r <= high;
}

TEST(DivideDelaunay, PointsOnOneCircleAreDividedAlikeInEveryWindow) {
  const auto all = [](const Corners&) { return true; };
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Points points = scattered(300 + 60 * seed, seed, 40, 40);  // most circles hold four and more
    EXPECT_EQ(corners_of(points, DelaunayCuts::kUpright, all), corners_of(points, DelaunayCuts::kBoth, all));
    const auto low = static_cast<std::int32_t>(1 + seed % 7), high = static_cast<std::int32_t>(33 - seed % 5);
    Points window;
    for (const LatticePoint& p : points)
      if (p.u >= low && p.u <= high && p.v >= low && p.v <= high) window.push_back(p);
    const auto inside = [&](const Corners& c) { return circle_within(c, low, high); };
    const auto whole = corners_of(points, DelaunayCuts::kUpright, inside);
    EXPECT_GT(whole.size(), 100U);
    EXPECT_EQ(whole, corners_of(window, DelaunayCuts::kUpright, inside)) << seed;
  }
}

void expect_parts_agree(DelaunayCuts cuts) {
  const Points points = scattered(60'000, 3, 700, 700);
  const auto one = triangulate(points, 1, cuts), three = triangulate(points, 3, cuts);
  ASSERT_EQ(one.size(), three.size());
  std::int64_t area = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    ASSERT_EQ(one[i].corner, three[i].corner);
    area += lattice_orient(points[one[i].corner[0]], points[one[i].corner[1]], points[one[i].corner[2]]);
  }
  EXPECT_EQ(area, hull_area(points));
  // Local test: across every inner side the circles are empty, which makes the whole Delaunay (Delaunay's lemma).
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> opposite;
  for (const auto& t : one)
    for (std::size_t i = 0; i < 3; ++i)
      opposite[{t.corner[i], t.corner[(i + 1) % 3]}] = t.corner[(i + 2) % 3];
  for (const auto& [side, apex] : opposite) {
    const auto behind = opposite.find({side.second, side.first});
    if (behind == opposite.end()) continue;
    ASSERT_LE(
        lattice_in_circle(points[side.first], points[side.second], points[apex], points[behind->second]), 0);
  }
}

TEST(DivideDelaunay, PartsGiveTheSameForAnyThreadCount) {
  expect_parts_agree(DelaunayCuts::kUpright);
  expect_parts_agree(DelaunayCuts::kBoth);
}

TEST(DivideDelaunay, RefusesOrderAndRangeThatItCannotUse) {
  EXPECT_THROW(triangulate({{1, 1}, {0, 0}}), Error);
  EXPECT_THROW(triangulate({{1, 1}, {1, 1}}), Error);
  EXPECT_THROW(triangulate({{-1, 1}}), Error);
  EXPECT_THROW(triangulate({{1 << 22, 1}}), Error);
}

std::vector<Vec2d> plane_points(std::uint64_t seed, std::size_t most) {
  std::vector<Vec2d> points;
  for (const Vec3d& p : nasty_clouds::cloud(seed, most))
    points.push_back({exact_coordinate(p.x), exact_coordinate(p.y)});
  std::sort(points.begin(), points.end(),
            [](const Vec2d& a, const Vec2d& b) { return a.x != b.x ? a.x < b.x : a.y < b.y; });
  points.erase(std::unique(points.begin(), points.end()), points.end());
  return points;
}

TEST(DivideDelaunay, CirclesAreEmptyForNastyClouds) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 1);
  for (std::uint64_t seed = 0; seed < test::fuzz_runs(2000); ++seed) {
    SCOPED_TRACE(seed);
    const std::vector<Vec2d> points = plane_points(seed, 40);
    const DelaunayCuts cuts = seed % 2 == 0 ? DelaunayCuts::kUpright : DelaunayCuts::kBoth;
    const DivideDelaunay<Vec2d> mesh({points.data(), points.size()}, ctx, cuts);
    std::map<std::pair<std::uint32_t, std::uint32_t>, int> sides;
    std::set<std::uint32_t> corners;
    std::size_t count = 0;
    DelaunayTriangle t{};
    for (std::size_t slot = 0; slot < mesh.slots(); ++slot) {
      if (!mesh.triangle(slot, t)) continue;
      ++count;
      const Vec2d &a = points[t.corner[0]], &b = points[t.corner[1]], &c = points[t.corner[2]];
      ASSERT_GT(orient_2d(a, b, c), 0);
      for (const Vec2d& d : points) ASSERT_LE(in_circle(a, b, c, d), 0);
      for (std::size_t i = 0; i < 3; ++i) {
        ASSERT_EQ((++sides[{t.corner[i], t.corner[(i + 1) % 3]}]), 1);
        corners.insert(t.corner[i]);
        if (!t.on_hull[i]) continue;
        for (const Vec2d& d : points)
          ASSERT_GE(orient_2d(points[t.corner[i]], points[t.corner[(i + 1) % 3]], d), 0);
      }
    }
    if (count == 0) {
      for (std::size_t i = 0; i + 2 < points.size(); ++i)
        ASSERT_EQ(orient_2d(points[i], points[i + 1], points[i + 2]), 0);
      continue;
    }
    std::size_t hull = 0;
    for (const auto& [side, one] : sides) hull += sides.count({side.second, side.first}) == 0 ? 1 : 0;
    EXPECT_EQ(corners.size(), points.size());
    EXPECT_EQ(count, 2 * points.size() - 2 - hull);  // Euler
  }
}

struct Marks {
  std::uint32_t nx, ny;
  std::vector<std::uint8_t> marked;
};

Marks random_marks(std::uint64_t seed) {
  Marks m{static_cast<std::uint32_t>(1 + random_u64(seed, 0) % 23),
          static_cast<std::uint32_t>(1 + random_u64(seed, 1) % 19),
          {}};
  const double share = random_unit(seed, 2) * random_unit(seed, 3);
  for (std::uint64_t c = 0; c < std::uint64_t{m.nx} * m.ny; ++c)
    m.marked.push_back(random_unit(seed, 4 + c) < share);
  return m;
}

TEST(NearestCells, MatchBruteForceAndItsTies) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Marks m = random_marks(seed);
    const Span<const std::uint8_t> view{m.marked.data(), m.marked.size()};
    const auto nearest = nearest_cells(m.nx, m.ny, view, ctx);
    const CellSearch search(m.nx, m.ny, view, ctx);
    std::vector<CellNeighbor> found;
    for (std::uint32_t c = 0; c < m.marked.size(); ++c) {
      std::vector<std::array<std::uint64_t, 3>> all;  // squared distance, column, row
      for (std::uint32_t d = 0; d < m.marked.size(); ++d) {
        const std::int64_t dx = std::int64_t{c % m.nx} - d % m.nx, dy = std::int64_t{c / m.nx} - d / m.nx;
        if (m.marked[d] != 0)
          all.push_back({static_cast<std::uint64_t>(dx * dx + dy * dy), d % m.nx, d / m.nx});
      }
      std::sort(all.begin(), all.end());
      ASSERT_EQ(nearest[c], all.empty() ? kNoCell : all[0][2] * m.nx + all[0][1]) << seed;
      search.nearest(c % m.nx, c / m.nx, 5, found);
      ASSERT_EQ(found.size(), std::min<std::size_t>(5, all.size()));
      std::sort(all.begin(), all.end(), [&](const auto& a, const auto& b) {
        return a[0] != b[0] ? a[0] < b[0] : a[2] * m.nx + a[1] < b[2] * m.nx + b[1];
      });
      for (std::size_t k = 0; k < found.size(); ++k) ASSERT_EQ(found[k].cell, all[k][2] * m.nx + all[k][1]);
    }
  }
}

TEST(RasterHull, HoldsWhatEveryHalfPlaneOfThePointsHolds) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Marks m = random_marks(seed);
    const auto hull = raster_hull(m.nx, m.ny, {m.marked.data(), m.marked.size()}, ctx);
    Points points;
    for (std::int32_t c = 0; c < static_cast<std::int32_t>(m.marked.size()); ++c)
      if (m.marked[static_cast<std::size_t>(c)] != 0)
        points.push_back({c / static_cast<std::int32_t>(m.nx), c % static_cast<std::int32_t>(m.nx)});
    const auto outside =
        [&](const LatticePoint& q) {  // some line through two points parts q from all of them
          for (const auto& a : points)
            for (const auto& b : points)
              if (!(a == b) && lattice_orient(a, b, q) < 0 &&
                  std::all_of(points.begin(), points.end(),
                              [&](const auto& p) { return lattice_orient(a, b, p) >= 0; }))
                return true;
          return false;
        };
    bool line = true;
    for (const auto& p : points) line = line && lattice_orient(points.front(), points.back(), p) == 0;
    ASSERT_EQ(hull.degenerate, line) << seed;
    if (line) continue;
    for (std::int32_t j = 0; j < static_cast<std::int32_t>(m.ny); ++j)
      for (std::int32_t i = 0; i < static_cast<std::int32_t>(m.nx); ++i) {
        const HullRow& row = hull.rows[static_cast<std::size_t>(j)];
        ASSERT_EQ(i >= row.first && i <= row.last, !outside({j, i})) << seed << " " << j << " " << i;
      }
  }
}

}  // namespace
}  // namespace pc
