#pragma once
#include <algorithm>
#include <cstdint>

#include "core/op_context.h"

namespace pc {

namespace detail {

/// Counts the comparisons of all copies that a sort makes of its order.
template <class Less>
auto polling(const OpContext& ctx, Less less, std::uint32_t& count) {
  constexpr std::uint32_t kComparisons = 1 << 16;
  return [&ctx, &count, less](const auto& a, const auto& b) {
    if (++count % kComparisons == 0) ctx.checkpoint();
    return less(a, b);
  };
}

}  // namespace detail

/// std::sort that sees a cancel within 65,536 comparisons; the order of the range is then undefined.
template <class Iterator, class Less>
void polled_sort(Iterator first, Iterator last, Less less, const OpContext& ctx) {
  std::uint32_t count = 0;
  std::sort(first, last, detail::polling(ctx, less, count));
}

/// std::stable_sort that sees a cancel within 65,536 comparisons; the order of the range is then undefined.
template <class Iterator, class Less>
void polled_stable_sort(Iterator first, Iterator last, Less less, const OpContext& ctx) {
  std::uint32_t count = 0;
  std::stable_sort(first, last, detail::polling(ctx, less, count));
}

}  // namespace pc
