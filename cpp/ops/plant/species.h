#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Growth parameters of a species: what resources/species/<id>.json says, validated by shared/contract/plant-species.ts.
/// Angles in degrees, lengths in metres, times in days, like the structure (core/plant_structure.h).
namespace pc {

/// Draws of normal distributions stay within this many standard deviations of the mean.
inline constexpr double kNormalTail = 3;

/// A number that varies between shoots or between organs.
struct Distribution {
  enum class Kind : std::uint8_t { kConstant, kUniform, kNormal, kWeibull };
  Kind kind = Kind::kConstant;
  double a = 0;  ///< value; lower end; mean; shape
  double b = 0;  ///< upper end; standard deviation; scale
};

/// Phases of the year in days; none = not modelled. With dormancy_break_day > 0 and season_days a plant is perennial: age 0
/// is the start of dormancy, and the year is the sum of both.
struct Phenology {
  double dormancy_break_day = 0;                 ///< (a) length of dormancy
  std::optional<double> flower_initiation_days;  ///< (b) from the start of the season
  std::optional<double> flower_opening_days;     ///< (c) from initiation
  std::optional<double> fruit_set_days;          ///< (d) from opening
  std::optional<double> fruit_maturity_days;     ///< (e) from fruit set
  std::optional<double> season_days;             ///< (f) from dormancy break to dormancy or senescence
  std::optional<double> flower_lifespan_days;    ///< open flowers that set no fruit die after it
  std::optional<double> leaf_lifespan_days;      ///< leaves fall at this age at the latest
  bool evergreen = false;                        ///< dormancy does not shed leaves
};

struct LeafParams {
  std::string leaf_shape;  ///< prototype of the blade
  std::uint32_t leaflets = 1;
  double area_coefficient = 0;  ///< one-sided area of a blade / square of its length
  Distribution leaf_scale, leaf_pitch, leaf_yaw, leaf_roll;
  Distribution leaflet_scale, leaflet_offset;
  Distribution petiole_length, petiole_radius, petiole_pitch, petiole_curvature, petiole_taper;
  std::uint32_t petiole_length_segments = 1, petiole_radial_subdivisions = 6;
};

struct InflorescenceParams {
  std::string flower_shape, fruit_shape;  ///< prototypes; "" = not drawn
  Distribution buds;                      ///< per petiole; terminal: per shoot; rounded
  std::uint32_t first_node = 0;           ///< axillary buds: first and last node of the shoot that bears them
  std::optional<std::uint32_t> last_node;
  double flower_bud_break_probability = 0, fruit_set_probability = 0;
  Distribution flowers;                                                ///< per bud, rounded, at least 1
  Distribution flower_pitch, flower_yaw, flower_roll, flower_azimuth;  ///< azimuth: step between flowers
  Distribution flower_base_scale, fruit_scale;
  Distribution flower_offset;
  Distribution peduncle_length, peduncle_radius, peduncle_pitch, peduncle_curvature, peduncle_roll;
};

/// Organs of the first nodes of a shoot, where they differ from the others (primary leaves of legumes).
struct FirstNodes {
  std::uint32_t count = 0;
  std::uint32_t petioles_per_node = 1;
  LeafParams leaf;
};

struct LateralType {
  std::string shoot_type;
  double probability = 1;  ///< of all laterals; the sum is 1
};

/// A point of a piecewise linear function.
struct ProfilePoint {
  double position, factor;
};

struct ShootType {
  std::string label;
  Distribution max_nodes;  ///< rounded
  std::optional<std::uint32_t> max_nodes_per_season;
  Distribution phyllochron_min, elongation_rate_max;
  Distribution internode_length_max, internode_length_min, internode_length_decay_rate;
  std::vector<ProfilePoint> internode_length_profile;  ///< factor by node index / (max_nodes - 1); empty = 1
  Distribution internode_radius_initial;
  double girth_area_factor = 0;
  Distribution internode_pitch, phyllotactic_angle;
  std::uint32_t internode_length_segments = 1;
  Distribution gravitropic_curvature, tortuosity;
  Distribution insertion_angle_tip, insertion_angle_decay_rate, base_yaw, base_roll;
  bool bears_vegetative_buds = false;
  std::uint32_t vegetative_buds_first_node = 0;  ///< first and last node whose axils bear a bud
  std::optional<std::uint32_t> vegetative_buds_last_node;
  double vegetative_bud_break_probability_min = 0, vegetative_bud_break_probability_max = 1;
  double vegetative_bud_break_probability_decay_rate = 0;
  Distribution vegetative_bud_break_time;
  bool growth_requires_dormancy = false, flowers_require_dormancy = false;
  std::uint32_t petioles_per_node = 1;  ///< 0 = bare
  std::optional<LeafParams> leaf;       ///< none = petioles carry buds only
  std::optional<FirstNodes> first_nodes;
  std::vector<ProfilePoint> leaf_scale_profile;  ///< same, of leaf_scale and petiole_length
  std::optional<InflorescenceParams> axillary, terminal;
  std::vector<LateralType> laterals;
};

/// A shoot of the plant at age 0. Parents come first.
struct StartShoot {
  std::string shoot_type;
  std::int32_t parent = -1;                 ///< index in PlantSpecies::start; -1 = the base
  std::optional<std::int32_t> parent_node;  ///< none = the last one
  Distribution nodes;                       ///< rounded
  bool full_grown = false;                  ///< trained: its nodes emerged before age 0
  bool bears_leaves = false;      ///< full-grown nodes carry leaves at age 0; otherwise they have fallen
  Distribution pitch, yaw, roll;  ///< base rotation
};

/// Shapes of organs stand beside these in the species file (geometry).
struct PlantSpecies {
  std::string id;
  bool woody = false;
  double max_age_days = 0;
  Phenology phenology;
  std::vector<ShootType> shoot_types;
  std::vector<StartShoot> start;
};

/// Index in species.shoot_types. Errors: kInvalidArgument for an unknown label.
std::size_t shoot_type_index(const PlantSpecies& species, std::string_view label);

/// The leaf at a node of a shoot; nullptr = petioles without leaves.
inline const LeafParams* leaf_at(const ShootType& type, std::size_t node) {
  if (type.first_nodes && node < type.first_nodes->count) return &type.first_nodes->leaf;
  return type.leaf ? &*type.leaf : nullptr;
}
inline std::uint32_t petioles_at(const ShootType& type, std::size_t node) {
  return type.first_nodes && node < type.first_nodes->count ? type.first_nodes->petioles_per_node
                                                            : type.petioles_per_node;
}
/// Length of leaflet `leaf` (order of PlantPetiole::leaves: the terminal one, then pairs from tip to base) / leaf_scale.
double leaflet_factor(double leaflet_scale, std::size_t leaf);

/// Checks what the contract promises. Errors: kInvalidArgument with the field.
void check_species(const PlantSpecies& species);

}  // namespace pc
