#include "ops/dem/slope_correction.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "core/memory.h"
#include "core/random.h"
#include "ops/dem/terrain_raster.h"

namespace pc {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr RasterMethod kMethods[] = {RasterMethod::kTin, RasterMethod::kNearest, RasterMethod::kIdw};
using Cloud = std::vector<Vec3d>;
using Surface = std::function<double(double, double)>;

TerrainRasterResult run(const Cloud& cloud, const RasterFrame& frame, RasterMethod method, bool at_centers,
                        RasterGaps gaps = RasterGaps::kLeave, double percentile = 5) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  return terrain_raster(HitPoints::assume_hits({cloud.data(), cloud.size()}),
                        {frame, percentile, method, gaps, at_centers}, {}, ctx);
}

/// Points anywhere in the grid.
Cloud scattered(const RasterFrame& frame, double per_cell, const Surface& z, std::uint64_t seed = 1) {
  Cloud cloud;
  for (std::size_t k = 0; k < static_cast<std::size_t>(per_cell * static_cast<double>(frame.cells())); ++k) {
    const double x = frame.min_x + frame.nx * frame.cell * random_unit(seed, 2 * k),
                 y = frame.min_y + frame.ny * frame.cell * random_unit(seed, 2 * k + 1);
    cloud.push_back({x, y, z(x, y)});
  }
  return cloud;
}

double rms(const TerrainRasterResult& raster, const RasterFrame& frame, const Surface& z) {
  double sum = 0;
  std::size_t count = 0;
  for (std::size_t c = 0; c < frame.cells(); ++c) {
    if (std::isnan(raster.z[c])) continue;
    const double error = raster.z[c] - z(frame.center_x(c % frame.nx), frame.center_y(c / frame.nx));
    sum += error * error;
    ++count;
  }
  return std::sqrt(sum / static_cast<double>(count));
}

constexpr RasterFrame kFrame{100, 200, 0.5, 60, 50};

TEST(SlopeCorrection, TinBringsPlanesBackToAnEighthOfTheError) {
  const Surface plane = [](double x, double y) { return 3 + 0.25 * (x - 100) - 0.5 * (y - 200); };
  for (const double per_cell : {0.3, 1.0, 4.0, 30.0}) {
    const Cloud cloud = scattered(kFrame, per_cell, plane);
    const double before = rms(run(cloud, kFrame, RasterMethod::kTin, false), kFrame, plane),
                 after = rms(run(cloud, kFrame, RasterMethod::kTin, true), kFrame, plane);
    EXPECT_GT(before, 0.05);
    EXPECT_LT(after, 0.125 * before) << per_cell;
  }
}

TEST(SlopeCorrection, NearestAndIdwGainLess) {
  // Three points per cell leave one cell in twenty empty; kNearest fills it with the same error as before.
  const Surface plane = [](double x, double y) { return 0.4 * x - 0.3 * y; };
  const Cloud cloud = scattered(kFrame, 3, plane);
  for (const auto& [method, most] : {std::pair{RasterMethod::kNearest, 0.6}, {RasterMethod::kIdw, 0.2}}) {
    const double before = rms(run(cloud, kFrame, method, false), kFrame, plane),
                 after = rms(run(cloud, kFrame, method, true), kFrame, plane);
    EXPECT_LT(after, most * before) << static_cast<int>(method);
  }
}

/// The rule of the header, cell by cell, for a grid whose cells all hold one point.
std::vector<double> by_hand(const RasterFrame& f, const Cloud& points) {
  const auto nx = static_cast<int>(f.nx), ny = static_cast<int>(f.ny);
  std::vector<double> z;
  for (const Vec3d& p : points) z.push_back(p.z);
  const std::vector<double> own = z;
  for (int pass = 0; pass < 2; ++pass) {
    const std::vector<double> from = z;
    for (int c = 0; c < nx * ny; ++c) {
      const auto at = static_cast<std::size_t>(c);
      double moved = own[at], low = own[at], high = own[at];
      for (const bool along_x : {true, false}) {
        const int number = along_x ? c % nx : c / nx, count = along_x ? nx : ny, step = along_x ? 1 : nx;
        std::vector<double> sides;
        if (number > 0) sides.push_back(from[at] - from[static_cast<std::size_t>(c - step)]);
        if (number + 1 < count) sides.push_back(from[static_cast<std::size_t>(c + step)] - from[at]);
        if (number > 0) {
          low = std::min(low, from[static_cast<std::size_t>(c - step)]);
          high = std::max(high, from[static_cast<std::size_t>(c - step)]);
        }
        if (number + 1 < count) {
          low = std::min(low, from[static_cast<std::size_t>(c + step)]);
          high = std::max(high, from[static_cast<std::size_t>(c + step)]);
        }
        double slope = 0;
        if (sides.size() == 2) {
          const double most = 3 * std::min(std::abs(sides[0]), std::abs(sides[1])) + 0.2 * f.cell;
          slope = std::clamp((sides[0] + sides[1]) / 2, -most, most);
        } else if (sides.size() == 1) {
          double flatter = 0;
          if (count >= 3) {
            const int inward = number == 0 ? 1 : -1;
            const double first = from[static_cast<std::size_t>(c + inward * step)],
                         second = from[static_cast<std::size_t>(c + 2 * inward * step)];
            if ((first > from[at]) == (second > first))
              flatter = std::min(std::abs(sides[0]), std::abs(second - first));
          }
          const double most = 3 * flatter + 0.2 * f.cell;
          slope = std::clamp(sides[0], -most, most);
        }
        const Vec3d& p = points[at];
        const double place = along_x ? (p.x - f.center_x(static_cast<std::size_t>(number))) / f.cell
                                     : (p.y - f.center_y(static_cast<std::size_t>(number))) / f.cell;
        moved -= slope * place;
      }
      z[at] = std::clamp(moved, low, high);
    }
  }
  return z;
}

TEST(SlopeCorrection, IsTheRuleOfTheHeader) {
  for (const auto& [nx, ny] : {std::pair{8U, 7U}, {9U, 1U}, {1U, 9U}, {3U, 4U}, {2U, 2U}, {1U, 1U}}) {
    const RasterFrame frame{-3, 7, 2, nx, ny};
    Cloud points;
    for (std::size_t c = 0; c < frame.cells(); ++c)
      points.push_back({frame.min_x + 2 * (static_cast<double>(c % nx) + random_unit(1, c)),
                        frame.min_y + 2 * (static_cast<double>(c / nx) + random_unit(2, c)),
                        10 * random_unit(3, c)});
    const auto expected = by_hand(frame, points);
    for (const RasterMethod method : kMethods) {
      const auto result = run(points, frame, method, true);
      for (std::size_t c = 0; c < frame.cells(); ++c) EXPECT_NEAR(result.z[c], expected[c], 1e-5) << c;
    }
  }
}

TEST(SlopeCorrection, LeavesPointsAtCentresAndLevelGroundAsTheyAre) {
  const Surface wave = [](double x, double y) { return std::sin(x) + std::cos(y); };
  Cloud centred;
  for (std::size_t c = 0; c < kFrame.cells(); ++c) {
    const double x = kFrame.center_x(c % 60), y = kFrame.center_y(c / 60);
    if (random_unit(4, c) < 0.6) centred.push_back({x, y, wave(x, y)});
  }
  const Cloud level = scattered(kFrame, 0.7, [](double, double) { return 12.5; });
  for (const RasterMethod method : kMethods) {
    for (const Cloud& cloud : {centred, level}) {
      const auto plain = run(cloud, kFrame, method, false), corrected = run(cloud, kFrame, method, true);
      EXPECT_EQ(plain.void_count, corrected.void_count);
      for (std::size_t c = 0; c < kFrame.cells(); ++c) {
        if (!std::isnan(plain.z[c])) {
          ASSERT_EQ(plain.z[c], corrected.z[c]);
        }
      }
    }
  }
}

/// How far a cell beside a wall may move along one axis, in cells: half a cell along the slope of 0.2 that is always
/// believed, in the second pass with three times what the first one moved the flatter side.
constexpr double kHeld = 0.5 * 0.2 + 3 * (0.5 * 0.2) * 0.5;

/// One point a cell, off the centre along x, or along y in the transposed grid.
Cloud off_centers(const RasterFrame& frame, const std::function<double(std::size_t)>& place,
                  const std::function<double(std::size_t, std::size_t)>& z, bool transposed) {
  Cloud cloud;
  for (std::size_t j = 0; j < frame.ny; ++j)
    for (std::size_t i = 0; i < frame.nx; ++i) {
      const double along = place(i + j * frame.nx) * frame.cell;
      const double x = frame.center_x(i) + (transposed ? 0 : along),
                   y = frame.center_y(j) + (transposed ? along : 0);
      const double height = transposed ? z(j, i) : z(i, j);
      if (!std::isnan(height)) cloud.push_back({x, y, height});
    }
  return cloud;
}

/// Places at the west side, at the east side, anywhere.
const std::function<double(std::size_t)> kPlaces[] = {[](std::size_t) { return -0.45; },
                                                      [](std::size_t) { return 0.45; },
                                                      [](std::size_t c) { return random_unit(11, c) - 0.5; }};

/// Largest difference of the values of cells with and without correction.
double farthest_move(const Cloud& cloud, const RasterFrame& frame, RasterMethod method) {
  const auto plain = run(cloud, frame, method, false), corrected = run(cloud, frame, method, true);
  double farthest = 0;
  for (std::size_t c = 0; c < frame.cells(); ++c)
    if (!std::isnan(plain.z[c])) farthest = std::max(farthest, std::abs(corrected.z[c] - plain.z[c]));
  return farthest;
}

TEST(SlopeCorrection, AWallIsNoSlopeAtTheRimEither) {
  for (const bool transposed : {false, true}) {
    for (const std::size_t across : {2U, 3U, 9U}) {
      const auto nx = static_cast<std::uint32_t>(across);
      const RasterFrame frame{100, 200, 0.5, transposed ? 7U : nx, transposed ? nx : 7U};
      for (std::size_t wall = 1; wall < across; ++wall) {
        for (const auto& place : kPlaces) {
          for (const double height : {8.0, -8.0}) {
            const Cloud cloud = off_centers(
                frame, place, [&](std::size_t i, std::size_t) { return i < wall ? 0 : height; }, transposed);
            for (const RasterMethod method : kMethods)
              EXPECT_LE(farthest_move(cloud, frame, method), kHeld * frame.cell) << across << " " << wall;
          }
        }
      }
    }
  }
}

TEST(SlopeCorrection, AWallBesideAVoidIsNoSlope) {
  // The hull ends at the diagonal: its cells have a neighbour on one side of each axis.
  const RasterFrame frame{100, 200, 0.5, 12, 12};
  for (const bool transposed : {false, true}) {
    for (const std::size_t wall : {1U, 2U, 3U}) {
      for (const auto& place : kPlaces) {
        const Cloud cloud = off_centers(
            frame, place,
            [&](std::size_t i, std::size_t j) { return i < j          ? kNaN
                                                       : i - j < wall ? 0.0
                                                                      : 8.0; },
            transposed);
        for (const RasterMethod method : kMethods)
          EXPECT_LE(farthest_move(cloud, frame, method), kHeld * frame.cell) << wall;
      }
    }
  }
}

TEST(SlopeCorrection, OneBadPointMovesNoNeighbour) {
  const RasterFrame frame{100, 200, 0.5, 8, 7};
  for (const bool transposed : {false, true}) {
    const std::size_t nx = transposed ? 7 : 8, ny = transposed ? 8 : 7;
    for (std::size_t bad = 0; bad < nx * ny; ++bad) {
      for (const auto& place : kPlaces) {
        const Cloud cloud = off_centers(
            frame, place, [&](std::size_t i, std::size_t j) { return j * nx + i == bad ? 30.0 : 0.0; },
            transposed);
        EXPECT_LE(farthest_move(cloud, frame, RasterMethod::kTin), kHeld * frame.cell) << bad;
      }
    }
  }
}

TEST(SlopeCorrection, ASteepSlopeAtTheRimIsOne) {
  // One place in all cells: all differences are exact.
  const RasterFrame frame{0, 0, 0.5, 7, 7};
  for (const bool transposed : {false, true}) {
    for (const bool diagonal : {false, true}) {
      for (const double slope : {2.0, -2.0}) {
        for (const double place : {-0.25, 0.25}) {
          const Cloud cloud = off_centers(
              frame, [&](std::size_t) { return place; },
              [&](std::size_t i, std::size_t j) {
                return diagonal && i < j ? kNaN : slope * (frame.center_x(i) + place * 0.5);
              },
              transposed);
          const auto result = run(cloud, frame, RasterMethod::kTin, true);
          std::size_t checked = 0;
          for (std::size_t j = 0; j < 7; ++j) {
            for (std::size_t i = diagonal ? j : 0; i < 7; ++i) {
              const std::size_t first = diagonal ? j : 0, from_end = place < 0 ? 6 - i : i - first;
              // The end that would leave its neighbours stays, which the cell beside it sees in the second pass.
              if (7 - first < 3 || from_end < 2) continue;
              EXPECT_NEAR(result.z[transposed ? i * 7 + j : j * 7 + i], slope * frame.center_x(i), 1e-6);
              ++checked;
            }
          }
          EXPECT_EQ(checked, diagonal ? 15U : 35U);
        }
      }
    }
  }
}

TEST(SlopeCorrection, ACliffIsNotOvershot) {
  const Surface cliff = [](double x, double y) { return x < 115.1 + 0.2 * std::sin(y) ? 0.0 : 9.0; };
  for (const double per_cell : {0.5, 3.0}) {
    const Cloud cloud = scattered(kFrame, per_cell, cliff);
    for (const RasterMethod method : kMethods) {
      const auto result = run(cloud, kFrame, method, true, RasterGaps::kFill);
      for (std::size_t c = 0; c < kFrame.cells(); ++c) {
        ASSERT_GE(result.z[c], 0 - 1e-9);
        ASSERT_LE(result.z[c], 9 + 1e-9);
      }
    }
  }
}

TEST(SlopeCorrection, VoidsStayVoidAndOutsideTakesTheCorrectedCell) {
  const Surface plane = [](double x, double y) { return x - y; };
  const Cloud cloud = scattered({110, 210, 0.5, 20, 20}, 2, plane);
  for (const RasterMethod method : kMethods) {
    const auto plain = run(cloud, kFrame, method, false), corrected = run(cloud, kFrame, method, true),
               filled = run(cloud, kFrame, method, true, RasterGaps::kFill);
    EXPECT_GT(plain.void_count, 2000U);
    EXPECT_EQ(filled.void_count, 0U);
    std::size_t changed = 0;
    for (std::size_t c = 0; c < kFrame.cells(); ++c) {
      ASSERT_EQ(std::isnan(plain.z[c]), std::isnan(corrected.z[c]));
      if (std::isnan(plain.z[c])) continue;
      ASSERT_EQ(filled.z[c], corrected.z[c]);
      changed += plain.z[c] != corrected.z[c];
    }
    EXPECT_GT(changed, 300U);
    EXPECT_EQ(filled.z[0], corrected.z[20 * 60 + 20]);  // the nearest cell of the corner
  }
}

TEST(SlopeCorrection, HoldsOnTheWorstClouds) {
  const RasterFrame frame{0, 0, 1, 5, 4};
  const Cloud lone{{2.2, 1.7, 3}}, same(50, Vec3d{2.2, 1.7, 3}), pair{{0.1, 0.1, 1}, {4.9, 0.2, 5}},
      diagonal{{0.1, 0.4, 0}, {1.6, 1.2, 4}, {2.9, 2.1, 8}},
      broken{{kNaN, 1, 1}, {1, kNaN, 1}, {1, 1, kNaN}, {2.2, 1.7, 3}},
      huge{{0.1, 0.1, -1e308}, {1.2, 0.2, 1e308}, {0.3, 1.8, 1e308}, {1.9, 1.1, -1e308}};
  for (const RasterMethod method : kMethods) {
    for (const Cloud& cloud : {Cloud{}, lone, same, pair, diagonal, broken, huge}) {
      const auto plain = run(cloud, frame, method, false), result = run(cloud, frame, method, true);
      EXPECT_EQ(plain.void_count, result.void_count);
      EXPECT_EQ(plain.populated_count, result.populated_count);
    }
    for (const Cloud& cloud : {lone, same, broken}) EXPECT_EQ(run(cloud, frame, method, true).z[7], 3);
  }
}

TEST(SlopeCorrection, StaysWithinTheMemoryThatIsReserved) {
  const RasterFrame frame{0, 0, 1, 400, 400};
  for (const double per_cell : {0.05, 0.7, 12.0}) {
    const Cloud cloud = scattered(frame, per_cell, [](double x, double y) { return x + y; });
    for (const RasterMethod method : kMethods) {
      const std::uint64_t before = bulk_bytes_in_use();
      reset_bulk_bytes_peak();
      const auto result = run(cloud, frame, method, true, RasterGaps::kFill);
      EXPECT_LE(bulk_bytes_peak() - before - 8 * frame.cells(),
                terrain_raster_bytes(cloud.size(), frame.cells()) + (1U << 20))
          << per_cell << " " << static_cast<int>(method);
      EXPECT_EQ(result.void_count, 0U);
    }
  }
}

}  // namespace
}  // namespace pc
