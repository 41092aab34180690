#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "core/column.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// Where a picture is taken from. The camera frame has x to the right, y downwards and z away from the camera, metres.
struct RasterCamera {
  std::array<double, 12> view;  ///< (3 x 4) row-major, from the mesh's frame to the camera's
  bool perspective;             ///< else a parallel projection
  double scale;                 ///< pixels per metre; with perspective pixels per metre at 1 m distance
  double near_m;                ///< least depth that is drawn, metres; > 0 with perspective
  std::uint32_t width, height;  ///< pixels; the camera's axis passes through the middle
};

/// Where the light comes from and what it does, in linear light. A face is lit from both of its sides, as leaves are.
struct RasterLight {
  Vec3d toward;    ///< direction from the mesh to the light, camera frame, any length
  double ambient;  ///< 0..1, share of the light that comes from everywhere; the rest is from `toward`
  bool is_smooth;  ///< normals of the vertices where the mesh has them; else those of the triangles
  unsigned char background[4];  ///< red, green, blue, alpha
};

/// A picture that triangles carry.
struct RasterTexture {
  std::uint32_t width, height;    ///< texels, at least 1
  Span<const std::uint8_t> rgba;  ///< (4 width height) sRGB, rows downwards; alpha below 128 is a hole
};

/// Arrays of PackedMesh (ops/mesh/mesh_packing.h); empty spans are left out.
struct PaintedMesh {
  Span<const float> vertices;                ///< (3 V) metres
  Span<const std::uint32_t> indices;         ///< (3 T)
  Span<const float> normals;                 ///< (3 V)
  Span<const float> colors;                  ///< (3 V) 0..1 sRGB, NaN = grey
  Span<const float> uvs;                     ///< (2 V) v downwards; textures repeat
  Span<const std::uint32_t> triangle_image;  ///< (T) index in textures, or kNoTriangleImage; needs uvs
  std::vector<RasterTexture> textures;
};
inline constexpr std::uint32_t kNoTriangleImage = 0xffffffffu;
inline constexpr std::uint32_t kNoTriangle = 0xffffffffu;

struct MeshPicture {
  Column<std::uint8_t> rgba;        ///< (4 width height) sRGB, rows downwards
  Column<float> depth;              ///< (width height) metres along the camera's z, +inf = nothing there
  Column<std::uint32_t> triangles;  ///< (width height) the nearest triangle in the pixel, or kNoTriangle
};

/// Draws triangles with hidden surfaces removed.
///
/// mesh     triangles with a vertex that is not finite are left out
/// samples  samples per pixel and axis, 1 to 4; colours are averaged in linear light, depth and triangle are the nearest
/// Exact    A sample on an edge that two triangles share belongs to exactly one of them: no gaps, nothing drawn twice. Of
///          triangles at the same depth the first one is seen.
/// Order    Does not depend on threads.
/// Cost     O(T height / 16) checks of boxes and O(samples covered) tests; 16 bytes per triangle, 9 per pixel, and per
///          thread 16 rows of samples of 8 bytes. A texture costs a third more than its size.
/// Cancel   Within 100 ms.
/// Errors   kInvalidArgument: lengths that do not fit, an index beyond its array, a picture without pixels or of more than
///          32,768 on a side, 0 or more than 4 samples, a camera or light that is not finite.
/// Source   Edge functions in the frame of the camera, without clipping: Olano & Greer 1997, Graphics Hardware. Level of
///          detail of textures from the derivatives of the coordinates: Williams 1983, SIGGRAPH 17(3).
MeshPicture rasterize_mesh(const PaintedMesh& mesh, const RasterCamera& camera, const RasterLight& light,
                           unsigned samples, OpContext& ctx);

}  // namespace pc
