#include "spatial/hilbert_order.h"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "core/parallel.h"
#include "core/radix_sort.h"
#include "core/random.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 14;
constexpr int kAxisBits = 20;
constexpr std::uint64_t kSeed = 0x5e11;
/// Seven eighths of the points are in the last of so many rounds.
constexpr int kRounds = 8;

Box3d box_of(Span<const Vec3d> points, OpContext& ctx) {
  std::vector<Box3d> parts((points.size + kGrain - 1) / kGrain);
  parallel_for(ctx, points.size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) parts[begin / kGrain].add(points[i]);
  });
  Box3d box;
  for (const Box3d& part : parts) box.add(part);
  return box;
}

/// Index of a cell on the curve.
std::uint64_t hilbert_index(std::array<std::uint32_t, 3> x) {
  constexpr std::uint32_t kTop = std::uint32_t{1} << (kAxisBits - 1);
  for (std::uint32_t bit = kTop; bit > 1; bit >>= 1) {
    const std::uint32_t below = bit - 1;
    for (std::size_t k = 0; k < 3; ++k) {
      if ((x[k] & bit) != 0) {
        x[0] ^= below;
      } else {
        const std::uint32_t swapped = (x[0] ^ x[k]) & below;
        x[0] ^= swapped;
        x[k] ^= swapped;
      }
    }
  }
  x[1] ^= x[0];
  x[2] ^= x[1];
  std::uint32_t flips = 0;
  for (std::uint32_t bit = kTop; bit > 1; bit >>= 1) {
    if ((x[2] & bit) != 0) flips ^= bit - 1;
  }
  std::uint64_t index = 0;
  for (int b = kAxisBits - 1; b >= 0; --b) {
    for (std::size_t k = 0; k < 3; ++k) index = (index << 1) | (((x[k] ^ flips) >> b) & 1);
  }
  return index;
}

std::uint64_t round_of(std::size_t row) {
  const int eighths = std::countr_zero(random_u64(kSeed, row)) / 3;  // one in eight has one more
  return static_cast<std::uint64_t>(std::max(0, kRounds - 1 - eighths));
}

}  // namespace

BulkVector<std::uint32_t> hilbert_insertion_order(Span<const Vec3d> points, OpContext& ctx) {
  const Box3d box = box_of(points, ctx);
  const Vec3d size = box.empty() ? Vec3d{0, 0, 0} : box.max - box.min;
  const double longest = std::max({size.x, size.y, size.z});
  const double scale = longest > 0 ? ((1 << kAxisBits) - 1) / longest : 0;
  const auto cell = [&](double value, double least) {
    return static_cast<std::uint32_t>(std::clamp((value - least) * scale, 0.0, (1 << kAxisBits) - 1.0));
  };
  BulkVector<std::uint64_t> keys(points.size);
  parallel_for(ctx, points.size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Vec3d& p = points[i];
      keys[i] = round_of(i) << (3 * kAxisBits) |
                hilbert_index({cell(p.x, box.min.x), cell(p.y, box.min.y), cell(p.z, box.min.z)});
    }
  });
  return radix_sort_order({keys.data(), keys.size()}, 3 * kAxisBits + 3, ctx);
}

}  // namespace pc
