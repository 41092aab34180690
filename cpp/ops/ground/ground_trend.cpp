#include "ops/ground/ground_trend.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace pc {

namespace {

constexpr std::uint32_t kBlocks = 64;
constexpr double kQuantile = 0.25,
                 kSmallest = 0.02;  // metres: smaller deviations count as this, or weights would explode
constexpr double kSteepest = 5;

struct Sample {
  double x, y, z;  ///< cells from the middle, metres
};

/// The lowest cell of each block of cells.
std::vector<Sample> block_minima(const Lattice& lattice, Span<const float> lowest) {
  const std::uint32_t step = std::max(1U, (std::max(lattice.nx, lattice.ny) + kBlocks - 1) / kBlocks);
  std::vector<Sample> samples;
  for (std::uint32_t y0 = 0; y0 < lattice.ny; y0 += step) {
    for (std::uint32_t x0 = 0; x0 < lattice.nx; x0 += step) {
      Sample best{0, 0, HUGE_VAL};
      for (std::uint32_t y = y0; y < std::min(lattice.ny, y0 + step); ++y) {
        for (std::uint32_t x = x0; x < std::min(lattice.nx, x0 + step); ++x) {
          const double z = lowest[y * std::size_t{lattice.nx} + x];
          if (z < best.z) best = {x - 0.5 * lattice.nx, y - 0.5 * lattice.ny, z};
        }
      }
      if (std::isfinite(best.z)) samples.push_back(best);
    }
  }
  return samples;
}

using Plane = std::array<double, 3>;  // z = [0] + [1] x + [2] y

/// Weighted least squares; a direction that the samples do not determine gets slope 0.
Plane solve(const std::vector<Sample>& samples, const std::vector<double>& weights) {
  double w = 0, mx = 0, my = 0, mz = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    w += weights[i];
    mx += weights[i] * samples[i].x;
    my += weights[i] * samples[i].y;
    mz += weights[i] * samples[i].z;
  }
  mx /= w;
  my /= w;
  mz /= w;
  double xx = 0, xy = 0, yy = 0, xz = 0, yz = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double x = samples[i].x - mx, y = samples[i].y - my, z = samples[i].z - mz;
    xx += weights[i] * x * x;
    xy += weights[i] * x * y;
    yy += weights[i] * y * y;
    xz += weights[i] * x * z;
    yz += weights[i] * y * z;
  }
  const double ridge = 1e-9 * (xx + yy) + 1e-300;
  xx += ridge;
  yy += ridge;
  const double determinant = xx * yy - xy * xy;
  const double a = (xz * yy - yz * xy) / determinant, b = (yz * xx - xz * xy) / determinant;
  return {mz - a * mx - b * my, a, b};
}

}  // namespace

GroundTrend fit_trend(const Lattice& lattice, Span<const float> lowest) {
  const std::vector<Sample> samples = block_minima(lattice, lowest);
  if (samples.size() < 9) return {0, 0};
  std::vector<double> weights(samples.size(), 1.0);
  Plane plane = solve(samples, weights);
  for (int round = 0; round < 30; ++round) {
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const double above = samples[i].z - (plane[0] + plane[1] * samples[i].x + plane[2] * samples[i].y);
      weights[i] = (above > 0 ? kQuantile : 1 - kQuantile) / std::max(std::abs(above), kSmallest);
    }
    plane = solve(samples, weights);
  }
  const GroundTrend trend{plane[1] / lattice.size, plane[2] / lattice.size};
  const double slope = std::sqrt(trend.slope_x * trend.slope_x + trend.slope_y * trend.slope_y);
  return slope <= kSteepest ? trend : GroundTrend{0, 0};
}

}  // namespace pc
