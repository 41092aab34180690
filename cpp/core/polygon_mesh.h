#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/column.h"
#include "core/memory.h"
#include "core/vec3.h"

namespace pc {

/// Marks a missing or wrong index, and a face without material.
inline constexpr std::uint32_t kNoIndex = 0xffffffffU;
/// Most corners of a face: triangulating one takes time with the square of them.
inline constexpr std::size_t kMaxFaceCorners = 20'000;

/// Most vertices, texture coordinates or normals, and most materials in use.
inline constexpr std::uint64_t kMaxMeshVertices = std::uint64_t{1} << 29;
inline constexpr std::size_t kMaxMeshMaterials = 10'000;

/// Longest name of a material, and longest mtllib line.
inline constexpr std::size_t kMaxMaterialNameBytes = 256;
inline constexpr std::size_t kMaxLibraryBytes = 4096;

/// The polygons of a mesh file, before they are cut into triangles.
struct PolygonMesh {
  Column<Vec3d> positions;  ///< (V) metres; one that could not be read, or is beyond float32, is not finite
  Column<float> uvs;        ///< (2 per texture coordinate) as in the file: v grows upwards
  Column<float> normals;    ///< (3 per normal) of any length
  Column<float> colors;     ///< (3 V) 0..1, NaN = none; empty if the file has none

  BulkVector<std::uint32_t> corner_position;  ///< (C) index in positions, or kNoIndex
  BulkVector<std::uint32_t> corner_uv;        ///< (C) or empty
  BulkVector<std::uint32_t> corner_normal;    ///< (C) or empty
  BulkVector<std::uint64_t> face_first;       ///< (F + 1) first corner of each face, of three or more
  BulkVector<std::uint32_t> face_material;    ///< (F) index in material_names, or kNoIndex; empty = none

  std::vector<std::string> material_names;  ///< in the order of their first face
  std::vector<std::string> libraries;       ///< OBJ: the rest of each mtllib line
  std::vector<std::string> warnings;        ///< for the user: what the problem was, where, and what was done

  std::size_t face_count() const { return face_first.empty() ? 0 : face_first.size() - 1; }
};

}  // namespace pc
