#include "ops/lad/element_gain.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "core/error.h"

namespace pc {

namespace {

constexpr std::uint32_t kLeaves = 100'000, kBatch = 1000;
constexpr std::size_t kPieces = 64;
/// A leaf that covers the whole face would count without end.
constexpr double kMostShare = 1 - 1e-9;

/// The n-th of the numbers that fill 0 .. 1 evenly in a base.
double halton(std::uint32_t n, std::uint32_t base) {
  double value = 0, digit = 1;
  for (; n > 0; n /= base) value += (digit /= base) * (n % base);
  return value;
}

/// Places spread evenly over a disc of diameter 1.
std::array<std::array<double, 2>, kPieces> pieces() {
  constexpr double kGoldenAngle = 2.39996322972865332;
  std::array<std::array<double, 2>, kPieces> out{};
  for (std::size_t k = 0; k < kPieces; ++k) {
    const auto n = static_cast<double>(k);
    const double away = 0.5 * std::sqrt((n + 0.5) / kPieces);
    out[k] = {away * std::cos(n * kGoldenAngle), away * std::sin(n * kGoldenAngle)};
  }
  return out;
}

struct Sums {
  double counted = 0, covered = 0;
};

/// A disc in a voxel about the origin: the share of it inside, times what it covers of the face across each axis.
void add_leaf(std::uint32_t n, double width, const Vec3d& size,
              const std::array<std::array<double, 2>, kPieces>& disc, Sums& sums) {
  const auto along = [&](std::uint32_t base, double edge) {
    return (halton(n, base) - 0.5) * (edge + width);
  };
  const Vec3d middle{along(2, size.x), along(3, size.y), along(5, size.z)};
  const double up = 2 * halton(n, 7) - 1, turn = 2 * std::numbers::pi * halton(n, 11);
  const double level = std::sqrt(std::max(0.0, 1 - up * up));
  const Vec3d normal{level * std::cos(turn), level * std::sin(turn), up};
  const Vec3d u{-std::sin(turn), std::cos(turn), 0}, v = cross(normal, u);
  std::size_t inside = 0;
  for (const auto& [a, b] : disc) {
    const Vec3d p = middle + u * (width * a) + v * (width * b);
    inside += std::abs(p.x) < size.x / 2 && std::abs(p.y) < size.y / 2 && std::abs(p.z) < size.z / 2 ? 1 : 0;
  }
  const double area = std::numbers::pi / 4 * width * width * static_cast<double>(inside) / kPieces;
  for (const double share :
       {area * std::abs(normal.x) / (size.y * size.z), area * std::abs(normal.y) / (size.x * size.z),
        area * std::abs(normal.z) / (size.x * size.y)}) {
    sums.counted -= std::log1p(-std::min(share, kMostShare));
    sums.covered += share;
  }
}

}  // namespace

double element_gain(double width_m, const Vec3d& voxel_size, OpContext& ctx) {
  const double least = std::min({voxel_size.x, voxel_size.y, voxel_size.z});
  require(is_finite(voxel_size) && least > 0, "the size of a voxel must be positive");
  require(width_m >= 0 && width_m <= least, "leaves must not be wider than a voxel");
  const auto disc = pieces();
  ctx.begin_phase("Leaves of a size", kLeaves);
  Sums sums;
  for (std::uint32_t first = 1; first <= kLeaves; first += kBatch) {
    ctx.checkpoint();
    for (std::uint32_t n = first; n < first + kBatch; ++n) add_leaf(n, width_m, voxel_size, disc, sums);
    ctx.advance(kBatch);
  }
  return sums.covered > 0 ? sums.counted / sums.covered : 1;
}

}  // namespace pc
