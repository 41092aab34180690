#include "ops/trees/tree_places.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace pc {

namespace {

constexpr std::size_t kSamples = 20'000, kFewest = 10, kDirections = 8, kMostBins = 4'000;
constexpr double kBin = 0.25;  // metres
constexpr double kShare = 0.1;

/// Longest run of empty bins with at least `least` points on either side, bins.
std::size_t longest_gap(const std::vector<std::size_t>& bins, std::size_t count, std::size_t least) {
  std::size_t before = 0, run = 0, longest = 0;
  for (const std::size_t in_bin : bins) {
    if (in_bin == 0) {
      ++run;
      continue;
    }
    if (before >= least && count - before >= least) longest = std::max(longest, run);
    before += in_bin;
    run = 0;
  }
  return longest;
}

}  // namespace

double widest_empty_strip(Span<const Vec3d> points, OpContext& ctx) {
  ctx.checkpoint();
  const std::size_t stride = (points.size + kSamples - 1) / kSamples;
  if (points.size < kFewest) return 0;
  const std::size_t count = (points.size + stride - 1) / stride;
  const auto least =
      std::max(std::size_t{1}, static_cast<std::size_t>(std::ceil(kShare * static_cast<double>(count))));
  std::vector<double> along(count);
  std::vector<std::size_t> bins;
  double widest = 0;
  for (std::size_t direction = 0; direction < kDirections; ++direction) {
    const double angle = std::numbers::pi * static_cast<double>(direction) / kDirections;
    const double c = std::cos(angle), s = std::sin(angle);
    for (std::size_t i = 0; i < count; ++i) along[i] = c * points[i * stride].x + s * points[i * stride].y;
    const auto [low, high] = std::minmax_element(along.begin(), along.end());
    const double first = *low, bin = std::max(kBin, (*high - first) / kMostBins);
    bins.assign(static_cast<std::size_t>((*high - first) / bin) + 1, 0);
    for (const double value : along) ++bins[static_cast<std::size_t>((value - first) / bin)];
    widest = std::max(widest, bin * static_cast<double>(longest_gap(bins, count, least)));
  }
  return widest;
}

}  // namespace pc
