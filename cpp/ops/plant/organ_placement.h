#pragma once
#include <vector>

#include "ops/plant/axis_walk.h"
#include "ops/plant/geometry.h"

namespace pc {

/// What the placement of a plant's organs needs. Places are relative to the plant's base: the ground is z = 0.
struct PlacementInput {
  const PlantStructure& plant;
  const PlantSpecies& species;
  const PlantPrototypes& prototypes;
  const PlantAxes& axes;
  double detail;
  const OpContext& ctx;  ///< asked before every organ whether to stop
};

/// Sides of a shoot's tube by its thickest radius, and of other tubes.
std::uint32_t shoot_sides(double radius_m, double detail);
std::uint32_t scaled_sides(double sides, double detail);
inline constexpr std::uint32_t kPeduncleSegments = 6, kPeduncleSides = 6, kPetioluleSides = 4;
/// A sheath follows the shoot for as many segments at most, and then goes straight on.
inline constexpr std::size_t kMostSheathSegments = 256;
/// Most segments of a petiole.
inline constexpr std::uint32_t kMostPetioleSegments = 1024;

/// The tubes and organs of one shoot.
struct ShootParts {
  TubeRings rings;
  std::vector<PlantTube> tubes;  ///< first_ring in `rings`
  std::vector<OrganInstance> instances;
  double wood_volume_m3 = 0, leaf_area_m2 = 0, height_m = 0;
  std::vector<TubePoint> line;  ///< scratch: of the tube that is being added
};

/// Cuts the pieces that were added to `parts.rings` since `first_piece` into tubes of at most 512 rings.
void add_pieces(std::size_t first_piece, OrganCode organ, std::uint32_t sides, std::uint32_t shoot,
                ShootParts& parts);

/// A polyline that leaves a shoot, with the frame at each of its points: x = direction, normal = side of the axis.
struct StalkPath {
  std::vector<AxisFrame> frames;
  double length_m;
  /// The frame at a distance from the base, by the segment that it lies on.
  AxisFrame at(double distance_m) const;
};

/// A stalk from the side of an axis at `azimuth_deg`, tilted from it by `pitch_deg`, bending toward the vertical.
struct StalkParams {
  double offset_m, azimuth_deg, pitch_deg, curvature_deg_per_m, length_m;
  std::uint32_t segments;
};
StalkPath stalk_path(const AxisFrame& node, const StalkParams& params);

/// Frame of the axis at a node, relative to the base.
AxisFrame node_frame(const PlacementInput& input, std::size_t shoot, std::size_t phytomer);

/// Petioles with their leaves, and the floral buds of one phytomer.
void place_petiole(const PlacementInput& input, std::size_t shoot, std::size_t phytomer, std::size_t petiole,
                   ShootParts& parts);
void place_buds(const PlacementInput& input, std::size_t shoot, std::size_t phytomer, std::size_t petiole,
                ShootParts& parts);

}  // namespace pc
