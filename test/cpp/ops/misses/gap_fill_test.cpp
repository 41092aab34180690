#include "ops/misses/gap_fill.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/random.h"
#include "support/cancel.h"

namespace pc {
namespace {

/// A raster by formula.
struct Scanner {
  std::uint32_t rows = 60, columns = 90;
  double theta_min = 0.6, theta_step = 0.02, phi_min = 0, phi_step = 0.03;
  double drift = 0;  ///< share of a column that the head turns during a row's sweep
  double roll = 0, pitch = 0;
  double jitter = 0;  ///< standard deviation of both angles, rad
  Vec3d origin{0, 0, 0};

  Vec3d direction(double row, double column) const {
    const double theta = theta_min + row * theta_step;
    const double phi = phi_min + (column + drift * row / rows) * phi_step;
    const Vec3d d{std::sin(theta) * std::sin(phi), std::sin(theta) * std::cos(phi), std::cos(theta)};
    const Vec3d rolled{d.x, std::cos(roll) * d.y - std::sin(roll) * d.z,
                       std::sin(roll) * d.y + std::cos(roll) * d.z};
    return {std::cos(pitch) * rolled.x + std::sin(pitch) * rolled.z, rolled.y,
            -std::sin(pitch) * rolled.x + std::cos(pitch) * rolled.z};
  }
};

double normal(std::uint64_t seed, std::uint64_t i) {
  const double u = 1 - random_unit(seed, 2 * i), v = random_unit(seed, 2 * i + 1);
  return std::sqrt(-2 * std::log(u)) * std::cos(6.283185307179586 * v);
}

struct Returns {
  std::vector<Vec3d> positions;
  std::vector<RasterCell> cells;
};

/// The pulses that `returns` accepts, 2 to 30 m away.
Returns shot(const Scanner& s, const std::function<bool(std::uint32_t, std::uint32_t)>& returns) {
  Returns out;
  for (std::uint32_t row = 0; row < s.rows; ++row)
    for (std::uint32_t column = 0; column < s.columns; ++column) {
      if (!returns(row, column)) continue;
      const std::uint64_t i = std::uint64_t{row} * s.columns + column;
      const double range = 2 + 28 * random_unit(9, i);
      const double by_column = s.jitter / (s.phi_step * std::sin(s.theta_min + row * s.theta_step));
      const Vec3d d =
          s.direction(row + s.jitter / s.theta_step * normal(1, i), column + by_column * normal(2, i));
      out.positions.push_back(s.origin + d * range);
      out.cells.push_back({row, column});
    }
  return out;
}

ScanRaster fitted(const Scanner& s, const Returns& r, int threads = 1) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return fit_scan_raster({{r.positions.data(), r.positions.size()},
                          {r.cells.data(), r.cells.size()},
                          s.origin,
                          s.rows,
                          s.columns},
                         ctx);
}
RecoveredMisses filled(const Scanner& s, const Returns& r, int threads = 1) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return gap_fill(fitted(s, r, threads), {r.cells.data(), r.cells.size()}, s.origin, ctx);
}

/// Largest angle between a recovered miss and its pulse, in steps; asserts that the misses are exactly the empty cells.
double worst_error(const Scanner& s, const Returns& r, const RecoveredMisses& found) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> full;
  for (const RasterCell& cell : r.cells) full.insert({cell.row, cell.column});
  EXPECT_EQ(found.positions.size() + full.size(), std::size_t{s.rows} * s.columns);
  double worst = 0;
  for (std::size_t i = 0; i < found.positions.size(); ++i) {
    EXPECT_FALSE(full.contains({found.row_index[i], found.column_index[i]}));
    const Vec3d d = (found.positions[i] - s.origin) * (1 / kRecoveredMissRange_m);
    EXPECT_NEAR(dot(d, d), 1, 1e-9);
    EXPECT_NEAR(found.directions[3 * i + 1], std::asin(d.z), 1e-6);
    EXPECT_NEAR(std::remainder(found.directions[3 * i + 2] - std::atan2(d.x, d.y), 6.283185307179586), 0,
                1e-5);
    const Vec3d off = cross(d, s.direction(found.row_index[i], found.column_index[i]));
    worst = std::max(worst, std::sqrt(dot(off, off)) / s.theta_step);
  }
  return worst;
}

/// A crown against the sky: holes inside, nothing above.
bool crown(std::uint32_t row, std::uint32_t column) {
  return row >= 6 && random_unit(4, 1000 * row + column) < 0.55;
}

TEST(GapFill, RecoversTheMissesOfAnExactRaster) {
  const Scanner s;
  const Returns r = shot(s, crown);
  const ScanRaster raster = fitted(s, r);
  EXPECT_NEAR(raster.zenith_step_rad, s.theta_step, 1e-12);
  EXPECT_NEAR(std::fabs(raster.azimuth_step_rad), s.phi_step, 1e-12);
  EXPECT_NEAR(raster.axis.z, 1, 1e-12);
  EXPECT_EQ(raster.fitted_rows, 54U);
  EXPECT_LT(worst_error(s, r, filled(s, r)), 1e-8);  // rows without returns too
}

TEST(GapFill, TiltDriftSeamAndFarOrigin) {
  Scanner s;
  s.roll = 0.05;
  s.pitch = -0.03;
  s.drift = 1;
  s.phi_min = 2.4;  // across azimuth 180
  s.origin = {450'000, 5'400'000, 300};
  const Returns r = shot(s, crown);
  EXPECT_LT(worst_error(s, r, filled(s, r)), 1e-4);
  s.columns = 209;  // the whole circle
  const Returns whole = shot(s, crown);
  EXPECT_LT(worst_error(s, whole, filled(s, whole)), 1e-4);
}

TEST(GapFill, JitterIsAveraged) {
  Scanner s;
  s.roll = 0.02;
  s.drift = 1;
  s.jitter = 0.1 * s.theta_step;  // a tenth of a step
  const Returns r = shot(
      s, [](std::uint32_t row, std::uint32_t column) { return random_unit(4, 1000 * row + column) < 0.55; });
  EXPECT_LT(worst_error(s, r, filled(s, r)), 0.12);
  EXPECT_LT(fitted(s, r).median_residual, 0.2);
}

TEST(GapFill, RowsAndColumnsWithoutReturns) {
  Scanner s;
  s.pitch = 0.04;
  const Returns r = shot(s, [](std::uint32_t row, std::uint32_t column) {
    return row % 7 != 3 && row > 4 && row < 55 && column % 5 != 0 && column > 10 && column < 80 &&
           crown(row, column);
  });
  EXPECT_LT(worst_error(s, r, filled(s, r)), 1e-6);
}

TEST(GapFill, OutliersDoNotMoveTheRaster) {
  Scanner s;
  Returns r = shot(s, crown);
  for (std::size_t i = 0; i < r.positions.size(); i += 50)
    r.positions[i] = r.positions[i] + Vec3d{0.5, -0.5, 0.4};
  EXPECT_LT(worst_error(s, r, filled(s, r)), 0.3);
}

TEST(GapFill, FullRastersHaveNoMisses) {
  const Scanner s;
  const Returns r = shot(s, [](std::uint32_t, std::uint32_t) { return true; });
  EXPECT_EQ(filled(s, r).positions.size(), 0U);
}

TEST(GapFill, DoesNotDependOnThreads) {
  Scanner s;
  s.roll = 0.1;
  const Returns r = shot(s, crown);
  const RecoveredMisses one = filled(s, r), three = filled(s, r, 3);
  ASSERT_EQ(one.positions.size(), three.positions.size());
  for (std::size_t i = 0; i < one.positions.size(); ++i) ASSERT_EQ(one.positions[i], three.positions[i]);
}

TEST(GapFill, RefusesWhatIsNoRaster) {
  Scanner s;
  const Returns few = shot(s, [](std::uint32_t row, std::uint32_t column) { return row == 5 || column < 3; });
  EXPECT_THROW(fitted(s, few), Error);  // one row with four returns
  Returns mixed = shot(s, crown);
  for (std::size_t i = 0; i < mixed.cells.size(); ++i)
    mixed.cells[i].column = static_cast<std::uint32_t>(random_u64(1, i) % s.columns);
  EXPECT_THROW(fitted(s, mixed), Error);
  Returns outside = shot(s, crown);
  outside.cells[0].row = s.rows;
  EXPECT_THROW(fitted(s, outside), Error);
  EXPECT_THROW(fitted(s, {}), Error);
  Returns elsewhere = shot(s, crown);  // seen from another place
  Scanner wrong = s;
  wrong.origin = {3, 1, 0};
  EXPECT_THROW(fitted(wrong, elsewhere), Error);
  const Returns same = shot(s, [](std::uint32_t row, std::uint32_t) { return row < 8; });
  Returns at_scanner = same;
  for (Vec3d& p : at_scanner.positions) p = s.origin;
  EXPECT_THROW(fitted(s, at_scanner), Error);
}

TEST(GapFill, IsCanceledInTime) {
  Scanner s;
  s.rows = 600;
  s.columns = 1500;
  s.theta_step = 0.002;
  s.phi_step = 0.003;
  const Returns r = shot(s, crown);
  for (const char* phase : {"Fitting", "Reconstructing"}) {
    test::expect_cancel_in_phase(phase, [&](OpContext& ctx) {
      const ScanRaster raster = fit_scan_raster({{r.positions.data(), r.positions.size()},
                                                 {r.cells.data(), r.cells.size()},
                                                 s.origin,
                                                 s.rows,
                                                 s.columns},
                                                ctx);
      gap_fill(raster, {r.cells.data(), r.cells.size()}, s.origin, ctx);
    });
  }
}

}  // namespace
}  // namespace pc
