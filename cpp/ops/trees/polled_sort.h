#pragma once
#include <algorithm>
#include <cstddef>

#include "core/op_context.h"

namespace pc {

/// std::sort that sees a cancel within a few milliseconds; the values are then in no order.
template <class Values, class Less>
void polled_sort(Values& values, const Less& less, OpContext& ctx) {
  std::size_t compared = 0;
  std::sort(values.begin(), values.end(), [&](const auto& a, const auto& b) {
    if (++compared % 65'536 == 0) ctx.checkpoint();
    return less(a, b);
  });
}

}  // namespace pc
