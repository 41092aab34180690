#pragma once
#include <string>

#include "core/op_context.h"
#include "core/polygon_mesh.h"

namespace pc::io {

/// Reads the triangles of an STL file, binary or ASCII. A file of exactly 84 + 50 n bytes for the count n in its header is
/// binary, whatever the header says; else one that begins with the word solid and names a facet is ASCII.
///
/// shift    subtracted from the positions in float64
/// Returns  Triangles in file order, each with three vertices of its own. Normals of the file are not used: the winding
///          states them. A vertex that is not finite, or beyond float32, makes its triangle unusable. A body that ends
///          early gives its complete triangles; this, bytes after the last triangle, normals against the winding, colours
///          and ASCII facets without three vertices are named in the warnings.
/// Order    File order; does not depend on threads.
/// Cost     O(file) time, ASCII on one thread; 92 bytes per triangle, and for ASCII the text.
/// Cancel   Within 50 ms; no partial result.
/// Errors   kNotFound; kInvalidFile for a file that is neither kind, and without a complete triangle; kUnsupported beyond
///          kMaxMeshVertices.
/// Source   3D Systems, Stereolithography Interface Specification, 1989: 80 bytes of header, u32 count, per triangle 12
///          little-endian floats and two bytes of attributes.
PolygonMesh read_stl(const std::string& path, const Vec3d& shift, OpContext& ctx);

}  // namespace pc::io
