#include "ops/lad/voxel_views.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "core/random.h"
#include "support/beams.h"

namespace pc {
namespace {

constexpr double kPi = std::numbers::pi;

/// A raster about the vertical axis: every pulse a miss.
struct Raster {
  std::vector<Vec3d> positions, origins;

  Raster(const Vec3d& origin, double least_deg, double most_deg, std::size_t rows, std::size_t columns)
      : origins{origin} {
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j) {
        const double zenith = (least_deg + (most_deg - least_deg) * (i + 0.5) / rows) * kPi / 180;
        const double azimuth = 2 * kPi * (j + 0.5) / columns;
        positions.push_back(origin + Vec3d{std::sin(zenith) * std::cos(azimuth),
                                           std::sin(zenith) * std::sin(azimuth), std::cos(zenith)} *
                                         1000);
      }
  }
  BeamScan scan() const {
    BeamScan out{};
    out.shift = {0, 0, 0};
    out.positions = test::span_of(positions);
    out.origins = test::span_of(origins);
    return out;
  }
};

std::vector<VoxelView> views_of(const std::vector<BeamScan>& scans, const VoxelBox& grid, int threads = 2) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  const Column<double> found = voxel_views(scans, grid, ctx);
  const auto* const views = reinterpret_cast<const VoxelView*>(found.view().data);
  return {views, views + found.size() / kVoxelViewFields};
}

const VoxelBox kCube{{0, 0, 0}, {2, 2, 2}, 4, 4, 4, 0, {}, {}};

TEST(VoxelViews, PulsesAreThoseThatCrossTheVoxelIfNothingHidesIt) {
  const std::vector<double> raised{0.1, -0.2, 0.3, 0};
  VoxelBox grid{{1, 2, 3}, {2, 2, 2}, 2, 2, 4, 30, test::span_of(raised), {}};
  const Raster below({1.1, 2.3, 0.5}, 0, 80, 500, 1500), beside({7, 2, 3}, 60, 120, 600, 3600);
  const std::vector<BeamScan> scans{below.scan(), beside.scan()};
  for (std::size_t each = 0; each < 2; ++each) {
    const std::vector<BeamScan> one{scans[each]};
    const auto sums = test::sums_of(test::trace(one, grid));
    const auto views = views_of(one, grid);
    for (std::size_t v = 0; v < sums.size(); ++v)
      EXPECT_NEAR(views[v].pulses / sums[v].moment[0], 1, 0.12) << each << ' ' << v;
  }
}

TEST(VoxelViews, BeamsOfOneScannerAreAlignedAndThoseOfManyAreNot) {
  std::vector<Raster> rasters;
  for (const Vec3d& at : {Vec3d{60, 0, 0}, Vec3d{0, 60, 0}, Vec3d{30, 30, 42}})
    rasters.emplace_back(at, 0, 180, 720, 1440);
  const auto alignment = [&](std::size_t count) {
    std::vector<BeamScan> scans;
    for (std::size_t i = 0; i < count; ++i) scans.push_back(rasters[i].scan());
    return views_of(scans, kCube)[21].alignment;
  };
  EXPECT_NEAR(alignment(1), 1, 1e-3);
  // Exact: the mean of 1 and 8 / pi - 3 for two beams at a right angle.
  EXPECT_NEAR(alignment(2), (1 + 8 / kPi - 3) / 2, 1e-2);
  EXPECT_LT(alignment(3), 0.9);
}

TEST(VoxelViews, PulsesCrowdNearTheScannerAndItsAxis) {
  const Raster below({0.1, 0.07, -2.2}, 0, 60, 900, 2400);
  const auto views = views_of({below.scan()}, kCube);
  std::uint64_t next = 0;
  for (std::size_t v = 0; v < views.size(); ++v) {
    const Vec3d low{-1 + 0.5 * (v % 4), -1 + 0.5 * (v / 4 % 4), -1 + 0.5 * (v / 16)};
    double sum = 0, squares = 0;
    for (int n = 0; n < 40000; ++n) {
      const Vec3d way =
          low +
          Vec3d{0.5 * random_unit(3, next), 0.5 * random_unit(3, next + 1), 0.5 * random_unit(3, next + 2)} -
          below.origins[0];
      next += 3;
      const double squared = dot(way, way), zenith = std::atan2(std::hypot(way.x, way.y), way.z);
      const double density = zenith > kPi / 3 ? 0 : 1 / (squared * std::max(std::sin(zenith), 0.009));
      sum += density, squares += density * density;
    }
    const double wanted = squares * 40000 / (sum * sum);
    EXPECT_NEAR(views[v].crowding / wanted, 1, 0.3) << v;  // the axis runs through one of them
  }
  const Raster away({0, 60, 0}, 80, 100, 300, 5400);
  for (const VoxelView& view : views_of({away.scan()}, kCube)) EXPECT_EQ(view.crowding, 1);
}

TEST(VoxelViews, APartOfManyRowsStandsForAll) {
  const Raster few({0, -8, 0}, 70, 110, 120, 1080), many({0, -8, 0}, 70, 110, 1000, 1080);
  const auto views = views_of({few.scan()}, kCube), more = views_of({many.scan()}, kCube);
  for (std::size_t v = 0; v < views.size(); ++v)
    EXPECT_NEAR(more[v].pulses / views[v].pulses * 120 / 1000, 1, 0.06) << v;
}

TEST(VoxelViews, ReturnsOfAPulseCountOnce) {
  const Raster raster({0, -8, 0}, 70, 110, 120, 1080);
  Raster twice = raster;
  std::vector<double> times;
  twice.positions.clear();
  const std::size_t n = raster.positions.size();
  Column<std::uint8_t> index(2 * n), misses(2 * n);
  for (std::size_t place = 0; place < 2 * n; ++place) {
    const std::size_t row = place * 7919 % (2 * n), i = row / 2;  // in no order
    twice.positions.push_back(raster.positions[i]);
    times.push_back(static_cast<double>(i));
    index[place] = static_cast<std::uint8_t>(row % 2 + 1);
    misses[place] = i % 5 == 0 ? 1 : 0;
    if (i % 5 == 0)
      index[place] = static_cast<std::uint8_t>(row % 2 == 0 ? 0 : 3);  // 3: a miss beside a return
  }
  const AnyColumn indices(std::move(index)), is_miss(std::move(misses));
  BeamScan scan = twice.scan();
  scan.timestamps = test::span_of(times);
  scan.target_index = &indices;
  scan.is_miss = &is_miss;
  EXPECT_NEAR(views_of({scan}, kCube)[5].pulses, views_of({raster.scan()}, kCube)[5].pulses, 1e-9);
  // Rows of one scanner may come in two lists.
  const std::size_t half = raster.positions.size() / 2;
  BeamScan first = raster.scan(), second = raster.scan();
  first.positions.size = half;
  second.positions = {raster.positions.data() + half, raster.positions.size() - half};
  EXPECT_NEAR(views_of({first, second}, kCube)[5].pulses, views_of({raster.scan()}, kCube)[5].pulses, 1e-6);
}

TEST(VoxelViews, ScannersOfOneListAreToldApart) {
  const Raster west({-8, 0, 0}, 70, 110, 120, 1080), south({0, -8, 0}, 60, 120, 100, 900);
  Raster both = west;
  both.positions.insert(both.positions.end(), south.positions.begin(), south.positions.end());
  both.origins.assign(west.positions.size(), west.origins[0]);
  both.origins.insert(both.origins.end(), south.positions.size(), south.origins[0]);
  const auto one = views_of({both.scan()}, kCube), two = views_of({west.scan(), south.scan()}, kCube);
  for (std::size_t v = 0; v < one.size(); ++v) {
    EXPECT_EQ(one[v].pulses, two[v].pulses);
    EXPECT_EQ(one[v].alignment, two[v].alignment);
  }
  EXPECT_GT(one[0].pulses, 0);
}

TEST(VoxelViews, AMovingScannerTellsTheAlignmentAlone) {
  Raster line({0, 0, 50}, 150, 180, 60, 100);
  const std::size_t n = line.positions.size();
  line.origins.clear();
  for (std::size_t i = 0; i < n; ++i) line.origins.push_back({-40 + 80.0 * i / n, 0, 50});
  const VoxelView view = views_of({line.scan()}, kCube)[0];
  EXPECT_EQ(view.pulses, 0);
  EXPECT_EQ(view.crowding, 1);
  EXPECT_GT(view.alignment, 0.5);
  EXPECT_LT(view.alignment, 0.9);
}

TEST(VoxelViews, OddScansAndGrids) {
  EXPECT_EQ(views_of({}, kCube)[0].crowding, 1);
  EXPECT_EQ(views_of({}, kCube)[0].pulses, 0);
  Raster raster({0, -8, 0}, 70, 110, 100, 900);
  const auto plain = views_of({raster.scan()}, kCube);
  raster.positions.push_back({std::numeric_limits<double>::quiet_NaN(), 0, 0});
  raster.positions.push_back(raster.origins[0]);
  EXPECT_EQ(views_of({raster.scan()}, kCube)[9].pulses, plain[9].pulses);
  const std::vector<std::uint8_t> kept{1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  VoxelBox grid = kCube;
  grid.kept = test::span_of(kept);
  const auto some = views_of({raster.scan()}, grid), alone = views_of({raster.scan()}, grid, 1);
  EXPECT_EQ(some[1].alignment, 0);
  EXPECT_EQ(some[2].pulses, plain[2].pulses);
  for (std::size_t v = 0; v < some.size(); ++v) EXPECT_EQ(some[v].crowding, alone[v].crowding);
  // A scanner in the middle of a voxel.
  const Raster inside({0.2, 0.2, 0.2}, 0, 180, 300, 600);
  for (const VoxelView& view : views_of({inside.scan()}, kCube)) {
    EXPECT_TRUE(std::isfinite(view.crowding) && view.crowding >= 1);
    EXPECT_TRUE(std::isfinite(view.pulses));
  }
  BeamScan wrong = raster.scan();
  const std::vector<Vec3d> two(2);
  wrong.origins = test::span_of(two);
  EXPECT_THROW(views_of({wrong}, kCube), Error);
}

}  // namespace
}  // namespace pc
