#include "ops/misses/miss_recovery.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>
#include <vector>

#include "core/error.h"
#include "core/random.h"
#include "ops/misses/cell_times.h"
#include "ops/misses/clock_check.h"
#include "ops/misses/gap_fill.h"
#include "ops/misses/known_values.h"
#include "support/cancel.h"
#include "support/columns.h"

namespace pc {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// A scanner at `origin`: zenith .5 to 1.9, bearing from 0 to 2.7, turning during a column; a pulse per period, 5 pulses
/// without a measurement between columns.
struct Scanner {
  std::uint32_t rows = 70, columns = 90;
  Vec3d origin{3, -2, 1.5};
  double period = 1e-5, start = 2e8, first = 0.5;

  double step() const { return 1.4 / rows; }
  Vec3d direction(double row, double column) const {
    const double theta = first + step() * row, phi = 2.7 / columns * (column + row / (rows + 5));
    return {std::sin(theta) * std::sin(phi), std::sin(theta) * std::cos(phi), std::cos(theta)};
  }
  double time(std::uint32_t row, std::uint32_t column) const {
    return start + period * (row + static_cast<double>(column) * (rows + 5));
  }
  DeclaredScan declared() const {
    return {origin,
            {1, 0, 0},
            {0, 1, 0},
            {0, 0, 1},
            0,
            0,
            std::max(0.0, first - 1e-3),
            first + step() * (rows - 1) + 1e-3,
            0,
            6.283185307179586};
  }
};

struct Cloud {
  std::vector<Vec3d> positions;
  std::vector<double> times;
  std::vector<std::uint8_t> skip;
  std::vector<std::int32_t> row, column;
  std::size_t returns = 0;
};

bool returns(std::uint32_t row, std::uint32_t column) {
  return row >= 6 && column != 20 && random_unit(5, std::uint64_t{1000} * row + column) < 0.6;
}

/// Returns, among them misses that have a cell and a time and must not count, and a row at the scanner.
Cloud cloud(const Scanner& s) {
  Cloud out;
  const auto put = [&](const Vec3d& at, std::uint32_t row, std::uint32_t column, bool miss) {
    out.positions.push_back(at);
    out.times.push_back(s.time(row, column));
    out.skip.push_back(miss ? 1 : 0);
    out.row.push_back(static_cast<std::int32_t>(row));
    out.column.push_back(static_cast<std::int32_t>(column));
  };
  for (std::uint32_t column = 0; column < s.columns; ++column)
    for (std::uint32_t row = 0; row < s.rows; ++row) {
      const double range = 2 + 30 * random_unit(2, std::uint64_t{1000} * row + column);
      if (returns(row, column)) {
        put(s.origin + s.direction(row, column) * range, row, column, false);
        ++out.returns;
      } else if (row % 7 == 0) {
        put(s.origin + s.direction(row, column) * 900, row, column, true);
      }
    }
  put(s.origin, 0, 0, false);
  put({kNaN, 0, 0}, 1, 1, false);
  return out;
}

AnyColumn column_of(const std::vector<std::int32_t>& values) {
  Column<std::int32_t> out(values.size());
  std::copy(values.begin(), values.end(), out.view().data);
  return AnyColumn(std::move(out));
}

template <class T>
Span<const T> span_of(const std::vector<T>& values) {
  return {values.data(), values.size()};
}

MissRecovery recovered(const Cloud& c, const MissRecoveryParams& params, bool timed = true) {
  JobControl control;
  OpContext ctx(control);
  const AnyColumn row = column_of(c.row), column = column_of(c.column);
  return recover_misses(
      {span_of(c.positions), span_of(c.skip), timed ? span_of(c.times) : Span<const double>{}, &row, &column},
      params, ctx);
}

void expect_the_empty_cells(const Scanner& s, const Cloud& c, const MissRecovery& found, double tolerance) {
  EXPECT_EQ(found.return_count, c.returns);
  EXPECT_EQ(found.rows, s.rows);
  EXPECT_EQ(found.columns, s.columns);
  EXPECT_EQ(found.positions.size(), std::size_t{s.rows} * s.columns - c.returns);
  for (std::size_t i = 0; i < found.positions.size(); ++i) {
    const std::uint32_t row = found.row_index[i], column = found.column_index[i];
    ASSERT_FALSE(returns(row, column)) << row << ' ' << column;
    const Vec3d off =
        (found.positions[i] - s.origin) * (1 / kRecoveredMissRange_m) - s.direction(row, column);
    ASSERT_LT(std::sqrt(dot(off, off)), tolerance) << row << ' ' << column;
    if (found.times_s.size() > 0) {
      ASSERT_NEAR(found.times_s[i], s.time(row, column), 0.02 * s.period);
    }
  }
}

TEST(MissRecovery, ByTheClockAndByRowsAndColumns) {
  const Scanner s;
  const Cloud c = cloud(s);
  const MissRecovery by_clock = recovered(c, {MissRoute::kClock, s.declared(), 1'000'000});
  expect_the_empty_cells(s, c, by_clock, 1e-5);
  EXPECT_EQ(by_clock.times_s.size(), by_clock.positions.size());
  const MissRecovery by_grid = recovered(c, {MissRoute::kGrid, s.declared(), 1'000'000}, false);
  expect_the_empty_cells(s, c, by_grid, 1e-5);
  EXPECT_EQ(by_grid.times_s.size(), 0U);
  EXPECT_EQ(by_grid.off_count, 0U);
  // With times, those of the cells come out too.
  expect_the_empty_cells(s, c, recovered(c, {MissRoute::kGrid, s.declared(), 1'000'000}), 1e-5);
}

TEST(MissRecovery, OnlyReturnsOfAScannerThatMovedMayLieBesideTheirPulses) {
  const Scanner s;
  Cloud c = cloud(s);
  for (std::size_t i = 0; i < c.positions.size(); ++i) {  // across by up to 0.9 columns
    const Vec3d away = c.positions[i] - s.origin;
    const double turn = 1.8 * (random_unit(9, i) - 0.5) * 2.7 / s.columns;
    c.positions[i] = s.origin + Vec3d{std::cos(turn) * away.x - std::sin(turn) * away.y,
                                      std::sin(turn) * away.x + std::cos(turn) * away.y, away.z};
  }
  MissRecoveryParams params{MissRoute::kClock, s.declared(), 1'000'000};
  EXPECT_EQ(test::code_of([&] { recovered(c, params); }), ErrorCode::kInvalidArgument);
  params.moved = true;
  const MissRecovery found = recovered(c, params);
  EXPECT_EQ(found.positions.size(), std::size_t{s.rows} * s.columns - c.returns);
  EXPECT_GT(found.median_residual, 0.25);
}

void expect_lines_at_the_ends(double first_zenith) {
  for (const bool widdershins : {false, true}) {
    Scanner s;
    s.first = first_zenith;
    Cloud c = cloud(s);
    std::size_t ends = 0;
    for (std::size_t i = 0; i < c.skip.size(); ++i) {
      if (c.skip[i] == 0 && (c.column[i] < 8 || c.column[i] >= 85)) c.skip[i] = 1, ++ends;
      if (widdershins) c.positions[i].x = 2 * s.origin.x - c.positions[i].x;
    }
    c.returns -= ends - 2;  // the row at the scanner and the one that is not finite
    DeclaredScan scan = s.declared();
    scan.phi_min_rad = widdershins ? -2.7 * 89.5 / 90 : -1e-3;
    scan.phi_max_rad = widdershins ? 1e-3 : 2.7 * 89.5 / 90;
    const MissRecovery found = recovered(c, {MissRoute::kClock, scan, 1'000'000});
    EXPECT_EQ(found.columns, s.columns);
    ASSERT_EQ(found.positions.size(), std::size_t{s.rows} * s.columns - c.returns);
    for (std::size_t i = 0; i < found.positions.size(); ++i) {
      Vec3d d = s.direction(found.row_index[i], found.column_index[i]);
      if (widdershins) d.x = -d.x;
      const std::uint32_t column = found.column_index[i];
      ASSERT_FALSE(column >= 8 && column < 85 && returns(found.row_index[i], column));
      const Vec3d off = (found.positions[i] - s.origin) * (1 / kRecoveredMissRange_m) - d;
      ASSERT_LT(std::sqrt(dot(off, off)), 1e-5);
      ASSERT_NEAR(found.times_s[i], s.time(found.row_index[i], found.column_index[i]), 0.02 * s.period);
    }
    scan.phi_max_rad -= 1;  // does not hold the lines: nothing is added
    EXPECT_EQ(recovered(c, {MissRoute::kClock, scan, 1'000'000}).columns, 77U);
  }
}

TEST(MissRecovery, LinesWithoutReturnsAtTheEndsOfASweep) {
  expect_lines_at_the_ends(0.5);
  expect_lines_at_the_ends(0);  // the first row has no azimuth
}

TEST(MissRecovery, NoiseOfDirectionsAddsNoLines) {
  Scanner s;
  s.columns = 600;
  Cloud c = cloud(s);
  const double noise = 0.15 * 2.7 / 600;  // of each coordinate of a direction, uniform to either side
  for (std::size_t i = 0; i < c.positions.size(); ++i) {
    const Vec3d off{random_unit(21, i) - 0.5, random_unit(22, i) - 0.5, random_unit(23, i) - 0.5};
    const Vec3d along = c.positions[i] - s.origin;
    c.positions[i] = c.positions[i] + off * (2 * noise * std::sqrt(dot(along, along)));
  }
  DeclaredScan scan = s.declared();
  scan.phi_min_rad = 0;
  scan.phi_max_rad = 2.7 * 599 / 600;
  EXPECT_EQ(recovered(c, {MissRoute::kClock, scan, 1'000'000}).columns, 600U);
}

TEST(MissRecovery, StepsBetweenRowsFarApart) {
  std::vector<double> values(300'000, kNaN);
  EXPECT_TRUE(std::isnan(known_values::median_step(values, false)));
  values.front() = 1, values.back() = 1 + 0.5 * 299'999;
  const std::clock_t begin = std::clock();
  EXPECT_DOUBLE_EQ(known_values::median_step(values, false), 0.5);
  EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 1);
  values[10] = 1, values[12] = 5, values[14] = 5, values[100'000] = 7;
  EXPECT_DOUBLE_EQ(known_values::median_step(values, false), 0);  // of 2 and 0, two places apart
  values[13] = 8;
  EXPECT_DOUBLE_EQ(known_values::median_step(values, false), -3);  // of 3 and -3
  EXPECT_TRUE(std::isnan(known_values::median_step({}, true)));
}

TEST(MissRecovery, BySettings) {
  Scanner s;
  Cloud c;
  DeclaredScan scan = s.declared();
  scan.rows = 70, scan.columns = 90, scan.theta_min_rad = 0.5, scan.theta_max_rad = 0.5 + 0.02 * 69;
  scan.phi_max_rad = 0.03 * 90;
  for (std::uint32_t row = 0; row < 70; ++row)
    for (std::uint32_t column = 0; column < 90; ++column) {
      if (!returns(row, column)) continue;
      const double theta = 0.5 + 0.02 * row, phi = 0.03 * column;
      c.positions.push_back(
          s.origin +
          Vec3d{std::sin(theta) * std::sin(phi), std::sin(theta) * std::cos(phi), std::cos(theta)} * 5.0);
      ++c.returns;
    }
  c.row.resize(c.returns), c.column.resize(c.returns);
  const MissRecovery found = recovered(c, {MissRoute::kDeclared, scan, 1'000'000}, false);
  EXPECT_EQ(found.positions.size(), 70 * 90 - c.returns);
  EXPECT_EQ(found.off_count, 0U);
}

TEST(MissRecovery, RowsAndColumnsBeyondTheReturnsAreDeclared) {
  const Scanner s;
  const Cloud c = cloud(s);
  DeclaredScan scan = s.declared();
  scan.rows = 80, scan.columns = 95;
  const MissRecovery found = recovered(c, {MissRoute::kGrid, scan, 1'000'000}, false);
  EXPECT_EQ(found.rows, 80U);
  EXPECT_EQ(found.columns, 95U);
  EXPECT_EQ(found.positions.size(), 80U * 95 - c.returns);
}

TEST(MissRecovery, PointsWithoutACellAndWrongCells) {
  const Scanner s;
  Cloud c = cloud(s);
  for (std::size_t i = 0; i < c.row.size(); i += 10) c.row[i] = -1;
  const MissRecovery found = recovered(c, {MissRoute::kGrid, s.declared(), 1'000'000}, false);
  EXPECT_GT(found.off_count, 300U);
  Cloud wild = cloud(s);
  const auto first = static_cast<std::size_t>(std::find(wild.skip.begin(), wild.skip.end(), std::uint8_t{0}) -
                                              wild.skip.begin());
  wild.row[first] = wild.column[first] = 2'000'000'000;
  EXPECT_THROW(recovered(wild, {MissRoute::kGrid, s.declared(), 1'000'000}, false), Error);
  EXPECT_THROW(recovered(c, {MissRoute::kClock, s.declared(), 100}), Error);
  EXPECT_THROW(recovered({}, {MissRoute::kGrid, s.declared(), 100}), Error);
  EXPECT_THROW(recovered(c, {MissRoute::kClock, s.declared(), 1'000'000}, false), Error);
}

TEST(MissRecovery, CancelsInEveryPhase) {
  Scanner s;
  s.rows = 200, s.columns = 300;
  const Cloud c = cloud(s);
  const AnyColumn row = column_of(c.row), column = column_of(c.column);
  for (const char* phase : {"Reading the returns", "Reading the pulse clock", "Fitting the scan raster",
                            "Reconstructing misses"}) {
    test::expect_cancel_in_phase(phase, [&](OpContext& ctx) {
      recover_misses({span_of(c.positions), span_of(c.skip), span_of(c.times), &row, &column},
                     {MissRoute::kClock, s.declared(), 1'000'000}, ctx);
    });
  }
}

TEST(CellTimes, ColumnsOfSeveralTurnsAreRefused) {
  std::vector<RasterCell> cells;
  std::vector<double> times;
  for (std::uint32_t turn = 0; turn < 3; ++turn)
    for (std::uint32_t column = 0; column < 40; ++column)
      for (std::uint32_t row = 0; row < 8; ++row) {
        cells.push_back({row, column});
        times.push_back(40.0 * turn + column);
      }
  JobControl control;
  OpContext ctx(control);
  EXPECT_THROW(fit_cell_times(span_of(cells), span_of(times), 8, 40, ctx), Error);
  std::vector<RasterCell> one(cells.begin(), cells.begin() + 320);
  std::vector<double> once(times.begin(), times.begin() + 320);
  once[3] = kNaN;
  const CellTimes found = fit_cell_times(span_of(one), span_of(once), 8, 42, ctx);
  EXPECT_DOUBLE_EQ(found.column_s[7] + found.row_s[2], 7);
  EXPECT_DOUBLE_EQ(found.column_s[41] + found.row_s[0], 41);
}

PulseClock checked(const Cloud& c, double angle = 0.05) {
  JobControl control;
  OpContext ctx(control);
  return check_pulse_clock({span_of(c.positions), span_of(c.times), span_of(c.skip), Scanner{}.origin}, angle,
                           ctx);
}

TEST(PulseClockCheck, TellsUsableFromUselessTimes) {
  const Scanner s;
  Cloud c = cloud(s);
  c.skip[c.skip.size() - 1] = c.skip[c.skip.size() - 2] = 1;
  EXPECT_EQ(checked(c), PulseClock::kUsable);
  Cloud echoes = c;
  for (std::size_t i = 0; i < c.positions.size(); ++i) {  // second returns on the same beams
    echoes.positions.push_back(s.origin + (c.positions[i] - s.origin) * 1.3);
    echoes.times.push_back(c.times[i]);
    echoes.skip.push_back(c.skip[i]);
  }
  EXPECT_EQ(checked(echoes), PulseClock::kUsable);
  Cloud rounded = c;
  for (double& time : rounded.times) time = std::round(time / (4 * s.period)) * 4 * s.period;
  EXPECT_EQ(checked(rounded), PulseClock::kRounded);
  EXPECT_EQ(checked(rounded, 3.1), PulseClock::kUsable);  // any two directions are of one pulse
  for (double& time : rounded.times) time = std::round(time * 1000) / 1000;
  EXPECT_EQ(checked(rounded, 3.1), PulseClock::kRounded);
  Cloud constant = c, untimed = c;
  for (double& time : constant.times) time = 5;
  EXPECT_EQ(checked(constant), PulseClock::kConstant);
  EXPECT_EQ(checked({}), PulseClock::kConstant);
  for (std::size_t i = 0; i < c.skip.size(); ++i)
    if (c.skip[i] != 0) untimed.times[i] = kNaN;
  EXPECT_EQ(checked(untimed), PulseClock::kUsable);
  untimed.times[1] = kNaN;
  untimed.skip[1] = 0;
  EXPECT_EQ(checked(untimed), PulseClock::kUntimed);
}

}  // namespace
}  // namespace pc
