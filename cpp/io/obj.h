#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/op_context.h"
#include "core/polygon_mesh.h"

namespace pc::io {

inline constexpr std::size_t kObjChunkBytes = std::size_t{1} << 20;
/// Most mtllib lines.
inline constexpr std::size_t kMaxMaterialLibraries = 100;

/// Reads the polygons of a Wavefront OBJ file: v (with colours 0..1 or 0..255 after x y z), vt, vn, f, usemtl, mtllib.
///
/// shift    subtracted from the positions in float64
/// Returns  Faces in file order. Indices count from 1, negative ones back from the last element before the face; a
///          position that does not exist becomes kNoIndex, and so does a texture coordinate or normal. A vertex line
///          that cannot be read keeps its number and is not finite. A backslash at the end of a line continues it. What
///          is left out (lines, points, free-form surfaces, faces with fewer than three corners) is named in the
///          warnings, with its first line.
/// Order    File order; does not depend on threads or on chunk_bytes.
/// Cost     O(file) time in parallel; about twice the arrays of the result in memory.
/// Cancel   Within 50 ms; no partial result.
/// Errors   kNotFound; kInvalidFile for text in UTF-16, NUL bytes and lines beyond 16 MiB; kUnsupported beyond
///          kMaxFaceCorners, kMaxMeshMaterials, kMaxMaterialNameBytes, kMaxMaterialLibraries and kMaxMeshVertices.
/// Source   Wavefront Technologies, Advanced Visualizer Manual, appendix B1 (object files); colours after x y z as
///          written by MeshLab and others.
PolygonMesh read_obj(const std::string& path, const Vec3d& shift, OpContext& ctx);
/// The same in chunks of another size, for tests.
PolygonMesh read_obj(const std::string& path, const Vec3d& shift, std::size_t chunk_bytes, OpContext& ctx);

}  // namespace pc::io
