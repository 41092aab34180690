#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// Points in cubic cells for searches up to one radius. Cells are numbered modulo 2^21 along each axis; points of cells that
/// share a number are told apart by their distance.
///
/// points   (n) finite; |coordinate - origin| / radius below 1e15
/// radius   > 0
class PivotGrid {
 public:
  PivotGrid(Span<const Vec3d> points, double radius, OpContext& ctx);

  /// Calls visit(index, squared distance, place) for every point within `radius`, at most that of the grid, in an order
  /// that depends on the points alone, until it returns false. Returns the number of points looked at.
  template <class Visit>
  std::size_t while_within(const Vec3d& p, double radius, const Visit& visit) const {
    const double squared_radius = radius * radius;
    const Cell low = cell_of(p - Vec3d{radius, radius, radius}),
               high = cell_of(p + Vec3d{radius, radius, radius});
    std::size_t looked = 0;
    for (std::int64_t z = low.z; z <= high.z; ++z) {
      for (std::int64_t y = low.y; y <= high.y; ++y) {
        for (std::int64_t x = low.x; x <= high.x; ++x) {
          const std::uint32_t cell = find(key_of({x, y, z}));
          if (cell == kEmpty) continue;
          for (std::uint32_t i = first_[cell]; i < first_[cell + 1]; ++i) {
            ++looked;
            const double squared = squared_distance(p, places_[i]);
            if (squared <= squared_radius && !visit(rows_[i], squared, places_[i])) return looked;
          }
        }
      }
    }
    return looked;
  }

  /// Calls visit(index, squared distance, place) for every point within `radius`. Returns the number of points looked at.
  template <class Visit>
  std::size_t for_each_within(const Vec3d& p, double radius, const Visit& visit) const {
    return while_within(p, radius, [&](std::uint32_t row, double squared, const Vec3d& place) {
      visit(row, squared, place);
      return true;
    });
  }

 private:
  static constexpr std::uint32_t kEmpty = 0xffffffffU;
  struct Cell {
    std::int64_t x, y, z;
  };
  Cell cell_of(const Vec3d& p) const {
    const auto at = [&](double v, double origin) {
      return static_cast<std::int64_t>(std::floor((v - origin) / cell_size_));
    };
    return {at(p.x, origin_.x), at(p.y, origin_.y), at(p.z, origin_.z)};
  }
  static std::uint64_t key_of(const Cell& cell);
  std::size_t slot_of(std::uint64_t key) const { return key * 0x9e3779b97f4a7c15ULL >> shift_; }
  std::uint32_t find(std::uint64_t key) const {
    for (std::size_t slot = slot_of(key);; slot = (slot + 1) & (table_.size() - 1)) {
      const std::uint32_t cell = table_[slot];
      if (cell == kEmpty || keys_[cell] == key) return cell;
    }
  }

  double cell_size_;
  Vec3d origin_;
  BulkVector<Vec3d> places_;         ///< points, cell by cell
  BulkVector<std::uint32_t> rows_;   ///< their indices
  BulkVector<std::uint64_t> keys_;   ///< of the cells in use
  BulkVector<std::uint32_t> first_;  ///< where each begins, then the end
  BulkVector<std::uint32_t> table_;  ///< open addressing by key
  int shift_ = 0;
};

}  // namespace pc
