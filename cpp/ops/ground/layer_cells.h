#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/plane_fit.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// How finely layers of ground are looked for.
struct LayerScale {
  double cell_m;  ///< side of the cells
  double bin_m;   ///< of heights
  double top_m;   ///< the highest layer above the lowest
  std::size_t bins() const;
  /// Heights above the lowest layer at which another one is looked for.
  std::size_t levels() const;
};

/// A layer counts in a cell in full if its bin holds this part of the points of the lowest layer, and two points.
constexpr std::array<double, 4> kLayerParts{0.3, 0.1, 0.02, 0};

/// How many cells show something at each height above their lowest layer.
struct LayerShares {
  explicit LayerShares(const LayerScale& scale);
  static constexpr double kOne = 1U << 20;
  std::array<std::vector<std::int64_t>, kLayerParts.size()> sums;  ///< (levels), in parts of kOne
  std::uint64_t cells = 0;
  void add(const LayerShares& other);
};

/// Two layers of a cell.
struct LayerPair {
  Vec3d low;                   ///< middle of the cell, and mean height of the lower one there
  double rise;                 ///< of the upper one
  double wide_rise;            ///< of the median of all that is within kHalo bins of it
  double low_thick, up_thick;  ///< standard deviations of heights
  double low_halo, up_halo;    ///< points just outside of the layer, per point in it
  double shared, expected;     ///< parts of the cell that both hold, and as many by chance
  double apart;  ///< of their middles, in their standard deviations; NaN with fewer than four points
};

/// A point of a cell.
struct FlattenedPoint {
  double above;  ///< the slope of the ground through the cell's lowest points
  float u, v;    ///< 0 to 1 in the cell
  std::uint32_t row;
};

/// Points of a square in cells, with the slope of the ground taken out.
class LayerCells {
 public:
  /// points  of the square from `corner` with that side
  LayerCells(Span<const Vec3d> points, const Vec3d& corner, double side, const LayerScale& scale);

  /// Cells with points.
  std::uint64_t count() const;
  void add_to(LayerShares& shares) const;
  /// The cells with a layer `level` bins above the lowest, in which it counts by kLayerParts[part]. Calls visit(point, pair, is_upper)
  /// for the points of both layers, pair by pair.
  template <class Visit>
  std::vector<LayerPair> pairs(std::size_t level, std::size_t part, Visit&& visit) const;

 private:
  struct Levels {
    std::vector<std::uint32_t> counts, sums;  ///< (bins), and of three bins
    std::size_t lowest = 0;                   ///< bin of the lowest layer
  };
  static constexpr std::int64_t kHalf = 3, kHalo = 8;  // bins

  void flatten();
  /// Of the lowest points of the cells around, of which those far from it hardly count.
  PlaneFit::Plane slope_at(int i, int j) const;
  /// Whether the cell has a lowest layer.
  bool find_lowest(std::size_t cell, Levels& levels) const;
  std::int64_t bin_of(double above) const;
  Span<const FlattenedPoint> of(std::size_t cell) const {
    return {points_.data() + first_[cell], first_[cell + 1] - first_[cell]};
  }
  /// False where one of the layers has too few points.
  bool pair_of(std::size_t cell, std::size_t lowest, std::size_t level, double part, LayerPair* out) const;
  bool is_in(const FlattenedPoint& p, std::size_t bin) const {
    const std::int64_t beside = bin_of(p.above) - static_cast<std::int64_t>(bin);
    return beside >= -kHalf && beside <= kHalf;
  }

  LayerScale scale_;
  Vec3d corner_;
  std::size_t side_;  ///< cells
  std::vector<std::size_t> first_;
  std::vector<double> low_;
  std::vector<FlattenedPoint> points_;
};

template <class Visit>
std::vector<LayerPair> LayerCells::pairs(std::size_t level, std::size_t part, Visit&& visit) const {
  std::vector<LayerPair> out;
  Levels levels;
  for (std::size_t cell = 0; cell + 1 < first_.size(); ++cell) {
    LayerPair pair;
    if (!find_lowest(cell, levels) || !pair_of(cell, levels.lowest, level, kLayerParts[part], &pair))
      continue;
    const auto number = static_cast<std::uint32_t>(out.size());
    out.push_back(pair);
    for (const FlattenedPoint& p : of(cell)) {
      if (is_in(p, levels.lowest)) visit(p, number, false);
      if (is_in(p, levels.lowest + level)) visit(p, number, true);
    }
  }
  return out;
}

}  // namespace pc
