#include "ops/cloud/map_values.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "core/error.h"
#include "core/parallel.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 16;

template <class Out>
AnyColumn mapped(const AnyColumn& column, Span<const double> from, Span<const double> to, OpContext& ctx) {
  Column<Out> out(column.size());
  visit_scalar(column, [&](auto values) {
    parallel_for(ctx, values.size, kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const double value = std::rint(static_cast<double>(values[i]));
        const double* const found = std::lower_bound(from.begin(), from.end(), value);
        out[i] = found != from.end() && *found == value ? static_cast<Out>(to[found - from.begin()]) : Out{0};
      }
    });
  });
  return AnyColumn(std::move(out));
}

}  // namespace

AnyColumn map_values(const AnyColumn& column, Span<const double> from, Span<const double> to,
                     OpContext& ctx) {
  require(from.size == to.size, "every value needs a number to become");
  double largest = 0;
  for (std::size_t i = 0; i < from.size; ++i) {
    require(std::isfinite(from[i]) && std::rint(from[i]) == from[i] && (i == 0 || from[i - 1] < from[i]),
            "the values must be whole numbers that ascend");
    require(to[i] >= 0 && to[i] <= 0xffffffff && std::floor(to[i]) == to[i],
            "the numbers must be whole, from 0 to 2^32 - 1");
    largest = std::max(largest, to[i]);
  }
  ctx.begin_phase("Numbering points", column.size());
  return largest <= 0xffff ? mapped<std::uint16_t>(column, from, to, ctx)
                           : mapped<std::uint32_t>(column, from, to, ctx);
}

}  // namespace pc
