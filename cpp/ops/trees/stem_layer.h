#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"
#include "spatial/predicates.h"

namespace pc {

struct LayerPoint {
  Vec3d at;      ///< metres, from the layer's origin
  float height;  ///< above the ground
};

/// The points of a layer of heights above the ground, by square cells seen from above. Part of detect_stems.
class StemLayer {
 public:
  static constexpr double kCell = 0.05;

  /// points   (n) metres; rows that are not finite are left out
  /// heights  (n) metres; rows outside [min, max] and NaN are left out
  /// Order    The layer depends on the points, not on their order.
  /// Cost     O(n) time; 32 bytes per point of the layer, 28 more while it is built.
  /// Errors   kInvalidArgument if the layer spans more than kMostExtent.
  StemLayer(Span<const Vec3d> points, Span<const float> heights, double min, double max, OpContext& ctx);

  static constexpr double kMostExtent = 1e8;

  const Vec3d& origin() const { return origin_; }
  Span<const LayerPoint> points() const { return points_.view(); }
  std::size_t cell_count() const { return keys_.size(); }
  /// Points of cell i, ascending by z. Cells are ascending by y, then x.
  Span<const LayerPoint> cell(std::size_t i) const {
    return points().subspan(starts_[i], starts_[i + 1] - starts_[i]);
  }
  std::int64_t cell_x(std::size_t i) const { return static_cast<std::int64_t>(keys_[i] & 0xffffffffU); }
  std::int64_t cell_y(std::size_t i) const { return static_cast<std::int64_t>(keys_[i] >> 32); }

  /// Calls visit(first, last) with the cells of each row of a rectangle of cells, ends included.
  template <class Visit>
  void for_each_row(std::int64_t x_min, std::int64_t x_max, std::int64_t y_min, std::int64_t y_max,
                    Visit&& visit) const;
  /// Calls visit(point) for the points of the cells that a rectangle touches.
  template <class Visit>
  void for_each_in(const Vec2d& low, const Vec2d& high, Visit&& visit) const;

 private:
  void gather(Span<const Vec3d> points, Span<const float> heights, double min, double max, OpContext& ctx);
  void sort(OpContext& ctx);
  /// The first cell whose key is not below.
  std::size_t lower(std::uint64_t key) const;

  Vec3d origin_{0, 0, 0};
  BulkVector<LayerPoint> points_;
  BulkVector<std::uint64_t> keys_;    ///< of cells: y << 32 | x
  BulkVector<std::uint32_t> starts_;  ///< of cells, and the number of points
  std::int64_t columns_ = 0, rows_ = 0;
};

template <class Visit>
void StemLayer::for_each_row(std::int64_t x_min, std::int64_t x_max, std::int64_t y_min, std::int64_t y_max,
                             Visit&& visit) const {
  x_min = x_min < 0 ? 0 : x_min;
  y_min = y_min < 0 ? 0 : y_min;
  x_max = x_max < columns_ ? x_max : columns_ - 1;
  y_max = y_max < rows_ ? y_max : rows_ - 1;
  if (x_min > x_max) return;
  for (std::int64_t y = y_min; y <= y_max; ++y) {
    const auto row = static_cast<std::uint64_t>(y) << 32;
    const std::size_t first = lower(row | static_cast<std::uint64_t>(x_min));
    const std::uint64_t end = row | static_cast<std::uint64_t>(x_max);
    std::size_t last = first;
    while (last < keys_.size() && keys_[last] <= end) ++last;
    if (first < last) visit(first, last);
  }
}

template <class Visit>
void StemLayer::for_each_in(const Vec2d& low, const Vec2d& high, Visit&& visit) const {
  const auto index = [](double value) { return static_cast<std::int64_t>(std::floor(value / kCell)); };
  for_each_row(index(low.x), index(high.x), index(low.y), index(high.y),
               [&](std::size_t first, std::size_t last) {
                 for (std::size_t i = starts_[first]; i < starts_[last]; ++i) visit(points_[i]);
               });
}

/// Cells that belong together: `cells` lists them, group after group.
struct CellGroups {
  BulkVector<std::uint32_t> cells;   ///< of the layer, ascending within a group
  BulkVector<std::uint32_t> starts;  ///< of groups in `cells`, and the length of `cells`

  std::size_t size() const { return starts.empty() ? 0 : starts.size() - 1; }
  Span<const std::uint32_t> group(std::size_t i) const {
    return cells.view().subspan(starts[i], starts[i + 1] - starts[i]);
  }
};

/// Groups of cells that touch, also at corners. `wanted` (cells) 0 = leave out; empty = all. `kind` (cells) only cells of
/// one kind are joined; empty = all are.
///
/// Order    Groups are in the order of their first cells.
/// Cost     O(cells) time and memory.
CellGroups touching_cells(const StemLayer& layer, Span<const std::uint8_t> wanted,
                          Span<const std::uint32_t> kind, OpContext& ctx);

}  // namespace pc
