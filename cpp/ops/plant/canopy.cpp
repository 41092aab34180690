#include "ops/plant/canopy.h"

#include <cmath>
#include <utility>

#include "core/error.h"
#include "core/parallel.h"
#include "core/random.h"
#include "ops/plant/growth.h"

namespace pc {

namespace {

/// Separates the germination draws from those of the plants.
constexpr std::uint64_t kGermination = 0x67657263;

void check(const CanopyParams& params) {
  const auto& [nx, ny] = params.count;
  require(nx > 0 && ny > 0, "count_x and count_y must be above 0");
  require(static_cast<std::uint64_t>(nx) * ny <= kMostCanopyPlants, "a canopy has at most 1000000 places");
  require(params.germination_rate >= 0 && params.germination_rate <= 1,
          "germination_rate must be from 0 to 1");
  for (const double spacing : params.spacing)
    require(std::isfinite(spacing) && spacing >= 0, "spacing must be finite and not negative");
  require(std::isfinite(params.center.x) && std::isfinite(params.center.y) && std::isfinite(params.center.z),
          "the center must be finite");
}

}  // namespace

std::vector<CanopyPlace> canopy_places(const CanopyParams& params) {
  check(params);
  const auto& [nx, ny] = params.count;
  const std::uint64_t seed = random_u64(params.seed, kGermination);
  std::vector<CanopyPlace> places;
  for (std::uint32_t j = 0; j < ny; ++j) {
    for (std::uint32_t i = 0; i < nx; ++i) {
      const std::uint64_t index = static_cast<std::uint64_t>(j) * nx + i;
      if (random_unit(seed, index) >= params.germination_rate) continue;
      const Vec3d offset{(i - (nx - 1) / 2.0) * params.spacing[0], (j - (ny - 1) / 2.0) * params.spacing[1],
                         0};
      places.push_back({index, params.center + offset});
    }
  }
  return places;
}

Canopy grow_canopy(const PlantSpecies& species, const PlantPrototypes& prototypes, const CanopyParams& params,
                   const GeometryParams& geometry, OpContext& ctx) {
  const auto places = canopy_places(params);
  ctx.begin_phase("Growing plants", places.size());
  Canopy out;
  out.plants.resize(places.size());
  parallel_for(ctx, places.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t p = begin; p < end; ++p) {
      JobControl control;
      OpContext part = ctx.part(control);
      auto plant = grow_plant(
          species,
          {params.age_days, params.seed, places[p].plant_index, places[p].base, params.leaf_inclination},
          part);
      out.plants[p] = plant_parts(plant, species, prototypes, geometry, part);
      if (p == 0) out.first = std::move(plant);
    }
  });
  return out;
}

}  // namespace pc
