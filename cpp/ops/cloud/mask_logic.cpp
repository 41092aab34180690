#include "ops/cloud/mask_logic.h"

#include <atomic>

#include "core/parallel.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 20;

}  // namespace

CombinedMask combine_masks(const std::vector<MaskTerm>& terms, MaskLogic logic, OpContext& ctx) {
  require(!terms.empty(), "at least one mask is needed");
  const std::size_t n = terms.front().mask.size;
  for (const auto& term : terms) require(term.mask.size == n, "the masks have different lengths");
  ctx.begin_phase("Combining masks", n);
  CombinedMask result{Column<std::uint8_t>(n), 0};
  const auto out = result.mask.view();
  std::atomic<std::uint64_t> count{0};
  parallel_for(ctx, n, kGrain, [&](std::size_t begin, std::size_t end) {
    const auto& first = terms.front();
    for (std::size_t i = begin; i < end; ++i) {
      out[i] = static_cast<std::uint8_t>((first.mask[i] != 0) != first.invert);
    }
    for (std::size_t t = 1; t < terms.size(); ++t) {
      const auto& term = terms[t];
      if (logic == MaskLogic::kAnd) {
        for (std::size_t i = begin; i < end; ++i)
          out[i] &= static_cast<std::uint8_t>((term.mask[i] != 0) != term.invert);
      } else {
        for (std::size_t i = begin; i < end; ++i)
          out[i] |= static_cast<std::uint8_t>((term.mask[i] != 0) != term.invert);
      }
    }
    std::uint64_t ones = 0;
    for (std::size_t i = begin; i < end; ++i) ones += out[i];
    count.fetch_add(ones, std::memory_order_relaxed);
  });
  result.count = count.load();
  return result;
}

}  // namespace pc
