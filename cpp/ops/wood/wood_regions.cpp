#include "ops/wood/wood_regions.h"

#include <algorithm>
#include <utility>

#include "core/parallel.h"
#include "spatial/union_find.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = 16'384;
constexpr std::size_t kPoll = 65'536;

Span<const std::uint32_t> first_of(const LocalGeometryFeatures& shape, std::size_t i, std::uint32_t k) {
  return shape.of(i).subspan(0, std::min(k, shape.listed));
}

}  // namespace

void majority_smooth(const LocalGeometryFeatures& shape, std::uint32_t k, std::uint32_t rounds,
                     WoodFlags& wood, OpContext& ctx) {
  WoodFlags next(wood.size());
  for (std::uint32_t round = 0; round < rounds; ++round) {
    parallel_for(ctx, wood.size(), kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const auto near = first_of(shape, i, k);
        std::size_t votes = wood[i];
        for (const std::uint32_t j : near) votes += wood[j];
        const std::size_t all = near.size + 1;
        next[i] = 2 * votes == all ? wood[i] : static_cast<std::uint8_t>(2 * votes > all ? 1 : 0);
      }
    });
    std::swap(wood, next);
  }
}

std::uint64_t grow_wood(const LocalGeometryFeatures& shape, std::uint32_t k, Span<const std::uint8_t> seed,
                        Span<const std::uint8_t> joins, WoodFlags& wood, OpContext& ctx) {
  BulkVector<std::uint32_t> front;
  for (std::size_t i = 0; i < seed.size; ++i) {
    if (i % kPoll == 0) ctx.checkpoint();
    if (seed[i] != 0) front.push_back(static_cast<std::uint32_t>(i));
  }
  std::uint64_t joined = 0;
  for (std::size_t at = 0; at < front.size(); ++at) {
    if (at % kPoll == 0) ctx.checkpoint();
    for (const std::uint32_t j : first_of(shape, front[at], k)) {
      if (wood[j] != 0 || joins[j] == 0) continue;
      wood[j] = 1;
      ++joined;
      front.push_back(j);
    }
  }
  return joined;
}

std::uint64_t drop_speckle(const LocalGeometryFeatures& shape, std::uint32_t k, std::uint64_t least,
                           WoodFlags& wood, OpContext& ctx) {
  if (least < 2) return 0;
  UnionFind parts(wood.size());
  for (std::size_t i = 0; i < wood.size(); ++i) {
    if (i % kPoll == 0) ctx.checkpoint();
    if (wood[i] == 0) continue;
    for (const std::uint32_t j : first_of(shape, i, k)) {
      if (wood[j] != 0) parts.join(i, j);
    }
  }
  BulkVector<std::uint32_t> size(wood.size());
  for (std::size_t i = 0; i < wood.size(); ++i) {
    if (i % kPoll == 0) ctx.checkpoint();
    if (wood[i] != 0) ++size[parts.root_of(i)];
  }
  std::uint64_t dropped = 0;
  for (std::size_t i = 0; i < wood.size(); ++i) {
    if (i % kPoll == 0) ctx.checkpoint();
    if (wood[i] == 0 || size[parts.root_of(i)] >= least) continue;
    wood[i] = 0;
    ++dropped;
  }
  return dropped;
}

BulkVector<float> neighbor_mean(const LocalGeometryFeatures& shape, std::uint32_t k, Span<const float> values,
                                OpContext& ctx) {
  BulkVector<float> out(values.size);
  parallel_for(ctx, values.size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto near = first_of(shape, i, k);
      double sum = static_cast<double>(values[i]);
      for (const std::uint32_t j : near) sum += static_cast<double>(values[j]);
      out[i] = static_cast<float>(sum / static_cast<double>(near.size + 1));
    }
  });
  return out;
}

}  // namespace pc
