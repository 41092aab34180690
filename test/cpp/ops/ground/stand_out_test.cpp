#include "ops/ground/stand_out.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "ops/ground/ground_class.h"

namespace pc {
namespace {

constexpr double kThreshold = 0.2;
constexpr std::uint32_t kSide = 20;

constexpr Lattice lattice() {
  return {.x_min = 0,
          .y_min = 0,
          .size = 1,
          .z_origin = 0,
          .pad = 0,
          .slope_x = 0,
          .slope_y = 0,
          .nx = kSide,
          .ny = kSide};
}

/// Points that are all ground, cells of a metre with the lowest of them, and what is left of the labels.
std::vector<int> kept(const std::vector<Vec3d>& xyz, int threads = 2) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  const Lattice cells_of = lattice();
  CellLevel level{kSide, kSide, 1, BulkVector<CellPoint>(kSide * kSide),
                  BulkVector<std::uint8_t>(kSide * kSide)};
  SurfaceGrid far{cells_of, BulkVector<float>(kSide * kSide)};
  for (std::size_t cell = 0; cell < level.cells(); ++cell)
    level.points[cell].height = far.height[cell] = std::numeric_limits<float>::quiet_NaN();
  for (const Vec3d& p : xyz) {
    const std::size_t cell = cells_of.cell_of(p);
    const auto height = static_cast<float>(p.z);
    if (level.points[cell].height <= height) continue;
    level.points[cell] = cell_point(place_in_cell(cells_of.position_of(p)), height);
    level.ground[cell] = 1;
    far.height[cell] = height;
  }
  const GroundCells cells(cells_of, std::move(level));
  const BulkVector<CellPlane> planes = cells.planes(far, ctx);
  Column<std::uint8_t> classes(xyz.size());
  for (std::size_t i = 0; i < xyz.size(); ++i) classes[i] = static_cast<std::uint8_t>(GroundClass::kGround);
  const std::uint64_t dropped =
      drop_points_that_stand_out(HitPoints::assume_hits({xyz.data(), xyz.size()}),
                                 {cells_of, cells, planes, kThreshold}, kGroundConstants, classes, ctx);
  std::vector<int> ground;
  for (std::size_t i = 0; i < xyz.size(); ++i) ground.push_back(classes[i] == 1 ? 1 : 0);
  EXPECT_EQ(dropped, static_cast<std::uint64_t>(std::count(ground.begin(), ground.end(), 0)));
  return ground;
}

/// A number of -0.5 .. 0.5 from two others.
double scatter(int x, int y) {
  return std::fmod(std::abs(std::sin(12.9898 * x + 78.233 * y) * 43758.5453), 1) - 0.5;
}

/// Two points a cell.
template <class Height>
std::vector<Vec3d> field(const Height& height) {
  std::vector<Vec3d> xyz;
  for (int y = 0; y < static_cast<int>(kSide); ++y) {
    for (int x = 0; x < static_cast<int>(kSide); ++x) {
      for (const double off : {-0.2, 0.25}) xyz.push_back({x + off, y - off, height(x + off, y - off)});
    }
  }
  return xyz;
}

std::vector<std::size_t> dropped(const std::vector<int>& ground) {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < ground.size(); ++i)
    if (ground[i] == 0) rows.push_back(i);
  return rows;
}

TEST(StandOut, APlantInItsOwnCellIsTakenOutAndGroundIsKept) {
  for (const double slope : {0.0, 0.4, 1.0}) {
    std::vector<Vec3d> xyz = field([&](double x, double y) {
      return slope * x + 0.05 * scatter(static_cast<int>(4 * x), static_cast<int>(4 * y));
    });
    EXPECT_TRUE(dropped(kept(xyz)).empty()) << slope;
    // Both points of a cell, so that its lowest is one of them.
    const std::size_t cell = 2 * (10 * kSide + 10);
    for (const std::size_t i : {cell, cell + 1}) xyz[i].z += 0.7;
    EXPECT_EQ(dropped(kept(xyz)), (std::vector<std::size_t>{cell, cell + 1})) << slope;
  }
}

TEST(StandOut, FacesAndTerracesAreKept) {
  std::vector<Vec3d> xyz = field([](double x, double) { return x < 10 ? 0.0 : 8.0; });
  for (int y = 0; y < static_cast<int>(kSide); ++y) {
    for (const double z : {2.0, 4.0, 6.0}) xyz.push_back({10, static_cast<double>(y), z});
  }
  EXPECT_TRUE(dropped(kept(xyz)).empty());
}

TEST(StandOut, APlantDoesNotSupportTheOneBesideIt) {
  std::vector<Vec3d> xyz = field([](double, double) { return 0.0; });
  const std::size_t cell = 2 * (10 * kSide + 10);
  for (std::size_t i = cell; i < cell + 4; ++i) xyz[i].z += 0.7;
  EXPECT_EQ(dropped(kept(xyz)), (std::vector<std::size_t>{cell, cell + 1, cell + 2, cell + 3}));
}

TEST(StandOut, TheHighestPointsAroundCountToo) {
  // The upper of two layers, which share three columns of cells.
  std::vector<Vec3d> xyz;
  for (int y = 0; y < static_cast<int>(kSide); ++y) {
    for (int x = 0; x < static_cast<int>(kSide); ++x) {
      if (x <= 11) xyz.push_back({static_cast<double>(x), static_cast<double>(y), 0});
      if (x >= 9) xyz.push_back({x + 0.2, static_cast<double>(y), 2});
    }
  }
  EXPECT_TRUE(dropped(kept(xyz)).empty());
}

TEST(StandOut, FewPointsAroundJudgeNothing) {
  EXPECT_TRUE(dropped(kept({{5, 5, 0}, {6, 5, 3}, {6, 6, 0}, {5, 6, 0}, {7, 5, 0}})).empty());
}

TEST(StandOut, NeitherThreadsNorOrderChangeTheLabels) {
  std::vector<Vec3d> xyz = field([](double x, double y) {
    return 0.3 * y + scatter(static_cast<int>(4 * x), static_cast<int>(4 * y)) * (x > 12 ? 1.5 : 0.1);
  });
  for (std::size_t i = 0; i < xyz.size(); i += 37) xyz[i].z += 0.6;
  const std::vector<int> ground = kept(xyz, 1);
  EXPECT_GT(dropped(ground).size(), 5U);
  EXPECT_EQ(kept(xyz, 4), ground);
  std::vector<Vec3d> turned(xyz.rbegin(), xyz.rend());
  std::vector<int> reversed = kept(turned);
  std::reverse(reversed.begin(), reversed.end());
  EXPECT_EQ(reversed, ground);
}

}  // namespace
}  // namespace pc
