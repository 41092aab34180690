#include <algorithm>

#include "ops/plant/organ_placement.h"

namespace pc {
namespace {

/// Counts what organ_placement.cpp would make, without making it.
class Count {
 public:
  Count(const PlantPrototypes& prototypes, double detail) : detail_(detail) {
    for (const PlantPrototypes::Leaf& leaf : prototypes.leaves) is_sheathed_ |= leaf.is_sheathed;
    for (const OrganPrototype& organ : prototypes.organs)
      largest_ = std::max<std::uint64_t>(largest_, organ.mesh.triangles.size());
  }
  void tube(std::uint64_t segments, std::uint32_t sides) {
    rings_ += 2 * segments + 1;  // every point may end a piece
    tubes_ += segments + 1;
    triangles_ += segments * (2 * std::uint64_t{sides} + 2 * (std::uint64_t{sides} - 2));
  }
  void organs(std::uint64_t count) {
    organs_ += count;
    triangles_ += count * largest_;
  }
  void petiole(const PlantPetiole& petiole, std::uint64_t shoot_segments) {
    if (!petiole.leaves.empty()) {
      const std::uint64_t sheath =
          is_sheathed_ ? std::min<std::uint64_t>(shoot_segments + 1, kMostSheathSegments) : 0;
      tube(std::max<std::uint64_t>(petiole.petiole_length_segments, sheath),
           scaled_sides(std::min(petiole.petiole_radial_subdivisions, 64U), detail_));
      organs(petiole.leaves.size());
      for (std::size_t i = 1; i < petiole.leaves.size(); ++i) tube(1, scaled_sides(kPetioluleSides, detail_));
    }
    for (const FloralBud& bud : petiole.floral_buds) {
      if (bud.flowers.empty()) continue;
      tube(kPeduncleSegments, scaled_sides(kPeduncleSides, detail_));
      organs(bud.flowers.size());
    }
  }
  PlantGeometryCost cost() const {
    return {2 * (rings_ * sizeof(TubeRing) + tubes_ * sizeof(PlantTube) + organs_ * sizeof(OrganInstance)),
            triangles_};
  }

 private:
  double detail_;
  bool is_sheathed_ = false;
  std::uint64_t largest_ = 0, rings_ = 0, tubes_ = 0, organs_ = 0, triangles_ = 0;
};

}  // namespace

PlantGeometryCost plant_geometry_cost(const PlantStructure& plant, const PlantPrototypes& prototypes,
                                      const GeometryParams& params, OpContext& ctx) {
  Count count(prototypes, params.detail);
  for (const PlantShoot& shoot : plant.shoots) {
    ctx.checkpoint();
    std::uint64_t segments = 0;
    double thickest = 0;
    for (const Phytomer& phytomer : shoot.phytomers) segments += phytomer.internode.internode_length_segments;
    for (const Phytomer& phytomer : shoot.phytomers) {
      thickest = std::max(thickest, phytomer.internode.internode_radius);
      for (const PlantPetiole& petiole : phytomer.petioles) count.petiole(petiole, segments);
    }
    count.tube(segments, shoot_sides(thickest, params.detail));
  }
  return count.cost();
}

}  // namespace pc
