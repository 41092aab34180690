#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace pc {

/// Colour, 0..1 sRGB.
using UnitRgb = std::array<float, 3>;

enum class BladeForm : std::uint8_t {
  kPinnate,  ///< half width along the midrib: x^base_exponent (1 - x)^tip_exponent, scaled to width_ratio
  kPolar,    ///< radius about the base over the angle from the midrib: cordate, round, lobed, arrow-shaped
  kNeedle    ///< a closed spindle, round in cross-section
};

/// A corner of a polar outline; the outline is a Catmull-Rom curve through these points, mirrored at the midrib.
struct PolarPoint {
  double angle_deg;  ///< from the direction of the tip, ascending from 0 to less than 180
  double radius;     ///< relative to that of the tip, > 0
};

/// A blade of length 1 along +x from its base at the origin, upper side up (+z). Leaf, leaflet or petal.
struct BladeShape {
  BladeForm form = BladeForm::kPinnate;
  double width_ratio = 0.5;    ///< largest width / length
  double base_exponent = 0.7;  ///< 0.05 .. 5: small = truncate or rounded base, 1 = wedge, above = stalk-like
  double tip_exponent = 0.7;   ///< the same at the tip: small = blunt, above 1 = drawn out to a point
  std::vector<PolarPoint> outline;
  double fold_deg = 0;        ///< each half is raised by this at the midrib
  double bend_deg = 0;        ///< turn of the midrib from base to tip, downwards
  double bend_exponent = 1;   ///< 1 = a circular arc; above = the turn is nearer to the tip
  double cup_deg = 0;         ///< turn of the surface from the midrib to the widest margin, upwards
  double twist_deg = 0;       ///< turn about the midrib from base to tip
  double wave_amplitude = 0;  ///< of the margin, relative to the blade's length
  double wave_count = 0;      ///< waves along the margin
  std::array<double, 2> buckle_position{0.4, 0.6};  ///< where the blade folds over, range of the variants
  std::array<double, 2> buckle_deg{0, 0};           ///< by how much, downwards; 0 = it does not
  std::uint32_t length_divisions = 8;               ///< polar: between the tip and the last corner
  std::uint32_t width_divisions = 3;                ///< of each half; polar: along the radius
};

/// A solid or a shell round the +x axis.
struct BodyShape {
  std::vector<std::array<double, 2>>
      profile;  ///< (x, radius), from the base on; a curve passes through the points
  std::uint32_t rings = 8, sides = 8;
  std::uint32_t ribs = 0;         ///< bulges round the axis
  double rib_depth = 0;           ///< 0 .. 0.9 of the radius
  double flatness = 1;            ///< thickness (z) / width (y)
  double bend_deg = 0;            ///< turn of the axis from base to end, downwards
  bool is_shell = false;          ///< without caps at ends of a radius above 0 (corolla tube)
  bool grows_on_opening = false;  ///< left out of a closed flower
  UnitRgb color{0.5F, 0.5F, 0.5F}, tip_color{0.5F, 0.5F, 0.5F};
  // Copies along the axis (berries, grains, spikelets); one copy at the origin by default.
  std::uint32_t copies = 1;
  std::array<double, 2> copy_position{0, 0};  ///< x of the first and last copy
  std::array<double, 2> copy_distance{0, 0};  ///< from the axis, first and last copy
  std::array<double, 2> copy_tilt_deg{0, 0};  ///< from the axis, first and last copy
  std::array<double, 2> copy_scale{1, 1};
  double divergence_deg = 137.5;  ///< azimuth step between copies
  double jitter_deg = 0;          ///< greatest random change of tilt and azimuth of a copy
};

/// Blades round the axis: petals, sepals, bracts, husks, awns.
struct WhorlShape {
  BladeShape blade;
  std::uint32_t count = 5;
  double length = 0.5;
  double position = 0;        ///< x of the insertion
  double distance = 0;        ///< of the insertion from the axis
  double opening_deg = 80;    ///< angle from the axis: 0 = forwards, 90 = spread flat
  double closed_deg = 10;     ///< the same in a closed flower
  double closed_scale = 0.7;  ///< size in a closed flower
  double azimuth_deg = 0;     ///< of the first blade; 0 = the lower side (-z)
  double spread_deg = 360;    ///< azimuth range over which the blades are spread
  UnitRgb color{1, 1, 1};
};

/// A flower, inflorescence or fruit of any size; its prototype's largest extent (of the open flower) is 1.
struct OrganShape {
  std::vector<WhorlShape> whorls;
  std::vector<BodyShape> bodies;
};

/// A leaf of one blade, or of leaflets that are alike.
struct LeafShape {
  std::string name;
  BladeShape blade;
  std::uint32_t variants = 1;  ///< prototypes with waves and buckles of their own
  UnitRgb color{0.3F, 0.55F, 0.2F};
  std::string texture;  ///< file in resources/leaf-textures, "" = none
  double coverage = 1;  ///< share of the blade that the texture's alpha leaves, measured in the file
  double leaflet_angle_deg = 60;  ///< of lateral leaflets from the petiole
  double petiolule_length = 0;    ///< of lateral leaflets, relative to the blade's length
  double petiolule_radius = 0.01;
  bool turns_up = false;     ///< the petiole twists until the upper side of its blades faces the sky
  bool is_sheathed = false;  ///< the petiole is a sheath that follows the shoot above its node
};

struct NamedOrgan {
  std::string name;
  OrganShape shape;
};

/// What the organs of a species look like. Sizes, angles of insertion and counts are the structure's; which shape an organ
/// has, says the shoot type (species.h).
struct PlantShapes {
  std::vector<LeafShape> leaves;
  std::vector<NamedOrgan> flowers, fruits;
  UnitRgb stem_color{0.4F, 0.55F, 0.25F};  ///< of young shoots
  UnitRgb bark_color{0.45F, 0.3F, 0.15F};  ///< of shoots from bark_radius_m on
  double bark_radius_m = 1e9;
  /// Level of detail: how far a simplified plant may be from the full one, relative to its height; 0 = not simplified. Above
  /// the budget twice or four times as far (level_of_detail.h).
  double deviation_ratio = 0;
  std::uint64_t triangle_budget = 3'000'000;
  UnitRgb petiole_color{0.4F, 0.6F, 0.25F};
  UnitRgb peduncle_color{0.4F, 0.6F, 0.25F};
};

}  // namespace pc
