#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/parallel.h"
#include "core/random.h"
#include "ops/cloud/percentile.h"

namespace pc {

/// A percentile of one lane to compute. A lane is one of the values that a row has.
struct PercentileQuery {
  std::uint32_t lane;
  double fraction;  ///< in [0, 1]
  double value;     ///< out; interpolated linearly, see percentile_rank
};

/// Bounds of the values of a lane.
struct LaneRange {
  double min, max;
};

namespace order_select {

constexpr std::size_t kGrain = std::size_t{1} << 15;
constexpr std::uint64_t kSample = 16'384;
constexpr std::uint64_t kRowsPerSample = 32;  // of a small column: its sample is sorted whole
constexpr std::uint64_t kMinSample =
    1024;  // fewer: all values are gathered, in one pass where they are at most n / 16
constexpr std::uint64_t kRoom = std::uint64_t{1} << 16;  // values; 8 standard deviations of every sample

/// A rank to find and where to store its value.
struct Target {
  std::uint64_t rank;
  double* out;
};

/// Counts of one block of rows, added to the bracket once per block. Whole columns may equal a bound, and a shared
/// counter per value would then serialise the workers.
struct Tally {
  std::uint64_t below = 0, at_low = 0, at_high = 0;
};

/// Searches for the values of some ranks: gathers the values in (low, high) and only counts the others.
struct Bracket {
  Bracket(std::uint32_t lane, LaneRange range, std::uint64_t capacity, std::vector<Target> targets)
      : lane(lane),
        low(range.min),
        high(range.max),
        targets(std::move(targets)),
        inside(static_cast<std::size_t>(capacity)) {}

  std::uint32_t lane;
  double low, high;
  std::vector<Target> targets;
  BulkVector<double> inside;
  std::atomic<std::uint64_t> below{0}, at_low{0}, at_high{0}, inside_count{0};

  void take(double value, Tally& tally) {
    if (value < low) {
      ++tally.below;
    } else if (value == low) {
      ++tally.at_low;
    } else if (value == high) {
      ++tally.at_high;
    } else if (value < high) {
      const std::uint64_t at = inside_count.fetch_add(1, std::memory_order_relaxed);
      if (at < inside.size()) inside[static_cast<std::size_t>(at)] = value;
    }
  }
  void add(const Tally& tally) {
    below += tally.below;
    at_low += tally.at_low;
    at_high += tally.at_high;
  }
};

using Brackets = std::vector<std::unique_ptr<Bracket>>;

/// Range in which, by a sample, the value at `fraction` lies: four standard deviations wide on each side.
LaneRange bracket_range(const std::vector<double>& sorted_sample, double fraction, const LaneRange& range);

/// An open interval of a lane that no bracket meets: its values lie on the same side of each bracket, so that a count of them
/// is enough. Empty (low >= high): none.
struct Gap {
  double low = 0, high = 0;
  bool contains(double value) const { return value > low && value < high; }
};

/// The interval between brackets of a lane, or beside them, that holds the most of the sample; see Gap.
Gap widest_gap(const Brackets& brackets, std::uint32_t lane, const std::vector<double>& sorted_sample);

/// Stores the values of the ranks that their brackets contain. Returns brackets for the other ranks, which cannot miss.
Brackets resolve(Brackets&& brackets, std::uint64_t count, const std::vector<LaneRange>& ranges);

/// Sorted sample of each lane: one random row from each of kSample equal stretches (fewer for a small column), without
/// the rows for which read() returns false.
template <std::size_t Lanes, class Read>
std::array<std::vector<double>, Lanes> sample_lanes(std::size_t n, Read&& read) {
  std::array<std::vector<double>, Lanes> samples;
  const std::uint64_t most = std::clamp(n / kRowsPerSample, 2 * kMinSample, kSample);
  const std::uint64_t wanted = std::min<std::uint64_t>(n, most), step = n / wanted, longer = n % wanted;
  for (std::uint64_t t = 0; t < wanted; ++t) {
    const std::uint64_t length = step + (t < longer ? 1 : 0);
    std::array<double, Lanes> values;
    if (!read(static_cast<std::size_t>(t * step + std::min(t, longer) + random_u64(1, t) % length), values))
      continue;
    for (std::size_t lane = 0; lane < Lanes; ++lane) samples[lane].push_back(values[lane]);
  }
  for (auto& sample : samples) std::sort(sample.begin(), sample.end());
  return samples;
}

/// The gap between the brackets of each lane that holds the most of the sample.
template <std::size_t Lanes>
std::array<Gap, Lanes> widest_gaps(const Brackets& brackets,
                                   const std::array<std::vector<double>, Lanes>& samples) {
  std::array<Gap, Lanes> gaps;
  for (std::uint32_t lane = 0; lane < Lanes; ++lane) gaps[lane] = widest_gap(brackets, lane, samples[lane]);
  return gaps;
}

/// One pass over all rows for all brackets. Most values lie in the gaps, which two comparisons tell.
template <std::size_t Lanes, class Read>
void count_and_gather(OpContext& ctx, std::size_t n, const std::array<Gap, Lanes>& gaps, Brackets& brackets,
                      Read&& read) {
  std::array<std::vector<Bracket*>, Lanes> of_lane;
  for (const auto& bracket : brackets) of_lane[bracket->lane].push_back(bracket.get());
  parallel_for(ctx, n, kGrain, [&](std::size_t begin, std::size_t end) {
    std::array<std::vector<Tally>, Lanes> tallies;
    std::array<std::uint64_t, Lanes> in_gap{};
    for (std::size_t lane = 0; lane < Lanes; ++lane) tallies[lane].resize(of_lane[lane].size());
    std::array<double, Lanes> values;
    for (std::size_t i = begin; i < end; ++i) {
      if (!read(i, values)) continue;
      for (std::size_t lane = 0; lane < Lanes; ++lane) {
        if (gaps[lane].contains(values[lane])) {
          ++in_gap[lane];
          continue;
        }
        for (std::size_t b = 0; b < of_lane[lane].size(); ++b)
          of_lane[lane][b]->take(values[lane], tallies[lane][b]);
      }
    }
    for (std::size_t lane = 0; lane < Lanes; ++lane) {
      for (std::size_t b = 0; b < of_lane[lane].size(); ++b) {
        if (gaps[lane].high <= of_lane[lane][b]->low) tallies[lane][b].below += in_gap[lane];
        of_lane[lane][b]->add(tallies[lane][b]);
      }
    }
  });
}

}  // namespace order_select

/// Exact percentiles of `Lanes` values per row, without sorting. read(i, std::array<double, Lanes>&) fills in row i, or
/// returns false to leave it out; it must not produce NaN. `count` (> 0) is the number of rows not left out, and
/// ranges[lane] bounds their values.
///
/// Order    Values do not depend on threads.
/// Cost     One streaming pass (a second one with a probability below 1e-3 per percentile, never more than two); n / 2
///          bytes of scratch per percentile in typical cases, of which about a tenth is touched.
/// Cancel   Within 50 ms.
/// Source   Floyd & Rivest 1975, "Expected time bounds for selection": a random sample brackets the wanted rank.
template <std::size_t Lanes, class Read>
void select_percentiles(OpContext& ctx, std::size_t n, std::uint64_t count,
                        const std::vector<LaneRange>& ranges, std::vector<PercentileQuery>& queries,
                        Read&& read) {
  using namespace order_select;
  const auto samples = sample_lanes<Lanes>(n, read);
  const std::uint64_t capacity =
      std::min(count, std::max<std::uint64_t>(n / 16, std::min<std::uint64_t>(n / 4, kRoom)));
  std::vector<std::array<double, 2>> ends(queries.size());
  Brackets brackets;
  for (std::size_t q = 0; q < queries.size(); ++q) {
    const PercentileRank rank = percentile_rank(count, queries[q].fraction);
    const LaneRange range =
        bracket_range(samples[queries[q].lane], queries[q].fraction, ranges[queries[q].lane]);
    std::vector<Target> targets{{rank.low, &ends[q][0]}};
    if (rank.high != rank.low) targets.push_back({rank.high, &ends[q][1]});
    brackets.push_back(std::make_unique<Bracket>(queries[q].lane, range, capacity, std::move(targets)));
  }
  while (!brackets.empty()) {
    const auto gaps = widest_gaps(brackets, samples);
    count_and_gather<Lanes>(ctx, n, gaps, brackets, read);
    brackets = resolve(std::move(brackets), count, ranges);
  }
  for (std::size_t q = 0; q < queries.size(); ++q) {
    const PercentileRank rank = percentile_rank(count, queries[q].fraction);
    const double high = rank.high == rank.low ? ends[q][0] : ends[q][1];
    queries[q].value = percentile_between(ends[q][0], high, rank.weight) + 0.0;  // never -0
  }
}

}  // namespace pc
