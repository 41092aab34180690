#include "ops/cloud/select_hits.h"

#include <limits>
#include <vector>

#include "core/parallel.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 16;

struct Counts {
  std::uint64_t hits = 0, misses = 0, deleted = 0;
};

template <class IsMiss>
Counts fill_mask(Span<std::uint8_t> skip, Span<const std::uint8_t> deleted, OpContext& ctx,
                 IsMiss&& is_miss) {
  std::vector<Counts> partials(static_cast<std::size_t>(ctx.threads()));
  parallel_for_worker(ctx, skip.size, kGrain, [&](std::size_t begin, std::size_t end, int worker) {
    Counts local;
    for (std::size_t i = begin; i < end; ++i) {
      const bool miss = is_miss(i), gone = !deleted.empty() && deleted[i] != 0;
      skip[i] = static_cast<std::uint8_t>((miss ? kSkipMiss : 0) | (gone ? kSkipDeleted : 0));
      local.misses += miss ? 1 : 0;
      local.deleted += gone ? 1 : 0;
      local.hits += miss || gone ? 0 : 1;
    }
    Counts& total = partials[static_cast<std::size_t>(worker)];
    total.hits += local.hits;
    total.misses += local.misses;
    total.deleted += local.deleted;
  });
  Counts all;
  for (const Counts& partial : partials) {
    all.hits += partial.hits;
    all.misses += partial.misses;
    all.deleted += partial.deleted;
  }
  return all;
}

/// Index of the first hit of each block of kGrain rows; last the number of hits.
std::vector<std::uint64_t> block_starts(Span<const std::uint8_t> skip, OpContext& ctx) {
  std::vector<std::uint64_t> starts((skip.size + kGrain - 1) / kGrain + 1, 0);
  parallel_for(ctx, skip.size, kGrain, [&](std::size_t begin, std::size_t end) {
    std::uint64_t hits = 0;
    for (std::size_t i = begin; i < end; ++i) hits += skip[i] == 0 ? 1 : 0;
    starts[begin / kGrain + 1] = hits;
  });
  for (std::size_t b = 1; b < starts.size(); ++b) starts[b] += starts[b - 1];
  return starts;
}

template <class Index>
void gather(Span<const Vec3d> positions, Span<const std::uint8_t> skip,
            const std::vector<std::uint64_t>& starts, Span<Vec3d> xyz, Span<Index> rows, OpContext& ctx) {
  parallel_for(ctx, skip.size, kGrain, [&](std::size_t begin, std::size_t end) {
    auto at = static_cast<std::size_t>(starts[begin / kGrain]);
    for (std::size_t i = begin; i < end; ++i) {
      if (skip[i] != 0) continue;
      xyz[at] = positions[i];
      rows[at] = static_cast<Index>(i);
      ++at;
    }
  });
}

}  // namespace

HitMask hit_mask(std::size_t row_count, const AnyColumn* is_miss, Span<const std::uint8_t> deleted,
                 OpContext& ctx) {
  require(is_miss == nullptr || is_miss->size() == row_count, "is_miss must have one value per point");
  require(deleted.empty() || deleted.size == row_count, "the deleted mask must have one entry per point");
  ctx.begin_phase("Selecting hits", row_count);
  HitMask mask{Column<std::uint8_t>(row_count), 0, 0, 0};
  Counts counts;
  if (is_miss == nullptr) {
    counts = fill_mask(mask.skip.view(), deleted, ctx, [](std::size_t) { return false; });
  } else {
    counts = visit_scalar(*is_miss, [&](auto values) {
      return fill_mask(mask.skip.view(), deleted, ctx, [=](std::size_t i) { return values[i] != 0; });
    });
  }
  mask.hit_count = counts.hits;
  mask.miss_count = counts.misses;
  mask.deleted_count = counts.deleted;
  return mask;
}

HitSelection select_hits(Span<const Vec3d> positions, Span<const std::uint8_t> skip, OpContext& ctx) {
  require(skip.empty() || skip.size == positions.size, "the skip mask must have one entry per point");
  ctx.begin_phase("Gathering hits", 2 * skip.size);
  HitSelection selection;
  selection.xyz_ = positions;
  if (skip.empty()) return selection;
  const std::vector<std::uint64_t> starts = block_starts(skip, ctx);
  const auto hits = static_cast<std::size_t>(starts.back());
  if (hits == positions.size) return selection;

  selection.all_rows_ = false;
  selection.wide_ = positions.size - 1 > std::numeric_limits<std::uint32_t>::max();
  selection.gathered_ = Column<Vec3d>(hits);
  selection.source_index_ = AnyColumn(selection.wide_ ? DType::kU64 : DType::kU32, hits);
  const Span<Vec3d> xyz = selection.gathered_.view();
  if (selection.wide_) {
    gather(positions, skip, starts, xyz, selection.source_index_.as_mutable<std::uint64_t>(), ctx);
  } else {
    gather(positions, skip, starts, xyz, selection.source_index_.as_mutable<std::uint32_t>(), ctx);
  }
  selection.xyz_ = xyz;
  return selection;
}

}  // namespace pc
