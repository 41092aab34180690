#include "ops/misses/gap_fill.h"

#include <cmath>
#include <vector>

#include "core/error.h"
#include "core/parallel.h"

namespace pc {

namespace {

constexpr std::size_t kPoll = std::size_t{1} << 16;

/// A flag per cell of a raster.
class CellFlags {
 public:
  CellFlags(std::size_t rows, std::size_t columns) : columns_(columns), words_((rows * columns + 63) / 64) {}
  void set(const RasterCell& cell) {
    const std::size_t at = cell.row * columns_ + cell.column;
    words_[at / 64] |= std::uint64_t{1} << (at % 64);
  }
  bool get(std::size_t row, std::size_t column) const {
    const std::size_t at = row * columns_ + column;
    return (words_[at / 64] >> (at % 64) & 1) != 0;
  }

 private:
  std::size_t columns_;
  BulkVector<std::uint64_t> words_;
};

}  // namespace

RecoveredMisses gap_fill(const ScanRaster& raster, Span<const RasterCell> occupied, const Vec3d& origin,
                         OpContext& ctx) {
  const std::size_t rows = raster.zenith_rad.size(), columns = raster.azimuth_rad.size();
  require(is_finite(origin), "the origin of the scan must be finite");
  require(raster.row_azimuth_rad.size() == rows, "one azimuth per row is needed");
  require(rows < (std::size_t{1} << 32) && columns < (std::size_t{1} << 32) &&
              (rows == 0 || columns < (std::size_t{1} << 32) / rows),
          "the raster must have fewer than 2^32 cells");
  ctx.begin_phase("Reconstructing misses", rows);
  CellFlags full(rows, columns);
  for (std::size_t i = 0; i < occupied.size; ++i) {
    if (i % kPoll == 0) ctx.checkpoint();
    require(occupied[i].row < rows && occupied[i].column < columns, "a return lies outside the raster");
    full.set(occupied[i]);
  }
  std::vector<std::size_t> firsts(rows + 1, 0);
  for (std::size_t row = 0; row < rows; ++row) {
    std::size_t empty = 0;
    for (std::size_t column = 0; column < columns; ++column) {
      if (column % kPoll == 0) ctx.checkpoint();
      empty += full.get(row, column) ? 0 : 1;
    }
    firsts[row + 1] = firsts[row] + empty;
  }
  RecoveredMisses out{Column<Vec3d>(firsts[rows]), Column<float>(3 * firsts[rows]), Column<std::uint32_t>(firsts[rows]),
                      Column<std::uint32_t>(firsts[rows])};
  parallel_for(ctx, rows, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      std::size_t at = firsts[row];
      for (std::size_t column = 0; column < columns; ++column) {
        if (column % kPoll == kPoll - 1) ctx.checkpoint();
        if (full.get(row, column)) continue;
        const auto i = static_cast<std::uint32_t>(row), j = static_cast<std::uint32_t>(column);
        const Vec3d d = raster.direction(i, j);
        out.positions[at] = origin + d * kRecoveredMissRange_m;
        out.directions[3 * at] = static_cast<float>(kRecoveredMissRange_m);
        out.directions[3 * at + 1] = static_cast<float>(std::asin(std::fmax(-1, std::fmin(1, d.z))));
        out.directions[3 * at + 2] = static_cast<float>(std::atan2(d.x, d.y));
        out.row_index[at] = i;
        out.column_index[at++] = j;
      }
    }
  });
  return out;
}

}  // namespace pc
