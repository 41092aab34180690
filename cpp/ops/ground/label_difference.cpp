#include "ops/ground/label_difference.h"

#include <atomic>

#include "core/parallel.h"

namespace pc {

std::uint64_t count_label_differences(Span<const std::uint8_t> a, Span<const std::uint8_t> b,
                                      OpContext& ctx) {
  require(a.size == b.size, "label columns must have the same length");
  std::atomic<std::uint64_t> differing{0};
  parallel_for(ctx, a.size, std::size_t{1} << 20, [&](std::size_t begin, std::size_t end) {
    std::uint64_t own = 0;
    for (std::size_t i = begin; i < end; ++i) own += a[i] != b[i];
    differing.fetch_add(own, std::memory_order_relaxed);
  });
  return differing;
}

}  // namespace pc
