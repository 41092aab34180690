#include "ops/registration/distance_statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/float_bits.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "ops/cloud/percentile.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 18;
constexpr std::size_t kHalf = 65'536;  // values of half a number's bits
constexpr std::array<double, 4> kFractions{0.5, 0.9, 0.95, 0.99};
constexpr std::array<double, 3> kBandShares{0.001, 0.005, 0.01};  // contract terrain section 3.1

/// Counts of kinds of distances, per worker; the sums do not depend on who counted.
template <class KindOf>
BulkVector<std::uint64_t> counts_of(Span<const float> distances, std::size_t kinds, OpContext& ctx,
                                    const KindOf& kind_of) {
  const auto workers = static_cast<std::size_t>(ctx.threads());
  BulkVector<std::uint64_t> counts(kinds * workers);
  parallel_for_worker(ctx, distances.size, kGrain, [&](std::size_t begin, std::size_t end, int worker) {
    std::uint64_t* const own = counts.data() + kinds * static_cast<std::size_t>(worker);
    for (std::size_t i = begin; i < end; ++i) {
      if (std::isnan(distances[i])) continue;
      const std::size_t kind = kind_of(std::abs(distances[i]));
      if (kind < kinds) ++own[kind];
    }
  });
  for (std::size_t worker = 1; worker < workers; ++worker)
    for (std::size_t kind = 0; kind < kinds; ++kind) counts[kind] += counts[kinds * worker + kind];
  counts.resize(kinds);
  return counts;
}

/// A rank among the distances, and the upper half of the bits of the value there.
struct Rank {
  std::uint64_t rank, below;
  std::uint32_t upper;
};

/// The values at given ranks, by counting the halves of their bits (the bits of numbers >= 0 are in their order).
std::vector<double> values_at(std::vector<std::uint64_t> ranks, Span<const float> distances, OpContext& ctx) {
  const auto upper = counts_of(distances, kHalf, ctx, [](float d) { return bits_of(d) >> 16; });
  std::vector<double> values(ranks.size());
  std::vector<Rank> wanted;
  for (const std::uint64_t rank : ranks) {
    std::uint64_t below = 0;
    std::uint32_t at = 0;
    while (below + upper[at] <= rank) below += upper[at++];
    wanted.push_back({rank, below, at});
  }
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::uint32_t half = wanted[i].upper;
    const bool done = i > 0 && wanted[i - 1].upper == half && wanted[i - 1].rank == wanted[i].rank;
    if (done) {
      values[i] = values[i - 1];
      continue;
    }
    const auto lower = counts_of(distances, kHalf, ctx, [&](float d) {
      const std::uint32_t bits = bits_of(d);
      return bits >> 16 == half ? std::size_t{bits & 0xffffU} : kHalf;
    });
    std::uint64_t below = wanted[i].below;
    std::uint32_t at = 0;
    while (below + lower[at] <= wanted[i].rank) below += lower[at++];
    values[i] = static_cast<double>(float_of(half << 16 | at));
  }
  return values;
}

void set_percentiles(DistanceStatistics& out, std::uint64_t count, Span<const float> distances,
                     OpContext& ctx) {
  std::vector<std::uint64_t> ranks;
  for (const double fraction : kFractions) {
    const PercentileRank at = percentile_rank(count, fraction);
    ranks.insert(ranks.end(), {at.low, at.high});
  }
  const std::vector<double> values = values_at(ranks, distances, ctx);
  std::array<double, kFractions.size()> percentile{};
  for (std::size_t i = 0; i < kFractions.size(); ++i) {
    percentile[i] =
        percentile_between(values[2 * i], values[2 * i + 1], percentile_rank(count, kFractions[i]).weight);
  }
  out.median = percentile[0];
  out.percentile_90 = percentile[1];
  out.percentile_95 = percentile[2];
  out.percentile_99 = percentile[3];
}

/// Percentage of the distances that are at most each of the limits, in their order.
std::vector<double> percent_within(const std::vector<double>& limits, std::uint64_t count,
                                   Span<const float> distances, OpContext& ctx) {
  std::vector<double> ascending = limits;
  std::sort(ascending.begin(), ascending.end());
  const auto banded = counts_of(distances, ascending.size(), ctx, [&](float d) {
    return static_cast<std::size_t>(
        std::lower_bound(ascending.begin(), ascending.end(), static_cast<double>(d)) - ascending.begin());
  });
  std::vector<double> percent;
  for (const double limit : limits) {
    const auto bands = std::upper_bound(ascending.begin(), ascending.end(), limit) - ascending.begin();
    std::uint64_t within = 0;
    for (std::ptrdiff_t i = 0; i < bands; ++i) within += banded[static_cast<std::size_t>(i)];
    percent.push_back(100 * static_cast<double>(within) / static_cast<double>(count));
  }
  return percent;
}

}  // namespace

void Moments::add(double value) {
  ++count;
  const double delta = value - mean;
  mean += delta / static_cast<double>(count);
  squares += delta * (value - mean);
}

void Moments::add(const Moments& other) {
  if (other.count == 0) return;
  const auto mine = static_cast<double>(count), theirs = static_cast<double>(other.count);
  const double delta = other.mean - mean, all = mine + theirs;
  mean += delta * (theirs / all);
  squares += other.squares + delta * delta * (mine * theirs / all);
  count += other.count;
}

double Moments::deviation() const { return count == 0 ? 0 : std::sqrt(squares / static_cast<double>(count)); }

DistanceStatistics distance_statistics(const DistanceMoments& moments, Span<const float> distances,
                                       const std::vector<double>& bands_m, OpContext& ctx) {
  const std::uint64_t count = moments.unsigned_.count;
  DistanceStatistics out{};
  out.mean = moments.unsigned_.mean;
  out.std_deviation = moments.unsigned_.deviation();
  out.rmse = std::sqrt(out.mean * out.mean + out.std_deviation * out.std_deviation);
  out.min = moments.min;
  out.max = moments.max;
  set_percentiles(out, count, distances, ctx);
  const double diagonal = std::sqrt(squared_distance(moments.box.min, moments.box.max));
  for (std::size_t i = 0; i < kBandShares.size(); ++i) out.band_thresholds_m[i] = kBandShares[i] * diagonal;
  std::vector<double> limits(out.band_thresholds_m.begin(), out.band_thresholds_m.end());
  limits.insert(limits.end(), bands_m.begin(), bands_m.end());
  const std::vector<double> within = percent_within(limits, count, distances, ctx);
  std::copy_n(within.begin(), kBandShares.size(), out.points_within_percent.begin());
  out.asked_percent.assign(within.begin() + kBandShares.size(), within.end());
  constexpr std::size_t kBins = DistanceHistogram::kBins;
  out.histogram.bin_width_m = out.max / kBins;
  const auto binned = counts_of(distances, kBins, ctx, [&](float d) {
    if (!(out.histogram.bin_width_m > 0)) return std::size_t{0};
    const double bin = std::floor(static_cast<double>(d) / out.histogram.bin_width_m);
    return bin < kBins ? static_cast<std::size_t>(bin) : kBins - 1;
  });
  std::copy(binned.begin(), binned.end(), out.histogram.counts.begin());
  return out;
}

}  // namespace pc
