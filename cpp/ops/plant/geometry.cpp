#include "ops/plant/geometry.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/parallel.h"
#include "ops/plant/level_of_detail.h"
#include "ops/plant/organ_placement.h"
#include "ops/plant/plant_triangles.h"

namespace pc {
namespace {

void add_shoot_tube(const PlacementInput& input, std::size_t shoot, ShootParts& parts) {
  const auto& phytomers = input.plant.shoots[shoot].phytomers;
  std::vector<TubePoint>& line = parts.line;
  double thickest = 0;
  const auto point = [&](std::size_t frame) {
    return input.axes.frames[frame].point - input.plant.base_position;
  };
  for (std::size_t k = 0; k < phytomers.size(); ++k) {
    const AxisNode& node = input.axes.node(shoot, k);
    const double radius = phytomers[k].internode.internode_radius;
    require(radius >= 0 && std::isfinite(radius), "internode_radius must be finite and not negative");
    thickest = std::max(thickest, radius);
    if (k == 0) line.push_back({point(node.first_frame), radius});
    for (std::size_t i = node.first_frame + 1; i < node.last_frame; ++i) line.push_back({point(i), radius});
    const double next = k + 1 < phytomers.size() ? phytomers[k + 1].internode.internode_radius : radius;
    line.push_back({point(node.last_frame), std::sqrt(0.5 * (radius * radius + next * next))});
    parts.height_m = std::max(parts.height_m, line.back().point.z);
  }
  if (line.empty()) return;
  add_tube({line.data(), line.size()}, input.axes.frames[input.axes.first_frame[shoot]].normal, parts.rings);
  parts.wood_volume_m3 = tube_volume(parts.rings);
  add_pieces(0, OrganCode::kShoot, shoot_sides(thickest, input.detail), static_cast<std::uint32_t>(shoot),
             parts);
}

ShootParts shoot_parts(const PlacementInput& input, std::size_t shoot) {
  ShootParts parts;
  add_shoot_tube(input, shoot, parts);
  const auto& phytomers = input.plant.shoots[shoot].phytomers;
  for (std::size_t k = 0; k < phytomers.size(); ++k) {
    input.ctx.checkpoint();
    for (std::size_t petiole = 0; petiole < phytomers[k].petioles.size(); ++petiole) {
      place_petiole(input, shoot, k, petiole, parts);
      place_buds(input, shoot, k, petiole, parts);
    }
  }
  return parts;
}

void reserve_parts(const std::vector<ShootParts>& shoots, PlantParts& out) {
  std::size_t tubes = 0, rings = 0, instances = 0;
  for (const ShootParts& shoot : shoots) {
    tubes += shoot.tubes.size();
    rings += shoot.rings.rings.size();
    instances += shoot.instances.size();
  }
  out.tubes.reserve(tubes), out.rings.reserve(rings), out.instances.reserve(instances);
}

PlantMesh empty_mesh(std::size_t n, bool has_textures, const Vec3d& origin) {
  PlantMesh out;
  out.origin = origin;
  out.mesh.vertices = Column<float>(9 * n);
  out.mesh.indices = Column<std::uint32_t>(3 * n);
  out.mesh.normals = Column<float>(9 * n);
  out.mesh.colors = Column<float>(9 * n);
  if (has_textures) out.mesh.uvs = Column<float>(6 * n);
  out.mesh.triangle_material = Column<std::uint32_t>(n);
  out.organ_codes = Column<std::uint32_t>(n);
  out.triangle_plant = Column<std::uint32_t>(n);
  return out;
}

/// Where each field of a mesh lies.
std::vector<std::pair<PlantField, std::byte*>> targets_of(PlantMesh& mesh) {
  std::vector<std::pair<PlantField, std::byte*>> out;
  const auto add = [&out](PlantField field, auto& column) {
    if (column.size() > 0) out.emplace_back(field, reinterpret_cast<std::byte*>(column.view().data));
  };
  add(PlantField::kVertices, mesh.mesh.vertices);
  add(PlantField::kNormals, mesh.mesh.normals);
  add(PlantField::kColors, mesh.mesh.colors);
  add(PlantField::kUvs, mesh.mesh.uvs);
  add(PlantField::kIndices, mesh.mesh.indices);
  add(PlantField::kMaterials, mesh.mesh.triangle_material);
  add(PlantField::kOrganCodes, mesh.organ_codes);
  add(PlantField::kPlants, mesh.triangle_plant);
  return out;
}

}  // namespace

PlantMesh expand_plants(Span<const PlantParts> plants, const PlantPrototypes& prototypes, const Vec3d& origin,
                        OpContext& ctx) {
  const PlantTriangles triangles(plants, prototypes, origin);
  PlantMesh out =
      empty_mesh(static_cast<std::size_t>(triangles.size()), !prototypes.textures.empty(), origin);
  const auto targets = targets_of(out);
  constexpr std::size_t kGrain = 1024;
  const std::size_t n = out.organ_codes.size();
  std::vector<Box3d> bounds((n + kGrain - 1) / kGrain);
  ctx.begin_phase("Packing geometry", n);
  parallel_for(ctx, n, kGrain, [&](std::size_t begin, std::size_t end) {
    for (const auto& [field, data] : targets)
      triangles.fill(field, begin, end - begin, data + begin * plant_field_bytes(field),
                     &bounds[begin / kGrain]);
  });
  for (const Box3d& box : bounds) out.mesh.bounds.add(box);
  return out;
}

PlantParts plant_parts(const PlantStructure& plant, const PlantSpecies& species,
                       const PlantPrototypes& prototypes, const GeometryParams& params, OpContext& ctx) {
  require(params.detail >= 0.05 && params.detail <= 4, "detail must be from 0.05 to 4");
  const PlantAxes axes = walk_axes(plant, ctx);
  const PlacementInput input{plant, species, prototypes, axes, params.detail, ctx};
  std::vector<ShootParts> shoots(plant.shoots.size());
  ctx.begin_phase("Placing organs", shoots.size());
  parallel_for(ctx, shoots.size(), 4, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) shoots[i] = shoot_parts(input, i);
  });
  PlantParts out;
  out.base = plant.base_position;
  reserve_parts(shoots, out);
  for (ShootParts& shoot : shoots) {
    for (PlantTube& tube : shoot.tubes) {
      tube.first_ring += out.rings.size();
      out.tubes.push_back(tube);
    }
    out.rings.insert(out.rings.end(), shoot.rings.rings.begin(), shoot.rings.rings.end());
    out.instances.insert(out.instances.end(), shoot.instances.begin(), shoot.instances.end());
    out.wood_volume_m3 += shoot.wood_volume_m3;
    out.leaf_area_m2 += shoot.leaf_area_m2;
    out.height_m = std::max(out.height_m, shoot.height_m);
    shoot = {};
    ctx.checkpoint();
  }
  simplify_plant(prototypes, out, ctx);
  return out;
}

std::uint64_t tube_triangle_count(const PlantTube& tube) {
  return 2 * static_cast<std::uint64_t>(tube.sides) * (tube.ring_count - 1) +
         (static_cast<std::uint64_t>(tube.has_start) + tube.has_end) * (tube.sides - 2);
}

std::uint64_t plant_triangle_count(const PlantParts& plant, const PlantPrototypes& prototypes) {
  std::uint64_t triangles = 0;
  for (const PlantTube& tube : plant.tubes) triangles += tube_triangle_count(tube);
  for (const OrganInstance& organ : plant.instances)
    triangles += prototypes.organs[organ.prototype].mesh.triangles.size();
  return triangles;
}

std::uint64_t plant_mesh_bytes(std::uint64_t triangles, bool has_textures) {
  return triangles * (has_textures ? 156 : 132);
}

}  // namespace pc
