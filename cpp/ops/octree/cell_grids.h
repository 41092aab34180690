#pragma once
#include <array>
#include <cstdint>

#include "core/memory.h"
#include "ops/octree/octree_frame.h"

namespace pc::octree {

inline constexpr int kMaxGridBits = 7;

/// Bits of a cell coordinate spread to every third position.
inline constexpr auto kSpread = [] {
  std::array<std::uint32_t, 1 << kMaxGridBits> spread{};
  for (std::uint32_t i = 0; i < spread.size(); ++i) {
    for (int bit = 0; bit < kMaxGridBits; ++bit) spread[i] |= (i >> bit & 1u) << (3 * bit);
  }
  return spread;
}();

/// Point counts in cells that are refined adaptively: a cell with more than `capacity` points gets a grid of its own,
/// down to the deepest level. Later the same cells hold leaf numbers, so that `leaf` finds a point's leaf. Cells of a
/// grid are in Morton order (x is the highest of each three bits), so the cells of a node are consecutive.
class CellGrids {
 public:
  static constexpr std::uint32_t kGridFlag = 0x80000000u;
  static constexpr std::uint64_t kNoCell = ~std::uint64_t{0};

  struct Grid {
    std::uint64_t first_cell;
    std::uint32_t total;  ///< points in it
    std::uint8_t level;   ///< of the node it divides
    std::uint8_t bits;    ///< levels it spans; 0 = a single cell that cannot be divided
  };

  CellGrids(const OctreeInput& input, const Frame& frame, std::uint32_t capacity, OpContext& ctx);

  std::uint32_t capacity() const { return capacity_; }
  const Grid& grid(std::uint32_t index) const { return grids_[index]; }
  std::uint32_t& cell(const Grid& grid, std::uint64_t index) { return cells_[grid.first_cell + index]; }

  /// Index in the cell array of the cell that contains `at`. Descends through the grids below `stop`; kNoCell if the
  /// grids that contain the point end before it.
  std::uint64_t find(const Steps& finest, std::uint32_t stop) const {
    std::uint32_t index = 0;
    for (;;) {
      const Grid& grid = grids_[index];
      const std::uint64_t at = grid.first_cell + local(finest, grid);
      if (index >= stop) return at;
      const std::uint32_t value = cells_[at];
      if ((value & kGridFlag) == 0) return kNoCell;
      index = value & ~kGridFlag;
    }
  }
  /// Leaf number of a finest cell; valid once cells hold leaf numbers.
  std::uint32_t leaf(const Steps& finest) const {
    std::uint32_t value = kGridFlag;
    while ((value & kGridFlag) != 0) {
      const Grid& grid = grids_[value & ~kGridFlag];
      value = cells_[grid.first_cell + local(finest, grid)];
    }
    return value;
  }

 private:
  static std::uint32_t local(const Steps& finest, const Grid& grid) {
    const int shift = kMaxLevel - grid.level - grid.bits;
    const std::uint32_t mask = (1u << grid.bits) - 1;
    return kSpread[(finest.x >> shift) & mask] << 2 | kSpread[(finest.y >> shift) & mask] << 1 |
           kSpread[(finest.z >> shift) & mask];
  }
  void add_grid(int level, std::uint32_t total);
  void count(const OctreeInput& input, const Frame& frame, std::uint32_t first_new, OpContext& ctx);
  void refine(std::uint32_t first_new, OpContext& ctx);

  std::uint32_t capacity_;
  BulkVector<Grid> grids_;
  BulkVector<std::uint32_t> cells_;
};

}  // namespace pc::octree
