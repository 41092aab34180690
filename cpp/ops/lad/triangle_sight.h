#pragma once
#include <cstdint>

#include "core/memory.h"
#include "core/op_context.h"
#include "ops/lad/projection_function.h"

namespace pc {

/// Limits that the triangles of a scan have passed.
struct TriangleLimits {
  double lmax_m;            ///< longest edge, > 0
  double max_aspect_ratio;  ///< largest longest / shortest edge, >= 1
};

/// Folded triangles as a share of all, above which none is left out: the noise of the ranges then folds the leaves themselves.
/// Scans of leaves without noise have .00 to .19, with noise as large as the distance of their hits .34 and more.
constexpr double kMostFolded = 0.25;

/// Classes of beams by their angle to the vertical, and of the cosine from which their triangles always pass.
constexpr std::size_t kZenithClasses = 36, kCosineClasses = 20;
constexpr std::uint16_t kNoView = 0xFFFF;

/// A triangle as its beams saw it.
struct SeenTriangle {
  double area;    ///< m2, with its part of the rim; 0 = counts nowhere
  double hits;    ///< that it stands for
  double cosine;  ///< |normal . beam|
  double side;    ///< part of the normal, towards the scanner, that is level and across the beam
  std::uint16_t view;
  std::uint8_t inclination, zenith;  ///< classes
};

/// The smallest cosine between beam and normal from which three beams give a triangle within the limits, however the leaf is turned
/// about the beam; 2 if there is none. Over 32 directions of the tilt; perspective within the triangle is left out.
///
/// beams  from the scanner to the corners
double always_within(const Vec3d beams[3], const TriangleLimits& limits);

/// Reads the triangles of leaves. Folded ones count nowhere, unless there are more than kMostFolded of them.
class TriangleSight {
 public:
  /// Errors and memory: those of folded_triangles; 4 bytes per vertex.
  TriangleSight(const LeafTriangles& mesh, const TriangleLimits& limits, OpContext& ctx);

  double folded_share() const { return folded_share_; }
  /// Area 0 for a triangle that is folded, has no area or is seen edge on.
  SeenTriangle of(std::size_t triangle) const;

 private:
  const LeafTriangles& mesh_;
  const TriangleLimits& limits_;
  BulkVector<std::uint8_t> left_out_;
  double folded_share_ = 0;
  BulkVector<std::uint32_t> at_corner_;
};

}  // namespace pc
