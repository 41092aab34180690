#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/span.h"
#include "core/vec3.h"
#include "ops/plant/geometry.h"
#include "ops/plant/prototypes.h"

namespace pc {

/// What a mesh says of a triangle. All values have 4 bytes.
enum class PlantField {
  kVertices,    ///< f32, 9: corners relative to the origin, metres
  kNormals,     ///< f32, 9: the flat normal, once per corner
  kColors,      ///< f32, 9: of prototypes and of the tube's organ, 0..1
  kUvs,         ///< f32, 6: v downwards; (0, 0) without a texture
  kIndices,     ///< u32, 3: 3 t, 3 t + 1, 3 t + 2
  kMaterials,   ///< u32: index in PlantPrototypes::textures or kNoIndex
  kOrganCodes,  ///< u32: OrganCode
  kPlants,      ///< u32: index in the list of plants
};
inline constexpr std::size_t kPlantFields = 8;
/// Bytes of one triangle.
std::size_t plant_field_bytes(PlantField field);

/// The triangles of placed plants, computed when they are asked for: a mesh that is sent once need not be stored. Plant
/// after plant, all tubes, then all organs of each. Safe for several threads. Memory: 16 bytes per tube and organ.
class PlantTriangles {
 public:
  /// plants, prototypes  must outlive this
  /// origin              what the vertices are relative to, metres; near the plants
  /// Errors              kInvalidArgument: origin not finite. kUnsupported: more vertices than 32-bit indices count.
  PlantTriangles(Span<const PlantParts> plants, const PlantPrototypes& prototypes, const Vec3d& origin);

  std::uint64_t size() const { return size_; }
  /// A triangle has a texture.
  bool is_textured() const { return is_textured_; }

  /// Writes a field of the triangles [first, first + count). `bounds`: grows by their vertices before they are narrowed;
  /// for kVertices only.
  void fill(PlantField field, std::uint64_t first, std::size_t count, void* out,
            Box3d* bounds = nullptr) const;
  /// Writes bytes of a field from any offset on, as if all of it were stored; returns their number.
  std::size_t read(PlantField field, std::uint64_t byte_offset, std::size_t bytes, void* out) const;

 private:
  /// A tube or an organ.
  struct Item {
    std::uint64_t first;
    std::uint32_t plant;
    std::uint32_t is_tube : 1, index : 31;
  };
  /// Triangles [begin, end) of an item.
  struct Part {
    Item item;
    std::size_t begin, end;
  };

  const PlantTube& tube_of(const Item& item) const { return plants_[item.plant].tubes[item.index]; }
  const OrganInstance& instance_of(const Item& item) const {
    return plants_[item.plant].instances[item.index];
  }
  const OrganPrototype& organ_of(const Item& item) const {
    return prototypes_.organs[instance_of(item).prototype];
  }
  Span<const TubeRing> rings_of(const Item& item) const;
  void add_items(std::uint32_t plant);
  template <class Use>
  void each_part(std::uint64_t first, std::size_t count, Use&& use) const;
  template <class Triangle>
  void each_triangle(const Part& part, Triangle&& triangle) const;
  void fill_vertices(std::uint64_t first, std::size_t count, float* out, Box3d* bounds) const;
  void fill_normals(std::uint64_t first, std::size_t count, float* out) const;
  float* fill_colors(const Part& part, float* out) const;
  float* fill_uvs(const Part& part, float* out) const;
  std::uint32_t code_of(PlantField field, const Item& item) const;

  Span<const PlantParts> plants_;
  const PlantPrototypes& prototypes_;
  Vec3d origin_;
  std::vector<Item> items_;
  std::uint64_t size_ = 0;
  bool is_textured_ = false;
};

}  // namespace pc
