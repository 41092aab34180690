#include "ops/misses/pulse_clock.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "core/error.h"
#include "core/random.h"
#include "ops/misses/gap_fill.h"

namespace pc {
namespace {

/// A scanner by formula: a line of `rows` pulses upwards or downwards, then `idle` pulses without a measurement.
struct Clocked {
  std::uint32_t rows = 80, columns = 60, idle = 7;
  double theta_min = 0.5, theta_step = 0.02, phi_step = 0.03, period = 1e-5, start = 3.1e8;
  bool downwards = false;  ///< zenith falls along a line
  double rounding = 0;     ///< s
  double jitter = 0;       ///< rad
  double tilt = 0;         ///< rad

  Vec3d up() const { return {0, -std::sin(tilt), std::cos(tilt)}; }
  Vec3d direction(double row, double column) const {
    const double theta = theta_min + theta_step * (downwards ? rows - 1 - row : row);
    const double phi = phi_step * (column + row / (rows + idle));
    const Vec3d d{std::sin(theta) * std::sin(phi), std::sin(theta) * std::cos(phi), std::cos(theta)};
    return {d.x, std::cos(tilt) * d.y - std::sin(tilt) * d.z, std::sin(tilt) * d.y + std::cos(tilt) * d.z};
  }
};

struct Shot {
  std::vector<Vec3d> positions;
  std::vector<double> times;
  std::vector<RasterCell> cells;
};

Shot shot(const Clocked& s, const std::function<bool(std::uint32_t, std::uint32_t)>& returns) {
  Shot out;
  for (std::uint32_t column = 0; column < s.columns; ++column)
    for (std::uint32_t row = 0; row < s.rows; ++row) {
      if (!returns(row, column)) continue;
      const std::uint64_t i = std::uint64_t{column} * s.rows + row;
      const double off = s.jitter / s.theta_step * 3.4 * (random_unit(1, i) - 0.5);
      out.positions.push_back(s.direction(row + off, column) * (2 + 20 * random_unit(2, i)));
      double time = s.period * (std::uint64_t{column} * (s.rows + s.idle) + row);
      if (s.rounding > 0) time = std::round(time / s.rounding) * s.rounding;
      out.times.push_back(s.start + time);
      out.cells.push_back({row, column});
    }
  return out;
}

ClockedRaster clocked(const Clocked& s, const Shot& r) {
  JobControl control;
  OpContext ctx(control);
  return clocked_raster(
      {{r.positions.data(), r.positions.size()}, {r.times.data(), r.times.size()}, {0, 0, 0}, s.up()},
      s.theta_min - 1e-3, s.theta_min + s.theta_step * (s.rows - 1) + 1e-3, ctx);
}

/// Misses are those of the formula: number and directions within `tolerance` steps. Rows and columns without any return at
/// an end of the scan are `lost`.
void expect_recovered(const Clocked& s, const Shot& r, double tolerance, std::uint32_t lost_columns = 0) {
  const ClockedRaster raster = clocked(s, r);
  EXPECT_EQ(raster.rows, s.rows);
  EXPECT_EQ(raster.columns + lost_columns, s.columns);
  EXPECT_EQ(raster.pulses_per_line, s.rows + s.idle);
  EXPECT_NEAR(raster.period_s / s.period, 1, s.rounding > 0 ? 1e-4 : 1e-6);
  for (std::size_t i = 0; i < r.cells.size(); ++i) {
    ASSERT_EQ(raster.cells[i].row, r.cells[i].row);
    ASSERT_EQ(raster.cells[i].column, r.cells[i].column);
  }
  EXPECT_NEAR((raster.start_s - s.start) / s.period, 0, 0.5);
  JobControl control;
  OpContext ctx(control);
  const ScanRaster fitted = fit_scan_raster(
      {{r.positions.data(), r.positions.size()}, raster.cells.view(), {0, 0, 0}, raster.rows, raster.columns},
      ctx);
  const RecoveredMisses misses = gap_fill(fitted, raster.cells.view(), {0, 0, 0}, ctx);
  EXPECT_EQ(misses.positions.size(), std::size_t{raster.rows} * raster.columns - r.cells.size());
  for (std::size_t i = 0; i < misses.positions.size(); ++i) {
    const Vec3d off = cross(misses.positions[i] * (1 / kRecoveredMissRange_m),
                            s.direction(misses.row_index[i], misses.column_index[i]));
    ASSERT_LT(std::sqrt(dot(off, off)) / s.theta_step, tolerance);
  }
}

/// Nothing above row 10, holes elsewhere, one line without any return.
bool crown(std::uint32_t row, std::uint32_t column) {
  return row >= 10 && column != 17 && random_unit(4, 1000 * row + column) < 0.5;
}

TEST(PulseClock, CellsAndMissesOfAnExactClock) {
  Clocked s;
  expect_recovered(s, shot(s, crown), 1e-3);
  s.downwards = true;
  expect_recovered(s, shot(s, [](std::uint32_t row, std::uint32_t c) { return crown(79 - row, c); }), 1e-3);
  s.idle = 0;
  expect_recovered(s, shot(s, [](std::uint32_t row, std::uint32_t c) { return crown(79 - row, c); }), 1e-3);
}

TEST(PulseClock, RoundedClockJitterAndTilt) {
  Clocked s;
  s.rounding = 0.3 * s.period;
  s.jitter = 0.05 * s.theta_step;
  expect_recovered(s, shot(s, crown), 0.1);
  s.tilt = 0.03;
  expect_recovered(s, shot(s, crown), 0.1);
}

TEST(PulseClock, ReturnsOfOnePulseShareItsCell) {
  const Clocked s;
  Shot r = shot(s, crown);
  const std::size_t n = r.positions.size();
  for (std::size_t i = 0; i < n; i += 3) {  // a second return behind the first, out of order
    r.positions.push_back(r.positions[i] * 1.5);
    r.times.push_back(r.times[i]);
    r.cells.push_back(r.cells[i]);
  }
  const ClockedRaster raster = clocked(s, r);
  for (std::size_t i = 0; i < r.cells.size(); ++i) ASSERT_EQ(raster.cells[i].row, r.cells[i].row);
}

/// 32 channels over 80 degrees that turn, carried through a thicket: half of the pulses come back, a few of them from 5 cm away,
/// with noise of `noise_m` along each axis.
TEST(PulseClock, NoiseNearAScannerDoesNotHideTheLines) {
  Clocked s;
  s.rows = 32, s.columns = 2000, s.idle = 0;
  s.theta_min = 0.9, s.theta_step = 0.045, s.phi_step = 0.02;
  const Shot exact = shot(
      s, [](std::uint32_t row, std::uint32_t column) { return random_unit(4, 100 * column + row) < 0.5; });
  for (const double noise_m : {0.01, 0.02, 0.03, 0.05}) {
    Shot noisy = exact;
    for (std::size_t i = 0; i < noisy.positions.size(); ++i) {
      const double u = random_unit(5, i), range = u < 0.02 ? 0.05 : 0.5 + 5 * u;
      const auto noise = [&](std::uint64_t k) {  // of the same standard deviation along each axis
        return noise_m *
               (random_unit(6, 9 * i + k) + random_unit(6, 9 * i + k + 3) + random_unit(6, 9 * i + k + 6) -
                1.5) *
               2;
      };
      const Vec3d& at = exact.positions[i];
      noisy.positions[i] = at * (range / std::sqrt(dot(at, at))) + Vec3d{noise(0), noise(1), noise(2)};
    }
    const ClockedRaster raster = clocked(s, noisy);
    EXPECT_EQ(raster.rows, s.rows) << noise_m;
    EXPECT_EQ(raster.columns, s.columns) << noise_m;
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < noisy.cells.size(); ++i)
      wrong += raster.cells[i].row != noisy.cells[i].row || raster.cells[i].column != noisy.cells[i].column;
    EXPECT_EQ(wrong, 0U) << noise_m;
  }
}

TEST(PulseClock, RefusesLinesThatDoNotRepeat) {
  Clocked s;
  s.rows = 32, s.columns = 600, s.idle = 0;
  Shot r = shot(s, crown);
  for (std::size_t i = 0; i < r.positions.size(); ++i) {  // half of the points belong anywhere
    if (random_unit(7, i) < 0.4) continue;
    r.positions[i] = s.direction(32 * random_unit(8, i), r.cells[i].column) * 5.0;
  }
  EXPECT_THROW(clocked(s, r), Error);
}

TEST(PulseClock, RefusesTimesThatAreNoClock) {
  const Clocked s;
  Shot r = shot(s, crown);
  Shot random = r, constant = r, infinite = r;
  for (std::size_t i = 0; i < r.times.size(); ++i) random.times[i] = random_unit(1, i);
  for (double& time : constant.times) time = 7;
  infinite.times[5] = HUGE_VAL;
  EXPECT_THROW(clocked(s, random), Error);
  EXPECT_THROW(clocked(s, constant), Error);
  EXPECT_THROW(clocked(s, infinite), Error);
  EXPECT_THROW(clocked(s, {}), Error);
  Shot one_line = shot(s, [](std::uint32_t row, std::uint32_t column) { return column == 0 && row > 3; });
  EXPECT_THROW(clocked(s, one_line), Error);
}

}  // namespace
}  // namespace pc
