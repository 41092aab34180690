#include "ops/trees/canopy_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "core/error.h"
#include "support/columns.h"

namespace {

using namespace pc;
using pc::test::span_of;

HitPoints hits(const std::vector<Vec3d>& points) { return HitPoints::assume_hits(span_of(points)); }

Box3d box_of(const std::vector<Vec3d>& points) {
  Box3d box;
  for (const Vec3d& p : points) box.add(p);
  return box;
}

CoarseGround ground_of(const std::vector<Vec3d>& plants, const std::vector<Vec3d>& ground, const Box3d& box) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  return coarse_ground(hits(plants), hits(ground), box, ctx);
}

std::vector<double> model(const std::vector<Vec3d>& points, const RasterFrame& frame, int threads = 2,
                          const std::vector<Vec3d>& seen = {}, double least = -1e3) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  Box3d box;
  box.add(Vec3d{frame.min_x, frame.min_y, 0});
  box.add(Vec3d{frame.min_x + frame.nx * frame.cell, frame.min_y + frame.ny * frame.cell, 0});
  const std::vector<Vec3d> flat{{0, 0, 0}};
  const Column<double> out =
      canopy_model(hits(points), hits(seen), ground_of(points, flat, box), frame, least, ctx);
  return {out.view().begin(), out.view().end()};
}

/// Steps 3 to 6 of the definition, one cell at a time, from closed heights and cells that hold ground alone.
std::vector<double> smoothed(const std::vector<double>& closed, std::vector<bool> ground, int nx, double cell,
                             double least) {
  const int ny = static_cast<int>(closed.size()) / nx;
  std::vector<double> filled = closed, out = closed;
  const std::vector<bool> seen = ground;
  for (int at = 0; at < nx * ny; ++at) {
    if (!std::isnan(closed[at])) continue;
    double best = std::pow(std::max(1 / cell, 2.0), 2) + 1e-9;
    for (int x = 0; x < nx; ++x) {  // of equally near cells the one in the lowest column, then row
      for (int y = 0; y < ny; ++y) {
        const double d = std::pow(x - at % nx, 2) + std::pow(y - at / nx, 2);
        if (std::isnan(closed[y * nx + x]) || d >= best) continue;
        best = d;
        filled[at] = closed[y * nx + x];
        ground[at] = seen[y * nx + x];
      }
    }
  }
  for (int at = 0; at < nx * ny; ++at) {
    double sum = 0, weight = 0;
    for (int other = 0; other < nx * ny; ++other) {
      const int dx = other % nx - at % nx, dy = other / nx - at / nx;
      if (std::isnan(filled[other]) || std::abs(dx) > 4 || std::abs(dy) > 4) continue;
      const double w = std::exp(-(dx * dx + dy * dy) / 2.0);
      sum += w * filled[other];
      weight += w;
    }
    out[at] = !(filled[at] >= least) || ground[at] ? NAN : sum / weight;
  }
  return out;
}

void equals_its_definition(bool with_ground, double lowest) {
  for (const double cell : {0.2, 1.0}) {
    const int nx = 24, ny = 19;
    const RasterFrame frame{0, 0, cell, nx, ny};
    std::mt19937_64 random(7);
    std::uniform_real_distribution<double> unit(0, 1);
    std::vector<double> greatest(nx * ny, NAN);
    std::vector<Vec3d> points;
    for (int i = 0; i < 150; ++i) {
      const Vec3d p{unit(random) * nx * cell * 0.6, unit(random) * ny * cell, 30 * unit(random) - 1};
      points.push_back(p);
      double& top = greatest[frame.cell_of(p)];
      top = std::isnan(top) ? p.z : std::max(top, p.z);
    }
    std::vector<Vec3d> seen;
    std::vector<bool> ground(nx * ny, false);
    for (int i = 0; with_ground && i < 120; ++i) {
      const Vec3d p{unit(random) * nx * cell * 1.2, unit(random) * ny * cell, unit(random) - 0.5};
      seen.push_back(p);
      if (!frame.contains(p) || !std::isnan(greatest[frame.cell_of(p)])) continue;
      greatest[frame.cell_of(p)] = 0;
      ground[frame.cell_of(p)] = true;
    }
    // Closing with empty cells as -infinity changes only cells whose 3 x 3 windows are all occupied somewhere.
    const auto at = [&](int x, int y) {
      return x < 0 || y < 0 || x >= nx || y >= ny || std::isnan(greatest[y * nx + x]) ? -HUGE_VAL
                                                                                      : greatest[y * nx + x];
    };
    std::vector<double> closed(greatest);
    for (int y = 0; y < ny; ++y) {
      for (int x = 0; x < nx; ++x) {
        if (std::isnan(greatest[y * nx + x])) continue;
        double least = HUGE_VAL;
        for (int j = y - 1; j <= y + 1; ++j) {
          for (int i = x - 1; i <= x + 1; ++i) {
            double most = -HUGE_VAL;
            for (int v = j - 1; v <= j + 1; ++v)
              for (int u = i - 1; u <= i + 1; ++u) most = std::max(most, at(u, v));
            least = std::min(least, most);
          }
        }
        closed[y * nx + x] = least;
      }
    }
    for (int i = 0; i < nx * ny; ++i) ground[i] = ground[i] && !(closed[i] > 0);
    const std::vector<double> expected = smoothed(closed, ground, nx, cell, lowest);
    const std::vector<double> found = model(points, frame, 2, seen, lowest);
    const std::vector<double> single = model(points, frame, 1, seen, lowest);
    EXPECT_EQ(std::memcmp(single.data(), found.data(), found.size() * sizeof(double)), 0);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_EQ(std::isnan(found[i]), std::isnan(expected[i])) << cell << " " << i;
      if (!std::isnan(expected[i])) {
        ASSERT_NEAR(found[i], expected[i], 0x1p-21 + 1e-12) << i;
      }
    }
  }
}

TEST(CanopyModel, EqualsItsDefinition) { equals_its_definition(false, -1e3); }
TEST(CanopyModel, EqualsItsDefinitionAboveGround) {
  equals_its_definition(true, 2);
  equals_its_definition(true, 0);
}

TEST(CanopyModel, AConstantCanopyStaysConstantUpToItsEdge) {
  std::vector<Vec3d> points;
  for (int i = 0; i < 30; ++i)
    for (int j = 0; j < 30; ++j) points.push_back({0.25 + 0.5 * i, 0.25 + 0.5 * j, 8});
  for (const double height : model(points, {0, 0, 0.5, 50, 30}))
    if (!std::isnan(height)) {
      EXPECT_EQ(height, 8);
    }
}

TEST(CoarseGround, MedianOfGroundPointsElseLowestReturns) {
  const std::vector<Vec3d> ground{{1, 1, 0}, {2, 2, 1}, {2, 1, 9}, {3, 3, 2}, {7, 1, 3}, {6, 1, 3}};
  const std::vector<Vec3d> plants{{0, 0, 5}, {2, 2, 4}, {7, 2, 6}, {14.9, 4, 3}};
  Box3d box = box_of(plants);
  box.add(box_of(ground));
  box.add(Vec3d{15, 4.9, 0});
  box.add(Vec3d{0, 0, 0});
  const CoarseGround labelled = ground_of(plants, ground, box);  // cells from -2.5 to 17.5
  ASSERT_EQ(labelled.frame.nx, 4U);
  ASSERT_EQ(labelled.frame.ny, 1U);
  EXPECT_EQ(labelled.frame.min_x, -2.5);
  EXPECT_EQ(std::vector<double>(labelled.z.view().begin(), labelled.z.view().end()),
            (std::vector<double>{1, 3, 3, 3}));
  const CoarseGround lowest = ground_of(plants, {}, box);
  EXPECT_EQ(std::vector<double>(lowest.z.view().begin(), lowest.z.view().end()),
            (std::vector<double>{4, 4, 3, 3}));
}

TEST(CoarseGround, TooLargeAnExtentIsAnError) {
  const std::vector<Vec3d> far{{0, 0, 0}, {2e4, 2e4, 0}};
  EXPECT_THROW(ground_of(far, {}, box_of(far)), Error);
  EXPECT_THROW(centered_frame(box_of({{-1e308, 0, 0}, {1e308, 0, 0}}), 1, 100), Error);
}

}  // namespace
