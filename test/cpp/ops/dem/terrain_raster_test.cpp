#include "ops/dem/terrain_raster.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "core/random.h"
#include "ops/dem/cell_statistics.h"
#include "ops/dem/height_above_ground.h"
#include "ops/dem/pit_fill.h"
#include "ops/dem/raster_mesh.h"
#include "ops/dem/surface_raster.h"
#include "ops/dem/terrain_layers.h"
#include "spatial/divide_delaunay.h"
#include "support/cancel.h"

namespace pc {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
using Cloud = std::vector<Vec3d>;
using Surface = std::function<double(double, double)>;

HitPoints hits(const Cloud& cloud) { return HitPoints::assume_hits({cloud.data(), cloud.size()}); }

template <class T>
std::vector<T> values(const Column<T>& column) {
  return {column.view().begin(), column.view().end()};
}

/// NaN equals NaN.
template <class T>
void expect_same(const std::vector<T>& a, const std::vector<T>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    ASSERT_TRUE(a[i] == b[i] || (a[i] != a[i] && b[i] != b[i])) << i << ": " << a[i] << " " << b[i];
}

TerrainRasterResult run(const Cloud& cloud, const TerrainRasterParams& params, int threads = 2,
                        Span<const std::uint8_t> footprint = {}) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return terrain_raster(hits(cloud), params, footprint, ctx);
}

/// One point at the centre of some cells of a grid of whole metres.
Cloud centers(const RasterFrame& frame, const std::function<bool(std::size_t, std::size_t)>& has,
              const Surface& z) {
  Cloud cloud;
  for (std::size_t j = 0; j < frame.ny; ++j)
    for (std::size_t i = 0; i < frame.nx; ++i)
      if (has(i, j))
        cloud.push_back({frame.center_x(i), frame.center_y(j), z(frame.center_x(i), frame.center_y(j))});
  return cloud;
}

bool random_cell(std::size_t i, std::size_t j) { return random_unit(5, i * 1000 + j) < 0.3; }

Cloud rolling_cloud(std::size_t count, double side, std::uint64_t seed = 1) {
  Cloud cloud;
  for (std::size_t k = 0; k < count; ++k) {
    const double x = side * random_unit(seed, 3 * k), y = side * random_unit(seed, 3 * k + 1);
    cloud.push_back({x, y, 3 * std::sin(x / 5) + 2 * std::cos(y / 7) + random_unit(seed, 3 * k + 2)});
  }
  return cloud;
}

constexpr RasterFrame kFrame{100, 200, 0.5, 40, 30};

TEST(TerrainRaster, PlanesComeBackFromSparseCells) {
  const Surface plane = [](double x, double y) { return 3 + 0.25 * (x - 100) - 0.5 * (y - 200); };
  const Cloud cloud = centers(kFrame, random_cell, plane);
  const auto result = run(cloud, {kFrame, 5, RasterMethod::kTin, RasterGaps::kLeave, false});
  EXPECT_EQ(result.populated_count, cloud.size());
  std::size_t filled = 0;
  for (std::size_t c = 0; c < kFrame.cells(); ++c) {
    if (std::isnan(result.z[c])) continue;
    ++filled;
    EXPECT_NEAR(result.z[c], plane(kFrame.center_x(c % 40), kFrame.center_y(c / 40)), 1e-12);
  }
  EXPECT_GT(filled, 1000U);
  EXPECT_EQ(filled + result.void_count, kFrame.cells());
}

/// Values that some Delaunay triangulation of the known cells gives a cell: every triangle with an empty circle that
/// holds it, found by trying all.
std::vector<double> delaunay_values(const std::vector<LatticePoint>& known, const std::vector<double>& z,
                                    const LatticePoint& q) {
  std::vector<double> found;
  const std::size_t n = known.size();
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t b = 0; b < n; ++b)
      for (std::size_t c = a + 1; c < n; ++c) {
        if (b <= a || b == c) continue;
        const auto area = lattice_orient(known[a], known[b], known[c]);
        const auto wa = lattice_orient(known[b], known[c], q), wb = lattice_orient(known[c], known[a], q),
                   wc = lattice_orient(known[a], known[b], q);
        if (area <= 0 || wa < 0 || wb < 0 || wc < 0) continue;
        bool empty = true;
        for (const LatticePoint& d : known)
          empty = empty && lattice_in_circle(known[a], known[b], known[c], d) <= 0;
        if (empty)
          found.push_back((static_cast<double>(wa) * z[a] + static_cast<double>(wb) * z[b] +
                           static_cast<double>(wc) * z[c]) /
                          static_cast<double>(area));
      }
  return found;
}

TEST(TerrainRaster, TinIsADelaunayInterpolationOfAllCells) {
  const RasterFrame frame{0, 0, 1, 11, 9};
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const double share =
        0.1 + 0.8 * random_unit(seed, 0);  // blocks without a gap, which are left out, among them
    const Cloud cloud = centers(
        frame, [&](std::size_t i, std::size_t j) { return random_unit(seed, 1 + j * 11 + i) < share; },
        [&](double x, double y) {
          return 10 * random_unit(seed + 100, static_cast<std::uint64_t>(x * 100 + y));
        });
    if (cloud.size() > 60) continue;
    std::vector<LatticePoint> known;
    std::vector<double> z;
    for (const Vec3d& p : cloud) {
      known.push_back({static_cast<std::int32_t>(p.y), static_cast<std::int32_t>(p.x)});
      z.push_back(p.z);
    }
    const auto result =
        run(cloud, {frame, 5, RasterMethod::kTin, RasterGaps::kLeave, false}, 1 + static_cast<int>(seed % 3));
    if (result.on_a_line) continue;
    for (std::int32_t c = 0; c < 99; ++c) {
      const auto candidates = delaunay_values(known, z, {c / 11, c % 11});
      const double got = result.z[static_cast<std::size_t>(c)];
      if (candidates.empty()) {
        EXPECT_TRUE(std::isnan(got)) << seed << " " << c;
        continue;
      }
      const bool one = std::any_of(candidates.begin(), candidates.end(),
                                   [&](double value) { return std::abs(value - got) < 1e-12; });
      EXPECT_TRUE(one) << "seed " << seed << " cell " << c << ": " << got;
    }
  }
}

TEST(TerrainRaster, NearestAndIdwMatchBruteForce) {
  const Cloud cloud = centers(kFrame, random_cell, [](double x, double y) { return std::sin(3 * x) + y; });
  const auto raw = run(cloud, {kFrame, 5, RasterMethod::kTin, RasterGaps::kLeave, false});
  const auto nearest = run(cloud, {kFrame, 5, RasterMethod::kNearest, RasterGaps::kLeave, false});
  const auto idw = run(cloud, {kFrame, 5, RasterMethod::kIdw, RasterGaps::kLeave, false});
  EXPECT_EQ(nearest.void_count, raw.void_count);  // one hull for every method
  EXPECT_EQ(idw.void_count, raw.void_count);
  for (std::size_t c = 0; c < kFrame.cells(); ++c) {
    ASSERT_EQ(std::isnan(nearest.z[c]), std::isnan(raw.z[c]));
    if (std::isnan(raw.z[c])) continue;
    const double x = kFrame.center_x(c % 40), y = kFrame.center_y(c / 40);
    std::vector<std::pair<double, double>> near;
    for (const Vec3d& p : cloud) near.push_back({(p.x - x) * (p.x - x) + (p.y - y) * (p.y - y), p.z});
    std::stable_sort(near.begin(), near.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    const bool is_nearest = std::any_of(near.begin(), near.end(), [&](const auto& n) {
      return n.first == near[0].first && n.second == nearest.z[c];
    });
    EXPECT_TRUE(is_nearest);
    double weights = 0, sum = 0;
    for (std::size_t k = 0; k < 12; ++k) {
      const double weight = 1 / std::max(near[k].first, 1e-12);
      weights += weight;
      sum += weight * near[k].second;
    }
    const bool tie = near[11].first == near[12].first;  // which of them counts is for the numbers to say
    if (!tie) {
      EXPECT_NEAR(idw.z[c], near[0].first == 0 ? near[0].second : sum / weights, 1e-9);
    }
  }
}

TEST(TerrainRaster, GapsAreFilledAsAsked) {
  const RasterFrame frame{0, 0, 1, 10, 10};
  const Cloud cloud = centers(
      frame, [](std::size_t i, std::size_t j) { return i >= 2 && i <= 5 && j >= 2 && j <= 5; },
      [](double x, double) { return x; });
  std::vector<std::uint8_t> footprint(100);
  footprint[9 * 10 + 9] = footprint[0] = 1;
  const auto leave = run(cloud, {frame, 5, RasterMethod::kTin, RasterGaps::kLeave, false});
  EXPECT_EQ(leave.void_count, 84U);
  const auto foot =
      run(cloud, {frame, 5, RasterMethod::kTin, RasterGaps::kFootprint, false}, 2, {footprint.data(), 100});
  EXPECT_EQ(foot.void_count, 82U);
  EXPECT_EQ(foot.z[99], 5.5);
  EXPECT_EQ(foot.z[0], 2.5);
  const auto fill = run(cloud, {frame, 5, RasterMethod::kTin, RasterGaps::kFill, false});
  EXPECT_EQ(fill.void_count, 0U);
  EXPECT_EQ(fill.z[9], 5.5);
}

TEST(MedianAboveGround, IsThatOfTheSortedHeights) {
  const RasterFrame frame{0, 0, 1, 10, 8};
  std::vector<double> terrain;
  for (std::size_t cell = 0; cell < frame.cells(); ++cell)
    terrain.push_back(0.1 * static_cast<double>(cell % 10) + 0.3 * static_cast<double>(cell / 10));
  terrain[33] = std::nan("");  // a void
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> x(-0.5, 10.5), y(-0.5, 8.5);
  std::normal_distribution<double> noise(0.07, 0.05);
  std::vector<Vec3d> points;
  for (int i = 0; i < 5001; ++i) {
    const double px = x(random), py = y(random);
    points.push_back(
        {px, py,
         0.1 * std::clamp(px - 0.5, 0.0, 9.0) + 0.3 * std::clamp(py - 0.5, 0.0, 7.0) + noise(random)});
  }
  points.push_back({5, 5, 100});  // a stray
  points.push_back({5, 5, std::nan("")});
  JobControl control;
  for (int threads : {1, 3}) {
    OpContext ctx(control, Device::kCpu, threads);
    const auto hits = HitPoints::assume_hits({points.data(), points.size()});
    const double found = median_above_ground(hits, frame, {terrain.data(), terrain.size()}, ctx);
    EXPECT_NEAR(found, 0.07, 0.003) << threads;
    EXPECT_TRUE(std::isnan(
        median_above_ground(HitPoints::assume_hits({}), frame, {terrain.data(), terrain.size()}, ctx)));
    EXPECT_THROW(median_above_ground(hits, frame, {terrain.data(), 3}, ctx), Error);
  }
}

TEST(TerrainRaster, DegenerateClouds) {
  const RasterFrame frame{0, 0, 1, 5, 5};
  const auto tin = [&](const Cloud& cloud) {
    return run(cloud, {frame, 5, RasterMethod::kTin, RasterGaps::kLeave, false});
  };
  const auto none = tin({});
  EXPECT_EQ(none.void_count, 25U);
  EXPECT_EQ(none.populated_count, 0U);
  EXPECT_FALSE(none.on_a_line);
  const auto diagonal = tin({{0.5, 0.5, 1}, {1.5, 1.5, 2}, {4.5, 4.5, 5}});
  EXPECT_TRUE(diagonal.on_a_line);
  EXPECT_EQ(diagonal.void_count, 0U);
  EXPECT_EQ(diagonal.z[4 * 5 + 3], 5);
  const auto same = tin({{0.5, 0.5, 1}, {0.5, 0.5, 1}, {0.5, 0.5, 1}});
  EXPECT_EQ(same.populated_count, 1U);
  const auto three = tin({{0.5, 0.5, 1}, {4.5, 0.5, 1}, {0.5, 4.5, 5}});
  EXPECT_EQ(three.void_count, 10U);
  EXPECT_EQ(three.z[2 * 5 + 2], 3);  // on the hull's side
  const RasterFrame row{0, 0, 1, 9, 1};
  const auto one_row =
      run({{0.5, 0.5, 0}, {8.5, 0.5, 8}}, {row, 5, RasterMethod::kIdw, RasterGaps::kLeave, false});
  EXPECT_TRUE(one_row.on_a_line);
  EXPECT_EQ(one_row.z[4], 4);
  EXPECT_THROW(run({}, {{0, 0, 1, 2001, 2000}, 5, RasterMethod::kTin, RasterGaps::kLeave, false}), Error);
  EXPECT_THROW(run({}, {{0, 0, 0, 2, 2}, 5, RasterMethod::kTin, RasterGaps::kLeave, false}), Error);
  EXPECT_THROW(run({}, {frame, 101, RasterMethod::kTin, RasterGaps::kLeave, false}), Error);
}

TEST(TerrainRaster, ThreadsOrderAndTranslationChangeNothing) {
  Cloud cloud = rolling_cloud(20'000, 50);
  const RasterFrame frame{0, 0, 0.25, 200, 200};
  for (const RasterMethod method : {RasterMethod::kTin, RasterMethod::kNearest, RasterMethod::kIdw}) {
    for (const bool at_centers : {false, true}) {
      const auto made = [&](int threads) {
        return values(run(cloud, {frame, 5, method, RasterGaps::kFill, at_centers}, threads).z);
      };
      const auto one = made(1);
      expect_same(made(4), one);
      std::reverse(cloud.begin(), cloud.end());
      expect_same(made(3), one);
      Cloud far = cloud;
      for (Vec3d& p : far) p = {p.x + 0x1p20, p.y - 0x1p20, p.z + 0x1p20};
      RasterFrame there = frame;
      there.min_x += 0x1p20;
      there.min_y -= 0x1p20;
      const auto moved = run(far, {there, 5, method, RasterGaps::kFill, at_centers});
      // 2^-32 m is what a coordinate near 2^20 m keeps of the point's place: a few points change their cell. Places in
      // cells come in steps of 2^-24.
      const double bound = at_centers ? 1e-6 : 1e-9;
      std::size_t other = 0;
      for (std::size_t c = 0; c < frame.cells(); ++c) other += std::abs(moved.z[c] - 0x1p20 - one[c]) > bound;
      EXPECT_LE(other, 2U) << at_centers;
    }
  }
}

TEST(CanopyHeight, ClosesPitsAndKeepsVoids) {
  const RasterFrame frame{0, 0, 1, 5, 4};
  std::vector<double> ground(20, 10), top(20, 30);
  top[7] = 12;  // a pit
  top[0] = 5;   // below the ground, but beside higher cells: a corner is no pit
  ground[19] = kNaN;
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  const auto chm = canopy_height(frame, {ground.data(), 20}, {top.data(), 20}, ctx);
  EXPECT_EQ(chm.height[7], 20);
  EXPECT_EQ(chm.height[0], 0);
  EXPECT_EQ(chm.draped_z[7], 30);
  EXPECT_TRUE(std::isnan(chm.height[19]) && std::isnan(chm.draped_z[19]));
  EXPECT_EQ(chm.void_count, 1U);
}

TEST(PitFill, IsAClosing) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  std::vector<double> z(30 * 20);
  for (std::size_t c = 0; c < z.size(); ++c) z[c] = random_unit(1, c) < 0.2 ? kNaN : 10 * random_unit(2, c);
  const auto once = values(pit_fill(30, 20, {z.data(), z.size()}, ctx));
  const auto twice = values(pit_fill(30, 20, {once.data(), once.size()}, ctx));
  expect_same(once, twice);
  std::size_t raised = 0;
  for (std::size_t c = 0; c < z.size(); ++c) {
    EXPECT_EQ(std::isnan(z[c]), std::isnan(once[c]));
    if (std::isnan(z[c])) continue;
    EXPECT_GE(once[c], z[c]);
    raised += once[c] > z[c];
  }
  EXPECT_GT(raised, 50U);
}

TEST(HeightAboveGround, IsExactOverPlanesAndZeroForNothing) {
  const RasterFrame frame{10, 20, 0.5, 20, 20};
  std::vector<double> z;
  const Surface plane = [](double x, double y) { return 0.5 * x - 0.25 * y; };
  for (std::size_t c = 0; c < frame.cells(); ++c)
    z.push_back(plane(frame.center_x(c % 20), frame.center_y(c / 20)));
  const Cloud cloud{{12.3, 25.1, plane(12.3, 25.1) + 4},
                    {kNaN, 1, 1},
                    {10, 20, plane(10.25, 20.25) + 1},
                    {19.9, 29.9, plane(19.75, 29.75) - 2}};
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  auto heights = values(height_above_ground(hits(cloud), frame, {z.data(), z.size()}, ctx));
  EXPECT_FLOAT_EQ(heights[0], 4);
  EXPECT_EQ(heights[1], 0);
  EXPECT_FLOAT_EQ(heights[2], 1);
  EXPECT_FLOAT_EQ(heights[3], -2);
  std::fill(z.begin(), z.end(), kNaN);
  heights = values(height_above_ground(hits(cloud), frame, {z.data(), z.size()}, ctx));
  EXPECT_EQ(heights[0], 0);
}

std::vector<double> sampled(const RasterFrame& frame, const Surface& z) {
  std::vector<double> out;
  for (std::size_t c = 0; c < frame.cells(); ++c)
    out.push_back(z(frame.center_x(c % frame.nx), frame.center_y(c / frame.nx)));
  return out;
}

TEST(RasterMesh, IsUpwardsAndHasTheAreaOfThePlane) {
  const RasterFrame frame{0, 0, 0.5, 9, 7};
  auto z = sampled(frame, [](double x, double y) { return 0.75 * x - y; });
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  auto mesh = raster_mesh(frame, {z.data(), z.size()}, ctx);
  EXPECT_EQ(mesh.cell.size(), 63U);
  EXPECT_EQ(mesh.indices.size(), 6U * 8 * 6);
  EXPECT_NEAR(mesh.area, 48 * 0.25 * std::sqrt(1 + 0.75 * 0.75 + 1), 1e-9);
  const double length = std::sqrt(1 + 0.75 * 0.75 + 1);
  for (std::size_t v = 0; v < 63; ++v) {
    EXPECT_NEAR(mesh.normals[3 * v], -0.75 / length, 1e-6);
    EXPECT_NEAR(mesh.normals[3 * v + 1], 1 / length, 1e-6);
    EXPECT_NEAR(mesh.normals[3 * v + 2], 1 / length, 1e-6);
  }
  for (std::size_t t = 0; t < mesh.indices.size(); t += 3) {
    const auto at = [&](std::size_t k, std::size_t axis) {
      return mesh.vertices[3 * mesh.indices[t + k] + axis];
    };
    const double turn =
        (at(1, 0) - at(0, 0)) * (at(2, 1) - at(0, 1)) - (at(1, 1) - at(0, 1)) * (at(2, 0) - at(0, 0));
    EXPECT_NEAR(turn, 0.25, 1e-6);
  }
  z[0] = kNaN;          // its three neighbours are in other blocks
  z[8 + 9 * 5] = kNaN;  // the corner above it has no block left
  mesh = raster_mesh(frame, {z.data(), z.size()}, ctx);
  EXPECT_EQ(mesh.cell.size(), 60U);
  EXPECT_EQ(mesh.indices.size(), 6U * (48 - 3));
  const std::vector<double> row(5, 1.0);
  EXPECT_EQ(raster_mesh({0, 0, 1, 5, 1}, {row.data(), 5}, ctx).indices.size(), 0U);
}

TEST(TerrainLayers, PlanesFallWhereTheyFall) {
  const RasterFrame frame{0, 0, 2, 8, 8};
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  struct Case {
    double dx, dy, aspect;
  };
  // Falls to the east: z goes down as x goes up.
  for (const Case& c :
       {Case{-1, 0, 90}, Case{0, -1, 0}, Case{1, 0, 270}, Case{0, 1, 180}, Case{-1, -1, 45}}) {
    const auto z = sampled(frame, [&](double x, double y) { return c.dx * x + c.dy * y; });
    const auto layers = terrain_layers(frame, {z.data(), z.size()}, ctx);
    const double slope = std::atan(std::hypot(c.dx, c.dy)), degrees = 180 / std::acos(-1.0);
    const double shade = std::cos(45 / degrees) * std::cos(slope) +
                         std::sin(45 / degrees) * std::sin(slope) * std::cos((315 - c.aspect) / degrees);
    for (std::size_t k = 0; k < z.size(); ++k) {
      EXPECT_NEAR(layers.slope[k], slope * degrees, 1e-4);
      EXPECT_NEAR(layers.aspect[k], c.aspect, 1e-4);
      EXPECT_NEAR(layers.hillshade[k], std::max(0.0, shade), 1e-6);
    }
  }
  auto flat = sampled(frame, [](double, double) { return 5; });
  flat[9] = kNaN;
  const auto layers = terrain_layers(frame, {flat.data(), flat.size()}, ctx);
  EXPECT_NEAR(layers.hillshade[0], std::sqrt(0.5), 1e-6);
  EXPECT_EQ(layers.slope[10], 0);
  EXPECT_TRUE(std::isnan(layers.aspect[10]));
  EXPECT_TRUE(std::isnan(layers.slope[9]) && std::isnan(layers.hillshade[9]));
}

TEST(TerrainLayers, ConesAndParaboloids) {
  const RasterFrame frame{-10, -10, 0.1, 200, 200};
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  const auto bowl = sampled(frame, [](double x, double y) { return (x * x + y * y) / 8; });
  const auto cone = sampled(frame, [](double x, double y) { return -0.5 * std::hypot(x, y); });
  const auto b = terrain_layers(frame, {bowl.data(), bowl.size()}, ctx),
             k = terrain_layers(frame, {cone.data(), cone.size()}, ctx);
  for (std::size_t j = 1; j < 199; ++j) {
    for (std::size_t i = 1; i < 199; ++i) {
      const double x = frame.center_x(i), y = frame.center_y(j), r = std::hypot(x, y);
      // Central differences are exact for a square.
      ASSERT_NEAR(b.slope[j * 200 + i], std::atan(r / 4) * 180 / std::acos(-1.0), 1e-4);
      if (r > 2) {
        const double out = std::fmod(std::atan2(x, y) * 180 / std::acos(-1.0) + 360, 360);
        const double gap = std::abs(k.aspect[j * 200 + i] - out);
        ASSERT_LT(std::min(gap, 360 - gap), 0.1);
        ASSERT_NEAR(k.slope[j * 200 + i], std::atan(0.5) * 180 / std::acos(-1.0), 0.05);
      }
    }
  }
}

TEST(CellStatistics, CountsAndMeansDoNotDependOnOrder) {
  const RasterFrame frame{0, 0, 5, 10, 10};
  const Cloud cloud = rolling_cloud(50'000, 50);
  std::vector<std::uint8_t> skip(cloud.size());
  Column<float> f(cloud.size());
  Column<std::uint16_t> u(cloud.size());
  std::vector<double> sums(100), squares(100), numbers(100);
  for (std::size_t k = 0; k < cloud.size(); ++k) {
    skip[k] = random_unit(4, k) < 0.1;
    f[k] = static_cast<float>(random_unit(5, k) - 0.5);
    u[k] = static_cast<std::uint16_t>(random_u64(6, k));
    if (skip[k] != 0) continue;
    const std::uint32_t c = frame.cell_of(cloud[k]);
    sums[c] += static_cast<double>(f[k]);
    squares[c] += u[k];
    ++numbers[c];
  }
  const AnyColumn floats(std::move(f)), words(std::move(u));
  for (const int threads : {1, 3}) {
    JobControl control;
    OpContext ctx(control, Device::kCpu, threads);
    const Span<const Vec3d> xyz{cloud.data(), cloud.size()};
    const Span<const std::uint8_t> left{skip.data(), skip.size()};
    const auto counts = cell_counts(xyz, left, frame, ctx);
    const auto means = cell_means(xyz, left, floats, {1, 0}, frame, ctx),
               parts = cell_means(xyz, left, words, {65535, -2}, frame, ctx);
    for (std::size_t c = 0; c < 100; ++c) {
      EXPECT_EQ(counts.counts[c], numbers[c]);
      EXPECT_EQ(counts.footprint[c], numbers[c] > 0);
      EXPECT_NEAR(means[c], sums[c] / numbers[c], 1e-7);
      EXPECT_EQ(parts[c], static_cast<float>(squares[c] / numbers[c] / 65535 - 2));
    }
    const std::vector<std::uint32_t> cell{5, 0, 99};
    const AnyColumn grid(cell_means(xyz, left, floats, {1, 0}, frame, ctx));
    const CellLayer layer = cell_layer(grid, {cell.data(), 3}, ctx);
    EXPECT_EQ(layer.range.min, *std::min_element(means.view().begin(), means.view().end()));
    EXPECT_EQ(layer.range.max, *std::max_element(means.view().begin(), means.view().end()));
    EXPECT_EQ(values(layer.at_vertices), (std::vector<float>{means[5], means[0], means[99]}));
  }
}

TEST(TerrainRaster, CancelsInTimeAtTheWorstOfEachMethod) {
  // 4 M cells, one in forty with a point: the largest triangulation and the longest searches.
  const RasterFrame frame{0, 0, 1, 2000, 2000};
  const Cloud cloud = centers(
      frame,
      [](std::size_t i, std::size_t j) { return random_unit(8, i * 2000 + j) < (i < 1000 ? 0.5 : 0.001); },
      [](double x, double y) { return x + y; });
  for (const RasterMethod method : {RasterMethod::kTin, RasterMethod::kNearest, RasterMethod::kIdw}) {
    const auto run = [&](OpContext& ctx) {
      terrain_raster(hits(cloud), {frame, 5, method, RasterGaps::kFill, true}, {}, ctx);
    };
    test::expect_cancel_after(std::chrono::milliseconds(5), run);
    for (const int after_ms : {60, 150, 400})
      EXPECT_LT(test::least_cancel_latency(run, {"", 0, std::chrono::milliseconds(after_ms), 2}),
                test::kCancelSeconds)
          << after_ms;
  }
}

TEST(CellStatistics, LayersOfNothingHaveARange) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  const AnyColumn none(Column<std::uint32_t>(4));
  const CellLayer layer = cell_layer(none, {}, ctx);
  EXPECT_TRUE(std::isnan(layer.grid[0]));
  EXPECT_EQ(layer.range.min, 0);
  EXPECT_EQ(layer.range.max, 1);
}

}  // namespace
}  // namespace pc
