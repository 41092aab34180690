#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/float_bits.h"
#include "core/memory.h"
#include "core/op_context.h"
#include "core/parallel.h"
#include "core/span.h"

namespace pc {

namespace parallel_select {

constexpr std::size_t kGrain = std::size_t{1} << 15;
/// Fewer values are not worth a histogram.
constexpr std::size_t kFew = std::size_t{1} << 15;
/// Non-negative numbers are ordered like their bits; those of a bin agree in the exponent and 5 bits of the mantissa.
constexpr int kBinShift = 47;
constexpr std::size_t kBins = std::size_t{1} << 16;

inline std::size_t bin_of(double value) {
  return static_cast<std::size_t>((bits_of(value) & ~(std::uint64_t{1} << 63)) >> kBinShift);
}

/// How many of the values lie in each bin. Values that are negative or NaN lie in none.
inline std::vector<std::uint64_t> histogram(Span<const double> values, OpContext& ctx) {
  std::vector<std::vector<std::uint32_t>> own(static_cast<std::size_t>(std::max(1, ctx.threads())));
  parallel_for_worker(ctx, values.size, kGrain, [&](std::size_t begin, std::size_t end, int worker) {
    auto& bins = own[static_cast<std::size_t>(worker)];
    if (bins.empty()) bins.resize(kBins);
    for (std::size_t i = begin; i < end; ++i)
      if (values[i] >= 0) ++bins[bin_of(values[i])];
  });
  std::vector<std::uint64_t> sum(kBins);
  for (const auto& bins : own)
    for (std::size_t bin = 0; bin < bins.size(); ++bin) sum[bin] += bins[bin];
  return sum;
}

/// The values of a bin, in no particular order.
inline BulkVector<double> values_of(std::size_t bin, Span<const double> values, OpContext& ctx) {
  std::vector<BulkVector<double>> own(static_cast<std::size_t>(std::max(1, ctx.threads())));
  parallel_for_worker(ctx, values.size, kGrain, [&](std::size_t begin, std::size_t end, int worker) {
    auto& found = own[static_cast<std::size_t>(worker)];
    for (std::size_t i = begin; i < end; ++i)
      if (values[i] >= 0 && bin_of(values[i]) == bin) found.push_back(values[i]);
  });
  BulkVector<double> all;
  for (const auto& found : own)
    for (const double value : found) all.push_back(value);
  return all;
}

inline double nth_of(BulkVector<double>& values, std::size_t rank) {
  double* const at = values.begin() + static_cast<std::ptrdiff_t>(rank);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

}  // namespace parallel_select

/// The value that has index rank_of(count) after sorting, of the `count` values that are at least 0; negative ones and NaN
/// are left out. Without any: -1.
///
/// Order   The same value for any number of threads.
/// Cost    Two passes; 512 KiB of scratch per thread, and the values that agree with the result in 5 bits of the mantissa.
/// Cancel  Within 50 ms.
template <class Rank>
double select_non_negative(Span<const double> values, OpContext& ctx, const Rank& rank_of) {
  using namespace parallel_select;
  if (values.size < kFew) {
    BulkVector<double> kept;
    kept.reserve(values.size);
    for (const double value : values)
      if (value >= 0) kept.push_back(value);
    return kept.size() == 0 ? -1 : nth_of(kept, rank_of(kept.size()));
  }
  const std::vector<std::uint64_t> bins = histogram(values, ctx);
  std::uint64_t count = 0;
  for (const std::uint64_t in_bin : bins) count += in_bin;
  if (count == 0) return -1;
  std::uint64_t rank = rank_of(static_cast<std::size_t>(count));
  std::size_t bin = 0;
  while (rank >= bins[bin]) rank -= bins[bin++];
  BulkVector<double> same = values_of(bin, values, ctx);
  return nth_of(same, static_cast<std::size_t>(rank));
}

}  // namespace pc
