#pragma once
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// Points that are real returns and not deleted: what most ops may see. Made only by select_hits, or by `all` where
/// every given point is a hit by definition (inline points, tests).
class HitPoints {
 public:
  static HitPoints all(Span<const Vec3d> xyz) { return HitPoints(xyz); }
  std::size_t size() const { return xyz_.size; }
  Span<const Vec3d> xyz() const { return xyz_; }

 private:
  explicit HitPoints(Span<const Vec3d> xyz) : xyz_(xyz) {}
  Span<const Vec3d> xyz_;
};

}  // namespace pc
