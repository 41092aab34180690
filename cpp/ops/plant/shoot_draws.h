#pragma once
#include <cstdint>

#include "core/plant_structure.h"
#include "ops/plant/species.h"

namespace pc {

/// What a random number is for. A number depends on its key and on (item, purpose, number) alone, so nothing changes the
/// others. The values are part of every saved plant: append only.
enum class Draw : std::uint8_t {
  kMaxNodes,
  kPhyllochron,
  kElongationRate,
  kInternodeLengthMax,
  kInternodeLengthMin,
  kInternodeLengthDecay,
  kInternodeRadius,
  kCurvature,
  kTortuosity,
  kInsertionAngle,
  kInsertionDecay,
  kBaseYaw,
  kBaseRoll,
  kStartNodes,
  kStartPitch,
  kStartYaw,
  kStartRoll,
  kInternodePitch,
  kPhyllotaxis,
  kYawNoise,
  kCurvatureNoise,
  kPetioleLength,
  kPetioleRadius,
  kPetiolePitch,
  kPetioleCurvature,
  kPetioleTaper,
  kLeafletScale,
  kLeafletOffset,
  kLeafScale,
  kLeafPitch,
  kLeafYaw,
  kLeafRoll,
  kBudCount,
  kTerminalBudCount,
  kBudBreakTime,
  kBudBreak,
  kLateralType,
  kFloralBreak,
  kFruitSet,
  kFlowerCount,
  kFlowerPitch,
  kFlowerYaw,
  kFlowerRoll,
  kFlowerAzimuth,
  kFlowerScale,
  kFruitScale,
  kFlowerOffset,
  kPeduncleLength,
  kPeduncleRadius,
  kPedunclePitch,
  kPeduncleCurvature,
  kPeduncleRoll,
  kInclinationShift
};

/// The random numbers of one shoot, or of one floral bud.
class RandomStream {
 public:
  /// The stream of a shoot; shoot -1 = of the plant as a whole.
  RandomStream(const GrowthState& growth, std::int64_t shoot);
  /// The stream of a floral bud of this shoot.
  RandomStream of_bud(std::uint64_t node, const FloralBud& bud) const;

  /// Uniform in [0, 1).
  double unit(Draw purpose, std::uint64_t item = 0, std::uint64_t number = 0) const;
  /// Standard normal within +- kNormalTail.
  double normal(Draw purpose, std::uint64_t item = 0, std::uint64_t number = 0) const;
  double draw(const Distribution& distribution, Draw purpose, std::uint64_t item = 0,
              std::uint64_t number = 0) const;
  /// draw() rounded to the nearest whole number, at least `least`.
  std::uint32_t count(const Distribution& distribution, std::uint32_t least, Draw purpose,
                      std::uint64_t item = 0, std::uint64_t number = 0) const;

 private:
  explicit RandomStream(std::uint64_t key) : key_(key) {}

  std::uint64_t key_;
};

/// The parameters that all nodes of a shoot share; always drawn again, never stored.
struct ShootDraws {
  const ShootType* type;
  RandomStream random;
  std::uint32_t max_nodes;
  double phyllochron_days, elongation_rate_per_day;
  double internode_length_max_m, internode_length_min_m, internode_length_decay_m, internode_radius_m;
  double curvature_deg_per_m, tortuosity_deg;
};

/// Errors: kInvalidArgument for a shoot type that the species lacks.
ShootDraws shoot_draws(const PlantSpecies& species, const GrowthState& growth, std::uint32_t shoot,
                       const std::string& label);

}  // namespace pc
