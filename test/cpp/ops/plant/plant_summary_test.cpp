#include "ops/plant/plant_summary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "ops/plant/plant_cost.h"
#include "support/plants.h"

namespace pc {
namespace {

using namespace test;

PlantSummary summary_of(const PlantStructure& plant, const PlantSpecies& species) {
  JobControl control;
  OpContext ctx(control);
  return plant_summary(plant, &species, ctx);
}

TEST(PlantSummary, CountsAndMeasuresAStem) {
  PlantSpecies species = stem_species();
  species.shoot_types[0].leaf->leaflets = 3;
  species.shoot_types[0].leaf->leaflet_scale = constant(0.5);
  const PlantSummary summary = summary_of(grown(species, 100), species);
  EXPECT_EQ(summary.age_days, 100);
  EXPECT_NEAR(summary.axis_height_m, 0.2, 1e-12);
  EXPECT_NEAR(summary.main_axis_m, 0.2, 1e-12);
  EXPECT_EQ(summary.phytomer_count, 10U);
  EXPECT_EQ(summary.leaf_count, 10U);
  EXPECT_EQ(summary.blade_count, 30U);
  EXPECT_NEAR(summary.leaf_area_m2, 10 * 0.5 * 0.01 * (1 + 2 * 0.25), 1e-12);
  EXPECT_NEAR(summary.base_diameter_m, 2 * std::sqrt(2 * summary.leaf_area_m2 * 1e-4 / std::numbers::pi),
              1e-12);
  EXPECT_NEAR(summary.mean_phyllotactic_angle_deg, 137.5, 1e-9);
  EXPECT_TRUE(std::isnan(summary.mean_insertion_angle_deg));
  // Sections of 1.5e-6 m2 per leaf above; below three leaves those of young internodes.
  EXPECT_NEAR(summary.wood_volume_m3, 0.02 * 1e-6 * (2 * std::numbers::pi + 1.5 * (55 - 3)), 1e-15);
}

TEST(PlantSummary, CountsATree) {
  const PlantSpecies species = tree_species();
  const PlantStructure plant = grown(species, 470);
  const PlantSummary summary = summary_of(plant, species);
  EXPECT_EQ(summary.shoot_count, plant.shoots.size());
  EXPECT_EQ(summary.phytomer_count, phytomer_count(plant));
  EXPECT_GE(summary.max_branch_order, 2U);
  EXPECT_GT(summary.mean_insertion_angle_deg, 25);
  EXPECT_LT(summary.mean_insertion_angle_deg, 90);
  EXPECT_GT(summary.fruit_count, 0U);
  EXPECT_GT(summary.bud_counts[0], 0U);
}

std::uint64_t bytes_in(const PlantStructure& plant) {
  std::uint64_t bytes = 0;
  for (const PlantShoot& shoot : plant.shoots) {
    bytes += sizeof shoot + shoot.phytomers.capacity() * sizeof(Phytomer);
    for (const Phytomer& phytomer : shoot.phytomers) {
      bytes += 2 * phytomer.internode.yaw_perturbations.capacity() * sizeof(double) +
               phytomer.petioles.capacity() * sizeof(PlantPetiole);
      for (const PlantPetiole& petiole : phytomer.petioles) {
        bytes += petiole.leaves.capacity() * sizeof(PlantLeaf) +
                 petiole.floral_buds.capacity() * sizeof(FloralBud);
        for (const FloralBud& bud : petiole.floral_buds)
          bytes += bud.flowers.capacity() * sizeof(PlantFlower);
      }
    }
  }
  return bytes;
}

TEST(PlantCost, HoldsForEverySeed) {
  for (const PlantSpecies& species : {stem_species(), tree_species()}) {
    for (const double age : {0.0, 50.0, 100.0, 500.0, 800.0}) {
      const PlantCost cost = plant_cost(species, age);
      std::size_t sum = 0;
      constexpr int kSeeds = 20;
      for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        const PlantStructure plant = grown(species, age, seed);
        EXPECT_LE(phytomer_count(plant), cost.phytomers) << species.id << age;
        EXPECT_LE(bytes_in(plant), cost.bytes) << species.id << age;
        sum += phytomer_count(plant);
      }
      EXPECT_LE(cost.phytomers, 4 * sum / kSeeds) << species.id << age;
    }
  }
}

TEST(PlantCost, EndsAtTheLimitForAPlantWithoutEnd) {
  const PlantSpecies species = endless_species();
  EXPECT_EQ(plant_cost(species, 1000).phytomers, 500'000U);
  EXPECT_THROW(plant_cost(species, -1), Error);
  EXPECT_THROW(plant_cost(species, std::nan("")), Error);
}

}  // namespace
}  // namespace pc
