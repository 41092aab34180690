#include "ops/wood/reflectance_vote.h"

#include <algorithm>
#include <cmath>

#include "core/memory.h"
#include "core/polled_sort.h"
#include "ops/cloud/percentile.h"
#include "ops/wood/wood_class.h"

namespace pc {

namespace {

constexpr std::size_t kPoll = 65'536;

struct Value {
  float reflectance;
  std::uint32_t wood;
};

BulkVector<Value> known_values(Span<const float> reflectance, Span<const std::uint8_t> labels,
                               OpContext& ctx) {
  BulkVector<Value> known;
  known.reserve(reflectance.size);
  for (std::size_t i = 0; i < reflectance.size; ++i) {
    if (i % kPoll == 0) ctx.checkpoint();
    if (std::isfinite(reflectance[i])) known.push_back({reflectance[i], labels[i] == kWood ? 1U : 0U});
  }
  polled_sort(
      known.begin(), known.end(),
      [](const Value& a, const Value& b) { return a.reflectance < b.reflectance; }, ctx);
  return known;
}

/// Probability that wood reflects more than leaf; 1/2 if there is only one class.
double area_under_curve(Span<const Value> sorted, OpContext& ctx) {
  double pairs = 0, leaf_below = 0, wood = 0;
  for (std::size_t begin = 0, end = 0; begin < sorted.size; begin = end) {
    double wood_here = 0, leaf_here = 0;
    for (; end < sorted.size && sorted[end].reflectance == sorted[begin].reflectance; ++end) {
      if (end % kPoll == 0) ctx.checkpoint();
      (sorted[end].wood != 0 ? wood_here : leaf_here) += 1;
    }
    pairs += wood_here * (leaf_below + 0.5 * leaf_here);
    leaf_below += leaf_here;
    wood += wood_here;
  }
  return wood > 0 && leaf_below > 0 ? pairs / (wood * leaf_below) : 0.5;
}

}  // namespace

ReflectanceVote reflectance_vote(Span<const float> reflectance, double weight_max, Span<std::uint8_t> labels,
                                 OpContext& ctx) {
  if (reflectance.empty() || weight_max <= 0) return {0, 0};
  const BulkVector<Value> known = known_values(reflectance, labels, ctx);
  const double weight = weight_max * (2 * area_under_curve(known.view(), ctx) - 1);
  if (!(weight > 0)) return {0, 0};
  const PercentileRank rank = percentile_rank(known.size(), 0.99 - 0.11 * weight);
  const double limit = percentile_between(static_cast<double>(known[rank.low].reflectance),
                                          static_cast<double>(known[rank.high].reflectance), rank.weight);
  ReflectanceVote vote{weight, 0};
  for (std::size_t i = 0; i < reflectance.size; ++i) {
    if (i % kPoll == 0) ctx.checkpoint();
    if (labels[i] != kLeaf || !(static_cast<double>(reflectance[i]) > limit)) continue;
    labels[i] = kWood;
    ++vote.promoted;
  }
  return vote;
}

}  // namespace pc
