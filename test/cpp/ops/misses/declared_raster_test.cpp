#include "ops/misses/declared_raster.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/random.h"
#include "ops/misses/gap_fill.h"

namespace pc {
namespace {

constexpr double kDegree = 3.14159265358979323846 / 180;

DeclaredScan level() {
  return {{10, 20, 2}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, 70, 120, 30 * kDegree, 130 * kDegree, 200 * kDegree, 290 * kDegree};
}

/// Direction of a pulse by the formula of a convention.
Vec3d pulse(const DeclaredScan& s, const RasterConvention& c, double row, double column) {
  const double span = s.theta_max_rad - s.theta_min_rad;
  const double theta = c.theta_centred ? s.theta_min_rad + (row + 0.5) * span / s.rows
                                       : s.theta_min_rad + row * span / (s.rows - 1);
  const double step = (s.phi_max_rad - s.phi_min_rad) / (c.phi_open ? s.columns : s.columns - 1);
  const double phi = s.phi_min_rad + step * (column + (c.drifts ? row / s.rows : 0));
  return s.right * (std::sin(theta) * std::sin(phi)) + s.ahead * (std::sin(theta) * std::cos(phi)) +
         s.up * std::cos(theta);
}

struct Shot {
  std::vector<Vec3d> positions;
  std::vector<RasterCell> cells;
};
/// Two of three pulses return; their directions have noise of `noise` steps.
Shot shot(const DeclaredScan& s, const RasterConvention& c, double noise = 0) {
  Shot out;
  for (std::uint32_t row = 0; row < s.rows; ++row)
    for (std::uint32_t column = 0; column < s.columns; ++column) {
      const std::uint64_t i = std::uint64_t{row} * s.columns + column;
      if (random_unit(1, i) > 0.67) continue;
      const Vec3d d = pulse(s, c, row + noise * (random_unit(2, i) - 0.5), column + noise * (random_unit(3, i) - 0.5));
      out.positions.push_back(s.origin + d * (1 + 30 * random_unit(4, i)));
      out.cells.push_back({row, column});
    }
  return out;
}

DeclaredRaster raster_of(const Shot& shot, const DeclaredScan& s) {
  JobControl control;
  OpContext ctx(control);
  return declared_raster({shot.positions.data(), shot.positions.size()}, s, ctx);
}

TEST(DeclaredRaster, FindsEveryConventionAndItsMisses) {
  for (int k = 0; k < 8; ++k) {
    const RasterConvention c{(k & 4) != 0, (k & 1) != 0, (k & 2) != 0};
    const DeclaredScan s = level();
    const Shot found = shot(s, c, 0.2);
    const DeclaredRaster raster = raster_of(found, s);
    EXPECT_EQ(raster.convention.theta_centred, c.theta_centred) << k;
    EXPECT_EQ(raster.convention.phi_open, c.phi_open) << k;
    EXPECT_EQ(raster.convention.drifts, c.drifts) << k;
    EXPECT_EQ(raster.off_count, 0U) << k;
    for (std::size_t i = 0; i < found.cells.size(); ++i) {
      ASSERT_EQ(raster.row[i], found.cells[i].row) << k;
      ASSERT_EQ(raster.column[i], found.cells[i].column) << k;
    }
    JobControl control;
    OpContext ctx(control);
    const RecoveredMisses misses = gap_fill(raster.raster, {found.cells.data(), found.cells.size()}, s.origin, ctx);
    ASSERT_EQ(misses.positions.size() + found.cells.size(), std::size_t{s.rows} * s.columns) << k;
    for (std::size_t i = 0; i < misses.positions.size(); ++i) {
      const Vec3d expected = pulse(s, c, misses.row_index[i], misses.column_index[i]);
      const Vec3d off = misses.positions[i] - s.origin - expected * kRecoveredMissRange_m;
      ASSERT_LT(dot(off, off), 1e-12) << k;
    }
  }
}

TEST(DeclaredRaster, WholeCircleAndTiltedScanner) {
  DeclaredScan s = level();
  s.phi_min_rad = 0;
  s.phi_max_rad = 360 * kDegree;
  const double tilt = 0.1;
  s.ahead = {0, std::cos(tilt), std::sin(tilt)};
  s.up = {0, -std::sin(tilt), std::cos(tilt)};
  const RasterConvention open{false, true, false};
  const Shot found = shot(s, open);
  const DeclaredRaster raster = raster_of(found, s);
  EXPECT_TRUE(raster.convention.phi_open);
  for (std::size_t i = 0; i < found.cells.size(); ++i) ASSERT_EQ(raster.column[i], found.cells[i].column);
  DeclaredScan upright = s;
  upright.ahead = {0, 1, 0};
  upright.up = {0, 0, 1};
  EXPECT_THROW(raster_of(found, upright), Error);  // the tilt matters
}

TEST(DeclaredRaster, RefusesPointsBesideIt) {
  const DeclaredScan s = level();
  Shot found = shot(s, {false, false, false});
  DeclaredScan other = s;
  other.rows = 71;
  try {
    raster_of(found, other);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("n_theta 71, n_phi 120, theta 30.000 to 130.000"), std::string::npos)
        << error.what();
  }
  for (std::size_t i = 0; i < found.positions.size(); i += 10)  // a tenth elsewhere
    found.positions[i] = s.origin + Vec3d{0.3, 1, 3};
  EXPECT_THROW(raster_of(found, s), Error);
  EXPECT_THROW(raster_of({}, s), Error);
  EXPECT_THROW(raster_of({{s.origin, s.origin}, {}}, s), Error);
  other = s;
  other.phi_max_rad = other.phi_min_rad;
  EXPECT_THROW(raster_of(found, other), Error);
  other = s;
  other.columns = 1;
  EXPECT_THROW(raster_of(found, other), Error);
  Shot noisy = shot(s, {false, false, false}, 1);  // noise as large as the cells
  EXPECT_THROW(raster_of(noisy, s), Error);
}

TEST(DeclaredRaster, PointsWithoutDirectionAreOffIt) {
  const DeclaredScan s = level();
  Shot found = shot(s, {false, false, false});
  found.positions[3] = s.origin;
  found.positions[4].x = std::numeric_limits<double>::quiet_NaN();
  const DeclaredRaster raster = raster_of(found, s);
  EXPECT_EQ(raster.off_count, 2U);
  EXPECT_EQ(raster.row[3], 0xFFFFFFFF);
  EXPECT_EQ(raster.column[4], 0xFFFFFFFF);
}

}  // namespace
}  // namespace pc
