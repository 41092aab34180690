#include "ops/wood/wood_shape.h"

#include <cmath>
#include <utility>

#include "core/parallel.h"
#include "ops/wood/wood_regions.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = 65'536;
constexpr float kVerticalityWeight = 2.0F;  // of verticality beside flatness
constexpr float kPartWeight = 0.5F;         // of the mean of the part beside that of the neighbours
constexpr double kEvenScore = 2.75;         // score of points that are as likely wood as leaf
constexpr int kRounds = 2;                  // of averaging over neighbours, before and after the parts
constexpr double kScoreScale = 0.35;        // score by which the odds rise by the factor e
constexpr double kEvenProbability = 0.6;    // the default of wood_bias is where the odds are even

/// Replaces part of each value by the mean of its part of the plant.
void mix_with_parts(Span<const std::uint32_t> part, std::uint32_t parts, BulkVector<float>& value,
                    OpContext& ctx) {
  BulkVector<double> sum(parts);
  BulkVector<std::uint32_t> count(parts);
  for (std::size_t i = 0; i < part.size; ++i) {
    if (i % kGrain == 0) ctx.checkpoint();
    if (part[i] >= parts) continue;
    sum[part[i]] += static_cast<double>(value[i]);
    ++count[part[i]];
  }
  parallel_for(ctx, part.size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (part[i] >= parts) continue;
      const auto mean = static_cast<float>(sum[part[i]] / count[part[i]]);
      value[i] += kPartWeight * (mean - value[i]);
    }
  });
}

void smooth(const LocalGeometryFeatures& shape, std::uint32_t k, BulkVector<float>& value, OpContext& ctx) {
  for (int round = 0; round < kRounds; ++round) value = neighbor_mean(shape, k, value.view(), ctx);
}

}  // namespace

BulkVector<float> wood_probability(const LocalGeometryFeatures& shape, Span<const std::uint32_t> part,
                                   std::uint32_t parts, std::uint32_t smooth_k, OpContext& ctx) {
  BulkVector<float> value(shape.mean_flatness.size());
  parallel_for(ctx, value.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      value[i] = shape.mean_flatness[i] + kVerticalityWeight * shape.mean_verticality[i];
  });
  smooth(shape, smooth_k, value, ctx);
  if (!part.empty()) mix_with_parts(part, parts, value, ctx);
  smooth(shape, smooth_k, value, ctx);
  const double even = std::log(kEvenProbability / (1 - kEvenProbability));
  parallel_for(ctx, value.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const double logit = even + (static_cast<double>(value[i]) - kEvenScore) / kScoreScale;
      value[i] = static_cast<float>(1 / (1 + std::exp(-logit)));
    }
  });
  return value;
}

}  // namespace pc
