#pragma once
#include <cstdint>
#include <vector>

#include "core/column.h"
#include "core/op_context.h"
#include "ops/qsm/leaf_placement.h"

namespace pc {

/// The mesh of one leaf, three vertices per triangle, in a frame of its own: base at x = 0, tip at x = 1, width along y,
/// upper side along +z.
struct LeafTemplate {
  std::vector<Vec3d> vertices;
  std::vector<Vec3d> normals;           ///< unit length, or zero; as many
  std::vector<float> uvs;               ///< two per vertex, v downwards; empty = none
  std::vector<std::uint32_t> material;  ///< per triangle; empty = none
};

/// A rectangle of length 1 and a width, two triangles 0-1-2 and 0-2-3 of the corners (0, -), (0, +), (1, +), (1, -). u runs
/// from base to tip, v from +y to -y.
LeafTemplate quad_leaf(double aspect);

/// A leaf of a mesh file, turned into the frame above: its longest axis to x, from 0 to 1, the other two in their order and
/// centred; the last is negated if that mirrors.
///
/// vertices  (9 T) and normals (9 T) of T triangles; uvs (6 T) or empty; material (T) or empty.
/// Errors    kInvalidArgument without triangles, for lists of other lengths, and for a mesh without extent.
LeafTemplate mesh_leaf(Span<const float> vertices, Span<const float> normals, Span<const float> uvs,
                       Span<const std::uint32_t> material);

/// Triangles of all leaves, leaf after leaf; vertices 3 t, 3 t + 1 and 3 t + 2 are those of triangle t.
struct LeafMesh {
  Column<double> vertices;          ///< (9 T) metres
  Column<float> normals;            ///< (9 T)
  Column<float> uvs;                ///< (6 T), empty without
  Column<std::uint32_t> materials;  ///< (T), empty without
};

/// Puts the template on every leaf, scaled by the length of leaves. A template of width w gives leaves of width w length.
/// Cost: O(triangles), 44 bytes a vertex at most. Cancel: within 250 ms.
LeafMesh leaf_mesh(const std::vector<Leaf>& leaves, double length_m, const LeafTemplate& shape,
                   OpContext& ctx);

/// Memory of leaf_mesh, bytes.
std::uint64_t leaf_mesh_bytes(std::uint64_t triangle_count);

}  // namespace pc
