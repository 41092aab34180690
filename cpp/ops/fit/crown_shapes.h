#pragma once
#include <cstdint>
#include <optional>

#include "core/op_context.h"
#include "core/vec3.h"
#include "ops/fit/crown_mesh.h"
#include "ops/fit/crown_points.h"
#include "ops/fit/crown_solid.h"

namespace pc {

struct CrownParams {
  std::optional<CrownShape> shape;  ///< none = alpha shape
  double strictness;                ///< 0..1: 0 = enclose every crown point; trimmed_crown
  Vec3d offset;                     ///< added to all positions of the result, metres
  std::optional<double> alpha_m;    ///< of an alpha shape: radius, metres; none = as small as suffices
  std::uint64_t most_triangles;     ///< of an alpha shape; more are refused
};

/// An alpha shape.
struct AlphaFacts {
  double alpha_m;
  bool watertight;           ///< every edge joins two triangles
  bool holds_enough;         ///< no more points are outside than strictness permits
  double growth_of_doubled;  ///< volume at twice alpha_m over that at alpha_m; 1 if alpha_m was given
  double share_of_half;      ///< volume of the shape of every second point over its own
};

/// A fitted crown; positions with the offset added.
struct Crown {
  CrownSolid solid;                   ///< of an alpha shape: the box of its mesh
  double volume_m3, surface_area_m2;  ///< of the solid; of an alpha shape: of its mesh
  std::uint64_t enclosed_count;       ///< crown points inside the solid, after the trim
  double highest_z;                   ///< of these points
  bool flat;                          ///< the crown points do not differ along an axis of the solid
  double
      share_of_all;  ///< volume of the solid of this kind around all points over its own; >= 1 but for alpha shapes
  CrownMesh mesh;
  std::optional<AlphaFacts> alpha;
};

struct CrownFit {
  std::uint64_t crown_point_count, unusable_count;
  std::optional<Box3d> tree_box;   ///< of all points of the tree, without the offset; nothing without a point
  std::optional<double> lowest_z;  ///< of all points of the tree, with the offset added
  std::optional<double> ground_z;  ///< lowest ground point of the tree, with the offset added
  std::optional<Crown> crown;      ///< nothing with fewer than 4 crown points
};

/// Fits one solid to the crown of a tree: the upright solid of least volume around its crown points, without strays; or the
/// alpha shape of least radius that holds as many points as strictness demands.
///
/// Order    Does not depend on the thread count. Computed relative to a point of the tree: far from the origin the
///          result is as exact as the coordinates.
/// Cost     crown_fit_bytes(); O(n) time, and some hundreds of passes over a sample of up to 20,000 points with strictness.
/// Cancel   Within 50 ms.
/// Errors   kInvalidArgument: those of crown_points and enclosing_solid; all crown points at one place; a strictness
///          outside 0..1; an offset that is not finite.
/// Source   trimmed_crown. It replaces the rule of the contract (core section 4), whose solids on exact samples are up to
///          35 % too large at strictness 0 and up to 23 % too small at 0.5.
CrownFit fit_crown(const TreeRows& tree, const CrownParams& params, OpContext& ctx);

/// Peak of memory needed for a tree of this many points, bytes.
std::uint64_t crown_fit_bytes(std::uint64_t points, bool alpha_shape);

}  // namespace pc
