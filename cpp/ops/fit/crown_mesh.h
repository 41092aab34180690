#pragma once
#include <cstdint>
#include <vector>

#include "core/vec3.h"
#include "ops/fit/crown_solid.h"

namespace pc {

/// Segments of the meshes (contract core section 4): rings from pole to pole and points per ring of an ellipsoid, points
/// around the base of a cone.
constexpr std::uint32_t kEllipsoidRings = 16, kEllipsoidSegments = 24, kConeSegments = 32;

/// A closed mesh: every edge joins two triangles, which are counter-clockwise seen from outside.
struct CrownMesh {
  std::vector<Vec3d> vertices;           ///< metres
  std::vector<Vec3d> normals;            ///< (vertices) unit length, outward
  std::vector<std::uint32_t> triangles;  ///< three vertices each
};

/// Mesh of a solid; its vertices lie on the solid's surface, and its box is the solid's.
///
/// offset   added to the vertices
/// Order    Ellipsoid: poles, then rings from the top; normals of the surface. Prism: 8 corners, 12 triangles; normals
///          along the diagonals of a cube. Cone: apex, base centre, ring; normals along the mean of side and base.
CrownMesh crown_mesh(const CrownSolid& solid, const Vec3d& offset);

}  // namespace pc
