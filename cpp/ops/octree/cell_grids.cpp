#include "ops/octree/cell_grids.h"

#include <algorithm>
#include <atomic>

#include "core/parallel.h"

namespace pc::octree {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 16;
constexpr std::uint32_t kPointsPerCell = 16;  // a quarter byte of cells per point and round

void add_run(std::uint32_t& cell, std::uint32_t run) {
  std::atomic_ref<std::uint32_t>(cell).fetch_add(run, std::memory_order_relaxed);
}

}  // namespace

CellGrids::CellGrids(const OctreeInput& input, const Frame& frame, std::uint32_t capacity, OpContext& ctx)
    : capacity_(capacity) {
  add_grid(0, static_cast<std::uint32_t>(frame.point_count));
  ctx.begin_phase("Counting points", input.positions.size);
  for (std::uint32_t first_new = 0; first_new < grids_.size();) {
    count(input, frame, first_new, ctx);
    const auto next = static_cast<std::uint32_t>(grids_.size());
    refine(first_new, ctx);
    if (next < grids_.size()) ctx.begin_phase("Refining dense cells", 0);
    first_new = next;
  }
}

void CellGrids::add_grid(int level, std::uint32_t total) {
  int bits = 1;
  while (bits < kMaxGridBits && (std::uint64_t{8} << (3 * bits)) <= total / kPointsPerCell) ++bits;
  bits = std::min(bits, kMaxLevel - level);
  grids_.push_back({cells_.size(), total, static_cast<std::uint8_t>(level), static_cast<std::uint8_t>(bits)});
  const std::size_t size = cells_.size() + (std::size_t{1} << (3 * bits));
  if (size > cells_.capacity()) cells_.reserve(size + size / 2);
  cells_.resize(size);
}

void CellGrids::count(const OctreeInput& input, const Frame& frame, std::uint32_t first_new, OpContext& ctx) {
  parallel_for(ctx, input.positions.size, kGrain, [&](std::size_t begin, std::size_t end) {
    // Neighbours in a scan mostly share a cell: one atomic add per run reduces contention between threads.
    std::uint64_t last = kNoCell;
    std::uint32_t run = 0;
    for (std::size_t i = begin; i < end; ++i) {
      if (!input.skip.empty() && input.skip[i] != 0) continue;
      const std::uint64_t cell = find(frame.place(input.positions[i]).cell, first_new);
      if (cell != last) {
        if (last != kNoCell) add_run(cells_[last], run);
        last = cell;
        run = 0;
      }
      ++run;
    }
    if (last != kNoCell) add_run(cells_[last], run);
  });
}

void CellGrids::refine(std::uint32_t first_new, OpContext& ctx) {
  const auto last = static_cast<std::uint32_t>(grids_.size());
  for (std::uint32_t index = first_new; index < last; ++index) {
    ctx.checkpoint();
    const Grid grid = grids_[index];
    if (grid.bits == 0) continue;
    for (std::uint64_t i = 0, end = std::uint64_t{1} << (3 * grid.bits); i < end; ++i) {
      const std::uint32_t points = cells_[grid.first_cell + i];
      if (points <= capacity_) continue;
      cells_[grid.first_cell + i] = kGridFlag | static_cast<std::uint32_t>(grids_.size());
      add_grid(grid.level + grid.bits, points);
    }
  }
}

}  // namespace pc::octree
