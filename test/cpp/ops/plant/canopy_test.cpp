#include "ops/plant/canopy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <set>
#include <vector>

#include "core/error.h"
#include "io/record_support.h"
#include "support/plants.h"

namespace {

using namespace pc;
using record_test::with_context;

CanopyParams grid(std::uint32_t nx, std::uint32_t ny, double rate = 1) {
  return {30, 7, {}, {10, -20, 3}, {0.5, 2}, {nx, ny}, rate};
}

PlantPrototypes blade() {
  PlantShapes shapes;
  LeafShape leaf;
  leaf.name = "blade";
  shapes.leaves = {leaf};
  return plant_prototypes(shapes, 1);
}

TEST(PlantCanopy, PlacesAreAGridAroundTheCenter) {
  const auto places = canopy_places(grid(3, 2));
  ASSERT_EQ(places.size(), 6U);
  for (std::size_t p = 0; p < places.size(); ++p) {
    EXPECT_EQ(places[p].plant_index, p);
    EXPECT_DOUBLE_EQ(places[p].base.x, 10 + (static_cast<double>(p % 3) - 1) * 0.5);
    EXPECT_DOUBLE_EQ(places[p].base.y, -20 + (static_cast<double>(p / 3) - 0.5) * 2);
    EXPECT_DOUBLE_EQ(places[p].base.z, 3);
  }
  EXPECT_EQ(canopy_places(grid(1, 1))[0].base, (Vec3d{10, -20, 3}));
}

TEST(PlantCanopy, GerminationKeepsItsShareOfThePlaces) {
  EXPECT_EQ(canopy_places(grid(100, 100, 0)).size(), 0U);
  EXPECT_EQ(canopy_places(grid(100, 100, 1)).size(), 10000U);
  for (const double rate : {0.1, 0.5, 0.9}) {
    const auto places = canopy_places(grid(100, 100, rate));
    EXPECT_NEAR(static_cast<double>(places.size()), 10000 * rate, 5 * std::sqrt(10000 * rate * (1 - rate)));
    std::set<std::uint64_t> more;  // a higher rate only adds plants
    for (const CanopyPlace& place : canopy_places(grid(100, 100, rate + 0.05)))
      more.insert(place.plant_index);
    for (const CanopyPlace& place : places) ASSERT_EQ(more.count(place.plant_index), 1U);
  }
  CanopyParams other = grid(100, 100, 0.5);
  other.seed = 8;
  EXPECT_NE(canopy_places(other)[0].plant_index + canopy_places(other)[1].plant_index * 1000,
            canopy_places(grid(100, 100, 0.5))[0].plant_index +
                canopy_places(grid(100, 100, 0.5))[1].plant_index * 1000);
}

TEST(PlantCanopy, NeighboursGerminateIndependently) {
  // Neighbouring places are drawn independently: as many runs of two plants as chance gives.
  const auto places = canopy_places(grid(1000, 100, 0.5));
  std::size_t pairs = 0;
  for (std::size_t p = 1; p < places.size(); ++p)
    pairs += places[p].plant_index == places[p - 1].plant_index + 1;
  EXPECT_NEAR(static_cast<double>(pairs), 25000, 5 * std::sqrt(100000 * 3.0 / 16));
}

TEST(PlantCanopy, RefusesWhatIsNoCanopy) {
  EXPECT_THROW(canopy_places(grid(0, 5)), Error);
  EXPECT_THROW(canopy_places(grid(1001, 1000)), Error);
  EXPECT_THROW(canopy_places(grid(4'000'000'000U, 4'000'000'000U)), Error);
  EXPECT_THROW(canopy_places(grid(2, 2, 1.01)), Error);
  EXPECT_THROW(canopy_places(grid(2, 2, NAN)), Error);
  CanopyParams params = grid(2, 2);
  params.spacing[1] = -1;
  EXPECT_THROW(canopy_places(params), Error);
  params.spacing[1] = HUGE_VAL;
  EXPECT_THROW(canopy_places(params), Error);
  params.spacing[1] = 1, params.center.z = NAN;
  EXPECT_THROW(canopy_places(params), Error);
}

/// Grown in parts of any size, a canopy is the same; its plants differ, and the first is that of a single build.
TEST(PlantCanopy, PartsDoNotMatter) {
  const PlantSpecies species = test::stem_species();
  PlantSpecies varied = species;
  varied.shoot_types[0].internode_pitch = test::uniform(0, 30);
  const CanopyParams params = grid(3, 3);
  const auto places = canopy_places(params);
  const PlantPrototypes prototypes = blade();
  const auto grow = [&](std::size_t part, int threads, std::optional<PlantStructure>* first) {
    std::vector<PlantParts> parts(places.size());
    with_context(threads, [&](OpContext& ctx) {
      for (std::size_t p = 0; p < places.size(); p += part) {
        const std::size_t n = std::min(part, places.size() - p);
        grow_places(varied, prototypes, params, {places.data() + p, n}, {parts.data() + p, n},
                    p == 0 ? first : nullptr, ctx);
      }
      return 0;
    });
    return parts;
  };
  std::optional<PlantStructure> first;
  const auto whole = grow(9, 1, &first), cut = grow(2, 2, nullptr);
  ASSERT_TRUE(first.has_value());
  PlantStructure single = test::grown(varied, 30, 7);
  single.base_position = places[0].base;
  EXPECT_TRUE(*first == single);
  for (std::size_t p = 0; p < places.size(); ++p) {
    ASSERT_EQ(whole[p].rings.size(), cut[p].rings.size());
    EXPECT_EQ(whole[p].base, places[p].base);
    for (std::size_t i = 0; i < whole[p].rings.size(); ++i)
      ASSERT_EQ(whole[p].rings[i].center, cut[p].rings[i].center);
    if (p > 0) {
      EXPECT_FALSE(whole[p].rings.back().center == whole[0].rings.back().center);
    }
  }
}

}  // namespace
