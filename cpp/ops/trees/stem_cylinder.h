#pragma once
#include <array>
#include <optional>
#include <vector>

#include "core/span.h"
#include "core/vec3.h"
#include "ops/trees/circle_fit.h"
#include "ops/trees/stem_layer.h"

namespace pc {

/// A straight piece of stem. Part of detect_stems.
struct StemCylinder {
  Vec3d at;    ///< on the axis
  Vec3d axis;  ///< unit, upwards
  double radius;

  /// Place on the axis at a height.
  Vec2d place_at(double z) const {
    const double t = (z - at.z) / axis.z;
    return {at.x + t * axis.x, at.y + t * axis.y};
  }
};

/// Coordinates across the axis, from the axis.
class AcrossAxis {
 public:
  explicit AcrossAxis(const StemCylinder& cylinder);
  Vec2d of(const Vec3d& point) const {
    const Vec3d d = point - at_;
    return {dot(d, u_), dot(d, v_)};
  }
  double along(const Vec3d& point) const { return dot(point - at_, w_); }

 private:
  Vec3d at_, u_, v_, w_;
};

/// Finds the upright cylinder with the most points near it, among cylinders through circles of thin layers, and circles
/// across the vertical and across the line through the middles of the layers.
///
/// points   at least one; at most 600 of them take part
/// Cost     Below 20 ms.
std::optional<StemCylinder> search_cylinder(Span<const LayerPoint> points, const CircleFitParams& params);

/// Least squares of the distances of the points within `tolerance` to the cylinder, a few rounds. Returns the start if
/// the points do not determine a cylinder.
/// Source   Gauss & Newton, with the axis given by where it meets two levels: Lukacs, Martin & Marshall 1998, ECCV 671.
StemCylinder refine_cylinder(Span<const LayerPoint> points, const StemCylinder& start, double tolerance);

}  // namespace pc
