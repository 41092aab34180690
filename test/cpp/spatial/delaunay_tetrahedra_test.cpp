#include "spatial/delaunay_tetrahedra.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/error.h"
#include "support/fuzz_runs.h"
#include "support/nasty_clouds.h"

namespace pc {
namespace {

using Cell = std::array<std::uint32_t, 4>;

std::vector<Vec3d> exact(std::vector<Vec3d> points) {
  for (Vec3d& p : points) p = exact_point(p);
  return points;
}

DelaunayTetrahedra cells_of(const std::vector<Vec3d>& points, int threads = 1) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return {{points.data(), points.size()}, "Inserting points", ctx};
}

/// Tetrahedra by rows of the points, with ascending corners, in ascending order.
std::set<Cell> rows_of(const DelaunayTetrahedra& cells) {
  std::set<Cell> out;
  for (std::size_t slot = 0; slot < cells.slots(); ++slot) {
    if (!cells.is_finite_cell(slot)) continue;
    Cell rows = cells.corners(slot);
    for (std::uint32_t& row : rows) row = cells.row(row);
    std::sort(rows.begin(), rows.end());
    EXPECT_TRUE(out.insert(rows).second);
  }
  return out;
}

/// Tetrahedra have positive volume and empty spheres, share their faces in pairs, and every place is in one of them.
void expect_delaunay(const std::vector<Vec3d>& points) {
  const DelaunayTetrahedra cells = cells_of(points);
  std::map<std::array<std::uint32_t, 3>, int> faces;
  std::set<std::size_t> corners;
  for (std::size_t slot = 0; slot < cells.slots(); ++slot) {
    if (!cells.is_finite_cell(slot)) continue;
    const auto& c = cells.corners(slot);
    const auto at = [&](std::size_t i) { return cells.vertices()[c[i]]; };
    ASSERT_GT(orient_3d(at(0), at(1), at(2), at(3)), 0);
    for (const Vec3d& p : points) ASSERT_LE(in_sphere(at(0), at(1), at(2), at(3), p), 0);
    for (std::size_t i = 0; i < 4; ++i) {
      corners.insert(c[i]);
      const auto& f = DelaunayTetrahedra::kFace[i];
      std::array<std::uint32_t, 3> face{c[f[0]], c[f[1]], c[f[2]]};
      ASSERT_GT(orient_3d(at(f[0]), at(f[1]), at(f[2]), at(i)), 0);
      const auto& behind = cells.corners(cells.neighbor(slot, i));
      std::sort(face.begin(), face.end());
      for (const std::uint32_t v : face) ASSERT_NE(std::find(behind.begin(), behind.end(), v), behind.end());
      ++faces[face];
      if (cells.is_finite_cell(cells.neighbor(slot, i))) continue;
      for (const Vec3d& p : points)
        ASSERT_GE(orient_3d(at(f[0]), at(f[1]), at(f[2]), p), 0) << "not on the hull";
    }
  }
  std::set<std::array<double, 3>> places;
  for (const Vec3d& p : points) places.insert({p.x, p.y, p.z});
  if (cells.dimension() < 3) {
    EXPECT_TRUE(faces.empty());
    for (std::size_t i = 0; i + 3 < points.size(); ++i)
      ASSERT_EQ(orient_3d(points[i], points[i + 1], points[i + 2], points[i + 3]), 0);
    return;
  }
  EXPECT_EQ(corners.size(), places.size());
  // Euler: a ball has V - E + F - T = 1.
  std::set<std::array<std::uint32_t, 2>> edges;
  for (const auto& [face, count] : faces) {
    ASSERT_LE(count, 2);
    edges.insert({face[0], face[1]});
    edges.insert({face[0], face[2]});
    edges.insert({face[1], face[2]});
  }
  const auto n = [](std::size_t count) { return static_cast<std::int64_t>(count); };
  EXPECT_EQ(n(places.size()) - n(edges.size()) + n(faces.size()) - n(rows_of(cells).size()), 1);
}

TEST(DelaunayTetrahedra, SpheresAreEmptyForNastyClouds) {
  for (std::uint64_t seed = 0; seed < test::fuzz_runs(1500); ++seed) {
    SCOPED_TRACE(seed);
    expect_delaunay(exact(nasty_clouds::cloud(seed, 24)));
    if (HasFatalFailure()) return;
  }
}

TEST(DelaunayTetrahedra, DoNotDependOnTheOrderOfThePoints) {
  std::vector<Vec3d> lattice;
  for (int i = 0; i < 216; ++i) lattice.push_back({i % 6 * 0.5, i / 6 % 6 * 0.5, i / 36 * 0.5});
  const std::set<Cell> cells = rows_of(cells_of(lattice));
  EXPECT_GE(cells.size(), 125U * 5);
  std::vector<std::uint32_t> order(lattice.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  for (std::uint32_t i = 0; i < order.size(); ++i)
    std::swap(order[i], order[random_u64(3, i) % order.size()]);
  std::vector<Vec3d> shuffled;
  for (const std::uint32_t row : order) shuffled.push_back(lattice[row]);
  std::set<Cell> back;
  for (Cell cell : rows_of(cells_of(shuffled, 3))) {
    for (std::uint32_t& row : cell) row = order[row];
    std::sort(cell.begin(), cell.end());
    back.insert(cell);
  }
  EXPECT_EQ(cells, back);
}

TEST(DelaunayTetrahedra, TellThePointsOfAPlaneALineAndAPlace) {
  EXPECT_EQ(cells_of({}).dimension(), -1);
  EXPECT_EQ(cells_of({{1, 2, 3}, {1, 2, 3}}).dimension(), 0);
  EXPECT_EQ(cells_of({{0, 0, 0}, {1, 2, 3}, {2, 4, 6}, {3, 6, 9}}).dimension(), 1);
  EXPECT_EQ(cells_of({{0, 0, 1}, {1, 2, 1}, {2, 4, 1}, {3, 9, 1}, {5, 5, 1}}).dimension(), 2);
  EXPECT_EQ(cells_of({{0, 0, 1}, {1, 2, 1}, {2, 4, 1}, {3, 9, 1}, {5, 5, 2}}).dimension(), 3);
}

TEST(DelaunayTetrahedra, RefuseCloudsOfQuadraticSize) {
  std::vector<Vec3d> lines;
  for (int i = 0; i < 1500; ++i) lines.push_back(i % 2 == 0 ? Vec3d{1.0 * i, 0, 0} : Vec3d{0, 1.0 * i, 1});
  try {
    cells_of(lines);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kOutOfMemory);
    EXPECT_NE(std::string(error.what()).find("more than 64 tetrahedra each"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace pc
