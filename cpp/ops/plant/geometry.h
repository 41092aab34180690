#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "core/column.h"
#include "core/op_context.h"
#include "core/plant_structure.h"
#include "ops/mesh/mesh_packing.h"
#include "ops/plant/prototypes.h"
#include "ops/plant/species.h"
#include "ops/plant/tube.h"

namespace pc {

/// Shorter blades, flowers and fruits are not drawn, metres.
inline constexpr double kLeastOrgan_m = 1e-4;

/// A prototype put in place: axes of the prototype times its size, and its origin relative to the plant's base, metres.
struct OrganInstance {
  std::uint32_t prototype;  ///< index in PlantPrototypes::organs
  std::uint32_t shoot;      ///< index in PlantStructure::shoots
  std::array<Vec3d, 4> frame;
};

/// Rings of one tube piece, or of a part of a long one.
struct PlantTube {
  std::size_t first_ring, ring_count;
  std::uint32_t sides;
  std::uint32_t shoot;
  OrganCode organ;
  bool has_start, has_end;  ///< caps
};

/// A plant before it becomes triangles. Everything is relative to `base`.
struct PlantParts {
  Vec3d base{0, 0, 0};  ///< metres
  std::vector<TubeRing> rings;
  std::vector<PlantTube> tubes;  ///< shoot after shoot
  std::vector<OrganInstance> instances;
  double wood_volume_m3 = 0;  ///< of the shoots' round tubes
  double leaf_area_m2 = 0;    ///< one-sided, less the holes of textures
  double height_m = 0;        ///< highest point of the full mesh above the base
};

struct GeometryParams {
  double detail;  ///< factor for the sides of tubes, 0.05 .. 4; 1 = as the structure says
};

/// Upper bounds, for admission.
struct PlantGeometryCost {
  std::uint64_t parts_bytes;  ///< of PlantParts, and as much again while they are put together
  std::uint64_t triangles;    ///< of expand_plants; plant_mesh_bytes()
};
PlantGeometryCost plant_geometry_cost(const PlantStructure& plant, const PlantPrototypes& prototypes,
                                      const GeometryParams& params, OpContext& ctx);

/// Places all organs of a plant.
///
/// - A shoot is one tube through its axis (axis_walk.h). Its cross-section is that of each internode, and between two the
///   mean of their areas: the volume is that of the internodes.
/// - A petiole starts on the side of its internode at its azimuth, tilted by its pitch from the axis, and bends toward the
///   vertical. Its size is current_leaf_scale_factor of the full one. A sheath follows the shoot instead.
/// - A blade goes on in the petiole's direction, its upper side to the axis; leaf_yaw turns it to the left, leaf_pitch
///   away from the axis (down, on a spreading petiole), leaf_roll about its midrib. Lateral leaflets leave at
///   leaflet_angle_deg, left ones first; yaw and roll of the right ones are mirrored. With turns_up the upper side faces
///   the sky first.
/// - With a leaf inclination law blades get theirs (leaf_inclination.h).
/// - Flowers follow the peduncle from its tip to its base, flower_offset times its length apart.
/// - The plant is simplified as its shapes say (level_of_detail.h).
/// - Petioles and peduncles that would go below the ground run along it; blades are raised to it, steered ones are turned
///   to the other side with the same inclination.
///
/// Order    Shoot after shoot, from base to tip; the same bits for any thread count.
/// Cost     O(segments + organs); 104 bytes per ring, 104 per organ.
/// Cancel   Within 50 ms; no partial result.
/// Errors   kInvalidArgument: those of walk_axes; a shoot type or shape that the species does not have; detail.
PlantParts plant_parts(const PlantStructure& plant, const PlantSpecies& species,
                       const PlantPrototypes& prototypes, const GeometryParams& params, OpContext& ctx);

/// Triangles of plants with vertices of their own, and what each belongs to.
struct PlantMesh {
  PackedMesh
      mesh;  ///< vertices relative to `origin`; triangle_material = index in PlantPrototypes::textures or kNoIndex
  Column<std::uint32_t> organ_codes;     ///< (T) OrganCode
  Column<std::uint32_t> triangle_plant;  ///< (T) index in the list of plants
  Vec3d origin{0, 0, 0};
};

std::uint64_t tube_triangle_count(const PlantTube& tube);
/// Number of triangles of expand_plants, and its bytes.
std::uint64_t plant_triangle_count(const PlantParts& plant, const PlantPrototypes& prototypes);
std::uint64_t plant_mesh_bytes(std::uint64_t triangles, bool has_textures);

/// Writes all tubes, then all organs of each plant as triangles (plant_triangles.h).
///
/// origin   what the float32 vertices are relative to, metres; near the plants
/// Normals  Flat. Colours are those of prototypes and of the tube's organ. Texture coordinates (0, 0) without a texture.
/// Order    Plant after plant, tubes before organs; the same bits for any thread count.
/// Cost     One pass; 156 bytes per triangle, 24 less without textures.
/// Cancel   Within 50 ms.
/// Errors   kUnsupported: more vertices than 32-bit indices count.
PlantMesh expand_plants(Span<const PlantParts> plants, const PlantPrototypes& prototypes, const Vec3d& origin,
                        OpContext& ctx);

}  // namespace pc
