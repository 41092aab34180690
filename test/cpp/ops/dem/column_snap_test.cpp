#include "ops/dem/column_snap.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "support/cancel.h"
#include "support/columns.h"

namespace pc::test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

ColumnSnapResult snap(const VoxelColumns& columns, const RasterFrame& frame,
                      const std::vector<double>& terrain, int threads = 2) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return column_snap(columns, frame, {terrain.data(), terrain.size()}, ctx);
}

std::vector<double> terrain_of(const RasterFrame& frame,
                               const std::function<double(double, double)>& height) {
  std::vector<double> z;
  for (std::size_t j = 0; j < frame.ny; ++j)
    for (std::size_t i = 0; i < frame.nx; ++i) z.push_back(height(frame.center_x(i), frame.center_y(j)));
  return z;
}

const RasterFrame kFrame{100, 200, 0.5, 80, 60};  // 40 m x 30 m

VoxelColumns grid_at(double x, double y, double rotation = 0) {
  return {.center = {x, y, 10},
          .size = {8, 6, 20},
          .nx = 4,
          .ny = 3,
          .rotation_deg = rotation,
          .voxel_height = 2,
          .safety_fraction = 0.1};
}

TEST(ColumnSnap, StandsOnTheHighestCornerOfAPlane) {
  // Falls to the north, rises to the east: the highest sample is each column's south-east corner.
  const auto plane = [](double x, double y) { return 3 + 0.2 * (x - 100) - 0.1 * (y - 200); };
  const auto terrain = terrain_of(kFrame, plane);
  const ColumnSnapResult result = snap(grid_at(120, 215), kFrame, terrain);
  ASSERT_EQ(result.offsets.size(), 12U);
  EXPECT_EQ(result.dropped_count, 0U);
  for (std::size_t j = 0; j < 3; ++j) {
    for (std::size_t i = 0; i < 4; ++i) {
      const double east = 116 + 2 * (static_cast<double>(i) + 1), south = 212 + 2 * static_cast<double>(j);
      EXPECT_EQ(result.kept[j * 4 + i], 1);
      EXPECT_NEAR(result.offsets[j * 4 + i], plane(east, south) + 0.2 - 0, 1e-12);  // the floor is at z = 0
    }
  }
}

TEST(ColumnSnap, RotationIsCounterClockwiseAboutTheCentre) {
  const auto plane = [](double x, double) { return x - 100; };
  const ColumnSnapResult result = snap(grid_at(120, 215, 90), kFrame, terrain_of(kFrame, plane));
  // Local +y points to world -x: row j covers x from 120 - (2 j - 3) - 2 to 120 - (2 j - 3).
  for (std::size_t j = 0; j < 3; ++j)
    for (std::size_t i = 0; i < 4; ++i)
      EXPECT_NEAR(result.offsets[j * 4 + i], 20 - (2 * static_cast<double>(j) - 3) + 0.2, 1e-9) << j;
}

TEST(ColumnSnap, TakesEveryOneOfTheNineSamples) {
  // One column of 2 m x 2 m; a peak of one cell under one sample at a time, whose bilinear reach is below 1 m.
  const RasterFrame frame{0, 0, 0.5, 20, 20};
  const VoxelColumns one{.center = {5.25, 5.25, 1},
                         .size = {2, 2, 2},
                         .nx = 1,
                         .ny = 1,
                         .rotation_deg = 0,
                         .voxel_height = 2,
                         .safety_fraction = 0};
  for (int v = 0; v <= 2; ++v) {
    for (int u = 0; u <= 2; ++u) {
      std::vector<double> terrain(400, 0.0);
      const double x = 4.25 + u, y = 4.25 + v;  // cell centres
      terrain[frame.cell_of({x, y, 0})] = 7;
      EXPECT_EQ(snap(one, frame, terrain).offsets[0], 7) << u << " " << v;
    }
  }
  std::vector<double> terrain(400, 0.0);
  terrain[frame.cell_of({4.75, 4.75, 0})] = 7;  // between the samples
  EXPECT_EQ(snap(one, frame, terrain).offsets[0], 0);
}

TEST(ColumnSnap, DropsColumnsBesideTheRasterAndNoOthers) {
  const std::vector<double> flat(kFrame.cells(), 4.0);
  // x from 136 to 144, the raster ends at 140: two columns lie on it, the third touches its edge.
  const ColumnSnapResult result = snap(grid_at(140, 215), kFrame, flat);
  EXPECT_EQ(result.dropped_count, 3U);
  for (std::size_t c = 0; c < 12; ++c) {
    EXPECT_EQ(result.kept[c], c % 4 < 3 ? 1 : 0) << c;
    EXPECT_NEAR(result.offsets[c], c % 4 < 3 ? 4.2 : 0, 1e-12) << c;
  }
  EXPECT_EQ(snap(grid_at(500, 215), kFrame, flat).dropped_count, 12U);
}

TEST(ColumnSnap, VoidsTakeTheNearestHeight) {
  std::vector<double> terrain(kFrame.cells(), kNaN);
  terrain[0] = 3;                   // south-west
  terrain[kFrame.cells() - 1] = 9;  // north-east
  EXPECT_NEAR(snap(grid_at(106, 205), kFrame, terrain).offsets[0], 3.2, 1e-12);
  EXPECT_NEAR(snap(grid_at(134, 225), kFrame, terrain).offsets[11], 9.2, 1e-12);
}

TEST(ColumnSnap, SameForAnyThreadCount) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> uniform(0, 10);
  std::vector<double> terrain(kFrame.cells());
  for (double& z : terrain) z = uniform(random) < 2 ? kNaN : uniform(random);
  VoxelColumns columns = grid_at(121, 214, 33);
  columns.nx = 150;
  columns.ny = 110;
  columns.size = {30, 22, 20};
  const ColumnSnapResult one = snap(columns, kFrame, terrain, 1);
  for (const int threads : {2, 5}) {
    const ColumnSnapResult many = snap(columns, kFrame, terrain, threads);
    EXPECT_EQ(many.dropped_count, one.dropped_count);
    for (std::size_t c = 0; c < one.offsets.size(); ++c) ASSERT_EQ(many.offsets[c], one.offsets[c]);
  }
}

TEST(ColumnSnap, KeepsMillimetresFarFromTheOrigin) {
  const RasterFrame far{4e6, 5e6, 0.5, 80, 60};
  const auto plane = [](double x, double y) { return 100 + 0.25 * (x - 4e6) + 0.5 * (y - 5e6); };
  const ColumnSnapResult result = snap(grid_at(4e6 + 20, 5e6 + 15), far, terrain_of(far, plane));
  EXPECT_NEAR(result.offsets[0], plane(4e6 + 18, 5e6 + 14) + 0.2, 1e-9);
}

TEST(ColumnSnap, RefusesWhatIsNoGrid) {
  const std::vector<double> flat(kFrame.cells(), 4.0), voids(kFrame.cells(), kNaN), few(3, 1.0);
  const auto code = [](const VoxelColumns& columns, const std::vector<double>& terrain) {
    return code_of([&] { snap(columns, kFrame, terrain); });
  };
  EXPECT_EQ(code(grid_at(120, 215), voids), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(grid_at(120, 215), few), ErrorCode::kInvalidArgument);
  const auto with = [&](const std::function<void(VoxelColumns&)>& change) {
    VoxelColumns columns = grid_at(120, 215);
    change(columns);
    return code(columns, flat);
  };
  EXPECT_EQ(with([](VoxelColumns& c) { c.size.x = 0; }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(with([](VoxelColumns& c) { c.center.z = kNaN; }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(with([](VoxelColumns& c) { c.nx = 0; }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(with([](VoxelColumns& c) { c.nx = 4001, c.ny = 1000; }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(with([](VoxelColumns& c) { c.rotation_deg = kNaN; }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(with([](VoxelColumns& c) { c.voxel_height = 0; }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(with([](VoxelColumns& c) { c.safety_fraction = -0.1; }), ErrorCode::kInvalidArgument);
}

TEST(ColumnSnap, CancelEndsInTime) {
  const RasterFrame frame{0, 0, 0.1, 2000, 2000};
  const std::vector<double> flat(frame.cells(), 4.0);
  VoxelColumns columns{.center = {100, 100, 1},
                       .size = {200, 200, 2},
                       .nx = 2000,
                       .ny = 2000,
                       .rotation_deg = 0,
                       .voxel_height = 2,
                       .safety_fraction = 0};
  expect_cancel_in_time([&](OpContext& ctx) {
    column_snap(columns, frame, {flat.data(), flat.size()}, ctx);
  });
}

}  // namespace
}  // namespace pc::test
