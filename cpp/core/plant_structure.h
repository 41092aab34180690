#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/vec3.h"

/// The structure of one plant at one age: plant > shoots > phytomers (internode, petioles, leaves, floral buds).
///
/// Values are those of the structure document, in its units: angles in degrees, lengths in metres, ages and days in
/// days from the start of the plant, curvature in degrees per metre. Lengths of leaves, petioles, peduncles, flowers and
/// fruits are those of the full-grown organ; the factors next to them give the present size. A day before 0 belongs to an
/// organ that a trained plant has at its start.
namespace pc {

enum class FloralBudState : std::uint8_t { kDormant, kActive, kFlowerClosed, kFlowerOpen, kFruiting, kDead };
enum class VegetativeBudState : std::uint8_t {
  kNone,     ///< the axil bears no bud
  kDormant,  ///< may break later
  kBroken,   ///< a lateral shoot has grown from it
  kDead
};

/// One blade: a simple leaf, or a leaflet of a compound leaf.
struct PlantLeaf {
  double leaf_scale = 0;  ///< length of the full-grown blade, metres, before PlantPetiole::leaflet_scale
  double leaf_pitch = 0;  ///< degrees, from the petiole's tip direction
  double leaf_yaw = 0;    ///< degrees
  double leaf_roll = 0;   ///< degrees
  double inclination_u =
      0;  ///< [0, 1): its place in the leaf inclination distribution, stratified over the plant

  friend bool operator==(const PlantLeaf&, const PlantLeaf&) = default;
};

struct PlantFlower {
  double flower_pitch = 0;       ///< degrees, from the peduncle
  double flower_yaw = 0;         ///< degrees
  double flower_roll = 0;        ///< degrees
  double flower_azimuth = 0;     ///< degrees, round the peduncle
  double flower_base_scale = 0;  ///< length of the open flower, metres
  double fruit_scale = 0;        ///< length of the full-grown fruit, metres

  friend bool operator==(const PlantFlower&, const PlantFlower&) = default;
};

struct PlantPeduncle {
  double length = 0;     ///< metres
  double radius = 0;     ///< metres
  double pitch = 0;      ///< degrees, from the shoot (terminal buds) or from the petiole's side of it
  double curvature = 0;  ///< degrees per metre toward the vertical; negative droops
  double roll = 0;       ///< degrees, about the parent's direction

  friend bool operator==(const PlantPeduncle&, const PlantPeduncle&) = default;
};

struct FloralBud {
  FloralBudState bud_state = FloralBudState::kDormant;
  std::uint32_t parent_index = 0;  ///< petiole of the phytomer
  std::uint32_t bud_index = 0;     ///< among the buds of that petiole, terminal ones after the axillary ones
  bool is_terminal = false;        ///< at the tip of the shoot
  double current_fruit_scale_factor = 0;  ///< 0..1 of PlantFlower::fruit_scale; 0 unless fruiting
  PlantPeduncle peduncle;                 ///< zero unless the bud is closed, open or fruiting
  double flower_offset = 0;               ///< distance between flowers, as a share of the peduncle's length
  std::vector<PlantFlower> flowers;       ///< empty unless the bud is closed, open or fruiting

  double birth_day = 0;
  bool breaks = false;      ///< drawn: it becomes active when its time comes
  bool sets_fruit = false;  ///< drawn

  friend bool operator==(const FloralBud&, const FloralBud&) = default;
};

struct PlantPetiole {
  double petiole_length = 0;             ///< metres, full-grown
  double petiole_radius = 0;             ///< metres at its base, full-grown
  double petiole_pitch = 0;              ///< degrees from the shoot's axis
  double petiole_curvature = 0;          ///< degrees per metre toward the vertical; negative droops
  double current_leaf_scale_factor = 0;  ///< 0..1, of petiole and leaves
  double petiole_taper = 0;              ///< 0..1: radius at the tip = (1 - taper) times that at the base
  std::uint32_t petiole_length_segments = 1;
  std::uint32_t petiole_radial_subdivisions = 6;
  double leaflet_scale = 1;   ///< length of each pair of leaflets / that of the next one toward the tip
  double leaflet_offset = 0;  ///< distance between pairs, as a share of the petiole's length
  std::vector<PlantLeaf>
      leaves;  ///< the terminal one first, then the pairs from tip to base; empty = has fallen
  std::vector<FloralBud> floral_buds;

  double birth_day = 0;
  double fallen_area_m2 = 0;  ///< one-sided area of the leaves when they fell; 0 before
  VegetativeBudState vegetative_bud = VegetativeBudState::kNone;

  friend bool operator==(const PlantPetiole&, const PlantPetiole&) = default;
};

struct PlantInternode {
  double internode_length = 0;              ///< metres, present
  double internode_radius = 0;              ///< metres, present
  double internode_pitch = 0;               ///< degrees; axis_walk.h
  double internode_phyllotactic_angle = 0;  ///< degrees, step of the azimuth at its tip
  double internode_length_max = 0;          ///< metres, full-grown
  std::uint32_t internode_length_segments = 1;
  std::vector<double> curvature_perturbations;  ///< (segments) degrees per metre toward the vertical
  std::vector<double> yaw_perturbations;        ///< (segments) degrees

  double birth_day = 0;
  double radius_initial = 0;     ///< metres
  double girth_area_factor = 0;  ///< cm2 of cross-section per m2 of leaf area
  double carried_area_m2 = 0;    ///< largest leaf area that it carried in earlier seasons

  friend bool operator==(const PlantInternode&, const PlantInternode&) = default;
};

struct Phytomer {
  PlantInternode internode;
  std::vector<PlantPetiole> petioles;  ///< at the tip of the internode

  friend bool operator==(const Phytomer&, const Phytomer&) = default;
};

/// Rotation of a shoot's first direction against its parent's, degrees; axis_walk.h.
struct BaseRotation {
  double pitch = 0, yaw = 0, roll = 0;

  friend bool operator==(const BaseRotation&, const BaseRotation&) = default;
};

struct PlantShoot {
  std::string shoot_type_label;
  std::int32_t parent_shoot_id =
      -1;  ///< index in PlantStructure::shoots, smaller than its own; -1 = the base
  std::int32_t parent_node_index = 0;     ///< the shoot starts at the tip of that phytomer
  std::int32_t parent_petiole_index = 0;  ///< the shoot grew from the axil of that petiole; -1 = from no axil
  BaseRotation base_rotation;
  std::vector<Phytomer> phytomers;  ///< from base to tip

  double birth_day = 0;

  friend bool operator==(const PlantShoot&, const PlantShoot&) = default;
};

/// Leaf inclinations follow 90 degrees times Beta(beta_nu, beta_mu); mean 90 nu / (mu + nu).
struct LeafInclination {
  double beta_mu = 1, beta_nu = 1;  ///< > 0

  friend bool operator==(const LeafInclination&, const LeafInclination&) = default;
};

/// Where and when a plant goes on growing. A document of another program lacks it: its plant can be drawn, not grown.
struct GrowthState {
  std::string species_id;
  std::uint64_t seed = 0;
  std::uint64_t plant_index = 0;     ///< in its canopy
  std::uint64_t leaves_emerged = 0;  ///< blades so far, for PlantLeaf::inclination_u

  friend bool operator==(const GrowthState&, const GrowthState&) = default;
};

enum class PlantElement : std::uint8_t {
  kDocument,
  kPlant,
  kShoot,
  kPhytomer,
  kInternode,
  kPetiole,
  kLeaf,
  kFloralBud,
  kPeduncle,
  kInflorescence,
  kFlower
};

/// Elements of a document that we do not know, as text; they are written again at the end of the same parent.
struct ForeignXml {
  PlantElement parent = PlantElement::kDocument;
  std::uint32_t shoot = 0, phytomer = 0, petiole = 0;
  std::uint32_t item = 0;    ///< leaf or floral bud of the petiole
  std::uint32_t flower = 0;  ///< of the floral bud
  std::string xml;

  friend bool operator==(const ForeignXml&, const ForeignXml&) = default;
};

struct PlantStructure {
  std::string plant_id = "0";
  Vec3d base_position{0, 0, 0};  ///< metres; its z is the ground
  double plant_age = 0;          ///< days
  std::optional<LeafInclination> leaf_inclination;
  std::vector<PlantShoot> shoots;  ///< parents before their children; the index is the shoot ID
  std::optional<GrowthState> growth;
  std::vector<ForeignXml> foreign;  ///< in document order

  friend bool operator==(const PlantStructure&, const PlantStructure&) = default;
};

}  // namespace pc
