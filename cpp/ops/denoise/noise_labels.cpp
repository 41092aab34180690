#include "ops/denoise/noise_labels.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "core/parallel.h"

namespace pc {

namespace {

constexpr std::size_t kBlock = 262'144;  // rows of one byte each: 0.1 ms

}  // namespace

NoiseResult all_noise(HitPoints points, OpContext& ctx) {
  NoiseResult result{Column<std::uint8_t>(points.size()), 0, 0, {}};
  const auto labels = result.noise_class.view();
  parallel_for(ctx, points.size(), kBlock, [&](std::size_t begin, std::size_t end) {
    std::fill(labels.data + begin, labels.data + end, kNoise);
  });
  return result;
}

void count_noise(NoiseResult& result, std::uint64_t finite_count, OpContext& ctx) {
  const std::size_t count = result.noise_class.size();
  const auto labels = result.noise_class.view();
  std::vector<std::uint64_t> noise((count + kBlock - 1) / kBlock, 0);
  parallel_for(ctx, count, kBlock, [&](std::size_t begin, std::size_t end) {
    noise[begin / kBlock] =
        static_cast<std::uint64_t>(std::count(labels.data + begin, labels.data + end, kNoise));
  });
  result.flagged_count = std::accumulate(noise.begin(), noise.end(), std::uint64_t{0});
  result.non_finite_count = count - finite_count;
}

Column<std::uint8_t> noise_on_rows(const HitSelection& hits, Span<const std::uint8_t> skip,
                                   Column<std::uint8_t>&& labels, OpContext& ctx) {
  if (skip.empty()) return std::move(labels);
  Column<std::uint8_t> rows(skip.size);
  const auto to = rows.view();
  parallel_for(ctx, skip.size, kBlock, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) to[i] = skip[i] == kSkipMiss ? kClean : 0;
  });
  scatter_to_rows<std::uint8_t>(hits, labels.view(), to, ctx);
  return rows;
}

}  // namespace pc
