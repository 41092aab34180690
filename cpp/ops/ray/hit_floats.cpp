#include "ops/ray/hit_floats.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/error.h"
#include "core/parallel.h"

namespace pc {

namespace {

constexpr std::size_t kBlock = std::size_t{1} << 15;

/// Calls put(row, k-th hit) for the hits, in blocks of rows.
template <class Put>
void for_hits(Span<const std::uint8_t> is_miss, const std::vector<std::size_t>& before, OpContext& ctx,
              Put&& put) {
  parallel_for(ctx, is_miss.size, kBlock, [&](std::size_t begin, std::size_t end) {
    std::size_t k = before[begin / kBlock];
    for (std::size_t row = begin; row < end; ++row)
      if (is_miss[row] == 0) put(row, k++, begin / kBlock);
  });
}

}  // namespace

HitFloats hit_floats(const AnyColumn& column, Span<const std::uint8_t> is_miss, OpContext& ctx) {
  require(column.size() == is_miss.size, "a column of another length than is_miss");
  ctx.begin_phase("Extracting hits", 2 * is_miss.size);
  std::vector<std::size_t> before((is_miss.size + kBlock - 1) / kBlock + 1, 0);
  parallel_for(ctx, is_miss.size, kBlock, [&](std::size_t begin, std::size_t end) {
    before[begin / kBlock + 1] =
        static_cast<std::size_t>(std::count(is_miss.data + begin, is_miss.data + end, std::uint8_t{0}));
  });
  for (std::size_t b = 1; b < before.size(); ++b) before[b] += before[b - 1];
  const std::size_t hits = before.back();
  std::vector<double> largest(before.size(), 0);
  const auto narrow = [&](double value, std::size_t block) {
    largest[block] = std::max(largest[block], std::abs(value));
    return static_cast<float>(value);
  };
  HitFloats out{};
  if (column.dtype() == DType::kVec3d) {
    const auto from = column.as<Vec3d>();
    out.values = Column<float>(3 * hits);
    for_hits(is_miss, before, ctx, [&](std::size_t row, std::size_t k, std::size_t block) {
      out.values[3 * k] = narrow(from[row].x, block);
      out.values[3 * k + 1] = narrow(from[row].y, block);
      out.values[3 * k + 2] = narrow(from[row].z, block);
    });
  } else if (column.dtype() == DType::kRgb16) {
    const auto from = column.as<Rgb16>();
    out.values = Column<float>(3 * hits);
    for_hits(is_miss, before, ctx, [&](std::size_t row, std::size_t k, std::size_t block) {
      out.values[3 * k] = narrow(from[row].r / 65535.0, block);
      out.values[3 * k + 1] = narrow(from[row].g / 65535.0, block);
      out.values[3 * k + 2] = narrow(from[row].b / 65535.0, block);
    });
  } else {
    out.values = Column<float>(hits);
    visit_scalar(column, [&](auto from) {
      for_hits(is_miss, before, ctx, [&](std::size_t row, std::size_t k, std::size_t block) {
        out.values[k] = narrow(static_cast<double>(from[row]), block);
      });
    });
  }
  for (const double most : largest) out.largest = std::max(out.largest, most);
  return out;
}

}  // namespace pc
