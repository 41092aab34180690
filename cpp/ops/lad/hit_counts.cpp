#include "ops/lad/hit_counts.h"

#include <atomic>

#include "core/error.h"
#include "core/parallel.h"

namespace pc {

Column<std::uint32_t> hit_counts(const std::vector<CountedHits>& scans, const VoxelBox& grid,
                                 OpContext& ctx) {
  const VoxelCells cells(grid);
  Column<std::uint32_t> out(std::size_t{grid.nx} * grid.ny * grid.nz);
  for (const CountedHits& scan : scans) {
    require(scan.is_counted.size == scan.positions.size, "is_counted must have a value per row");
    parallel_for(ctx, scan.positions.size, std::size_t{1} << 14, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        if (scan.is_counted[i] == 0) continue;
        if (const auto cell = cells.cell_of(scan.positions[i] + scan.shift))
          std::atomic_ref<std::uint32_t>(out[*cell]).fetch_add(1, std::memory_order_relaxed);
      }
    });
  }
  return out;
}

}  // namespace pc
