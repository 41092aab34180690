#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"
#include "spatial/predicates.h"

namespace pc {

/// Where the height of the ground under a stem comes from, best first.
enum class GroundSource : std::uint8_t { kHeightAboveGround, kGroundClass, kTreeMinimum };

/// Mean heights of ground points by square cells.
class GroundHeights {
 public:
  GroundHeights() = default;
  /// ground   (n) points labelled as ground, metres; those that are not finite are left out
  GroundHeights(Span<const Vec3d> ground, OpContext& ctx);

  /// Adds a ground point; one that is not finite is left out. Call finish() after the last one.
  /// Cost     O(n log n) time for n points; 32 bytes per cell and for each of the last 2^18 points.
  void add(const Vec3d& point, const OpContext& ctx);
  void finish(const OpContext& ctx);

  /// Height at a place, by weights of 1 / distance over the cells within 2 m; NaN if there is none.
  double at(const Vec2d& place) const;
  /// Mean distance of each ground point within 2 m of a place to the one nearest to it, if they lie at random: half the root of the area of
  /// the cells that have any, over their number (Clark & Evans, Ecology 35, 1954). NaN without any.
  double spacing(const Vec2d& place) const;
  /// How many of the cells of 0.5 m within 2 m of a place hold ground points, 0 to 1; NaN without a ground point anywhere.
  double share_around(const Vec2d& place) const;

 private:
  struct Cell {
    std::int64_t x, y;
    double sum;
    std::uint64_t count;
  };
  /// Calls visit(cell, distance) for the cells whose middle is within 2 m of a place.
  template <class Visit>
  void for_each_near(const Vec2d& place, Visit&& visit) const;

  std::vector<Cell> cells_;    ///< ascending by y, then x
  std::vector<Cell> pending_;  ///< not yet part of cells_, in any order
};

/// The ground under one tree.
class TreeGround {
 public:
  struct Answer {
    double z;
    GroundSource source;
  };

  /// points    (n) of the tree, metres
  /// heights   (n) above ground, NaN = unknown; or empty
  /// cells     of the whole cloud; must outlive this object
  /// Cost      O(n log n) time, 64 bytes per point. Cancel within 50 ms.
  TreeGround(Span<const Vec3d> points, Span<const double> heights, const GroundHeights& cells,
             const OpContext& ctx);

  /// The best source that has an answer at the place. Heights above ground: a plane through the ground under the tree's
  /// points below 1 m and within 0.5 m (6 or more around the place; of more than 20,000 an even choice), their median (3 or
  /// more), or the
  /// median of the 20 nearest points within 1 m.
  Answer at(const Vec2d& place) const;
  double lowest() const { return lowest_; }
  /// Place of the highest point whose height above ground is known; nothing without one. On a slope the lowest points are those of the crown's lower
  /// side, and so is the point with the greatest height above ground: heights there are too large by the crown's reach times
  /// the slope. Low plants of a crown's watershed lie anywhere below it.
  /// Source: Khosravipour et al., Remote Sensing Letters 6(9), 2015: a slope moves the tops of a canopy height model downhill.
  const std::optional<Vec2d>& top() const { return top_; }

 private:
  struct Implied {
    Vec2d place;
    double ground;
    bool low;  ///< less than 1 m above the ground
  };
  double from_heights(const Vec2d& place) const;
  template <class Visit>
  void for_each_within(const Vec2d& place, double radius, Visit&& visit) const;

  std::vector<Implied> implied_;  ///< ascending by cell
  std::vector<std::pair<std::int64_t, std::int64_t>> keys_;
  const GroundHeights& cells_;
  double lowest_;
  std::optional<Vec2d> top_;
};

}  // namespace pc
