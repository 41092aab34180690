#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "ops/plant/growth.h"
#include "support/cancel.h"
#include "support/plants.h"

namespace pc {
namespace {

using namespace test;

TEST(PlantGrowthLimits, AgesAreCheckedAndStopAtTheSpeciesMaximum) {
  const PlantSpecies species = stem_species();
  EXPECT_EQ(grown(species, 1e9).plant_age, 1000);
  EXPECT_EQ(advanced(grown(species, 5), species, 1e9).plant_age, 1000);
  EXPECT_TRUE(grown(species, 1e9) == grown(species, 1000));
  const PlantStructure old = grown(species, 1000);
  EXPECT_TRUE(advanced(old, species, 10) == old);
  for (const double age : {-1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_THROW(grown(species, age), Error) << age;
    EXPECT_THROW(advanced(grown(species, 5), species, age), Error) << age;
  }
}

TEST(PlantGrowthLimits, RefusesWhatCannotGrow) {
  const PlantSpecies species = stem_species();
  PlantStructure plant = grown(species, 5);
  plant.growth.reset();
  EXPECT_THROW(advanced(plant, species, 1), Error);
  EXPECT_THROW(advanced(grown(tree_species(), 5), species, 1), Error);
  plant = grown(species, 5);
  plant.shoots[0].shoot_type_label = "other";
  EXPECT_THROW(advanced(plant, species, 1), Error);
  plant = grown(tree_species(), 100);
  plant.shoots[1].parent_shoot_id = 2;
  EXPECT_THROW(advanced(plant, tree_species(), 1), Error);
}

TEST(PlantGrowthLimits, CancelEndsALongGrowthInTime) {
  expect_cancel_in_phase("Growing plants",
                         [](OpContext& ctx) { grow_plant(endless_species(), growth_params(1000), ctx); });
}

TEST(PlantGrowthLimits, AnExplosionEndsWithTheLimitNamed) {
  const PlantSpecies species = endless_species();
  try {
    grown(species, 1000);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(std::string(error.what()).find("500000 phytomers"), std::string::npos);
  }
}

}  // namespace
}  // namespace pc
