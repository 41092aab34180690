#include "ops/plant/morph.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "core/error.h"
#include "core/random.h"

namespace pc {

namespace {

constexpr std::size_t kMostEdits = 1000;  // also in the message
/// Phytomers between two looks at the cancel flag.
constexpr std::size_t kLookEvery = 4096;

using Factors = std::array<double, kMorphParameters>;

std::size_t at(MorphParameter parameter) { return static_cast<std::size_t>(parameter); }

/// Two numbers of [0, 1) for one draw.
struct Draw {
  std::uint64_t key;
  double unit(std::uint64_t number) const { return random_unit(key, number); }
};

/// Standard normal deviate within kNormalTail (Box & Muller 1958); further ones are drawn again.
double normal_deviate(const Draw& draw) {
  for (std::uint64_t i = 0;; i += 2) {
    const double radius = std::sqrt(-2 * std::log(1 - draw.unit(i)));
    const double value = radius * std::cos(2 * std::numbers::pi * draw.unit(i + 1));
    if (std::abs(value) <= kNormalTail) return value;
  }
}

double sample(const Distribution& distribution, const Draw& draw) {
  const auto& [kind, a, b] = distribution;
  switch (kind) {
    case Distribution::Kind::kUniform:
      return a + (b - a) * draw.unit(0);
    case Distribution::Kind::kNormal:
      return a + b * normal_deviate(draw);
    case Distribution::Kind::kWeibull:
      return b * std::pow(-std::log(1 - draw.unit(0)), 1 / a);
    case Distribution::Kind::kConstant:
      break;
  }
  return a;
}

double changed(double factor, const MorphEdit& edit, double value) {
  switch (edit.op) {
    case MorphOperator::kSet:
      factor = value;
      break;
    case MorphOperator::kScale:
      factor *= value;
      break;
    case MorphOperator::kAdd:
      factor += value;
      break;
  }
  return std::clamp(factor, edit.least, edit.most);
}

void scale(std::vector<double>& values, double factor) {
  for (double& value : values) value *= factor;
}

void apply_factors(Phytomer& phytomer, const Factors& factors) {
  auto& internode = phytomer.internode;
  const auto of = [&](MorphParameter parameter) { return factors[at(parameter)]; };
  internode.internode_length *= of(MorphParameter::kInternodeLengthMax);
  internode.internode_length_max *= of(MorphParameter::kInternodeLengthMax);
  internode.internode_pitch *= of(MorphParameter::kInsertionAngleTip);
  const double girth = of(MorphParameter::kGirthAreaFactor) * of(MorphParameter::kInternodeRadius);
  internode.internode_radius *= girth;
  internode.radius_initial *= girth;
  internode.girth_area_factor *= girth * girth;  // the cross-section grows with the square of the radius
  scale(internode.curvature_perturbations, of(MorphParameter::kGravitropicCurvature));
  scale(internode.yaw_perturbations, of(MorphParameter::kTortuosity));
  for (auto& petiole : phytomer.petioles) {
    petiole.petiole_length *= of(MorphParameter::kPetioleLength);
    petiole.petiole_radius *= of(MorphParameter::kPetioleRadius);
    for (auto& leaf : petiole.leaves) leaf.leaf_scale *= of(MorphParameter::kLeafScale);
  }
}

void check(const std::vector<MorphEdit>& edits) {
  require(edits.size() <= kMostEdits, "more than 1000 edits");
  for (const auto& edit : edits)
    require(std::isfinite(edit.value.a) && std::isfinite(edit.value.b),
            "the values of an edit must be finite");
}

std::vector<std::uint32_t> unused_edits(const PlantStructure& plant, const std::vector<MorphEdit>& edits) {
  std::vector<std::uint32_t> out;
  for (std::uint32_t e = 0; e < edits.size(); ++e) {
    const auto bears = [&](const PlantShoot& shoot) { return shoot.shoot_type_label == edits[e].shoot_type; };
    if (!edits[e].shoot_type.empty() && std::none_of(plant.shoots.begin(), plant.shoots.end(), bears))
      out.push_back(e);
  }
  return out;
}

}  // namespace

MorphResult morph(PlantStructure plant, const std::vector<MorphEdit>& edits, OpContext& ctx) {
  check(edits);
  ctx.begin_phase("Editing plant", plant.shoots.size());
  const std::uint64_t seed = plant.growth ? random_u64(plant.growth->seed, plant.growth->plant_index) : 0;
  std::size_t done = 0;
  for (std::size_t s = 0; s < plant.shoots.size(); ++s) {
    auto& shoot = plant.shoots[s];
    for (std::size_t p = 0; p < shoot.phytomers.size(); ++p) {
      if (++done % kLookEvery == 0) ctx.checkpoint();
      Factors factors;
      factors.fill(1);
      for (std::size_t e = 0; e < edits.size(); ++e) {
        const auto& edit = edits[e];
        if (!edit.shoot_type.empty() && edit.shoot_type != shoot.shoot_type_label) continue;
        const Draw draw{random_u64(random_u64(random_u64(seed, s), p), e)};
        double& factor = factors[at(edit.parameter)];
        factor = changed(factor, edit, sample(edit.value, draw));
      }
      if (p == 0 && shoot.parent_shoot_id >= 0)
        shoot.base_rotation.pitch *= factors[at(MorphParameter::kInsertionAngleTip)];
      apply_factors(shoot.phytomers[p], factors);
    }
    ctx.advance(1);
  }
  auto unused = unused_edits(plant, edits);
  return {std::move(plant), std::move(unused)};
}

}  // namespace pc
