#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/column.h"
#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "ops/ray/scene_device.h"
#include "spatial/bvh.h"
#include "spatial/bvh_instances.h"

namespace pc {

/// Texture of triangles, 8 bits per channel, alpha below 128 = nothing is there.
struct SceneTexture {
  std::uint32_t width, height;
  ColumnPtr rgba;  ///< (height, width, 4) u8, row 0 at the top
  bool has_holes;  ///< some alpha is below 128
};

/// Which triangles a texture covers.
struct SceneMaterial {
  std::size_t texture;           ///< in the list of textures
  Span<const double> triangles;  ///< of the mesh, from 0
};

/// Triangles as they come with a request. Refers to memory of the caller. Lists are empty where the request has none.
struct SceneSurfaces {
  Span<const Vec3d> vertices;  ///< (V) metres
  ColumnPtr
      vertex_column;  ///< of the same vertices, or nullptr: a scene of one mesh keeps it instead of a copy
  Span<const double> triangles;  ///< (3 T) vertices of each triangle, from 0
  Span<const Vec3d> colors;      ///< (V) 0..1
  Span<const double> uvs;        ///< (2 V) v = 0 at the top of the texture; else textures are not used
  Span<const double> organs;     ///< (T) 0..6
  std::vector<SceneMaterial> materials;
  Span<const double> triangle_textures;        ///< (T) index in material_textures; beyond it = none
  std::vector<std::size_t> material_textures;  ///< of each material, SIZE_MAX = none
};

/// A mesh, and prototypes that are placed many times.
struct SceneMesh {
  std::string name;  ///< for messages: "meshes[2]"
  Vec3d origin;      ///< metres, added to vertices and placed prototypes
  SceneSurfaces surfaces;
  SceneSurfaces prototypes;
  std::vector<std::size_t> firsts;        ///< (P + 1) first triangle of each prototype, and their number
  Span<const double> instance_prototype;  ///< (I)
  Span<const double>
      instance_matrix;  ///< (12 I) 3 x 4, row-major: from the prototype to the frame of the mesh
};

/// What a ray hits.
struct SceneHit {
  double t;  ///< in units of the direction's length
  double u, v;
  std::uint32_t triangle;  ///< bvh::kNone = nothing
  std::uint32_t instance;  ///< bvh::kNone = the surface is not placed
};

/// A triangle that was looked at: rays side by side hit the same one.
struct SceneSide {
  std::uint32_t triangle = bvh::kNone, instance = bvh::kNone;
  Vec3d normal{0, 0, 0};
  double square = 0;  ///< of the normal's length
};

/// What a hit looks like.
struct SceneLook {
  double cosine;  ///< |cosine of incidence|
  Rgb16 color;
  std::uint8_t organ;
};

/// Surfaces of a scan: one tree of triangles, or trees of prototypes and their places.
///
/// meshes   Needed during construction alone; textures are held.
/// Order    A function of the input, for any thread count.
/// Cost     O(n log n); about 250 bytes per triangle, 800 per instance.
/// Cancel   Within 50 ms.
/// Errors   kInvalidArgument: no triangles; lists of wrong lengths; an index beyond its list; an organ code beyond 6; a
///          colour or vertex that is not finite; those of Bvh and InstancedBvh. The message names the mesh.
class ScanScene {
 public:
  ScanScene(const std::vector<SceneMesh>& meshes, std::vector<SceneTexture> textures, OpContext& ctx);

  /// Scratch of a thread.
  struct Scratch {
    SceneDevice* device = nullptr;  ///< traces many rays at once; nullptr: none
    std::vector<Ray> again;
    std::vector<std::uint32_t> which;
    std::vector<SceneHit> hits;
    std::vector<RayHit> plain;
    std::vector<InstanceHit> placed;
  };
  /// The first hit of each ray on a surface that is there: a ray passes holes of textures.
  void first_hits(const std::vector<Ray>& rays, std::vector<SceneHit>& hits, Scratch& scratch,
                  const OpContext& ctx) const;
  /// For a SceneDevice; valid as long as this object.
  const scene_trace_kernel::HostScene& host() const { return host_; }
  /// `side`: of the hit before, which becomes this one's.
  SceneLook look(const SceneHit& hit, const Vec3d& direction, SceneSide& side) const;
  /// Loads what look() of a hit reads: first this, a little later its corners.
  void prefetch_look(const SceneHit& hit) const;
  void prefetch_corners(const SceneHit& hit) const;

  std::uint64_t triangle_count() const { return triangle_count_; }  ///< instances counted in full
  bool has_colors() const { return has_colors_; }
  bool has_organs() const { return has_organs_; }
  std::uint64_t unused_texture_count() const {
    return unused_textures_;
  }  ///< of meshes without texture coordinates

 private:
  static constexpr std::uint16_t kNoTexture = 0xffff;
  struct Look {
    Rgb16 color;
    std::uint16_t texture;
    std::uint8_t organ;
  };
  struct Surfaces {
    BulkVector<Vec3d> placed;    ///< vertices in the frame of the scene
    ColumnPtr column;            ///< the same as they came; instead of them
    Span<const Vec3d> vertices;  ///< either of them
    BulkVector<std::uint32_t> indices;
    BulkVector<Look> looks;
    BulkVector<float> uvs;  ///< (2 V), or empty
  };

  /// Makes room for all surfaces of one kind, or takes over the vertices of the only ones.
  void expect(Surfaces& to, const std::vector<SceneMesh>& meshes, SceneSurfaces SceneMesh::*kind);
  void add(Surfaces& to, const SceneSurfaces& from, const Vec3d& origin, const std::string& name,
           OpContext& ctx);
  void add_looks(Surfaces& to, const SceneSurfaces& from, std::size_t first_triangle, const std::string& name,
                 OpContext& ctx);
  void add_textures(Surfaces& to, const SceneSurfaces& from, std::size_t first_triangle,
                    std::size_t first_vertex, const std::string& name);
  void place(const std::vector<SceneMesh>& meshes, OpContext& ctx);
  void describe_trees();
  void trace(const std::vector<Ray>& rays, std::vector<SceneHit>& hits, Scratch& scratch) const;
  bool is_hole(const SceneHit& hit) const;
  SceneSide side_of(const SceneHit& hit) const;
  /// Texel of a hit on a triangle with a texture.
  const std::uint8_t* texel(const SceneHit& hit, const Surfaces& of, std::size_t triangle) const;
  const Surfaces& surfaces_of(const SceneHit& hit) const {
    return hit.instance == bvh::kNone ? direct_ : shapes_;
  }

  Surfaces direct_, shapes_;
  std::vector<SceneTexture> textures_;
  std::vector<std::uint32_t> first_triangle_;  ///< of each prototype of the tree, in its surfaces
  std::optional<Bvh> tree_;
  std::optional<InstancedBvh> placed_;
  std::vector<scene_trace_kernel::HostTree> host_prototypes_;
  scene_trace_kernel::HostScene host_{};
  bool direct_is_placed_ = false;  ///< prototype and instance 0 of the trees are the direct surfaces
  bool has_colors_ = false, has_organs_ = false, has_holes_ = false;
  std::uint64_t triangle_count_ = 0, unused_textures_ = 0;
};

}  // namespace pc
