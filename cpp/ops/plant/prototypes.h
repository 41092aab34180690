#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ops/plant/organ_mesh.h"
#include "ops/plant/shapes.h"

namespace pc {

/// What a triangle of a plant belongs to. Wire values.
enum class OrganCode : std::uint8_t {
  kUnknown = 0,  ///< flowers
  kLeaf = 1,
  kPetiole = 2,
  kShoot = 3,
  kPeduncle = 4,
  kFruit = 5,
  kPetiolule = 6
};

inline constexpr std::uint32_t kNoTexture = 0xffffffffU;
inline constexpr std::uint32_t kNoPrototype = 0xffffffffU;

/// A coarser mesh of an organ.
struct OrganLevel {
  std::uint32_t prototype;  ///< index in PlantPrototypes::organs
  double deviation;         ///< largest distance from the full mesh, at size 1
};

struct OrganPrototype {
  std::string
      name;  ///< "leaf/<shape>/<variant>", "flower/<shape>/open", "flower/<shape>/closed", "fruit/<shape>"
  OrganMesh mesh;
  OrganCode organ = OrganCode::kUnknown;
  std::uint32_t texture = kNoTexture;  ///< index in PlantPrototypes::textures
  double area =
      0;  ///< leaf: one-sided area of the blade of length 1, less the holes of the texture; else the surface
  double reach = 0;                 ///< of the corner farthest from the origin
  Vec3d normal{0, 0, 1};            ///< leaf: unit vector, mean over the area
  std::vector<OrganLevel> coarser;  ///< from fine to coarse (level_of_detail.h)
};

/// The shapes of one species, built once.
struct PlantPrototypes {
  std::vector<OrganPrototype> organs;
  std::vector<std::string> textures;

  struct Leaf {
    std::string name;
    std::uint32_t first, variants;
    double leaflet_angle_deg, petiolule_length, petiolule_radius;
    bool turns_up, is_sheathed;
    /// Mean over the variants of OrganPrototype::area; LeafParams::area_coefficient.
    double area;
  };
  struct Organ {
    std::string name;
    std::uint32_t open, closed;  ///< a fruit's are the same
  };
  std::vector<Leaf> leaves;
  std::vector<Organ> flowers, fruits;
  UnitRgb stem_color, bark_color, petiole_color, peduncle_color;
  double bark_radius_m;
  double deviation_ratio;  ///< PlantShapes
  std::uint64_t triangle_budget;
};

/// Distance of the farthest corner from the origin.
double reach_of(const OrganMesh& mesh);

/// Whether a shoot of that radius has bark.
inline bool has_bark(const PlantPrototypes& prototypes, OrganCode organ, double radius_m) {
  return organ == OrganCode::kShoot && radius_m >= prototypes.bark_radius_m;
}
/// Colour of a tube.
UnitRgb tube_color(const PlantPrototypes& prototypes, OrganCode organ, bool is_bark);

/// Builds all prototypes.
///
/// detail  factor for all divisions; 1 = those of the shapes
/// Errors  kInvalidArgument: a shape out of range, without a part or of more than 2^18 triangles at detail 1, detail outside 0.05 .. 4;
///         the message names the shape and the field.
PlantPrototypes plant_prototypes(const PlantShapes& shapes, double detail);

}  // namespace pc
