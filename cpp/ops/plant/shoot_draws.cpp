#include "ops/plant/shoot_draws.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/random.h"

namespace pc {

namespace {

constexpr std::uint64_t kPlantStream = 0x706c616e74;  // "plant": apart from other uses of the same seed
constexpr int kPurposeBits = 8, kNumberBits = 16, kTryBits = 4;

std::uint64_t counter(Draw purpose, std::uint64_t item, std::uint64_t number) {
  return ((item << kNumberBits | number) << kPurposeBits | static_cast<std::uint64_t>(purpose)) << kTryBits;
}

}  // namespace

RandomStream::RandomStream(const GrowthState& growth, std::int64_t shoot)
    : key_(random_u64(random_u64(random_u64(growth.seed, kPlantStream), growth.plant_index),
                      static_cast<std::uint64_t>(shoot))) {}

RandomStream RandomStream::of_bud(std::uint64_t node, const FloralBud& bud) const {
  return RandomStream(random_u64(random_u64(random_u64(~key_, node), bud.parent_index), bud.bud_index));
}

double RandomStream::unit(Draw purpose, std::uint64_t item, std::uint64_t number) const {
  return random_unit(key_, counter(purpose, item, number));
}

double RandomStream::normal(Draw purpose, std::uint64_t item, std::uint64_t number) const {
  // Box & Muller 1958; pairs outside the tails are drawn again: 0.3 % of them, so eight tries always suffice.
  const std::uint64_t first = counter(purpose, item, number);
  for (std::uint64_t i = 0; i + 1 < std::uint64_t{1} << kTryBits; i += 2) {
    const double radius = std::sqrt(-2 * std::log(1 - random_unit(key_, first + i)));
    const double value = radius * std::cos(2 * std::numbers::pi * random_unit(key_, first + i + 1));
    if (std::abs(value) <= kNormalTail) return value;
  }
  return 0;
}

double RandomStream::draw(const Distribution& d, Draw purpose, std::uint64_t item,
                          std::uint64_t number) const {
  switch (d.kind) {
    case Distribution::Kind::kConstant:
      break;
    case Distribution::Kind::kUniform:
      return d.a + (d.b - d.a) * unit(purpose, item, number);
    case Distribution::Kind::kNormal:
      return d.a + d.b * normal(purpose, item, number);
    case Distribution::Kind::kWeibull:
      return d.b * std::pow(-std::log(1 - unit(purpose, item, number)), 1 / d.a);
  }
  return d.a;
}

std::uint32_t RandomStream::count(const Distribution& d, std::uint32_t least, Draw purpose,
                                  std::uint64_t item, std::uint64_t number) const {
  // A uniform range of whole numbers gives each of them the same probability.
  const double value = d.kind == Distribution::Kind::kUniform
                           ? d.a - 0.5 + (d.b - d.a + 1) * unit(purpose, item, number)
                           : draw(d, purpose, item, number);
  return std::max(least, static_cast<std::uint32_t>(std::max(0.0, std::round(value))));
}

ShootDraws shoot_draws(const PlantSpecies& species, const GrowthState& growth, std::uint32_t shoot,
                       const std::string& label) {
  const ShootType& type = species.shoot_types[shoot_type_index(species, label)];
  const RandomStream random(growth, shoot);
  return {&type,
          random,
          random.count(type.max_nodes, 1, Draw::kMaxNodes),
          random.draw(type.phyllochron_min, Draw::kPhyllochron),
          random.draw(type.elongation_rate_max, Draw::kElongationRate),
          random.draw(type.internode_length_max, Draw::kInternodeLengthMax),
          random.draw(type.internode_length_min, Draw::kInternodeLengthMin),
          random.draw(type.internode_length_decay_rate, Draw::kInternodeLengthDecay),
          random.draw(type.internode_radius_initial, Draw::kInternodeRadius),
          random.draw(type.gravitropic_curvature, Draw::kCurvature),
          random.draw(type.tortuosity, Draw::kTortuosity)};
}

}  // namespace pc
