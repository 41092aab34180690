#pragma once
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// Points that are real returns and not deleted: the only points that most ops accept. select_hits creates them.
/// assume_hits relies on the caller that no point is a miss or deleted; scripts/check-layers.mjs lists the files that
/// may call it (tests always may).
class HitPoints {
 public:
  static HitPoints assume_hits(Span<const Vec3d> xyz) { return HitPoints(xyz); }
  std::size_t size() const { return xyz_.size; }
  Span<const Vec3d> xyz() const { return xyz_; }

 private:
  explicit HitPoints(Span<const Vec3d> xyz) : xyz_(xyz) {}
  Span<const Vec3d> xyz_;
};

}  // namespace pc
