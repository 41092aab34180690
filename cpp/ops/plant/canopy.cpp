#include "ops/plant/canopy.h"

#include <cmath>
#include <utility>

#include "core/error.h"
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

void grow_places(const PlantSpecies& species, const PlantPrototypes& prototypes, const CanopyParams& params,
                 Span<const CanopyPlace> places, Span<PlantParts> parts, std::optional<PlantStructure>* first,
                 OpContext& ctx) {
  require(places.size == parts.size, "one place per plant");
  for (std::size_t p = 0; p < places.size; ++p) {
    ctx.checkpoint();
    const auto& [index, base] = places[p];
    auto plant =
        grow_plant(species, {params.age_days, params.seed, index, base, params.leaf_inclination}, ctx);
    parts[p] = plant_parts(plant, species, prototypes, GeometryParams{1}, ctx);
    if (p == 0 && first != nullptr) *first = std::move(plant);
  }
}

}  // namespace pc
