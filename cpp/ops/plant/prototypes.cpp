#include "ops/plant/prototypes.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "ops/plant/blade_mesh.h"
#include "ops/plant/organ_parts.h"
#include "ops/plant/shape_checks.h"

namespace pc {
namespace {

std::uint32_t texture_index(PlantPrototypes& prototypes, const std::string& file) {
  if (file.empty()) return kNoTexture;
  auto& files = prototypes.textures;
  const auto found = std::find(files.begin(), files.end(), file);
  if (found == files.end()) files.push_back(file);
  return static_cast<std::uint32_t>(
      std::distance(files.begin(), std::find(files.begin(), files.end(), file)));
}

OrganPrototype leaf_prototype(const LeafShape& leaf, std::uint32_t variant, double detail) {
  OrganPrototype out;
  out.name = "leaf/" + leaf.name + "/" + std::to_string(variant);
  out.mesh = blade_mesh(leaf.blade, variant, detail);
  out.mesh.colors.assign(out.mesh.triangles.size(), leaf.color);
  out.organ = OrganCode::kLeaf;
  out.reach = reach_of(out.mesh);
  const bool is_needle = leaf.blade.form == BladeForm::kNeedle;
  // Half of the whole surface of a needle, as for flat leaves (Chen & Black 1992).
  out.area = surface_area(out.mesh) * (is_needle ? 0.5 : leaf.coverage);
  const Vec3d sum = is_needle ? Vec3d{0, 0, 1} : mean_normal(out.mesh);
  const double length = std::sqrt(dot(sum, sum));
  if (length > 1e-9) out.normal = sum * (1 / length);
  return out;
}

void add_leaf(const LeafShape& leaf, double detail, PlantPrototypes& out) {
  check_leaf_shape(leaf);
  const auto first = static_cast<std::uint32_t>(out.organs.size());
  const std::uint32_t texture =
      leaf.blade.form == BladeForm::kNeedle ? kNoTexture : texture_index(out, leaf.texture);
  double area = 0;
  for (std::uint32_t variant = 0; variant < leaf.variants; ++variant) {
    out.organs.push_back(leaf_prototype(leaf, variant, detail));
    out.organs.back().texture = texture;
    if (texture == kNoTexture) out.organs.back().mesh.uvs.clear();
    area += out.organs.back().area / leaf.variants;
  }
  out.leaves.push_back({leaf.name, first, leaf.variants, leaf.leaflet_angle_deg, leaf.petiolule_length,
                        leaf.petiolule_radius, leaf.turns_up, leaf.is_sheathed, area});
}

std::uint32_t add_organ(const NamedOrgan& organ, const std::string& name, OrganCode code, bool is_closed,
                        double detail, PlantPrototypes& out) {
  OrganPrototype prototype;
  prototype.name = name;
  prototype.mesh = organ_mesh(organ.shape, is_closed, detail);
  prototype.organ = code;
  prototype.area = surface_area(prototype.mesh);
  prototype.reach = reach_of(prototype.mesh);
  out.organs.push_back(std::move(prototype));
  return static_cast<std::uint32_t>(out.organs.size() - 1);
}

}  // namespace

double reach_of(const OrganMesh& mesh) {
  double reach = 0;
  for (const Vec3d& p : mesh.positions) reach = std::max(reach, std::sqrt(dot(p, p)));
  return reach;
}

UnitRgb tube_color(const PlantPrototypes& prototypes, OrganCode organ, bool is_bark) {
  switch (organ) {
    case OrganCode::kShoot:
      return is_bark ? prototypes.bark_color : prototypes.stem_color;
    case OrganCode::kPeduncle:
      return prototypes.peduncle_color;
    default:
      return prototypes.petiole_color;
  }
}

PlantPrototypes plant_prototypes(const PlantShapes& shapes, double detail) {
  require(detail >= 0.05 && detail <= 4, "detail must be from 0.05 to 4");
  PlantPrototypes out;
  out.stem_color = shapes.stem_color;
  out.bark_color = shapes.bark_color;
  out.petiole_color = shapes.petiole_color;
  out.peduncle_color = shapes.peduncle_color;
  out.bark_radius_m = shapes.bark_radius_m;
  out.deviation_ratio = shapes.deviation_ratio;
  out.triangle_budget = shapes.triangle_budget;
  for (const LeafShape& leaf : shapes.leaves) add_leaf(leaf, detail, out);
  for (const NamedOrgan& flower : shapes.flowers) {
    check_organ_shape(flower);
    const std::string name = "flower/" + flower.name;
    const std::uint32_t open = add_organ(flower, name + "/open", OrganCode::kUnknown, false, detail, out);
    out.flowers.push_back(
        {flower.name, open, add_organ(flower, name + "/closed", OrganCode::kUnknown, true, detail, out)});
  }
  for (const NamedOrgan& fruit : shapes.fruits) {
    check_organ_shape(fruit);
    const std::uint32_t one = add_organ(fruit, "fruit/" + fruit.name, OrganCode::kFruit, false, detail, out);
    out.fruits.push_back({fruit.name, one, one});
  }
  return out;
}

}  // namespace pc
