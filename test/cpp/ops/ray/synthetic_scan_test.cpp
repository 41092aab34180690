#include "ops/ray/synthetic_scan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/error.h"
#include "support/cancel.h"
#include "support/columns.h"
#include "support/scans.h"

namespace pc {
namespace {

using test::forward_pulses;
using test::in_radians;
using test::RequestMesh;
using test::scanned;
using test::scanner;
using test::scene_of;

constexpr test::Sweep kAround{90, 180, 20, 160, 0, 358};

/// Compares every distance with a closed form, NaN = miss; pulses whose cosine of incidence is small are left out.
template <class Range>
void expect_ranges(const SyntheticScan& scan, const SyntheticScanParams& params, double least_cosine,
                   Range&& range) {
  std::size_t row = 0, compared = 0;
  for (std::uint64_t pulse = 0; pulse < params.pattern.pulse_count; ++pulse) {
    const double wanted = range(scan_pattern::pulse_direction(params.pattern, pulse));
    const bool recorded = row < scan.positions.size() && scan.time[row] == static_cast<double>(pulse);
    if (recorded && static_cast<double>(scan.intensity[row]) > least_cosine) {
      ASSERT_NEAR(static_cast<double>(scan.distance[row]), wanted, 1e-4) << pulse;
      ++compared;
    }
    row += recorded ? 1 : 0;
  }
  EXPECT_EQ(row, scan.positions.size());
  EXPECT_GT(compared, 100U);
}

TEST(SyntheticScan, RangesOfAPlane) {
  RequestMesh ground;
  ground.quad({-50, -50, -2}, {50, -50, -2}, {50, 50, -2}, {-50, 50, -2});
  const auto params = scanner({60, 90, 100, 178, 0, 356});
  const auto scan = scanned(scene_of({ground.mesh()}), params);
  expect_ranges(scan, params, 0, [](const Vec3d& d) { return -2 / d.z; });
  for (std::size_t i = 0; i < scan.positions.size(); ++i) {
    ASSERT_NEAR(scan.positions[i].z, -2, 1e-9);
    ASSERT_NEAR(static_cast<double>(scan.intensity[i]), 2 / static_cast<double>(scan.distance[i]), 1e-6);
  }
}

TEST(SyntheticScan, RangesOfASphere) {
  const Vec3d center{1, 3, 0.5};
  const auto params = scanner({120, 160, 60, 100, -5, 45});
  const auto scan = scanned(scene_of({RequestMesh(test::sphere(160, center, 0.5)).mesh()}), params);
  expect_ranges(scan, params, 0.6, [&](const Vec3d& d) {
    const double along = dot(d, center), rest = along * along - dot(center, center) + 0.25;
    return along - std::sqrt(rest);
  });
}

TEST(SyntheticScan, RangesOfACylinder) {
  RequestMesh stem;
  for (int i = 0; i < 400; ++i) {
    const auto at = [](int k, double z) {
      const double angle = 2 * scan_pattern::kPi * k / 400;
      return Vec3d{4 + 0.5 * std::cos(angle), 0.5 * std::sin(angle), z};
    };
    stem.quad(at(i, -3), at(i + 1, -3), at(i + 1, 3), at(i, 3));
  }
  const auto params = scanner({40, 80, 70, 110, 80, 100});
  expect_ranges(scanned(scene_of({stem.mesh()}), params), params, 0.3, [](const Vec3d& d) {
    const double a = d.x * d.x + d.y * d.y, b = 4 * d.x;
    return (b - std::sqrt(b * b - a * (16 - 0.25))) / a;
  });
}

TEST(SyntheticScan, RangesInsideABox) {
  RequestMesh room;
  for (const double s : {-1.0, 1.0}) {
    room.quad({3 * s, -4, -2}, {3 * s, 4, -2}, {3 * s, 4, 2}, {3 * s, -4, 2});
    room.quad({-3, 4 * s, -2}, {3, 4 * s, -2}, {3, 4 * s, 2}, {-3, 4 * s, 2});
    room.quad({-3, -4, 2 * s}, {3, -4, 2 * s}, {3, 4, 2 * s}, {-3, 4, 2 * s});
  }
  const auto params = scanner(kAround);
  const auto scan = scanned(scene_of({room.mesh()}), params);
  EXPECT_EQ(scan.hit_count, params.pattern.pulse_count);
  expect_ranges(scan, params, 0, [](const Vec3d& d) {
    return std::fmin(std::fmin(3 / std::abs(d.x), 4 / std::abs(d.y)), 2 / std::abs(d.z));
  });
}

/// Nearest triangle by brute force.
/// Source  Moller & Trumbore, Fast, minimum storage ray/triangle intersection, 1997.
double brute_force(const test::Mesh& mesh, const Vec3d& from, const Vec3d& d) {
  double nearest = HUGE_VAL;
  for (std::size_t i = 0; i < mesh.indices.size(); i += 3) {
    const Vec3d a = mesh.vertices[mesh.indices[i]], e = mesh.vertices[mesh.indices[i + 1]] - a,
                f = mesh.vertices[mesh.indices[i + 2]] - a, p = cross(d, f);
    const double size = dot(e, p);
    if (size == 0) continue;
    const Vec3d s = from - a, q = cross(s, e);
    const double u = dot(s, p) / size, v = dot(d, q) / size, t = dot(f, q) / size;
    if (u >= 0 && v >= 0 && u + v <= 1 && t > 1e-6 && t < nearest) nearest = t;
  }
  return nearest;
}

TEST(SyntheticScan, EqualsBruteForce) {
  const test::Mesh soup = test::soup(300, 8, 2, 3);
  const auto params = scanner(kAround);
  const auto scan = scanned(scene_of({RequestMesh(soup).mesh()}), params);
  expect_ranges(scan, params, 0, [&](const Vec3d& d) { return brute_force(soup, {0, 0, 0}, d); });
  std::uint64_t hits = 0;
  for (std::uint64_t pulse = 0; pulse < params.pattern.pulse_count; ++pulse)
    hits += std::isfinite(brute_force(soup, {0, 0, 0}, scan_pattern::pulse_direction(params.pattern, pulse)))
                ? 1
                : 0;
  EXPECT_EQ(scan.hit_count, hits);
}

TEST(SyntheticScan, FarFromTheOriginDistancesStay) {
  const Vec3d far{1e7, -2e7, 300};
  RequestMesh soup(test::soup(300, 8, 2, 3));
  auto params = scanner(kAround);
  const auto here = scanned(scene_of({soup.mesh()}), params);
  params.origin = far;
  const auto there = scanned(scene_of({soup.mesh(far)}), params);
  ASSERT_EQ(here.hit_count, there.hit_count);
  for (std::size_t i = 0; i < here.positions.size(); ++i)
    ASSERT_NEAR(static_cast<double>(here.distance[i]), static_cast<double>(there.distance[i]), 1e-6);
}

/// Share of a Gaussian beam on one side of an edge that lies `off` from its axis.
double share_beside(double off, double divergence_rad, double exit_diameter_m, double range_m) {
  const double a = divergence_rad * range_m / 2, b = exit_diameter_m / 4, sigma = std::sqrt(a * a + b * b);
  return 0.5 * std::erfc(-off / (sigma * std::sqrt(2)));
}

TEST(SyntheticScan, EnergiesOfABeamCutByAnEdge) {
  for (const double exit : {0.0, 0.02}) {
    for (const double edge : {-0.012, -0.004, 0.0005, 0.003, 0.015}) {
      RequestMesh part;  // the half space x < edge, 10 m away
      part.quad({-5, 10, 5}, {edge, 10, 5}, {edge, 10, -5}, {-5, 10, -5});
      part.wall(12, 5);
      auto params = forward_pulses(500);
      params.rays_per_pulse = 100;
      params.divergence_rad = 2e-3;
      params.exit_diameter_m = exit;
      params.is_multi_return = true;
      const auto scan = scanned(scene_of({part.mesh()}), params);
      double near = 0, far = 0, squares = 0;
      const double axis = edge > 0 ? 0.01 : 0;  // the first of the 100 rays
      const double wanted = 0.99 * share_beside(edge, 2e-3, exit, 10) + axis;
      for (std::size_t i = 0; i < scan.positions.size(); ++i) {
        const double energy = static_cast<double>(scan.intensity[i]);
        ASSERT_NEAR(static_cast<double>(scan.distance[i]), scan.distance[i] < 11 ? 10 : 12, 1e-4);
        (scan.distance[i] < 11 ? near : far) += energy / 500;
        if (scan.distance[i] < 11) squares += (energy - wanted) * (energy - wanted) / 500;
      }
      EXPECT_NEAR(near, wanted, 0.003) << edge << " " << exit;
      EXPECT_NEAR(near + far, 1, 1e-5);
      EXPECT_LT(std::sqrt(squares), exit > 0 ? 0.04 : 0.02) << edge << " " << exit;
    }
  }
}

TEST(SyntheticScan, AFineFootprintHasTheEnergyOfTheClosedForm) {
  RequestMesh part;
  part.quad({-5, 10, 5}, {0.005, 10, 5}, {0.005, 10, -5}, {-5, 10, -5});
  auto params = forward_pulses(50);
  params.rays_per_pulse = 10'000;
  params.divergence_rad = 2e-3;
  const auto scan = scanned(scene_of({part.mesh()}), params);
  const double wanted = share_beside(0.005, 2e-3, 0, 10);
  for (std::size_t i = 0; i < scan.positions.size(); ++i)
    ASSERT_NEAR(static_cast<double>(scan.intensity[i]), wanted, 0.01 * wanted);
  EXPECT_EQ(scan.hit_count, 50U);
}

TEST(SyntheticScan, NoiseHasTheDeviationsThatWereAsked) {
  RequestMesh wall;
  wall.wall(5, 50);
  auto params = forward_pulses(40'000);
  params.range_noise_m = 0.01;
  params.angle_noise_rad = 2e-3;
  const auto scan = scanned(scene_of({wall.mesh()}), params);
  ASSERT_EQ(scan.hit_count, 40'000U);
  double sums[3] = {}, squares[3] = {}, lag = 0, before = 0;
  for (std::size_t i = 0; i < 40'000; ++i) {
    const Vec3d& p = scan.positions[i];
    const double range = std::sqrt(dot(p, p));
    const double values[3] = {range - 5, p.x / p.y, p.z / p.y};
    EXPECT_NEAR(range, static_cast<double>(scan.distance[i]), 1e-6);
    for (int k = 0; k < 3; ++k) {
      sums[k] += values[k] / 40'000;
      squares[k] += values[k] * values[k] / 40'000;
    }
    lag += before * (range - 5) / 40'000;
    before = range - 5;
  }
  const double deviations[3] = {0.01, 2e-3, 2e-3};
  for (int k = 0; k < 3; ++k) {
    EXPECT_NEAR(sums[k], 0, 4 * deviations[k] / 200);
    EXPECT_NEAR(std::sqrt(squares[k]), deviations[k], 0.02 * deviations[k]);
  }
  EXPECT_NEAR(lag, 0, 0.03 * 1e-4);  // neighbours are independent
}

template <class T>
void expect_same(const Column<T>& a, const Column<T>& b, const char* name) {
  EXPECT_EQ(test::to_vector(a), test::to_vector(b)) << name;
}

void expect_same_scan(const SyntheticScan& a, const SyntheticScan& b) {
  expect_same(a.positions, b.positions, "positions");
  expect_same(a.is_miss, b.is_miss, "is_miss");
  expect_same(a.intensity, b.intensity, "intensity");
  expect_same(a.intensity_16, b.intensity_16, "intensity_16");
  expect_same(a.distance, b.distance, "distance");
  expect_same(a.time, b.time, "time");
  expect_same(a.target_index, b.target_index, "target_index");
  expect_same(a.target_count, b.target_count, "target_count");
  expect_same(a.deviation, b.deviation, "deviation");
  expect_same(a.ray_count, b.ray_count, "ray_count");
}

TEST(SyntheticScan, TheSameBytesForAnyThreadsAndScratch) {
  const ScanScene scene = scene_of({RequestMesh(test::soup(2000, 8, 0.6, 5)).mesh()});
  auto params = scanner({40, 50, 30, 150, 0, 350});
  params.rays_per_pulse = 37;
  params.divergence_rad = 5e-3;
  params.exit_diameter_m = 0.01;
  params.range_noise_m = 0.005;
  params.angle_noise_rad = 1e-3;
  params.is_multi_return = true;
  params.record_misses = true;
  const auto wanted = scanned(scene, params, 1);
  EXPECT_GT(wanted.hit_count, wanted.pulse_count / 4);
  EXPECT_GT(wanted.miss_count, 0U);
  for (const int threads : {1, 2, 3}) {
    for (const std::uint64_t scratch : {0ULL, 50'000ULL, 4ULL << 30}) {
      params.scratch_bytes = scratch;
      expect_same_scan(wanted, scanned(scene, params, threads));
    }
  }
  params.seed = 8;
  EXPECT_NE(test::to_vector(wanted.distance), test::to_vector(scanned(scene, params).distance));
}

TEST(SyntheticScan, CancelIsInTime) {
  const ScanScene scene = scene_of({RequestMesh(test::soup(20'000, 8, 0.6, 5)).mesh()});
  auto params = scanner({400, 400, 30, 150, 0, 350});
  params.rays_per_pulse = 100;
  params.divergence_rad = 5e-3;
  test::expect_cancel_in_phase("Ray-tracing",
                               [&](OpContext& ctx) { (void)synthetic_scan(scene, {}, params, ctx); });
}

std::string problem(const SyntheticScanParams& params) {
  RequestMesh wall;
  wall.wall(5, 1);
  try {
    (void)scanned(scene_of({wall.mesh()}), params);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    return error.what();
  }
  return "";
}

TEST(SyntheticScan, ParametersOutOfRangeAreRefused) {
  const auto with = [](const auto& change) {
    auto params = forward_pulses(1);
    change(params);
    return problem(params);
  };
  using P = SyntheticScanParams;
  EXPECT_EQ(with([](P&) {}), "");
  EXPECT_NE(with([](P& p) { p.rays_per_pulse = 0; }).find("rays_per_pulse is 0"), std::string::npos);
  EXPECT_NE(with([](P& p) { p.rays_per_pulse = 100'001; }), "");
  EXPECT_NE(with([](P& p) { p.max_returns = 0; }), "");
  EXPECT_NE(with([](P& p) { p.max_returns = 100; }), "");
  EXPECT_NE(with([](P& p) { p.exit_diameter_m = NAN; }), "");
  EXPECT_NE(with([](P& p) { p.divergence_rad = -1; }), "");
  EXPECT_NE(with([](P& p) { p.pulse_distance_m = -0.1; }), "");
  EXPECT_NE(with([](P& p) { p.range_noise_m = HUGE_VAL; }), "");
  EXPECT_NE(with([](P& p) { p.angle_noise_rad = 1; }), "");
  EXPECT_NE(with([](P& p) { p.detection_energy = 0.6; }), "");
  EXPECT_NE(with([](P& p) { p.origin.x = NAN; }), "");
  EXPECT_NE(with([](P& p) { p.is_moving = true; }), "");
  EXPECT_NE(with([](P& p) { p.pattern.pulse_count = 1ULL << 32; }).find("4294967296"), std::string::npos);
  EXPECT_NE(with([](P& p) { p.box = TraceBox{{0, 0, 0}, {1, 0, 1}, 0}; }), "");
}

}  // namespace
}  // namespace pc
