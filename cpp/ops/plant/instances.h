#pragma once
#include <cstdint>
#include <vector>

#include "core/column.h"
#include "core/op_context.h"
#include "ops/plant/geometry.h"
#include "ops/plant/prototypes.h"

namespace pc {

/// Plants as references to prototypes: a matrix per organ, and one per segment of a tube.
struct PlantInstances {
  /// Shapes of tube segments (tube_sections.h), in the order in which they first occur; their numbers go on after those of
  /// PlantPrototypes::organs.
  std::vector<OrganPrototype> sections;
  Column<std::uint32_t> instance_prototype;  ///< (I) index in PlantPrototypes::organs, then in `sections`
  Column<std::uint32_t> instance_plant;      ///< (I) index in the list of plants
  Column<float>
      instance_matrix;  ///< (12 I) 3 x 4, row-major: from the prototype to the frame relative to `origin`
};

/// Number of tube segments of a plant.
std::uint64_t plant_section_count(const PlantParts& plant);

/// Bytes that instance_plants needs at most for so many tube segments and organs, those of its shapes included.
std::uint64_t plant_instances_bytes(std::uint64_t sections, std::uint64_t organs);

/// Writes a matrix for every segment of every tube and for every organ.
///
/// origin   what places are relative to, metres; near the plants
/// Tubes    Segments share the corners of the ring between them, to the rounding of float32. Against expand_plants no ring's
///          radius is off by more than 0.2 %, no corner by more than 5 % of the radius; areas and volumes by less than 0.5 %.
/// Order    Plant after plant, segments before organs; the same bits for any thread count.
/// Cost     One pass; 56 bytes per segment or organ, 20 more per segment meanwhile, and 2 to 6 KB per shape.
/// Cancel   Within 50 ms.
/// Errors   kUnsupported: more segments and organs than 32 bits count.
PlantInstances instance_plants(Span<const PlantParts> plants, const PlantPrototypes& prototypes,
                               const Vec3d& origin, OpContext& ctx);

}  // namespace pc
