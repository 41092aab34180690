#include "ops/ground/smrf.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "core/memory.h"
#include "ops/ground/ground_auto.h"
#include "ops/ground/ground_cells.h"
#include "ops/ground/ground_measures.h"
#include "support/cancel.h"
#include "support/columns.h"
#include "support/ground_clouds.h"
#include "support/plot.h"

namespace pc {
namespace {

using test::GroundCloud;
using test::surface_cloud;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr SmrfParams kDefaults{1, 0.15, 18, 0.5, 1.25, 0};  // Pingel et al. 2013, table 4

std::vector<std::uint8_t> run_smrf(const GroundCloud& cloud, const SmrfParams& params = kDefaults,
                                   int threads = 2) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return test::labels_of(smrf(test::hits_of(cloud), params, ctx).ground_class);
}

std::vector<std::uint8_t> run_auto(const GroundCloud& cloud, int threads = 2) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return test::labels_of(ground_auto(test::hits_of(cloud), kGroundConstants, ctx).ground_class);
}

using Filter = std::vector<std::uint8_t> (*)(const GroundCloud&, int);
const Filter kFilters[] = {[](const GroundCloud& c, int threads) { return run_smrf(c, kDefaults, threads); },
                           run_auto};

/// Hills with crowns, a house and strays; the first rows are the ground.
GroundCloud hills(std::size_t& ground) {
  GroundCloud cloud =
      surface_cloud(60, 0.5, [](double x, double y) { return 2 * std::sin(x / 9) + 0.1 * y; });
  const auto inside = [](const Vec3d& p) { return p.x > 30 && p.x < 42 && p.y > 20 && p.y < 30; };
  cloud.erase(std::remove_if(cloud.begin(), cloud.end(), inside), cloud.end());
  ground = cloud.size();
  for (double x = 30.5; x < 42; x += 0.5) {
    for (double y = 20.5; y < 30; y += 0.5) cloud.push_back({x, y, 9});
  }
  for (std::uint64_t i = 0; i < 3000; ++i) {
    const double x = 60 * random_unit(3, 3 * i), y = 60 * random_unit(3, 3 * i + 1);
    cloud.push_back(
        {x, y, std::rint((2 * std::sin(x / 9) + 0.1 * y + 3 + 6 * random_unit(3, 3 * i + 2)) * 64) / 64});
  }
  for (Vec3d& p : cloud) p = {std::rint(p.x * 1024) / 1024, std::rint(p.y * 1024) / 1024, p.z};
  return cloud;
}

TEST(GroundFilters, APlaneOfAnySlopeIsAllGround) {
  for (const double slope : {0.0, 0.3, 1.0, 2.0}) {
    const GroundCloud cloud =
        surface_cloud(40, 0.5, [&](double x, double y) { return slope * x - 0.25 * y; });
    for (const Filter filter : kFilters) {
      const auto labels = filter(cloud, 2);
      EXPECT_EQ(std::count(labels.begin(), labels.end(), 1), static_cast<std::ptrdiff_t>(cloud.size()))
          << slope;
    }
  }
}

TEST(GroundFilters, TellGroundFromHouseAndCrowns) {
  std::size_t ground = 0;
  const GroundCloud cloud = hills(ground);
  for (const Filter filter : kFilters) {
    const auto labels = filter(cloud, 2);
    std::size_t lost = 0, taken = 0;
    for (std::size_t i = 0; i < cloud.size(); ++i)
      (i < ground ? lost : taken) += labels[i] != (i < ground ? 1 : 2);
    EXPECT_LE(lost, ground / 100);
    EXPECT_LE(taken, (cloud.size() - ground) / 200);
  }
}

TEST(GroundFilters, ThreadsOrderAndShiftChangeNothing) {
  std::size_t ground = 0;
  const GroundCloud cloud = hills(ground);
  std::vector<std::size_t> order(cloud.size());
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i-- > 1;) std::swap(order[i], order[random_u64(9, i) % (i + 1)]);
  GroundCloud shuffled, far = cloud;
  for (const std::size_t from : order) shuffled.push_back(cloud[from]);
  for (Vec3d& p : far) p = p + Vec3d{1e6, -3e6, 512};
  for (const Filter filter : kFilters) {
    const auto labels = filter(cloud, 1), mixed = filter(shuffled, 3);
    EXPECT_EQ(filter(cloud, 4), labels);
    EXPECT_EQ(filter(far, 2), labels);
    for (std::size_t i = 0; i < order.size(); ++i) ASSERT_EQ(mixed[i], labels[order[i]]) << i;
  }
}

TEST(GroundFilters, FewOrOddPoints) {
  for (const Filter filter : kFilters) {
    for (std::size_t n = 0; n < 10; ++n) EXPECT_THROW(filter(GroundCloud(n, {1, 2, 3}), 1), Error) << n;
    EXPECT_THROW(filter(GroundCloud(50, {kNaN, 0, 0}), 1), Error);
    const auto same = filter(GroundCloud(100, {1e6, 2, 3}), 1);
    EXPECT_EQ(std::count(same.begin(), same.end(), 1), 100);
    GroundCloud cloud = surface_cloud(20, 0.5, [](double, double) { return 1.0; });
    cloud.push_back({kNaN, 5, 5});
    cloud.push_back({5, 5, HUGE_VAL});
    const auto labels = filter(cloud, 1);
    EXPECT_EQ(std::count(labels.begin(), labels.end(), 2), 2);
    EXPECT_EQ(labels.back(), 2);
  }
}

TEST(GroundFilters, OneRowFarAwayIsNoHang) {
  GroundCloud cloud = surface_cloud(20, 0.25, [](double, double) { return 1.0; });
  cloud.push_back({5000, 5, 1});
  const auto labels = run_auto(cloud);
  EXPECT_GE(std::count(labels.begin(), labels.end(), 1), static_cast<std::ptrdiff_t>(cloud.size()) - 2);
}

TEST(GroundAuto, PlotAndDerivedParameters) {
  const test::PlotCloud plot = test::make_plot(200'000);
  JobControl control;
  OpContext ctx(control);
  const auto result = ground_auto(HitPoints::assume_hits(plot.positions.view()), kGroundConstants, ctx);
  std::size_t both = 0, truth = 0;
  for (std::size_t i = 0; i < plot.positions.size(); ++i) {
    truth += plot.classification[i] == 2;
    both += plot.classification[i] == 2 && result.ground_class[i] == 1;
  }
  EXPECT_GE(static_cast<double>(both) / static_cast<double>(result.ground_count), 0.99);
  EXPECT_GE(static_cast<double>(both) / static_cast<double>(truth), 0.99);
  EXPECT_NEAR(result.derived.point_spacing_m, std::sqrt(2500.0 / 200'000), 0.03);
  EXPECT_EQ(result.derived.cell_size, 0.25);
  EXPECT_GT(result.derived.class_threshold, 0.05);
  EXPECT_LT(result.derived.class_threshold, 0.15);
}

TEST(Smrf, ANetCutsAHouseThatIsWiderThanTheWindow) {
  const auto inside = [](const Vec3d& p) { return p.x >= 20 && p.x <= 80 && p.y >= 20 && p.y <= 80; };
  GroundCloud cloud = surface_cloud(
      100, 1, [](double x, double y) { return x >= 20 && x <= 80 && y >= 20 && y <= 80 ? 8.0 : 0.0; });
  const auto roof_taken = [&](double window, double net) {
    const auto labels = run_smrf(cloud, {1, 0.15, window, 0.5, 1.25, net});
    std::size_t taken = 0;
    for (std::size_t i = 0; i < cloud.size(); ++i) taken += inside(cloud[i]) && labels[i] == 1;
    return taken;
  };
  EXPECT_EQ(roof_taken(35, 0), 0U);     // 60 m wide, the window 70 m
  EXPECT_GT(roof_taken(20, 0), 3000U);  // of 3721: all but the corners
  EXPECT_EQ(roof_taken(20, 10), 0U);
}

TEST(Smrf, TheThresholdGrowsWithTheSlopeTimesItsScale) {
  const auto valley = [](double x, double) { return std::abs(x - 20); };  // 45 degrees about a level trend
  GroundCloud cloud = surface_cloud(40, 0.5, valley);
  const std::size_t ground = cloud.size();
  for (const double above : {1.2, 4.0}) {
    for (double y = 5; y <= 35; y += 3) cloud.push_back({8.25, y, valley(8.25, y) + above});
  }
  const std::size_t each = (cloud.size() - ground) / 2;
  const auto near_and_far = [&](double scale) {
    const auto labels = run_smrf(cloud, {1, 2, 10, 0.5, scale, 0});
    const auto near = labels.begin() + static_cast<std::ptrdiff_t>(ground);
    const auto far = near + static_cast<std::ptrdiff_t>(each);
    return std::pair{std::count(near, far, 1), std::count(far, labels.end(), 1)};
  };
  EXPECT_EQ(near_and_far(0), (std::pair{std::ptrdiff_t{0}, std::ptrdiff_t{0}}));
  EXPECT_EQ(near_and_far(2), (std::pair{static_cast<std::ptrdiff_t>(each), std::ptrdiff_t{0}}));
}

TEST(Smrf, RefusesWhatIsOutOfRange) {
  const GroundCloud cloud = surface_cloud(20, 0.5, [](double, double) { return 0.0; });
  for (const SmrfParams& params :
       {SmrfParams{0, .1, 9, .5, 1, 0}, SmrfParams{kNaN, .1, 9, .5, 1, 0}, SmrfParams{1, -1, 9, .5, 1, 0},
        SmrfParams{1, .1, .5, .5, 1, 0}, SmrfParams{1, .1, 201, .5, 1, 0}, SmrfParams{1, .1, 9, 0, 1, 0},
        SmrfParams{1, .1, 9, .5, -1, 0}, SmrfParams{1, .1, 9, .5, 1, -1},
        SmrfParams{.001, .1, .1, .5, 1, 0}}) {
    try {
      run_smrf(cloud, params);
      ADD_FAILURE() << params.cell_size << " " << params.window_radius;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kInvalidArgument);
    }
  }
}

TEST(GroundCells, TheLowestPointOfACellDoesNotDependOnTheOrder) {
  GroundCloud cloud;  // many points of one height a cell
  for (std::uint64_t i = 0; i < 3000; ++i)
    cloud.push_back(
        {10 * random_unit(6, 2 * i), 10 * random_unit(6, 2 * i + 1), std::floor(random_unit(7, i) * 3)});
  const GroundCloud reversed(cloud.rbegin(), cloud.rend());
  const auto points_of = [](const GroundCloud& from) {
    JobControl control;
    OpContext ctx(control, Device::kCpu, 3);
    const LowOutliers none{{}, {}, 0, 0, 0};
    const SurfaceGrid lowest =
        lowest_surface(test::hits_of(from).xyz(), {0, 0, 1, 0, 1, 0, 0, 13, 13}, none, ctx);
    return lowest_points(test::hits_of(from).xyz(), lowest, none, ctx);
  };
  const auto one = points_of(cloud), other = points_of(reversed);
  for (std::size_t cell = 0; cell < one.size(); ++cell) {
    if (std::isnan(one[cell].height)) continue;
    ASSERT_EQ(one[cell].du, other[cell].du) << cell;
    ASSERT_EQ(one[cell].dv, other[cell].dv) << cell;
    const double x = static_cast<double>(cell % 13) - 1 + one[cell].du;
    const double y = static_cast<double>(cell / 13) - 1 + one[cell].dv;
    const auto near = [&](const Vec3d& p) {
      return std::abs(p.x - x) < 1e-4 && std::abs(p.y - y) < 1e-4 &&
             static_cast<float>(p.z) == one[cell].height;
    };
    EXPECT_EQ(std::count_if(cloud.begin(), cloud.end(), near), 1) << cell;
  }
}

SurfaceGrid grid_of(std::uint32_t nx, std::uint32_t ny, std::uint64_t seed) {
  SurfaceGrid grid{{0, 0, 1, 0, 0, 0, 0, nx, ny}, BulkVector<float>(std::size_t{nx} * ny)};
  for (std::size_t i = 0; i < grid.height.size(); ++i)
    grid.height[i] = static_cast<float>(random_unit(seed, i));
  return grid;
}

TEST(SurfaceGrid, OpeningEqualsBruteForce) {
  for (const std::uint32_t radius : {1U, 2U, 5U, 30U}) {
    SurfaceGrid grid = grid_of(23, 17, radius);
    const auto extreme = [&](const std::vector<float>& in, bool lowest) {
      std::vector<float> out(in.size());
      const int r = static_cast<int>(radius);
      for (int y = 0; y < 17; ++y) {
        for (int x = 0; x < 23; ++x) {
          float best = lowest ? HUGE_VALF : -HUGE_VALF;
          for (int b = -r; b <= r; ++b) {
            for (int a = -r; a <= r; ++a) {
              if (a * a + b * b > r * r || x + a < 0 || x + a >= 23 || y + b < 0 || y + b >= 17) continue;
              const float value = in[static_cast<std::size_t>((y + b) * 23 + x + a)];
              best = lowest ? std::min(best, value) : std::max(best, value);
            }
          }
          out[static_cast<std::size_t>(y * 23 + x)] = best;
        }
      }
      return out;
    };
    const auto expected = extreme(extreme({grid.height.begin(), grid.height.end()}, true), false);
    JobControl control;
    OpContext ctx(control);
    open_by_disk(grid, radius, ctx);
    EXPECT_EQ(std::vector<float>(grid.height.begin(), grid.height.end()), expected) << radius;
  }
}

TEST(SurfaceGrid, OpeningCrossesTheEdgesOfTiles) {
  for (const auto& [nx, ny] : {std::pair{4200U, 3U}, std::pair{3U, 200U}, std::pair{2060U, 70U}}) {
    SurfaceGrid tall = grid_of(nx, ny, 9);
    const SurfaceGrid given = grid_of(nx, ny, 9);
    const int r = 7, w = static_cast<int>(nx), h = static_cast<int>(ny);
    // The opening is the highest of the disks' minima that reach a cell; here by its definition, in few places.
    const auto lowest = [&](int cx, int cy) {
      float low = HUGE_VALF;
      for (int y = std::max(0, cy - r); y <= std::min(h - 1, cy + r); ++y)
        for (int x = std::max(0, cx - r); x <= std::min(w - 1, cx + r); ++x)
          if ((x - cx) * (x - cx) + (y - cy) * (y - cy) <= r * r)
            low = std::min(
                low, given.height[given.index(static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y))]);
      return low;
    };
    JobControl control;
    OpContext ctx(control, Device::kCpu, 2);
    open_by_disk(tall, r, ctx);
    for (const int cx :
         {0, 1, w / 2, w - 1, std::min(w - 1, 2047), std::min(w - 1, 2048), std::min(w - 1, 4096)}) {
      for (const int cy : {0, h / 2, h - 1, std::min(h - 1, 63), std::min(h - 1, 64)}) {
        float best = -HUGE_VALF;
        for (int y = std::max(0, cy - r); y <= std::min(h - 1, cy + r); ++y)
          for (int x = std::max(0, cx - r); x <= std::min(w - 1, cx + r); ++x)
            if ((x - cx) * (x - cx) + (y - cy) * (y - cy) <= r * r) best = std::max(best, lowest(x, y));
        EXPECT_EQ(tall.height[tall.index(static_cast<std::uint32_t>(cx), static_cast<std::uint32_t>(cy))],
                  best)
            << nx << " x " << ny << " at " << cx << ", " << cy;
      }
    }
  }
}

TEST(SurfaceGrid, TheMembraneThroughAPlaneIsThePlane) {
  const auto in_hole = [](std::uint32_t x, std::uint32_t y) { return x > 20 && x < 41 && y > 10 && y < 36; };
  const auto plane = [](std::uint32_t x, std::uint32_t y) {
    return 0.5F * static_cast<float>(x) - 0.25F * static_cast<float>(y);
  };
  for (const auto& [detail, most] :
       {std::pair{MembraneDetail::kEveryCell, 0.15}, {MembraneDetail::kTwiceTheSize, 0.25}}) {
    SurfaceGrid grid = grid_of(64, 48, 1);
    for (std::uint32_t y = 0; y < 48; ++y) {
      for (std::uint32_t x = 0; x < 64; ++x)
        grid.height[grid.index(x, y)] = in_hole(x, y) ? std::numeric_limits<float>::quiet_NaN() : plane(x, y);
    }
    JobControl control;
    OpContext ctx(control);
    fill_membrane(grid, detail, ctx);
    for (std::uint32_t y = 0; y < 48; ++y) {
      for (std::uint32_t x = 0; x < 64; ++x) {
        const float height = grid.height[grid.index(x, y)];
        if (!in_hole(x, y)) {
          ASSERT_EQ(height, plane(x, y)) << x << " " << y;
        } else {
          ASSERT_NEAR(height, plane(x, y), most) << x << " " << y;
        }
      }
    }
  }
}

TEST(GroundFilters, CancelEndsThemInTime) {
  GroundCloud cloud;
  for (std::uint64_t i = 0; i < 200'000; ++i)
    cloud.push_back(
        {3000 * random_unit(1, 3 * i), 3000 * random_unit(1, 3 * i + 1), 20 * random_unit(1, 3 * i + 2)});
  for (const bool automatic : {false, true}) {
    const auto run = [&](OpContext& ctx) {
      if (automatic) {
        ground_auto(test::hits_of(cloud), kGroundConstants, ctx);
      } else {
        smrf(test::hits_of(cloud), {1, 0.15, 200, 0.5, 1.25, 0}, ctx);
      }
    };
    test::expect_cancel_in_time(run, {automatic ? "Finding the ground" : "Opening the surface", 0,
                                      std::chrono::milliseconds(100), 2});
  }
}

TEST(GroundFilters, GridsOfOneLongRowAreCanceledInTime) {
  GroundCloud cloud;
  for (std::uint64_t i = 0; i < 50'000; ++i)
    cloud.push_back({60'000 * random_unit(2, 2 * i), 0.5, 5 * random_unit(2, 2 * i + 1)});
  for (const int delay_ms : {20, 100, 300}) {
    const auto run = [&](OpContext& ctx) { ground_auto(test::hits_of(cloud), kGroundConstants, ctx); };
    EXPECT_LT(test::least_cancel_latency(run, {"", 0, std::chrono::milliseconds(delay_ms), 1}),
              test::kCancelSeconds)
        << delay_ms << " ms";
  }
  // A net over windows of 200 cells opens by 400. An opening of whole rows took 3.7 s to end.
  SurfaceGrid row = grid_of(6'000'000, 4, 11);
  const auto open = [&](OpContext& ctx) {
    ctx.begin_phase("Opening", 0);
    open_by_disk(row, 400, ctx);
  };
  test::expect_cancel_in_time(open, {"Opening", 0, std::chrono::milliseconds(20), 1});
}

TEST(GroundMeasures, TellSpacingAndSteepness) {
  for (const double slope : {0.0, 0.2, 1.0}) {
    const GroundCloud cloud = surface_cloud(40, 0.25, [&](double x, double) { return slope * x; });
    JobControl control;
    OpContext ctx(control);
    const GroundMeasures found = ground_measures(test::hits_of(cloud), ctx);
    EXPECT_NEAR(found.point_spacing_m, 0.25, 0.02) << slope;
    EXPECT_NEAR(found.steepness, slope, 0.02) << slope;
  }
}

/// A tree without ground: every cell of a metre stands out from the margin around it.
TEST(GroundMeasures, ATreeAloneHasAFiniteSteepness) {
  GroundCloud tree;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    const double z = 12 * random_unit(5, 3 * i), r = z < 4 ? 0.3 : 2.5;
    const double angle = 6.2831853 * random_unit(5, 3 * i + 1);
    tree.push_back({r * std::cos(angle), r * std::sin(angle) * random_unit(5, 3 * i + 2), z});
  }
  JobControl control;
  OpContext ctx(control);
  EXPECT_TRUE(std::isfinite(ground_measures(test::hits_of(tree), ctx).steepness));
  const auto labelled = ground_auto(test::hits_of(tree), kGroundConstants, ctx);
  EXPECT_TRUE(std::isfinite(labelled.derived.roughness_m));
  EXPECT_GT(labelled.ground_count, 0U);
  EXPECT_GT(smrf(test::hits_of(tree), kDefaults, ctx).ground_count, 0U);
}

TEST(GroundMeasures, FewPointsAreRefused) {
  JobControl control;
  OpContext ctx(control);
  EXPECT_THROW(ground_measures(test::hits_of(GroundCloud(9, {1, 2, 3})), ctx), Error);
  const GroundMeasures same = ground_measures(test::hits_of(GroundCloud(50, {1e7, 2, 3})), ctx);
  EXPECT_TRUE(std::isfinite(same.point_spacing_m) && std::isfinite(same.steepness));
}

}  // namespace
}  // namespace pc
