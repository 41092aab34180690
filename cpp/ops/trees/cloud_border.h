#pragma once
#include <optional>
#include <vector>

#include "ops/trees/convex_polygon.h"

namespace pc {

/// Where a point lies at a piece of a border, metres.
struct BorderPlace {
  double along;  ///< from the beginning of the piece
  double depth;  ///< inside of the border; 0 for points on or outside of it
};

/// A piece of the outline of a cloud, seen from above: a straight line, or a whole circle.
class BorderPiece {
 public:
  static BorderPiece line(const Vec2d& from, const Vec2d& to);
  static BorderPiece circle(const Vec2d& center, double radius);

  double length() const { return length_; }
  bool is_circle() const { return radius_ > 0; }
  /// Nothing for points that are not opposite the line.
  std::optional<BorderPlace> place_of(const Vec2d& point) const;

 private:
  Vec2d origin_{};     ///< where the line begins, or the centre
  Vec2d direction_{};  ///< of the line; 0 = a circle
  double radius_ = 0, length_ = 0;
};

/// The outline as few pieces: the circle that four fifths of its corners are nearer to than `tolerance_m`, less than 30 degrees
/// apart on three fifths of it, as of a sample plot, and straight lines where a part of it is cut off; or straight lines alone,
/// which no corner is further from.
///
/// outline  corners of the hull, counter-clockwise; fewer than 3: no piece
std::vector<BorderPiece> border_pieces(const ConvexPolygon& outline, double tolerance_m);

}  // namespace pc
