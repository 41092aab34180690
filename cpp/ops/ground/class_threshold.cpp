#include "ops/ground/class_threshold.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/parallel.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 17;
constexpr std::size_t kBins = 4000, kFewestPoints = 500;
constexpr double kLowest = 0.02, kHighest = 5.0;  // metres
constexpr double kThinned = 0.01;  // share of the peak, above the floor of the gap, at which the layer ends
constexpr double kMostOfNear = 4;  // a layer that reaches higher is none of ground

struct Histogram {
  double low, bin;
  std::vector<double> counts;
  std::uint64_t point_count;

  double center(std::size_t i) const { return low + (static_cast<double>(i) + 0.5) * bin; }
};

Histogram count_heights(Span<const float> heights, Span<const std::uint8_t> ignored, double bin,
                        OpContext& ctx) {
  const auto workers = static_cast<std::size_t>(ctx.threads());
  std::vector<float> lowest(workers, HUGE_VALF), highest(workers, -HUGE_VALF);
  parallel_for_worker(ctx, heights.size, kGrain, [&](std::size_t begin, std::size_t end, int worker) {
    float low = lowest[static_cast<std::size_t>(worker)], high = highest[static_cast<std::size_t>(worker)];
    for (std::size_t i = begin; i < end; ++i) {
      if (!ignored.empty() && ignored[i] != 0) continue;
      low = heights[i] < low ? heights[i] : low;
      high = heights[i] > high ? heights[i] : high;
    }
    lowest[static_cast<std::size_t>(worker)] = low;
    highest[static_cast<std::size_t>(worker)] = high;
  });
  // Bins begin at multiples of their width: the lowest point does not move them.
  const double low =
      std::floor(static_cast<double>(*std::min_element(lowest.begin(), lowest.end())) / bin) * bin;
  const double high = *std::max_element(highest.begin(), highest.end());
  Histogram histogram{low, bin, {}, 0};
  if (!(low <= high)) return histogram;
  const auto bins = static_cast<std::size_t>(std::min<double>(kBins, std::floor((high - low) / bin) + 1));
  std::vector<std::vector<std::uint32_t>> counts(workers, std::vector<std::uint32_t>(bins));
  parallel_for_worker(ctx, heights.size, kGrain, [&](std::size_t begin, std::size_t end, int worker) {
    std::vector<std::uint32_t>& own = counts[static_cast<std::size_t>(worker)];
    for (std::size_t i = begin; i < end; ++i) {
      if (!ignored.empty() && ignored[i] != 0) continue;
      const double at = (static_cast<double>(heights[i]) - low) / bin;
      if (at >= 0 && at < static_cast<double>(bins)) own[static_cast<std::size_t>(at)] += 1;
    }
  });
  histogram.counts.resize(bins);
  for (std::size_t i = 0; i < bins; ++i) {
    for (const auto& own : counts) histogram.counts[i] += own[i];
    histogram.point_count += static_cast<std::uint64_t>(histogram.counts[i]);
  }
  return histogram;
}

/// Means over `span` bins (odd), fewer at the ends.
std::vector<double> smoothed(const std::vector<double>& counts, std::size_t span) {
  const std::size_t half = span / 2, n = counts.size();
  std::vector<double> sums(n + 1), out(n);
  for (std::size_t i = 0; i < n; ++i) sums[i + 1] = sums[i] + counts[i];
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t begin = i < half ? 0 : i - half, end = std::min(n, i + half + 1);
    out[i] = (sums[end] - sums[begin]) / static_cast<double>(end - begin);
  }
  return out;
}

/// The fullest of the bins near the cloth; size() if these are all empty.
std::size_t ground_mode(const Histogram& histogram, double near) {
  std::size_t mode = histogram.counts.size();
  for (std::size_t i = 0; i < histogram.counts.size(); ++i) {
    if (std::abs(histogram.center(i)) > near || histogram.counts[i] == 0) continue;
    if (mode == histogram.counts.size() || histogram.counts[i] > histogram.counts[mode]) mode = i;
  }
  return mode;
}

/// The first valley above the peak that is deep and lasting and ends in a rise; size() if there is none.
std::size_t find_knee(const std::vector<double>& counts, std::size_t peak, std::size_t span) {
  const std::size_t n = counts.size();
  for (std::size_t i = peak + 1; i + 1 < n; ++i) {
    const bool minimum = counts[i] <= counts[i - 1] && counts[i] <= counts[i + 1];
    if (!minimum || counts[i] > 0.5 * counts[peak]) continue;
    const std::size_t watch = std::min(n, i + 1 + 3 * span);
    const auto first = counts.begin() + static_cast<std::ptrdiff_t>(i) + 1;
    const auto last = counts.begin() + static_cast<std::ptrdiff_t>(watch);
    if (std::any_of(first, last, [&](double later) { return later < counts[i]; })) continue;
    const auto rise = std::max(1.25 * counts[i], counts[i] + 1e-9);
    if (std::any_of(first, counts.end(), [&](double later) { return later >= rise; })) return i;
  }
  return n;
}

/// Height above the peak at which the counts first fall to `level`, between two bin centres; HUGE_VAL if never.
double falls_to(double level, const Histogram& histogram, const std::vector<double>& counts,
                std::size_t peak) {
  for (std::size_t i = peak + 1; i < counts.size(); ++i) {
    if (counts[i] > level) continue;
    const double step = counts[i - 1] - counts[i];
    return histogram.center(i) - (step > 0 ? (level - counts[i]) / step * histogram.bin : 0);
  }
  return HUGE_VAL;
}

}  // namespace

const char* to_string(ThresholdMethod method) {
  switch (method) {
    case ThresholdMethod::kManual:
      return "manual";
    case ThresholdMethod::kKnee:
      return "knee";
    case ThresholdMethod::kTail:
      return "tail";
    case ThresholdMethod::kFallback:
      return "fallback";
  }
  return "fallback";
}

ClassThreshold measure_class_threshold(Span<const float> heights, Span<const std::uint8_t> ignored,
                                       double resolution_m, double fallback_m, OpContext& ctx) {
  const ClassThreshold fallback{fallback_m, ThresholdMethod::kFallback};
  const double bin = std::clamp(resolution_m / 10, 0.002, 0.10);
  const Histogram histogram = count_heights(heights, ignored, bin, ctx);
  const std::size_t n = histogram.counts.size();
  const double near = std::max(2 * resolution_m, 0.25);
  const std::size_t mode = ground_mode(histogram, near);
  if (histogram.point_count < kFewestPoints || mode == n) return fallback;
  std::size_t half = mode + 1;
  while (half < n && histogram.counts[half] >= 0.5 * histogram.counts[mode]) ++half;
  auto span = static_cast<std::size_t>(std::clamp<double>(static_cast<double>(half - mode), 3, 101));
  span -= span % 2 == 0 ? 1 : 0;
  const std::vector<double> counts = smoothed(histogram.counts, span);
  const std::size_t knee = find_knee(counts, mode, span);
  const double floor = knee < n ? counts[knee] : 0, peak = counts[mode];
  const double layer_top = falls_to(0.5 * peak, histogram, counts, mode);
  const double thinned = falls_to(floor + kThinned * (peak - floor), histogram, counts, mode);
  const double top = std::max(layer_top, thinned);
  if (!(top <= kMostOfNear * near)) return fallback;
  return {std::clamp(top, kLowest, kHighest), knee < n ? ThresholdMethod::kKnee : ThresholdMethod::kTail};
}

}  // namespace pc
