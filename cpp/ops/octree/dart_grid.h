#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "core/error.h"
#include "core/memory.h"

namespace pc::octree {

/// Accepted points of one tile and its surroundings, in a dense grid of cells as wide as the minimum distance. The unit
/// is that distance: the tile spans [0, kTile] on each axis, its surroundings reach 1 further. One bit per cell, with
/// rows along x in one word, answers most queries without reading a cell.
class DartGrid {
 public:
  static constexpr int kTile = 32;

  DartGrid() : first_(kSide * kSide * kSide) { points_.reserve(kMostPoints / 16); }

  void clear() {
    rows_.fill(0);
    points_.clear_fast();
  }
  /// True if a point lies closer than 1 to (x, y, z), a position in the tile.
  bool blocked(float x, float y, float z) const {
    const int cx = own_cell(x), cy = own_cell(y), cz = own_cell(z);
    const int center = cz * kSide + cy;
    // The bits of all 27 cells at once: a branch per row would be mispredicted about as often as not.
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < kRowSteps.size(); ++k) {
      const std::uint64_t row = rows_[static_cast<std::size_t>(center + kRowSteps[k])];
      bits |= static_cast<std::uint32_t>(row >> (cx - 1) & 7u) << (3 * k);
    }
    const std::uint16_t* const first = first_.data() + (center * kSide + cx);
    for (; bits != 0; bits &= bits - 1) {
      if (cell_blocks(first[kCellSteps[static_cast<std::size_t>(std::countr_zero(bits))]], x, y, z))
        return true;
    }
    return false;
  }
  /// Adds a point of the tile or its surroundings.
  void add(float x, float y, float z) {
    const int cx = any_cell(x), row = any_cell(z) * kSide + any_cell(y);
    const std::uint64_t bit = std::uint64_t{1} << cx;
    std::uint64_t& bits = rows_[static_cast<std::size_t>(row)];
    std::uint16_t& first = first_.data()[row * kSide + cx];
    points_.push({x, y, z, (bits & bit) != 0 ? first : kEnd});
    first = static_cast<std::uint16_t>(points_.size - 1);
    bits |= bit;
  }

 private:
  static constexpr int kSide = kTile + 2;
  static constexpr std::uint32_t kEnd = 0xffffffffu;
  /// Spheres of diameter 1 fill at most pi / sqrt(18) of the space, so that at most 60,700 have their centres in the grid.
  static constexpr std::uint32_t kMostPoints = 1u << 16;
  struct Point {
    float x, y, z;
    std::uint32_t next;
  };
  struct Points {
    BulkVector<Point> memory;
    std::uint32_t size = 0;
    void reserve(std::size_t n) { memory.resize(n); }
    void clear_fast() { size = 0; }
    void push(const Point& p) {
      if (size == memory.size()) {
        require(size < kMostPoints, "more points than fit at their minimum distance");
        memory.resize(2 * memory.size());
      }
      memory.data()[size++] = p;
    }
  };
  /// Row offsets: the cell's own row first, then rows that share a face, then an edge, so that rejections come early.
  static constexpr std::array<int, 9> kRowSteps = {0,          -1,         1,         -kSide,   kSide,
                                                   -kSide - 1, -kSide + 1, kSide - 1, kSide + 1};
  /// Cell offsets of the bits of `blocked`.
  static constexpr auto kCellSteps = [] {
    std::array<int, 3 * kRowSteps.size()> steps{};
    for (std::size_t i = 0; i < steps.size(); ++i)
      steps[i] = kRowSteps[i / 3] * kSide + static_cast<int>(i % 3) - 1;
    return steps;
  }();

  static int own_cell(float v) { return std::clamp(static_cast<int>(v + 1.0f), 1, kTile); }
  static int any_cell(float v) { return std::clamp(static_cast<int>(v + 1.0f), 0, kTile + 1); }
  bool cell_blocks(std::uint32_t index, float x, float y, float z) const {
    for (; index != kEnd; index = points_.memory.data()[index].next) {
      const Point& p = points_.memory.data()[index];
      const float dx = p.x - x, dy = p.y - y, dz = p.z - z;
      if (dx * dx + dy * dy + dz * dz < 1.0f) return true;
    }
    return false;
  }

  std::array<std::uint64_t, kSide * kSide> rows_{};
  BulkVector<std::uint16_t> first_;  ///< newest point of a cell; valid where the cell's bit is set
  Points points_;
};

}  // namespace pc::octree
