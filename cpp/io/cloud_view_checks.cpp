#include "io/cloud_view_checks.h"

#include <atomic>

#include "core/parallel.h"

namespace pc::io {

void check_columns(const CloudView& view) {
  require(view.stride >= 1, "stride must be at least 1");
  const auto check = [&](std::size_t size, const std::string& what) {
    if (size == view.positions.size) return;
    throw Error(ErrorCode::kInvalidArgument, "column " + what + " has " + std::to_string(size) +
                                                 " rows, the cloud " + std::to_string(view.positions.size));
  };
  const auto optional = [&](const auto& span, const char* what) {
    if (!span.empty()) check(span.size, what);
  };
  optional(view.colors, "colour");
  optional(view.intensity, "intensity");
  optional(view.timestamps, "timestamp");
  optional(view.beam_origins, "beam origin");
  optional(view.skip, "skip");
  for (const ScalarView& scalar : view.scalars) {
    require(scalar.values != nullptr, "a scalar column has no values");
    visit_scalar(*scalar.values, [](auto) {});
    check(scalar.values->size(), scalar.slug);
  }
}

bool colors_need_16_bits(const CloudView& view, const RowSelection& rows, OpContext& ctx) {
  if (view.colors.empty()) return false;
  std::atomic<bool> needed{false};
  const auto cut = [](std::uint16_t channel) {
    const std::uint16_t low = channel & 0xFFU, high = channel >> 8U;
    return low != 0 && low != high;
  };
  parallel_for(ctx, view.positions.size, rows.block_rows(), [&](std::size_t begin, std::size_t end) {
    if (needed.load(std::memory_order_relaxed)) return;
    bool found = false;
    rows.for_each(begin, end, [&](std::size_t row) {
      const Rgb16& color = view.colors[row];
      found = found || cut(color.r) || cut(color.g) || cut(color.b);
    });
    if (found) needed = true;
  });
  return needed;
}

}  // namespace pc::io
