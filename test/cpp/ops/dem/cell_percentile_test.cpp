#include "ops/dem/cell_percentile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <vector>

#include "core/memory.h"
#include "core/random.h"
#include "support/cancel.h"
#include "support/columns.h"

namespace pc {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
using Cloud = std::vector<Vec3d>;

HitPoints hits(const Cloud& cloud) { return HitPoints::assume_hits({cloud.data(), cloud.size()}); }

Cloud rolling_cloud(std::size_t count, double width, double depth) {
  Cloud cloud;
  for (std::size_t k = 0; k < count; ++k) {
    const double x = width * random_unit(1, 3 * k), y = depth * random_unit(1, 3 * k + 1);
    cloud.push_back({x, y, 3 * std::sin(x / 5) + 2 * std::cos(y / 7) + random_unit(1, 3 * k + 2)});
  }
  return cloud;
}

/// Index of a percentile among sorted values: up from above the median, down otherwise.
std::size_t index_of(std::size_t count, double percentile) {
  const double exact = static_cast<double>(count - 1) * percentile / 100;
  return static_cast<std::size_t>(percentile > 50 ? std::ceil(exact - 1e-9) : std::floor(exact));
}

TEST(CellPercentile, IsTheIndexRuleForAnyThreadCountAndOrder) {
  const RasterFrame frame{0, 0, 4, 10, 10};
  Cloud cloud = rolling_cloud(5000, 40, 40);
  cloud.push_back({-1, 5, 1000});
  cloud.push_back({5, kNaN, 1000});
  cloud.push_back({5, 5, kNaN});
  cloud.push_back({40, 40, 7});  // the upper corner belongs to the last cell
  for (const double percentile : {0.0, 5.0, 50.0, 95.0, 100.0}) {
    std::vector<std::vector<double>> cells(100);
    for (const Vec3d& p : cloud) {
      if (!(p.x >= 0 && p.y >= 0) || std::isnan(p.z)) continue;
      const auto i = std::min<std::size_t>(9, static_cast<std::size_t>(p.x / 4)),
                 j = std::min<std::size_t>(9, static_cast<std::size_t>(p.y / 4));
      cells[j * 10 + i].push_back(p.z);
    }
    std::vector<double> expected;
    for (auto& cell : cells) {
      std::sort(cell.begin(), cell.end());
      expected.push_back(cell[index_of(cell.size(), percentile)]);
    }
    for (const int threads : {1, 2, 4}) {
      JobControl control;
      OpContext ctx(control, Device::kCpu, threads);
      const auto result = cell_percentiles(hits(cloud), frame, percentile, ctx);
      EXPECT_EQ(std::vector<double>(result.z.view().begin(), result.z.view().end()), expected);
      EXPECT_EQ(result.populated_count, 100U);
    }
    std::reverse(cloud.begin(), cloud.end());
  }
}

TEST(CellPercentile, OneCellWithAllPointsIsSearchedInPasses) {
  Cloud cloud;
  for (std::size_t k = 0; k < 1'200'000; ++k) cloud.push_back({1, 1, 10 * random_unit(3, k) - 5});
  std::vector<double> z;
  for (const Vec3d& p : cloud) z.push_back(p.z);
  std::sort(z.begin(), z.end());
  for (const double percentile : {0.0, 5.0, 50.0, 95.0, 100.0}) {
    JobControl control;
    OpContext ctx(control, Device::kCpu, 2);
    const auto result = cell_percentiles(hits(cloud), {0, 0, 2, 1, 1}, percentile, ctx);
    EXPECT_EQ(result.z[0], z[index_of(z.size(), percentile)]);
  }
}

TEST(CellPercentile, OfFewPointsItIsTheLowestOrTheHighest) {
  for (std::size_t count = 1; count <= 41; ++count) {
    Cloud cloud;
    for (std::size_t k = 0; k < count; ++k) cloud.push_back({0.5, 0.5, static_cast<double>(k)});
    JobControl control;
    OpContext ctx(control, Device::kCpu, 1);
    const auto z = [&](double percentile) {
      return cell_percentiles(hits(cloud), {0, 0, 1, 1, 1}, percentile, ctx).z[0];
    };
    const double left_out = std::floor(static_cast<double>(count - 1) / 20);
    EXPECT_EQ(z(5), left_out) << count;
    EXPECT_EQ(z(95), static_cast<double>(count - 1) - left_out) << count;
  }
}

CellPercentiles percentiles(const Cloud& cloud, const RasterFrame& frame, double percentile,
                            int threads = 2) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return cell_percentiles(hits(cloud), frame, percentile, ctx);
}

TEST(CellPercentile, GivesThePlaceOfItsPoint) {
  const RasterFrame frame{1000, -500, 0.5, 30, 20};
  Cloud cloud = rolling_cloud(4000, 15, 10);
  for (Vec3d& p : cloud) p = {p.x + 1000, p.y - 500, p.z};
  for (const double percentile : {0.0, 5.0, 60.0}) {
    const auto result = percentiles(cloud, frame, percentile);
    std::size_t found = 0;
    for (const Vec3d& p : cloud) {
      const std::uint32_t c = frame.cell_of(p);
      if (p.z != result.z[c]) continue;
      ++found;
      EXPECT_NEAR(result.place[c].x, (p.x - frame.center_x(c % 30)) / 0.5, 1e-7);
      EXPECT_NEAR(result.place[c].y, (p.y - frame.center_y(c / 30)) / 0.5, 1e-7);
    }
    EXPECT_EQ(found, result.populated_count);
  }
}

TEST(CellPercentile, OfPointsOfOneHeightTakesTheOneNearestToTheCentre) {
  const RasterFrame frame{0, 0, 1, 2, 1};
  // The last two are equally near: the lower x counts. The upper corner of the grid is in the last cell.
  Cloud cloud{{0.1, 0.1, 1}, {0.875, 0.5, 1}, {0.75, 0.5, 1}, {0.25, 0.5, 1}, {0.5, 0.5, 2}, {2, 1, 3}};
  for (int turn = 0; turn < 5; ++turn) {
    std::rotate(cloud.begin(), cloud.begin() + 1, cloud.begin() + 5);
    const auto result = percentiles(cloud, frame, 0, 1 + turn % 3);
    EXPECT_EQ(result.z[0], 1);
    EXPECT_EQ(result.place[0].x, -0.25F);
    EXPECT_EQ(result.place[0].y, 0);
    EXPECT_NEAR(result.place[1].x, 0.5, 1e-7);
    EXPECT_NEAR(result.place[1].y, 0.5, 1e-7);
  }
  Cloud many;  // more than one thread searches
  for (std::size_t k = 0; k < 1'100'000; ++k)
    many.push_back({random_unit(7, 2 * k), random_unit(7, 2 * k + 1), k % 4 < 2 ? -1.5 : 0.0});
  for (const double percentile : {10.0, 90.0}) {
    const double z = percentile < 50 ? -1.5 : 0;
    double nearest = 1;
    for (const Vec3d& p : many) {
      if (p.z == z) nearest = std::min(nearest, std::hypot(p.x - 0.5, p.y - 0.5));
    }
    const auto result = percentiles(many, {0, 0, 1, 1, 1}, percentile);
    EXPECT_EQ(result.z[0], z);
    EXPECT_NEAR(std::hypot(result.place[0].x, result.place[0].y), nearest, 1e-6);
  }
}

TEST(CellPercentile, CancelsInTimeWithAllPointsInOneCellOrOneBand) {
  // One cell; two cells of a band of two; the 16384 cells of one band, which one thread orders all over the memory.
  constexpr RasterFrame kOneCell{0, 0, 1, 1, 1}, kTwoCells{0, 0, 0.5, 512, 1},
      kBand{0, 0, 1. / 2000, 2000, 2000};
  constexpr std::uint64_t kCount = 10'000'000;
  Cloud cloud(kCount);
  for (std::size_t k = 0; k < kCount; ++k) {
    const double unit = random_unit(1, k);
    cloud[k] = {unit, 0.004 / 1024 * static_cast<double>(k % 1024), unit};
  }
  struct Moment {
    RasterFrame frame;
    std::uint64_t passes;
  };
  // After two passes the bands are made, and each is ordered by cell; then long cells are searched.
  for (const Moment& at : {Moment{kOneCell, 3}, {kTwoCells, 2}, {kTwoCells, 3}, {kBand, 2}}) {
    const auto run = [&](OpContext& ctx) {
      ctx.begin_phase("Gridding points", 0);
      cell_percentiles(hits(cloud), at.frame, 5, ctx);
    };
    SCOPED_TRACE(at.frame.nx);
    test::expect_cancel_in_time(run, {"", at.passes * kCount, std::chrono::milliseconds(1), 1});
  }
}

}  // namespace
}  // namespace pc
