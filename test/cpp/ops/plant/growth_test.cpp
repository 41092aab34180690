#include "ops/plant/growth.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "support/plants.h"

namespace pc {
namespace {

using namespace test;

double section_cm2(const PlantInternode& internode) {
  return std::numbers::pi * internode.internode_radius * internode.internode_radius * 1e4;
}

TEST(PlantGrowth, OneShootFollowsTheClosedForms) {
  const PlantSpecies species = stem_species();
  for (const double age : {0.0, 1.0, 7.5, 18.0, 100.0}) {
    const PlantStructure plant = grown(species, age);
    ASSERT_EQ(plant.shoots.size(), 1U);
    const auto& phytomers = plant.shoots[0].phytomers;
    ASSERT_EQ(phytomers.size(), std::min(10.0, std::floor(age / 2) + 1)) << age;
    for (std::size_t k = 0; k < phytomers.size(); ++k) {
      const double share = std::min(1.0, 0.2 * (age - 2.0 * static_cast<double>(k)));
      EXPECT_DOUBLE_EQ(phytomers[k].internode.internode_length, 0.02 * share);
      EXPECT_EQ(phytomers[k].internode.internode_phyllotactic_angle, 137.5);
      ASSERT_EQ(phytomers[k].petioles.size(), 1U);
      EXPECT_DOUBLE_EQ(phytomers[k].petioles[0].current_leaf_scale_factor, share);
      ASSERT_EQ(phytomers[k].petioles[0].leaves.size(), 1U);
      EXPECT_EQ(phytomers[k].petioles[0].leaves[0].leaf_scale, 0.1);
    }
  }
}

TEST(PlantGrowth, InternodesShortenAlongTheShootDownToTheirLeast) {
  PlantSpecies species = stem_species();
  species.shoot_types[0].internode_length_decay_rate = constant(0.003);
  species.shoot_types[0].internode_length_min = constant(0.008);
  const PlantStructure plant = grown(species, 100);
  const auto& phytomers = plant.shoots[0].phytomers;
  for (std::size_t k = 0; k < 10; ++k)
    EXPECT_DOUBLE_EQ(phytomers[k].internode.internode_length,
                     std::max(0.008, 0.02 - 0.003 * static_cast<double>(k)));
}

TEST(PlantGrowth, CrossSectionIsProportionalToTheLeafAreaAbove) {
  const PlantStructure plant = grown(stem_species(), 100);
  const double leaf_m2 = 0.5 * 0.1 * 0.1;
  for (std::size_t k = 0; k < 10; ++k)
    EXPECT_NEAR(section_cm2(plant.shoots[0].phytomers[k].internode),
                std::max(2 * leaf_m2 * static_cast<double>(10 - k), std::numbers::pi * 0.01), 1e-12)
        << k;
}

TEST(PlantGrowth, AYCarriesTheLeavesOfBothArms) {
  PlantSpecies species = stem_species();
  species.shoot_types[0].petioles_per_node = 0;
  species.shoot_types[0].leaf.reset();
  species.shoot_types.push_back(stem_type());
  species.shoot_types[1].label = "arm";
  species.shoot_types[1].internode_radius_initial = constant(1e-6);
  species.shoot_types[1].max_nodes = constant(6);
  species.start[0].nodes = constant(3);
  species.start[0].full_grown = true;
  species.shoot_types[0].max_nodes = constant(3);
  StartShoot arm;
  arm.shoot_type = "arm";
  arm.parent = 0;
  arm.nodes = constant(1);
  species.start.push_back(arm);
  species.start.push_back(arm);
  const PlantStructure plant = grown(species, 200);
  const double leaf_m2 = 0.5 * 0.1 * 0.1;
  EXPECT_NEAR(section_cm2(plant.shoots[0].phytomers[0].internode), 2 * 12 * leaf_m2, 1e-12);
  EXPECT_NEAR(section_cm2(plant.shoots[1].phytomers[0].internode), 2 * 6 * leaf_m2, 1e-12);
  EXPECT_NEAR(section_cm2(plant.shoots[2].phytomers[5].internode), 2 * leaf_m2, 1e-12);
}

TEST(PlantGrowth, AnyStepsGiveTheSamePlant) {
  for (const std::uint64_t seed : {1ULL, 77ULL, 0xffffffffffffffffULL}) {
    const PlantSpecies species = tree_species();
    const PlantStructure whole = grown(species, 800, seed);
    ASSERT_GT(whole.shoots.size(), 15U);
    for (const double step : {1.0, 7.0, 30.0, 365.0}) {
      PlantStructure plant = grown(species, 0, seed);
      while (plant.plant_age < 800) plant = advanced(plant, species, std::min(step, 800 - plant.plant_age));
      EXPECT_TRUE(plant == whole) << "seed " << seed << ", steps of " << step;
    }
  }
}

TEST(PlantGrowth, SeedAndPlantIndexGiveOtherPlants) {
  const PlantSpecies species = tree_species();
  JobControl control;
  OpContext one(control, Device::kCpu, 1), two(control, Device::kCpu, 2);
  GrowthParams params = growth_params(500);
  const PlantStructure plant = grow_plant(species, params, one);
  EXPECT_TRUE(plant == grow_plant(species, params, two));
  params.plant_index = 1;
  EXPECT_FALSE(plant.shoots == grow_plant(species, params, one).shoots);
  params = growth_params(500, 2);
  EXPECT_FALSE(plant.shoots == grow_plant(species, params, one).shoots);
}

TEST(PlantGrowth, BudsBreakAtThePlaceAndRateOfTheRule) {
  PlantSpecies species = stem_species();
  ShootType& stem = species.shoot_types[0];
  stem.max_nodes = constant(10);
  stem.bears_vegetative_buds = true;
  stem.growth_requires_dormancy = true;
  stem.vegetative_bud_break_probability_min = 0.1;
  stem.vegetative_bud_break_probability_max = 0.9;
  stem.vegetative_bud_break_probability_decay_rate = 0.2;
  ShootType twig = stem_type();
  twig.label = "twig";
  stem.laterals = {{"twig", 1}};
  species.shoot_types.push_back(twig);
  species.phenology.dormancy_break_day = 10;
  species.phenology.season_days = 90;
  species.start[0].nodes = constant(10);
  species.start[0].full_grown = true;
  for (const double decay : {0.2, -0.2, 0.0}) {
    species.shoot_types[0].vegetative_bud_break_probability_decay_rate = decay;
    std::vector<int> broken(10);
    constexpr int kPlants = 2000;
    for (int seed = 0; seed < kPlants; ++seed) {
      const PlantStructure plant = grown(species, 10, static_cast<std::uint64_t>(seed));
      for (std::size_t i = 1; i < plant.shoots.size(); ++i) {
        ++broken[static_cast<std::size_t>(plant.shoots[i].parent_node_index)];
        EXPECT_EQ(plant.shoots[i].birth_day, 10);
      }
    }
    for (int i = 0; i < 10; ++i) {
      const double expected = decay > 0   ? std::max(0.1, 0.9 - 0.2 * (9 - i))
                              : decay < 0 ? std::max(0.1, 0.9 - 0.2 * i)
                                          : 0.1;
      const double deviation = std::sqrt(expected * (1 - expected) / kPlants);
      EXPECT_NEAR(broken[static_cast<std::size_t>(i)] / double{kPlants}, expected, 4 * deviation) << i;
    }
  }
}

TEST(PlantGrowth, LateralsWithoutDormancyComeAfterTheirDelayAtTheirAngle) {
  PlantSpecies species = stem_species();
  ShootType& stem = species.shoot_types[0];
  stem.bears_vegetative_buds = true;
  stem.vegetative_bud_break_probability_min = 1;
  stem.vegetative_bud_break_probability_decay_rate = -0.5;  // no dormancy: the least probability everywhere
  stem.vegetative_bud_break_time = constant(5);
  stem.laterals = {{"twig", 1}};
  ShootType twig = stem_type();
  twig.label = "twig";
  twig.insertion_angle_tip = constant(40);
  twig.insertion_angle_decay_rate = constant(30);
  species.shoot_types.push_back(twig);
  const PlantStructure plant = grown(species, 60);
  ASSERT_EQ(plant.shoots.size(), 11U);
  for (std::size_t i = 1; i < plant.shoots.size(); ++i) {
    const PlantShoot& shoot = plant.shoots[i];
    EXPECT_EQ(shoot.parent_node_index, static_cast<std::int32_t>(i) - 1);
    EXPECT_EQ(shoot.birth_day, 2.0 * static_cast<double>(i - 1) + 5);
    // Two nodes emerge in the 5 days, until the shoot has all of its ten.
    const double below = std::min(2, 10 - static_cast<int>(i));
    EXPECT_EQ(shoot.phytomers[0].internode.internode_pitch, std::min(90.0, 40 + 30 * below));
  }
}

TEST(PlantGrowth, DormancyShedsLeavesStopsGrowthAndKeepsGirth) {
  PlantSpecies species = tree_species();
  const auto leaves = [](const PlantStructure& plant) {
    std::size_t count = 0;
    for (const PlantShoot& shoot : plant.shoots)
      for (const Phytomer& phytomer : shoot.phytomers)
        for (const PlantPetiole& petiole : phytomer.petioles) count += petiole.leaves.size();
    return count;
  };
  EXPECT_EQ(leaves(grown(species, 89)), 0U);
  EXPECT_EQ(phytomer_count(grown(species, 89)), 26U);
  const PlantStructure summer = grown(species, 364), winter = grown(species, 365), late = grown(species, 454);
  EXPECT_GT(leaves(summer), 24U);
  EXPECT_EQ(leaves(winter), 0U);
  EXPECT_EQ(phytomer_count(summer), phytomer_count(late));
  EXPECT_GT(phytomer_count(grown(species, 455)), phytomer_count(late));
  const auto& before = summer.shoots[0].phytomers[0].internode;
  EXPECT_GT(before.internode_radius, before.radius_initial);
  EXPECT_EQ(before.internode_radius, late.shoots[0].phytomers[0].internode.internode_radius);
  double radius = 0;
  for (double age = 0; age < 900; age += 30) {
    const double next = grown(species, age).shoots[0].phytomers[0].internode.internode_radius;
    EXPECT_GE(next, radius) << age;
    radius = next;
  }
  // Twelve nodes a season at most, on every branch.
  for (const PlantShoot& shoot : grown(species, 700).shoots) {
    int first = 0, second = 0;
    for (const Phytomer& phytomer : shoot.phytomers) {
      first += phytomer.internode.birth_day >= 90 && phytomer.internode.birth_day < 365;
      second += phytomer.internode.birth_day >= 455;
    }
    EXPECT_LE(first, 12);
    EXPECT_LE(second, 12);
  }
}

TEST(PlantGrowth, GirthFollowsTheYearWithTheMostLeaves) {
  PlantSpecies species = stem_species();
  species.phenology.dormancy_break_day = 100;
  species.phenology.season_days = 200;
  ShootType& stem = species.shoot_types[0];
  stem.max_nodes = constant(13);
  stem.max_nodes_per_season = 4;
  stem.internode_radius_initial = constant(1e-6);
  const double leaf_cm2 = 2 * 0.5 * 0.1 * 0.1;
  // The first node emerges on day 0, in dormancy, and its leaf falls on day 300 with those of the first season.
  const auto base = [&](double age) {
    return section_cm2(grown(species, age).shoots[0].phytomers[0].internode);
  };
  EXPECT_NEAR(base(299), 5 * leaf_cm2, 1e-12);
  EXPECT_NEAR(base(300), 5 * leaf_cm2, 1e-12);
  EXPECT_NEAR(base(599), 5 * leaf_cm2, 1e-12);  // four leaves in the second season
  species.phenology.evergreen = true;
  EXPECT_NEAR(base(599), 9 * leaf_cm2, 1e-12);
  species.phenology.leaf_lifespan_days = 250;
  EXPECT_NEAR(base(599), 8 * leaf_cm2, 1e-12);  // the first leaf fell in the first year, four in the second
  EXPECT_NEAR(base(899), 8 * leaf_cm2, 1e-12);  // four of the second and four of the third season
}

TEST(PlantGrowth, TheHeadingIsAnOrnsteinUhlenbeckProcess) {
  PlantSpecies species = stem_species();
  ShootType& stem = species.shoot_types[0];
  stem.internode_length_max = constant(0.3);
  stem.internode_length_segments = 4;
  stem.tortuosity = constant(12);
  constexpr int kPlants = 4000;
  std::vector<double> squares(10), products(10);
  for (std::uint64_t seed = 0; seed < kPlants; ++seed) {
    const PlantStructure plant = grown(species, 30, seed);
    double heading = 0, first = 0;
    for (std::size_t k = 0; k < 10; ++k) {
      for (const double yaw : plant.shoots[0].phytomers[k].internode.yaw_perturbations) heading += yaw;
      if (k == 0) first = heading;
      squares[k] += heading * heading / kPlants;
      products[k] += heading * first / kPlants;
    }
  }
  for (std::size_t k = 0; k < 10; ++k) {
    // Variance T^2 (1 - exp(-L)), covariance with the first node's tip exp(-distance / 2) times its variance. Draws beyond
    // three deviations are drawn again, which takes 2.7 % of the variance.
    const double length = 0.3 * static_cast<double>(k + 1);
    const double variance = 0.973 * 144 * (1 - std::exp(-length));
    const double first = 0.973 * 144 * (1 - std::exp(-0.3));
    EXPECT_NEAR(squares[k], variance, 4 * variance * std::sqrt(2.0 / kPlants)) << k;
    EXPECT_NEAR(products[k], first * std::exp(-(length - 0.3) / 2),
                4 * std::sqrt(2 * first * variance / kPlants))
        << k;
  }
}

TEST(PlantGrowth, EvergreenLeavesLiveTheirSpanThroughDormancy) {
  PlantSpecies species = tree_species();
  species.phenology.evergreen = true;
  species.phenology.leaf_lifespan_days = 405;
  const PlantStructure plant = grown(species, 500);
  std::size_t old = 0, fallen = 0;
  for (const PlantShoot& shoot : plant.shoots)
    for (const Phytomer& phytomer : shoot.phytomers)
      for (const PlantPetiole& petiole : phytomer.petioles) {
        if (petiole.birth_day < 0) continue;  // fell before the start
        const bool alive = petiole.birth_day + 405 > 500;
        EXPECT_EQ(petiole.leaves.empty(), !alive);
        old += alive && petiole.birth_day < 365;
        fallen += !alive;
        EXPECT_EQ(petiole.fallen_area_m2, alive ? 0 : 0.5 * 0.1 * 0.1);
      }
  EXPECT_GT(old, 0U);
  EXPECT_GT(fallen, 0U);
}

TEST(PlantGrowth, FirstNodesAndProfilesAndTerminalBuds) {
  PlantSpecies species = stem_species();
  ShootType& stem = species.shoot_types[0];
  FirstNodes first;
  first.count = 1;
  first.petioles_per_node = 2;
  first.leaf = simple_leaf();
  stem.first_nodes = first;
  stem.leaf->leaflets = 3;
  stem.leaf_scale_profile = {{0, 0.5}, {1, 1.5}};
  InflorescenceParams tassel;
  tassel.buds = constant(2);
  tassel.flower_bud_break_probability = 1;
  stem.terminal = tassel;
  const PlantStructure plant = grown(species, 100);
  const auto& phytomers = plant.shoots[0].phytomers;
  EXPECT_EQ(phytomers[0].petioles.size(), 2U);
  EXPECT_EQ(phytomers[0].petioles[1].leaves.size(), 1U);
  EXPECT_EQ(phytomers[1].petioles.size(), 1U);
  EXPECT_EQ(phytomers[1].petioles[0].leaves.size(), 3U);
  for (std::size_t k = 0; k < 10; ++k) {
    EXPECT_DOUBLE_EQ(phytomers[k].petioles[0].leaves[0].leaf_scale, 0.1 * (0.5 + static_cast<double>(k) / 9));
    EXPECT_EQ(phytomers[k].petioles[0].floral_buds.size(), k == 9 ? 2U : 0U);
  }
  EXPECT_TRUE(phytomers[9].petioles[0].floral_buds[0].is_terminal);
}

TEST(PlantGrowth, ProfilesScaleInternodesAndPetiolesAlongTheShoot) {
  PlantSpecies species = stem_species();
  species.shoot_types[0].internode_length_profile = {{0, 0.1}, {1, 1}};
  species.shoot_types[0].leaf_scale_profile = {{0, 0.5}, {1, 2}};
  const PlantStructure plant = grown(species, 100);
  for (std::size_t k = 0; k < 10; ++k) {
    const Phytomer& phytomer = plant.shoots[0].phytomers[k];
    const double at = static_cast<double>(k) / 9;
    EXPECT_NEAR(phytomer.internode.internode_length, 0.02 * (0.1 + 0.9 * at), 1e-15) << k;
    EXPECT_NEAR(phytomer.petioles[0].petiole_length, 0.04 * (0.5 + 1.5 * at), 1e-15) << k;
    EXPECT_NEAR(phytomer.petioles[0].leaves[0].leaf_scale, 0.1 * (0.5 + 1.5 * at), 1e-15) << k;
  }
}

TEST(PlantGrowth, OnlyTheNodesOfTheWindowBearVegetativeBuds) {
  PlantSpecies species = stem_species();
  ShootType& stem = species.shoot_types[0];
  ShootType branch = stem_type();
  branch.label = "branch";
  stem.bears_vegetative_buds = true;
  stem.vegetative_bud_break_probability_min = 1;
  stem.laterals = {{"branch", 1}};
  stem.vegetative_buds_first_node = 3;
  stem.vegetative_buds_last_node = 5;
  species.shoot_types.push_back(branch);
  const PlantStructure plant = grown(species, 100);
  ASSERT_EQ(plant.shoots.size(), 4U);
  for (std::size_t i = 1; i < 4; ++i)
    EXPECT_EQ(plant.shoots[i].parent_node_index, static_cast<std::int32_t>(i) + 2);
}

TEST(PlantGrowth, LeafQuantilesAreSpreadEvenly) {
  const PlantStructure plant = grown(tree_species(), 364);
  std::vector<double> all;
  for (const PlantShoot& shoot : plant.shoots)
    for (const Phytomer& phytomer : shoot.phytomers)
      for (const PlantPetiole& petiole : phytomer.petioles)
        for (const PlantLeaf& leaf : petiole.leaves) all.push_back(leaf.inclination_u);
  std::sort(all.begin(), all.end());
  const auto n = static_cast<double>(all.size());
  ASSERT_GT(n, 30);
  EXPECT_EQ(plant.growth->leaves_emerged, all.size());
  // Van der Corput: discrepancy at most log2(n) + 1 points; random numbers have about sqrt(n).
  for (std::size_t i = 0; i < all.size(); ++i)
    EXPECT_NEAR(all[i], (static_cast<double>(i) + 0.5) / n, (std::log2(n) + 2) / n);
}

}  // namespace
}  // namespace pc
