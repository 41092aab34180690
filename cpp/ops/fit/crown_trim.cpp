#include "ops/fit/crown_trim.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <tuple>
#include <vector>

#include "core/float_bits.h"
#include "core/parallel.h"
#include "core/polled_sort.h"
#include "core/radix_sort.h"
#include "core/random.h"
#include "ops/fit/enclosing_solid.h"
#include "ops/fit/soft_crown.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 16;
constexpr std::size_t kSample = 20'000, kBins = std::size_t{1} << 16;
constexpr std::uint64_t kBinWidth = std::uint64_t{1} << 48;  // of random numbers
constexpr double kStepsPerMetre = 65'536;  // of positions per metre: a moved cloud has rounding errors
constexpr int kSteps = 10;
constexpr std::uint64_t kAlwaysKept = 20;
constexpr double kStrictnessShare = 0.25;

/// A random number of a position, so that equal clouds give equal samples in any order of rows.
std::uint64_t number_of(const Vec3d& p) {
  std::uint64_t number = 0;
  for (const double value : {p.x, p.y, p.z})
    number = random_u64(number, bits_of(std::rint(value * kStepsPerMetre) + 0.0));  // -0 is 0
  return number;
}

struct Numbered {
  std::uint64_t number, row;
};

/// The points with the lowest numbers: kSample or a few more, all if there are no more.
std::vector<Numbered> lowest_numbers(Span<const Vec3d> points, OpContext& ctx) {
  std::vector<std::uint64_t> histogram(kBins);
  for (std::size_t i = 0; i < points.size; ++i) {
    if (i % kGrain == 0) ctx.checkpoint();
    ++histogram[number_of(points[i]) / kBinWidth];
  }
  std::size_t bins = 0, count = 0;
  for (; bins < kBins && count < kSample; ++bins) count += histogram[bins];
  std::vector<Numbered> lowest;
  lowest.reserve(count);
  for (std::size_t i = 0; i < points.size; ++i) {
    if (i % kGrain == 0) ctx.checkpoint();
    const std::uint64_t number = number_of(points[i]);
    if (number / kBinWidth < bins) lowest.push_back({number, i});
  }
  return lowest;
}

/// A random sample of the points, of which many may be at one place.
std::vector<Vec3d> sample_of(Span<const Vec3d> points, OpContext& ctx) {
  std::vector<Numbered> lowest = lowest_numbers(points, ctx);
  const auto order_of = [points](const Numbered& one) {
    const Vec3d& p = points[one.row];
    return std::tuple{one.number, p.x, p.y, p.z};
  };
  const auto before = [&](const Numbered& a, const Numbered& b) { return order_of(a) < order_of(b); };
  polled_sort(lowest.begin(), lowest.end(), before, ctx);
  const std::size_t n = lowest.size(), count = n > 2 * kSample ? kSample : n;
  std::vector<Vec3d> sample(count);
  for (std::size_t i = 0; i < count; ++i) sample[i] = points[lowest[i * n / count].row];
  return sample;
}

/// Gauges as float32, whose bits are in their order.
BulkVector<std::uint32_t> gauge_keys(const CrownSolid& solid, Span<const Vec3d> points, OpContext& ctx) {
  BulkVector<std::uint32_t> keys(points.size);
  parallel_for(ctx, points.size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      keys[i] = bits_of(std::abs(static_cast<float>(crown_gauge(solid, points[i]))));  // no -0
  });
  return keys;
}

/// Gauge, as a key, up to which points are kept.
std::uint32_t best_limit(const BulkVector<std::uint32_t>& keys, std::uint64_t droppable, OpContext& ctx) {
  const std::size_t n = keys.size();
  const BulkVector<std::uint32_t> order = radix_sort_order(keys.view(), 32, ctx);
  std::size_t best = n - 1;
  double least = HUGE_VAL;
  for (std::size_t i = n - 1 - droppable; i < n; ++i) {
    if (i % kGrain == 0) ctx.checkpoint();
    const double gauge = std::max(float_of(keys[order[i]]), 1e-12F);
    const double outside = static_cast<double>(n - 1 - i) / static_cast<double>(n);
    const double cost = 3 * std::log(gauge) + kVolumePerShare * outside;
    if (!(cost < least)) continue;
    least = cost;
    best = i;
  }
  return keys[order[best]];
}

/// Marks the points up to the limit; returns how many marks changed.
std::uint64_t mark_kept(const BulkVector<std::uint32_t>& keys, std::uint32_t limit,
                        BulkVector<std::uint8_t>& kept, OpContext& ctx) {
  std::atomic<std::uint64_t> changed{0};
  parallel_for(ctx, keys.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    std::uint64_t own = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint8_t mark = keys[i] <= limit ? 1 : 0;
      own += mark != kept[i] ? 1 : 0;
      kept[i] = mark;
    }
    changed.fetch_add(own, std::memory_order_relaxed);
  });
  return changed.load();
}

/// Says what strictness did: the error of enclosing_solid would speak of all points.
void require_cone(CrownShape shape, const KeptPoints& kept, OpContext& ctx) {
  if (shape != CrownShape::kCone) return;
  const Box3d box = kept_box(kept, ctx);
  require(box.max.z - box.min.z > kFlatDifference,
          "the crown points that strictness keeps have the same height, so there is no cone around them; a "
          "smaller "
          "strictness keeps more");
}

}  // namespace

std::uint64_t droppable_points(std::uint64_t n, double strictness) {
  const std::uint64_t least = std::max(kAlwaysKept, (n + 1) / 2);
  if (n <= least) return 0;
  const auto share = static_cast<std::uint64_t>(kStrictnessShare * strictness * static_cast<double>(n));
  return std::min(share, n - least);
}

TrimmedCrown trimmed_crown(CrownShape shape, Span<const Vec3d> points, double strictness, OpContext& ctx) {
  require(points.size >= 4, "a crown needs at least 4 points");
  require(strictness >= 0 && strictness <= 1, "strictness must be from 0 to 1");
  const std::uint64_t droppable = droppable_points(points.size, strictness);
  if (droppable == 0) ctx.begin_phase("Fitting the crown", 0);
  if (droppable == 0) return {enclosing_solid(shape, {points, {}}, ctx), {}, points.size};
  ctx.begin_phase("Finding stray points", 0);
  CrownSolid solid = soft_crown(shape, sample_of(points, ctx), ctx);
  BulkVector<std::uint8_t> kept(points.size);
  ctx.begin_phase("Fitting the crown", 0);
  for (int step = 0; step < kSteps; ++step) {
    const BulkVector<std::uint32_t> keys = gauge_keys(solid, points, ctx);
    if (mark_kept(keys, best_limit(keys, droppable, ctx), kept, ctx) == 0) break;
    require_cone(shape, {points, kept.view()}, ctx);
    solid = enclosing_solid(shape, {points, kept.view()}, ctx);
  }
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (i % kGrain == 0) ctx.checkpoint();
    count += kept[i];
  }
  return {solid, std::move(kept), count};
}

std::uint64_t trimmed_crown_bytes(std::uint64_t points) {
  constexpr std::uint64_t kPerPoint =
      4 + 1 + 4 * 4;  // gauge, mark, keys and rows of the sort with their second copies
  return kPerPoint * points + (std::uint64_t{1} << 20);
}

}  // namespace pc
