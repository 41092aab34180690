#include "ops/cloud/half_rows.h"

#include "core/parallel.h"
#include "core/position_hash.h"

namespace pc {

Column<std::uint8_t> half_rows(Span<const Vec3d> positions, Span<const std::uint8_t> skip, OpContext& ctx) {
  require(skip.empty() || skip.size == positions.size, "skip needs one entry per point");
  Column<std::uint8_t> left_out(positions.size);
  parallel_for(ctx, positions.size, std::size_t{1} << 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row)
      left_out[row] = (!skip.empty() && skip[row] != 0) || position_hash(positions[row]) % 2 != 0 ? 1 : 0;
  });
  return left_out;
}

}  // namespace pc
