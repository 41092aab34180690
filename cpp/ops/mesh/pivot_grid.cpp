#include "ops/mesh/pivot_grid.h"

#include <algorithm>

#include "core/radix_sort.h"

namespace pc {

namespace {

constexpr double kCellRadii = 2;  // cell size over radius: a search looks at 8 cells at most
constexpr std::uint64_t kAxisMask = 0x1fffff;

std::uint64_t spread(std::uint64_t v) {
  v = (v | v << 32) & 0x1f00000000ffffULL;
  v = (v | v << 16) & 0x1f0000ff0000ffULL;
  v = (v | v << 8) & 0x100f00f00f00f00fULL;
  v = (v | v << 4) & 0x10c30c30c30c30c3ULL;
  return (v | v << 2) & 0x1249249249249249ULL;
}

}  // namespace

/// Morton codes, so that cells close in the list are close in space.
std::uint64_t PivotGrid::key_of(const Cell& cell) {
  const auto bits = [](std::int64_t at) { return spread(static_cast<std::uint64_t>(at) & kAxisMask); };
  return bits(cell.x) | bits(cell.y) << 1 | bits(cell.z) << 2;
}

PivotGrid::PivotGrid(Span<const Vec3d> points, double radius, OpContext& ctx)
    : cell_size_(kCellRadii * radius),
      origin_(points.empty() ? Vec3d{0, 0, 0} : points[0]),
      places_(points.size) {
  BulkVector<std::uint64_t> keys(points.size);
  for (std::size_t i = 0; i < points.size; ++i) {
    if (i % 65'536 == 0) ctx.checkpoint();
    keys[i] = key_of(cell_of(points[i]));
  }
  rows_ = radix_sort_order(keys.view(), 63, ctx);
  for (std::size_t i = 0; i < points.size; ++i) {
    if (i % 65'536 == 0) ctx.checkpoint();
    places_[i] = points[rows_[i]];
    if (i != 0 && keys[rows_[i]] == keys_.back()) continue;
    keys_.push_back(keys[rows_[i]]);
    first_.push_back(static_cast<std::uint32_t>(i));
  }
  first_.push_back(static_cast<std::uint32_t>(points.size));
  int bits = 4;
  while ((std::size_t{1} << bits) < 2 * keys_.size()) ++bits;
  shift_ = 64 - bits;
  table_.resize(std::size_t{1} << bits);
  std::fill(table_.begin(), table_.end(), kEmpty);
  for (std::size_t cell = 0; cell < keys_.size(); ++cell) {
    if (cell % 65'536 == 0) ctx.checkpoint();
    std::size_t slot = slot_of(keys_[cell]);
    while (table_[slot] != kEmpty) slot = (slot + 1) & (table_.size() - 1);
    table_[slot] = static_cast<std::uint32_t>(cell);
  }
}

}  // namespace pc
