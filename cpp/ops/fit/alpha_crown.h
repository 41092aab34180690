#pragma once
#include <cstdint>
#include <optional>

#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"
#include "ops/fit/crown_mesh.h"
#include "spatial/delaunay_tetrahedra.h"

namespace pc {

struct AlphaCrownParams {
  std::optional<double> alpha_m;  ///< radius of the ball, metres, > 0; none = as small as suffices
  double strictness;              ///< 0..1: at most droppable_points() (crown_trim.h) are left outside
  int smoothing_steps;            ///< of Taubin smoothing
  std::uint64_t most_triangles;   ///< more are refused
};

struct AlphaCrown {
  CrownMesh mesh;                ///< relative to the frame of the points
  double volume_m3;              ///< enclosed by the mesh
  double surface_area_m2;        ///< of the mesh
  double alpha_m;                ///< radius used
  bool watertight;               ///< every edge joins two triangles
  bool holds_enough;             ///< no more points are outside than strictness permits
  std::uint64_t enclosed_count;  ///< points in the solid or on its surface, before smoothing; once each place
  double highest_z;              ///< of these points
  double growth_of_doubled;  ///< volume of the solid at twice alpha_m over its own; 1 if alpha_m was given
  double share_of_half;      ///< volume of the shape of every second point over its own
  double share_of_all;  ///< volume of the solid at alpha_m around all points over that without thin parts
};

/// Solid that a ball of radius alpha coming from outside cannot enter: the Delaunay tetrahedra that it does not reach
/// through faces whose circle is larger than alpha. Of several parts the one of most volume. It holds the solid part of
/// the alpha shape, and hollows that are closed to the ball: points on a surface alone give the solid inside, too.
///
/// points   finite, metres relative to a place near them
/// Order    Does not depend on the thread count. With strictness the points of thin parts are left out first
///          (remove_thin_parts). Without alpha_m: the smallest of 3 to 20 mean spacings whose surface touches itself at no
///          edge and leaves no more points outside than strictness permits; at 6 and 8 spacings it may touch itself if the
///          points fill the solid evenly. If there is none, the largest that has a solid.
/// Layer    Without alpha_m, where points fill the solid evenly, its mesh is moved outward by the layer in which none of
///          them happens to lie (unseen_layer.h): its volume is that of what they fill. Such a mesh leaves the box of
///          the points by this layer alone.
/// Growth   Points that fill a solid give much the same volume at twice the radius; leaves and branches with gaps do not, and
///          their volume is a matter of alpha, which follows their spacing.
/// Cost     alpha_crown_bytes(); O(n log n) time, mostly in one thread.
/// Cancel   Within 50 ms.
/// Errors   kInvalidArgument: points on a plane, no solid at alpha_m, more triangles than most_triangles.
///          kUnsupported: more than 2^30 tetrahedra.
/// Source   Edelsbrunner & Mücke 1994, ACM TOG 13; contract core section 4 for the radii. Smoothing: Taubin 1995, SIGGRAPH,
///          lambda 0.5, mu -0.53. The contract shakes the points to break ties; exact signs need no shaking.
AlphaCrown alpha_crown(Span<const Vec3d> points, const AlphaCrownParams& params, OpContext& ctx);

/// Peak of memory needed besides the points, bytes.
constexpr std::uint64_t alpha_crown_bytes(std::uint64_t points) {
  return (kDelaunayBytesPerPoint + 400) * points;
}

}  // namespace pc
