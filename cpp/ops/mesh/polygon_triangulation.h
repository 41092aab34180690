#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/polygon_mesh.h"
#include "core/span.h"

namespace pc {

/// What is special about a polygon.
enum class PolygonShape : std::uint8_t {
  kPlain,
  kFlat,      ///< encloses no area: cut from its first corner
  kCrossing,  ///< was found to cross itself: triangles may overlap
};

/// Cuts polygons into triangles, one after the other. One per worker.
class PolygonCutter {
 public:
  /// ring   (n) corners in turn, n >= 3, finite
  /// out    (3 (n - 2)) corners of each triangle as indices in the ring, with the winding of the polygon
  /// A convex polygon is cut from its first corner, any other by clipping ears in the plane of its area vector. Edges that
  /// touch or run along each other (a hole joined to the outline) are allowed.
  /// Source  Newell's area vector (Sutherland, Sproull & Schumacker 1974); Meisters 1975 (ears); O'Rourke 1998, section 1.4.
  /// Cost    O(n r) time, r = corners that are not convex. Cancel within 50 ms.
  PolygonShape cut(Span<const Vec3d> ring, Span<std::uint32_t> out, OpContext& ctx);

 private:
  struct Point {
    double x, y;
  };
  bool flatten(Span<const Vec3d> ring);
  bool is_convex() const;
  bool turns_once() const;
  double turn(std::uint32_t a, std::uint32_t b, std::uint32_t c) const;
  bool is_ear(std::uint32_t corner, OpContext& ctx) const;
  bool blocks(std::uint32_t p, std::uint32_t a, std::uint32_t b, std::uint32_t c) const;
  bool clip_ears(Span<std::uint32_t> out, OpContext& ctx);
  void clip(std::uint32_t corner, Span<std::uint32_t> out);
  std::uint32_t clip_with_spikes(std::uint32_t corner, Span<std::uint32_t> out);
  void link(std::size_t n);

  std::vector<Point> flat_;
  std::vector<std::uint32_t> next_, previous_, waiting_;
  std::vector<std::uint8_t> is_waiting_, is_reflex_;
  std::size_t left_ = 0, cut_ = 0;
  double cut_area_ = 0;  ///< twice the area of the triangles so far
};

/// Triangles of a polygon mesh.
struct Triangulation {
  BulkVector<std::uint32_t> corners;      ///< (3 T) as indices in the mesh's corners
  BulkVector<std::uint32_t> faces;        ///< (T) face of each triangle
  std::uint64_t skipped_count = 0;        ///< triangles left out for a vertex that is missing or not finite
  std::uint64_t flat_face_count = 0;      ///< faces of more than three corners that enclose no area
  std::uint64_t crossing_face_count = 0;  ///< faces that cross themselves
};

/// Cuts every face into triangles.
///
/// mesh     A face with a vertex that is missing or not finite is cut from its first corner, without the triangles that
///          have such a vertex.
/// Order    Face order; bit-identical for any thread count.
/// Cost     O(corners) time, more for faces that are not convex (PolygonCutter); 16 bytes per triangle.
/// Cancel   Within 50 ms; no partial result.
/// Errors   kUnsupported: more triangles or corners than 32-bit indices can count.
Triangulation triangulate(const PolygonMesh& mesh, OpContext& ctx);

}  // namespace pc
