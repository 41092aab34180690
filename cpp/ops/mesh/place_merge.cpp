#include "ops/mesh/place_merge.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "core/error.h"
#include "core/float_bits.h"
#include "core/parallel.h"
#include "core/radix_sort.h"
#include "core/random.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 15;
constexpr std::size_t kPoll = std::size_t{1} << 14;
constexpr std::uint32_t kNone = 0xFFFFFFFF;
constexpr int kBucketBits = 16;
constexpr std::uint32_t kBucketMask = (1U << kBucketBits) - 1;
constexpr std::size_t kSmallTable = std::size_t{1}
                                    << 16;  // slots that the other bits of a key can tell apart

std::uint64_t hash_of(const Vec3d& p) {
  std::uint64_t hash = 0;
  for (const double value : {p.x, p.y, p.z}) hash = random_u64(hash, bits_of(place_of(value)));
  return hash;
}

/// Rows of used points, by the bucket of their hash, then by row.
struct Buckets {
  BulkVector<std::uint32_t> rows;
  BulkVector<std::uint32_t>
      keys;  ///< of the same rows: kBucketBits of bucket, above them other bits of the hash
  std::vector<std::size_t> firsts;
};

Buckets bucketed(Span<const Vec3d> points, Span<const std::uint8_t> used, OpContext& ctx) {
  std::vector<std::size_t> used_of((points.size + kGrain - 1) / kGrain + 1, 0);
  parallel_for(ctx, points.size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) used_of[begin / kGrain + 1] += used[i] != 0 ? 1 : 0;
  });
  for (std::size_t k = 1; k < used_of.size(); ++k) used_of[k] += used_of[k - 1];
  Buckets out;
  out.keys.resize(used_of.back());
  out.rows.resize(used_of.back());
  parallel_for(ctx, points.size, kGrain, [&](std::size_t begin, std::size_t end) {
    std::size_t at = used_of[begin / kGrain];
    for (std::size_t i = begin; i < end; ++i) {
      if (used[i] == 0) continue;
      out.keys[at] = static_cast<std::uint32_t>(hash_of(points[i]) >> 32);
      out.rows[at++] = static_cast<std::uint32_t>(i);
    }
  });
  radix_sort_pairs(out.keys.view(), out.rows.view(), kBucketBits, ctx);
  std::size_t at = 0;
  for (std::uint32_t bucket = 0; bucket <= (std::uint32_t{1} << kBucketBits); ++bucket) {
    while (at < out.keys.size() && (out.keys[at] & kBucketMask) < bucket) ++at;
    if (bucket % 1024 == 0) ctx.checkpoint();
    out.firsts.push_back(at);
  }
  return out;
}

/// first[i] = the first row at the place of row i, for the rows of a bucket: open addressing, half full at most. Points are
/// read where their keys are equal, which hardly ever happens to different places.
void find_firsts(Span<const std::uint32_t> rows, Span<const std::uint32_t> keys, Span<const Vec3d> points,
                 Span<std::uint32_t> first, const OpContext& ctx) {
  BulkVector<std::uint32_t> large;
  std::vector<std::uint32_t> small;
  const std::size_t slots = std::bit_ceil(2 * rows.size + 2), mask = slots - 1;
  if (slots > kSmallTable) {
    large.resize(slots);
  } else {
    small.resize(slots);
  }
  std::uint32_t* const slot = small.empty() ? large.data() : small.data();  // numbers of rows in the bucket
  std::fill(slot, slot + slots, kNone);
  const auto differ = [&](std::size_t a, std::size_t b) {
    return keys[a] != keys[b] || !same_place(points[rows[a]], points[rows[b]]);
  };
  for (std::size_t k = 0; k < rows.size; ++k) {
    if (k % kPoll == kPoll - 1) ctx.checkpoint();
    std::size_t at = (slots > kSmallTable ? hash_of(points[rows[k]]) : keys[k] >> kBucketBits) & mask;
    while (slot[at] != kNone && differ(slot[at], k)) at = (at + 1) & mask;
    if (slot[at] == kNone) slot[at] = static_cast<std::uint32_t>(k);
    first[rows[k]] = rows[slot[at]];
  }
}

}  // namespace

MergedPlaces merge_places(Span<const Vec3d> points, Span<const std::uint8_t> used, OpContext& ctx) {
  require(used.size == points.size && points.size < kNone,
          "one flag per point, for fewer than 2^32 - 1 points");
  const Buckets buckets = bucketed(points, used, ctx);
  BulkVector<std::uint32_t> first(points.size);
  parallel_for(ctx, buckets.firsts.size() - 1, 64, [&](std::size_t begin, std::size_t end) {
    for (std::size_t b = begin; b < end; ++b) {
      const std::size_t from = buckets.firsts[b], count = buckets.firsts[b + 1] - from;
      if (count == 0) continue;
      find_firsts(buckets.rows.view().subspan(from, count), buckets.keys.view().subspan(from, count), points,
                  first.view(), ctx);
    }
  });
  std::vector<std::size_t> numbers((points.size + kGrain - 1) / kGrain + 1, 0);
  const auto is_first = [&](std::size_t i) { return used[i] != 0 && first[i] == i; };
  parallel_for(ctx, points.size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) numbers[begin / kGrain + 1] += is_first(i) ? 1 : 0;
  });
  for (std::size_t k = 1; k < numbers.size(); ++k) numbers[k] += numbers[k - 1];
  MergedPlaces out{Column<Vec3d>(numbers.back()), BulkVector<std::uint32_t>(points.size)};
  parallel_for(ctx, points.size, kGrain, [&](std::size_t begin, std::size_t end) {
    std::size_t at = numbers[begin / kGrain];
    for (std::size_t i = begin; i < end; ++i) {
      if (!is_first(i)) continue;
      out.places[at] = points[i];
      out.number[i] = static_cast<std::uint32_t>(at++);
    }
  });
  parallel_for(ctx, points.size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      if (used[i] != 0 && first[i] != i)
        out.number[i] = out.number[first[i]];  // the first one has its number already
  });
  return out;
}

}  // namespace pc
