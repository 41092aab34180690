#pragma once
#include <string>

#include "core/op_context.h"
#include "core/polygon_mesh.h"
#include "io/ply.h"

namespace pc::io {

/// Longest header of a mesh file.
inline constexpr std::uint64_t kMaxMeshHeaderLines = 10'000;

/// Number of faces that the header declares.
std::uint64_t ply_face_count(const PlyHeader& header);

/// Reads the polygons of a PLY file, ASCII or binary: the list vertex_indices (or vertex_index) of the element face, and
/// x, y, z, normals (nx, ny, nz) and colours of the vertices.
///
/// shift    subtracted from the positions in float64
/// Returns  Faces in file order. An index that is no vertex becomes kNoIndex. A vertex that cannot be read, or is not
///          finite, keeps its number. Faces with fewer than three corners are left out; this, a body that ends early, and
///          properties that are not used are named in the warnings.
/// Order    File order; does not depend on threads.
/// Cost     O(file) time; ASCII in parallel, faces of binary files one after the other.
/// Cancel   Within 50 ms; no partial result.
/// Errors   As read_ply; kInvalidFile without faces, beyond kMaxMeshHeaderLines, for a negative list count; kUnsupported
///          beyond kMaxFaceCorners and kMaxMeshVertices.
PolygonMesh read_ply_mesh(const std::string& path, const Vec3d& shift, OpContext& ctx);

}  // namespace pc::io
