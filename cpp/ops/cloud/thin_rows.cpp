#include "ops/cloud/thin_rows.h"

#include <vector>

#include "core/parallel.h"

namespace pc {

Column<std::uint8_t> thin_rows(std::size_t rows, Span<const std::uint8_t> skip, std::uint64_t stride,
                               OpContext& ctx) {
  constexpr std::size_t kBlock = std::size_t{1} << 16;
  require(skip.empty() || skip.size == rows, "skip needs one entry per point");
  require(stride >= 1, "the stride must be at least 1");
  const auto kept = [&](std::size_t row) { return skip.empty() || skip[row] == 0; };
  std::vector<std::uint64_t> before((rows + kBlock - 1) / kBlock + 1, 0);
  parallel_for(ctx, rows, kBlock, [&](std::size_t begin, std::size_t end) {
    std::uint64_t count = 0;
    for (std::size_t row = begin; row < end; ++row) count += kept(row) ? 1 : 0;
    before[begin / kBlock + 1] = count;
  });
  for (std::size_t i = 1; i < before.size(); ++i) before[i] += before[i - 1];
  Column<std::uint8_t> thinned(rows);
  parallel_for(ctx, rows, kBlock, [&](std::size_t begin, std::size_t end) {
    std::uint64_t at = before[begin / kBlock];
    for (std::size_t row = begin; row < end; ++row) thinned[row] = kept(row) && at++ % stride == 0 ? 0 : 1;
  });
  return thinned;
}

}  // namespace pc
