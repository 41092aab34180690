#include "ops/plant/morph.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "core/error.h"

namespace pc {
namespace {

using Parameter = MorphParameter;
using Op = MorphOperator;
using Kind = Distribution::Kind;

/// A trunk of 20 phytomers and a lateral of 10, all values different from 0.
PlantStructure two_shoots() {
  PlantStructure plant;
  plant.growth = GrowthState{"bean", 7, 3, 0};
  for (const auto& [label, count] : {std::pair{"trunk", 20}, {"lateral", 10}}) {
    PlantShoot shoot;
    shoot.shoot_type_label = label;
    shoot.base_rotation = {30, 40, 50};
    shoot.parent_shoot_id = plant.shoots.empty() ? -1 : 0;
    for (int i = 0; i < count; ++i) {
      Phytomer phytomer;
      phytomer.internode.internode_length = 0.02;
      phytomer.internode.internode_length_max = 0.03;
      phytomer.internode.internode_pitch = 20;
      phytomer.internode.internode_radius = 0.002;
      phytomer.internode.radius_initial = 0.001;
      phytomer.internode.girth_area_factor = 2;
      phytomer.internode.curvature_perturbations = {100, -50};
      phytomer.internode.yaw_perturbations = {3, -4};
      phytomer.petioles.resize(1);
      phytomer.petioles[0].petiole_length = 0.05;
      phytomer.petioles[0].petiole_radius = 0.0015;
      phytomer.petioles[0].leaves.resize(3);
      for (auto& leaf : phytomer.petioles[0].leaves) leaf.leaf_scale = 0.1;
      shoot.phytomers.push_back(phytomer);
    }
    plant.shoots.push_back(shoot);
  }
  return plant;
}

MorphEdit edit(Parameter parameter, Op op, double value, std::string type = "") {
  return {std::move(type), parameter, op, {Kind::kConstant, value, 0}};
}
PlantStructure morphed(const std::vector<MorphEdit>& edits, PlantStructure plant = two_shoots()) {
  JobControl control;
  OpContext ctx(control);
  return morph(std::move(plant), edits, ctx).plant;
}

TEST(Morph, WithoutEditsNothingChanges) { EXPECT_EQ(morphed({}), two_shoots()); }

TEST(Morph, EachParameterScalesItsValuesAndNoOthers) {
  auto wanted = two_shoots();
  const auto each = [&](auto&& change) {
    wanted = two_shoots();
    for (auto& shoot : wanted.shoots)
      for (auto& phytomer : shoot.phytomers) change(phytomer.internode, phytomer.petioles[0]);
  };
  const auto twice = [](Parameter parameter) { return morphed({edit(parameter, Op::kScale, 2)}); };
  each([](auto& internode, auto&) {
    internode.internode_length = 0.04, internode.internode_length_max = 0.06;
  });
  EXPECT_EQ(twice(Parameter::kInternodeLengthMax), wanted);
  each([](auto& internode, auto&) { internode.internode_pitch = 40; });
  wanted.shoots[1].base_rotation.pitch = 60;  // the base shoot has no insertion
  EXPECT_EQ(twice(Parameter::kInsertionAngleTip), wanted);
  each([](auto& internode, auto&) {
    internode.internode_radius = 0.004, internode.radius_initial = 0.002, internode.girth_area_factor = 8;
  });
  EXPECT_EQ(twice(Parameter::kGirthAreaFactor), wanted);
  EXPECT_EQ(twice(Parameter::kInternodeRadius), wanted);
  each([](auto& internode, auto&) { internode.curvature_perturbations = {200, -100}; });
  EXPECT_EQ(twice(Parameter::kGravitropicCurvature), wanted);
  each([](auto& internode, auto&) { internode.yaw_perturbations = {6, -8}; });
  EXPECT_EQ(twice(Parameter::kTortuosity), wanted);
  each([](auto&, auto& petiole) {
    for (auto& leaf : petiole.leaves) leaf.leaf_scale = 0.2;
  });
  EXPECT_EQ(twice(Parameter::kLeafScale), wanted);
  each([](auto&, auto& petiole) { petiole.petiole_length = 0.1; });
  EXPECT_EQ(twice(Parameter::kPetioleLength), wanted);
  each([](auto&, auto& petiole) { petiole.petiole_radius = 0.003; });
  EXPECT_EQ(twice(Parameter::kPetioleRadius), wanted);
}

double leaf_scale(const std::vector<MorphEdit>& edits, std::size_t shoot = 0) {
  return morphed(edits).shoots[shoot].phytomers[0].petioles[0].leaves[0].leaf_scale;
}

TEST(Morph, EditsActInTheirOrderAndWithinTheirRange) {
  constexpr auto kLeaf = Parameter::kLeafScale;
  EXPECT_DOUBLE_EQ(leaf_scale({edit(kLeaf, Op::kScale, 2), edit(kLeaf, Op::kSet, 1.5)}), 0.15);
  EXPECT_DOUBLE_EQ(leaf_scale({edit(kLeaf, Op::kSet, 1.5), edit(kLeaf, Op::kScale, 2)}), 0.3);
  EXPECT_DOUBLE_EQ(leaf_scale({edit(kLeaf, Op::kAdd, 0.5), edit(kLeaf, Op::kAdd, 0.25)}), 0.175);
  MorphEdit limited = edit(kLeaf, Op::kScale, 10);
  limited.most = 3;
  EXPECT_DOUBLE_EQ(leaf_scale({limited}), 0.3);
  limited.value.a = -5;
  limited.least = 0.1;
  EXPECT_DOUBLE_EQ(leaf_scale({limited}), 0.01);
  const auto lateral = edit(kLeaf, Op::kScale, 2, "lateral");
  EXPECT_DOUBLE_EQ(leaf_scale({lateral}, 0), 0.1);
  EXPECT_DOUBLE_EQ(leaf_scale({lateral}, 1), 0.2);
}

std::vector<double> drawn(const Distribution& value, std::uint64_t seed = 7) {
  auto plant = two_shoots();
  plant.growth->seed = seed;
  plant.shoots[0].phytomers.resize(4000, plant.shoots[0].phytomers[0]);
  const auto out = morphed({{"trunk", Parameter::kPetioleLength, Op::kSet, value}}, std::move(plant));
  std::vector<double> factors;
  for (const auto& phytomer : out.shoots[0].phytomers)
    factors.push_back(phytomer.petioles[0].petiole_length / 0.05);
  return factors;
}

TEST(Morph, DistributionsAreDrawnOncePerPhytomerFromTheSeed) {
  const auto uniform = drawn({Kind::kUniform, 0.5, 1.5});
  EXPECT_GT(std::set<double>(uniform.begin(), uniform.end()).size(), 3990U);
  EXPECT_EQ(uniform, drawn({Kind::kUniform, 0.5, 1.5}));
  EXPECT_NE(uniform, drawn({Kind::kUniform, 0.5, 1.5}, 8));
  double sum = 0;
  for (const double factor : uniform) {
    EXPECT_GE(factor, 0.5 - 1e-12);
    EXPECT_LE(factor, 1.5 + 1e-12);
    sum += factor;
  }
  EXPECT_NEAR(sum / 4000, 1, 4 * std::sqrt(1.0 / 12 / 4000));  // 4 standard errors
  const auto normal = drawn({Kind::kNormal, 2, 0.25});
  double mean = 0, squares = 0;
  for (const double factor : normal) mean += factor / 4000;
  for (const double factor : normal) squares += (factor - mean) * (factor - mean) / 4000;
  EXPECT_NEAR(mean, 2, 4 * 0.25 / std::sqrt(4000));
  EXPECT_NEAR(std::sqrt(squares), 0.25 * 0.9866, 4 * 0.25 / std::sqrt(8000));  // truncated at 3: 0.9866 of it
}

TEST(Morph, EditsOfTypesThatThePlantLacksAreNamed) {
  JobControl control;
  OpContext ctx(control);
  const auto result = morph(two_shoots(),
                            {edit(Parameter::kLeafScale, Op::kScale, 2, "runner"),
                             edit(Parameter::kLeafScale, Op::kScale, 1, "trunk")},
                            ctx);
  EXPECT_EQ(result.unused, std::vector<std::uint32_t>{0});
  EXPECT_EQ(result.plant, two_shoots());
}

TEST(Morph, EndlessValuesAreRefused) {
  EXPECT_THROW(morphed({edit(Parameter::kLeafScale, Op::kScale, std::numeric_limits<double>::quiet_NaN())}),
               Error);
  EXPECT_THROW(morphed(std::vector(1001, edit(Parameter::kLeafScale, Op::kScale, 1))), Error);
}

}  // namespace
}  // namespace pc
