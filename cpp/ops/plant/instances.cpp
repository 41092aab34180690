#include "ops/plant/instances.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "core/error.h"
#include "core/parallel.h"
#include "ops/plant/tube_sections.h"

namespace pc {
namespace {

/// Shapes beyond this many are rare: they differ in steps, not in numbers.
constexpr std::uint64_t kManySections = 30'000;
constexpr std::uint64_t kSectionShapeBytes = 6000;

const char* organ_name(OrganCode organ) {
  switch (organ) {
    case OrganCode::kPetiole:
      return "petiole";
    case OrganCode::kPetiolule:
      return "petiolule";
    case OrganCode::kPeduncle:
      return "peduncle";
    default:
      return "shoot";
  }
}

/// Writes the instances of one plant from `next` on.
class InstanceWriter {
 public:
  InstanceWriter(PlantInstances& out, std::vector<TubeSection>& sections, const Vec3d& shift,
                 std::size_t plant, const OpContext& ctx)
      : out_(out), sections_(sections), shift_(shift), plant_(static_cast<std::uint32_t>(plant)), ctx_(ctx) {}

  void write_tubes(const PlantParts& plant, const PlantPrototypes& prototypes, std::size_t next,
                   std::size_t section) {
    for (const PlantTube& tube : plant.tubes) {
      ctx_.checkpoint();  // a tube has 512 rings at most
      const TubeRing* ring = plant.rings.data() + tube.first_ring;
      if (tube.has_start) walk_.start(ring[0], tube.sides);
      for (std::size_t i = 1; i < tube.ring_count; ++i) {
        PlacedSection placed = walk_.step(ring[i]);
        placed.section.organ = tube.organ;
        placed.section.is_bark = has_bark(prototypes, tube.organ, ring[i - 1].radius);
        placed.section.has_start = tube.has_start && i == 1;
        placed.section.has_end = tube.has_end && i + 1 == tube.ring_count;
        sections_[section++] = placed.section;
        write(next++, placed.frame);
      }
    }
  }
  void write_organs(const PlantParts& plant, std::size_t next) {
    for (const OrganInstance& organ : plant.instances) {
      if (next % 4096 == 0) ctx_.checkpoint();
      out_.instance_prototype[next] = organ.prototype;
      write(next++, organ.frame);
    }
  }

 private:
  void write(std::size_t instance, const std::array<Vec3d, 4>& f) {
    const Vec3d place = f[3] + shift_;
    const double rows[12] = {f[0].x, f[1].x,  f[2].x, place.x, f[0].y, f[1].y,
                             f[2].y, place.y, f[0].z, f[1].z,  f[2].z, place.z};
    for (std::size_t k = 0; k < 12; ++k)
      out_.instance_matrix[12 * instance + k] = static_cast<float>(rows[k]);
    out_.instance_plant[instance] = plant_;
  }

  PlantInstances& out_;
  std::vector<TubeSection>& sections_;
  Vec3d shift_;
  std::uint32_t plant_;
  const OpContext& ctx_;
  TubeSectionWalk walk_;
};

/// Where the instances of each plant begin: (plants + 1).
struct Firsts {
  std::vector<std::size_t> instance{0}, section{0};
};

Firsts firsts_of(Span<const PlantParts> plants) {
  Firsts firsts;
  for (const PlantParts& plant : plants) {
    const auto sections = static_cast<std::size_t>(plant_section_count(plant));
    firsts.section.push_back(firsts.section.back() + sections);
    firsts.instance.push_back(firsts.instance.back() + sections + plant.instances.size());
  }
  if (firsts.instance.back() > 0xffffffffU)
    throw Error(ErrorCode::kUnsupported, "the plants have " + std::to_string(firsts.instance.back()) +
                                             " organs and tube segments, more than 32 bits count; "
                                             "make fewer plants");
  return firsts;
}

/// Numbers the shapes in the order in which they occur; returns them, and each segment's number in `prototype`.
std::vector<TubeSection> numbered(const std::vector<TubeSection>& sections, const Firsts& firsts,
                                  std::size_t first_number, Column<std::uint32_t>& prototype,
                                  OpContext& ctx) {
  std::unordered_map<TubeSection, std::uint32_t, TubeSectionHash> numbers;
  std::vector<TubeSection> shapes;
  for (std::size_t p = 0; p + 1 < firsts.section.size(); ++p) {
    ctx.checkpoint();
    for (std::size_t i = firsts.section[p]; i < firsts.section[p + 1]; ++i) {
      if (i % 65536 == 0) ctx.checkpoint();
      const auto number = static_cast<std::uint32_t>(first_number + shapes.size());
      const auto [found, is_new] = numbers.try_emplace(sections[i], number);
      if (is_new) shapes.push_back(sections[i]);
      prototype[firsts.instance[p] + i - firsts.section[p]] = found->second;
    }
  }
  return shapes;
}

OrganPrototype section_prototype(const TubeSection& section, std::size_t number,
                                 const PlantPrototypes& prototypes) {
  OrganPrototype out;
  out.name = std::string("tube/") + organ_name(section.organ) + "/" + std::to_string(number);
  out.mesh = section_mesh(section, tube_color(prototypes, section.organ, section.is_bark));
  out.organ = section.organ;
  out.area = surface_area(out.mesh);
  return out;
}

}  // namespace

std::uint64_t plant_section_count(const PlantParts& plant) {
  std::uint64_t count = 0;
  for (const PlantTube& tube : plant.tubes) count += tube.ring_count - 1;
  return count;
}

std::uint64_t plant_instances_bytes(std::uint64_t sections, std::uint64_t organs) {
  return 56 * (sections + organs) + sizeof(TubeSection) * sections +
         std::min(sections, kManySections) * kSectionShapeBytes;
}

PlantInstances instance_plants(Span<const PlantParts> plants, const PlantPrototypes& prototypes,
                               const Vec3d& origin, OpContext& ctx) {
  require(is_finite(origin), "origin must be finite");
  const Firsts firsts = firsts_of(plants);
  PlantInstances out;
  out.instance_prototype = Column<std::uint32_t>(firsts.instance.back());
  out.instance_plant = Column<std::uint32_t>(firsts.instance.back());
  out.instance_matrix = Column<float>(12 * firsts.instance.back());
  std::vector<TubeSection> sections(firsts.section.back());
  ctx.begin_phase("Packing geometry", plants.size);
  parallel_for(ctx, plants.size, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t p = begin; p < end; ++p) {
      InstanceWriter writer(out, sections, plants[p].base - origin, p, ctx);
      writer.write_tubes(plants[p], prototypes, firsts.instance[p], firsts.section[p]);
      writer.write_organs(plants[p], firsts.instance[p + 1] - plants[p].instances.size());
    }
  });
  const std::size_t organs = prototypes.organs.size();
  for (const TubeSection& shape : numbered(sections, firsts, organs, out.instance_prototype, ctx))
    out.sections.push_back(section_prototype(shape, out.sections.size(), prototypes));
  return out;
}

}  // namespace pc
