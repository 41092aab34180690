#include "ops/trees/trunk_layer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pc {

namespace {

constexpr TrunkLayer kTall{1, 2};
constexpr double kLowest = 0.5;               // metres: points below tell nothing of the height of trees
constexpr double kShare = 0.01;               // of the points above: strays and masts
constexpr double kBegin = 0.05, kEnd = 0.15;  // of the height of a low tree
constexpr double kLeastBegin = 0.1;           // metres
constexpr double kBinsPerMetre = 100;
constexpr std::size_t kPollEvery = 65'536;

}  // namespace

TrunkLayer trunk_layer_of(double height_m) {
  if (!(height_m < kLowTree)) return kTall;
  const double begin = std::max(kLeastBegin, kBegin * height_m);
  return {begin, begin + (kEnd - kBegin) * height_m};
}

TrunkLayer trunk_layer(Span<const float> heights, OpContext& ctx) {
  std::vector<std::uint64_t> bins(static_cast<std::size_t>(kLowTree * kBinsPerMetre) + 1, 0);
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < heights.size; ++i) {
    if (i % kPollEvery == 0) ctx.checkpoint();
    const auto height = static_cast<double>(heights[i]);
    if (!(height > kLowest)) continue;
    ++total;
    ++bins[static_cast<std::size_t>(std::min(height * kBinsPerMetre, static_cast<double>(bins.size() - 1)))];
  }
  if (total == 0) return kTall;
  std::uint64_t above = bins.back();
  if (static_cast<double>(above) >= kShare * static_cast<double>(total)) return kTall;
  std::size_t bin = bins.size() - 1;
  while (static_cast<double>(above) < kShare * static_cast<double>(total)) above += bins[--bin];
  return trunk_layer_of(static_cast<double>(bin + 1) / kBinsPerMetre);
}

}  // namespace pc
